"""Zero-shot search on chunks of growing length: how much of the difficulty is the length of the video (MAD, Fig. 4)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations, Strings, as_strings
from truemoment.baselines import RandomChance
from truemoment.baselines.proposals import Proposals, read_proposals
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import bootstrap, interval95, stream
from truemoment.media.features import FeatureStore
from truemoment.searching.chunks import PROTOCOL, Chunks, LengthScores, ground_chunks
from truemoment.searching.request import ChunkSearch
from truemoment.searching.session import SearchTarget
from truemoment.searching.split_search import open_split
from truemoment.searching.zero_shot import ZeroShot
from truemoment.worlds.films import MANIFEST

COVERED = "windowed-grid:tail=covered"
"""Proposals of features, if none are given: they reach the end of every chunk, so that lengths can be compared."""

CHANCE_DRAWS = 5


class SweepPoint(NamedTuple):
    """Figures on chunks of one length.

    Parameters
    ----------
    length_s
        Length of a chunk; infinite for whole videos.
    n_chunks, n_cut, n_without_rows
        Number of chunks, of moments that a cut goes through, and of queries whose video has no rows there.
    value, ci95 : (M,), (M, 2)
        Figures, fractions, and their 95 % intervals by resampling whole videos; NaN with fewer than 2 videos.
    chance : (M,)
        Figures of proposals drawn at random, the mean of :data:`CHANCE_DRAWS` draws.
    """

    length_s: float
    n_chunks: int
    n_cut: int
    n_without_rows: int
    value: Floats
    ci95: Floats
    chance: Floats


@dataclass(frozen=True, eq=False)
class LengthSweep:
    """Zero-shot search on chunks of several lengths.

    `scores` are those of the last one, and name the convention; `simulated` is true for simulated films.
    """

    annotations: Annotations
    scores: Scores
    points: tuple[SweepPoint, ...]
    made_by: dict[str, Any]
    resamples: int
    seed: int
    simulated: bool = False

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures."""
        return self.scores.measures


def read_lengths(text: str) -> tuple[float, ...]:
    """Read lengths such as ``30,60,inf``: seconds, each above the one before; inf is the whole video.

    Examples
    --------
    >>> read_lengths("30, 180, inf")
    (30.0, 180.0, inf)
    """
    lengths_s = []
    for word in text.split(","):
        try:
            length_s = float(word)
        except ValueError:
            length_s = math.nan
        if not length_s > 0:
            raise UsageError(f"--lengths: got {word.strip()[:40]!r}, expected seconds above 0, or inf")
        lengths_s.append(length_s)
    if any(after <= before for before, after in pairwise(lengths_s)):
        raise UsageError("--lengths: expected lengths in rising order, e.g. 30,60,180,inf")
    return tuple(lengths_s)


def sweep_split(
    request: ChunkSearch, target: SearchTarget, *, on_status: Callable[[str], None] = lambda _: None
) -> LengthSweep:
    """Search for every query of a split on chunks of each length, with random proposals beside.

    Parameters
    ----------
    request
        The queries, and how they are searched for; by default proposals of features reach the end of every chunk.
    target
        The index, video or features to search.
    on_status
        Receives a line on each step that takes time.
    """
    opened, *others = open_split(request, target)
    if others:
        target.note(f"one model is measured: {opened.encoder}; --model names another")
    seed, resamples = request.seed, request.resamples
    scheme_text = request.proposals or (COVERED if opened.index is None else opened.index.settings.proposals)
    scheme = opened.index.proposals if opened.index and not request.proposals else read_proposals(scheme_text)
    ground = partial(ground_chunks, measures=request.parsed_measures, protocol=PROTOCOL)
    points = []
    for length_s in request.lengths_s:
        on_status("whole videos" if math.isinf(length_s) else f"chunks of {length_s:g} s")

        def method(seen: FeatureStore) -> ZeroShot:
            return ZeroShot(seen, opened.sentences, scheme, request.nms, opened.encoder)

        chance = partial(_chance, scheme, stream(seed, f"random chance {length_s:g}"))  # each call draws anew
        asked = partial(ground, opened.annotations, opened.store, length_s)
        at, by_chance = asked(method), [asked(chance) for _ in range(CHANCE_DRAWS)]
        points.append(_point(at, by_chance, seed, resamples))
    made_by = {
        "method": f"zero-shot {opened.encoder}",
        "features": opened.store.name,
        "sentences": opened.sentences.name,
        "proposals": scheme_text,
        "nms": request.nms,
    }
    simulated = (target.path.parent / MANIFEST).exists()
    return LengthSweep(opened.annotations, at.scores, tuple(points), made_by, resamples, seed, simulated)


def _chance(scheme: Proposals, rng: np.random.Generator, seen: FeatureStore) -> RandomChance:
    del seen  # it sees no video
    return RandomChance(scheme, rng)


def _point(at: LengthScores, chance: Sequence[LengthScores], seed: int, resamples: int) -> SweepPoint:
    """Return the figures at a length, with intervals by resampling videos, not their chunks."""
    scores = dataclasses.replace(at.scores, video_id=_videos(at.chunks))
    ci95 = np.full((len(scores.measures), 2), np.nan)
    if scores.n_videos > 1:
        ci95 = interval95(bootstrap(scores, stream(seed, "length sweep"), resamples=resamples))
    measures, chunks = scores.measures, at.chunks
    return SweepPoint(
        length_s=chunks.length_s,
        n_chunks=len(chunks.by_video),
        n_cut=chunks.n_cut,
        n_without_rows=at.n_without_rows,
        value=np.array([scores.value(measure) for measure in measures]),
        ci95=ci95,
        chance=np.mean([[draw.scores.value(measure) for measure in measures] for draw in chance], axis=0),
    )


def _videos(chunks: Chunks) -> Strings:
    """Return the whole video of each query."""
    sources = [chunks.by_video[video_id].source_id for video_id in chunks.annotations.queries.video_id]
    return as_strings(sources, "video_id")
