"""Whether the training split is large and similar enough for the floors to learn from.

A floor is as strong as its training data. Floors that learn from other words, from a few rows or from one moment are
weak, and a method that learned from the true training split then seems better than guessing. So the verdict is "not
decided" outside these limits. On seven splits of Charades, ActivityNet and TACoS, 97 to 99 % of the words are known,
99 % or more of the videos are about as long as a training video, and the Jensen-Shannon divergence of the words is at
most 0.06 bits. For training splits of other datasets it is 0.41 or more (``benchmarks/training_data.py``).

The distance between the moments of both splits counts only for training annotations of another file or dataset, because
the splits of a dataset may differ on purpose. It is 0.052 on Charades-CD test-ood, and 0.078 or more between datasets
with different moments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from truemoment.base.boundary.arrays import Array
from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.cells import cell_of, n_cells
from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations
from truemoment.baselines.base import locations
from truemoment.baselines.expected_value import CELLS
from truemoment.baselines.sentence_network import Training
from truemoment.data.language.tokens import tokenise
from truemoment.studies.bias.chance import jensen_shannon_bits
from truemoment.studies.bias.distances import energy_distances

FEWEST_QUERIES = 100
LEAST_WORDS, LEAST_DURATIONS = 0.8, 0.8
MOST_ALIKE, MOST_DIVERGENCE, MOST_DISTANCE = 0.9, 0.25, 0.065
"""Limits: training queries, shares of words, of videos and of moments in one place, bits, energy distance."""

ABOUT_AS_LONG = 1.1
"""Maximum ratio of the durations of two videos that are about as long."""

FEWEST_SENTENCES = Training().fewest
"""Minimum number of training sentences with a word that the sentence network reads."""

N_STEPS = 60
"""Number of steps of a video: moments are counted in cells of 1 2/3 % of it."""


class TrainingCoverage(NamedTuple):
    """How well a training split covers the audited one.

    Parameters
    ----------
    n_queries, n_videos
        Size of the training split.
    words
        Share of the words of the audited split that :data:`FEWEST_SENTENCES` training sentences contain.
    divergence
        Jensen-Shannon divergence between the words of both, from 0 to 1 bit.
    durations
        Share of its videos that are about as long as a training video.
    alike
        Share of the training moments in the most common cell of 5 % of the video.
    distance
        Energy distance between the moments of both, as shares of the video.
    n_shared
        Videos of the audited split that are in the training split.
    foreign
        Whether the training annotations come from another file or dataset, which the user named.
    """

    n_queries: int
    n_videos: int
    words: float
    divergence: float
    durations: float
    alike: float
    distance: float
    n_shared: int
    foreign: bool = False

    @property
    def faults(self) -> tuple[str, ...]:
        """Limits that are exceeded, in words; empty if the floors had enough to learn from."""
        return tuple(self._faults())

    def _faults(self) -> Iterator[str]:
        if self.n_queries < FEWEST_QUERIES:
            yield f"{self.n_queries:,} training queries, below {FEWEST_QUERIES}"
        if self.words < LEAST_WORDS:
            yield f"training sentences cover {100 * self.words:.0f} % of the words, below {100 * LEAST_WORDS:.0f} %"
        if self.divergence > MOST_DIVERGENCE:
            yield f"training sentences are of other words: {self.divergence:.2f} bits apart, above {MOST_DIVERGENCE:g}"
        if self.durations < LEAST_DURATIONS:
            yield (
                f"{100 * self.durations:.0f} % of the videos are about as long as a training video, below "
                f"{100 * LEAST_DURATIONS:.0f} %"
            )
        if self.alike > MOST_ALIKE:
            yield f"{100 * self.alike:.0f} % of the training moments are in one place, above {100 * MOST_ALIKE:.0f} %"
        if self.foreign and self.distance > MOST_DISTANCE:
            yield f"the training moments have an energy distance of {self.distance:.3f}, above {MOST_DISTANCE:g}"


def training_coverage(
    train: Annotations, audited: Annotations, *, foreign: bool = False, cache: Cache = NO_CACHE
) -> TrainingCoverage:
    """Measure how well a training split covers the audited one; NaN if there is nothing to compare.

    `foreign` marks training annotations of another file or dataset.

    Examples
    --------
    >>> rows = [(f"v{v}#0", f"v{v}", 30.0 + v, "a door opens", 1.0 * v, 2.0 * v + 5) for v in range(9)]
    >>> train, test = (Annotations.from_rows(rows[part]) for part in (slice(6), slice(3, 9)))
    >>> training_coverage(train, test).faults
    ('6 training queries, below 100',)
    """
    videos = set(train.queries.video_id.tolist())

    def measured() -> dict[str, Array]:
        measures = (_words_known, _divergence, _durations_known, lambda train, _: _alike(train), _distance)
        return {"figures": np.array([figure(train, audited) for figure in measures])}

    key = {"train": train.sha256, "annotations": audited.sha256}
    words, divergence, durations, alike, distance = cache.arrays("training", key, measured)["figures"].tolist()
    n_shared = len(videos & set(audited.queries.video_id.tolist()))
    sizes = train.n_queries, len(videos)
    return TrainingCoverage(*sizes, words, divergence, durations, alike, distance, n_shared, foreign)


def _words_known(train: Annotations, audited: Annotations) -> float:
    count = Counter(word for sentence in train.queries.sentence.tolist() for word in set(tokenise(sentence)))
    known = [
        count[word] >= FEWEST_SENTENCES for sentence in audited.queries.sentence.tolist() for word in tokenise(sentence)
    ]
    return float(np.mean(known)) if known else float("nan")


def _divergence(train: Annotations, audited: Annotations) -> float:
    counts = [
        Counter(word for sentence in split.queries.sentence.tolist() for word in tokenise(sentence))
        for split in (train, audited)
    ]
    if not all(counts):
        return float("nan")
    words = sorted(counts[0] | counts[1])
    shares = np.array([[count[word] for word in words] for count in counts], dtype=np.float64)
    return float(jensen_shannon_bits(shares[0], shares[1]))


def _durations_known(train: Annotations, audited: Annotations) -> float:
    known = np.sort(train.queries.duration_s[train.queries.duration_s > 0])
    videos = np.array(list(audited.queries.video_duration_s.values()))
    at = np.searchsorted(known, videos / ABOUT_AS_LONG)
    next_longer = np.append(known, np.inf)[at]
    return float((next_longer <= videos * ABOUT_AS_LONG).mean())


def _alike(train: Annotations) -> float:
    try:
        count = np.bincount(cell_of(locations(train)[0], CELLS))
    except InputError:  # no moment within a video
        return float("nan")
    return float(count.max() / count.sum())


def _distance(train: Annotations, audited: Annotations) -> float:
    try:
        moments = [locations(split)[0] for split in (train, audited)]
    except InputError:  # no moment within a video
        return float("nan")
    own, other = (_counts(places) for places in moments)
    return float(energy_distances(own, other, np.concatenate(moments), N_STEPS)[0])


def _counts(start_end_norm: Floats) -> Floats:
    return np.bincount(cell_of(start_end_norm, N_STEPS), minlength=n_cells(N_STEPS))[None].astype(np.float64)
