r"""The sentence network beside prediction files: its scores on the same queries, and hits of others where it misses.

A method that guesses well hits where a blind model hits. One that looks at the video also hits where the sentence
network misses. So does another guesser, by luck: a second sentence network, trained with another seed, hits some of
the queries that the first one misses. The *excess* of a method over it is

.. math:: \frac{\sum_q (h_q - h''_q)(1 - h'_q)}{\sum_q (1 - h'_q)},

with h the hits of the method, h' and h'' those of the first and of the second network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Bools, Floats
from truemoment.base.records import Annotations, Strings, numbers_of
from truemoment.baselines.equal_depth import evaluate_to_depths
from truemoment.baselines.floors import NETWORK, Floor, Setting, join_measures
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import DiscountedRecall, Measure, Recall
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.studentised import resample_ratios
from truemoment.evaluation.uncertainty import LEVEL


class HitsBesideNetwork(NamedTuple):
    """Hits of a method by those of the sentence network; fractions, NaN where there are no such queries.

    Parameters
    ----------
    where_missed, where_hit
        Share of the queries that the first network misses, and of those that it hits, that the method hits.
    excess, ci95
        Method less second network where the first one misses, and its 95 % interval (2,).
    """

    where_missed: float
    where_hit: float
    excess: float
    ci95: Floats


@dataclass(frozen=True, eq=False)
class NetworkRow:
    """The sentence network as a method of a comparison.

    Parameters
    ----------
    runs
        Scores of each training, two or more, which differ by their seed.
    hit
        Measure that defines a hit.
    hits
        Scores of each training at `hit`.
    training_spread
        Standard deviation of the headline figure between single networks.
    train
        Annotations on which it is fitted.
    """

    runs: tuple[Scores, ...]
    hit: Recall
    hits: tuple[Scores, ...]
    training_spread: float
    train: Annotations

    def counts(self) -> tuple[int, int]:
        """Return how many queries the first network misses, and how many it hits."""
        return count_hits(self.hits[0])

    @property
    def second(self) -> tuple[float, float]:
        """Share of the queries that the first network misses, and of those that it hits, that the second hits."""
        return shares_of_hits(self.hits[1:2], self.hits[0])

    def compare(self, runs: Sequence[Scores], rng: np.random.Generator, *, resamples: int) -> HitsBesideNetwork:
        """Compare the hits of a method, the mean over its runs, with those of the first and second network."""
        return hits_beside(runs, self.hits[0], [self.hits[1]], rng, resamples=resamples)[0]


def hits_beside(
    runs: Sequence[Scores], first: Scores, others: Sequence[Scores], rng: np.random.Generator, *, resamples: int
) -> list[HitsBesideNetwork]:
    """Compare the hits of a method with those of each of several other systems where a first one misses.

    Parameters
    ----------
    runs
        Scores of each run of the method at one measure, of which the mean counts; queries without weight in any of them
        are left out.
    first, others
        Scores of the other systems at this measure.
    rng, resamples
        Random generator and number of resamples of the intervals; videos are drawn once for all.
    """
    judged = _judged([*runs, first, *others])
    hits = np.stack([_mean_hits(system, judged) for system in (runs, [first], *([other] for other in others))], axis=1)
    value, ci95 = excess(hits, first.video_id[judged], rng, resamples=resamples)
    shares = shares_of_hits(runs, first)
    return [HitsBesideNetwork(*shares, *pair) for pair in zip(value.tolist(), ci95, strict=True)]


def shares_of_hits(runs: Sequence[Scores], first: Scores) -> tuple[float, float]:
    """Return the share of the queries that `first` misses, and of those that it hits, that a method hits."""
    judged = _judged([*runs, first])
    own, other = _mean_hits(runs, judged), _mean_hits([first], judged)
    return _share(own, 1 - other), _share(own, other)


def count_hits(first: Scores) -> tuple[int, int]:
    """Return how many queries a system misses, and how many it hits."""
    hits = _mean_hits([first], _judged([first]))
    return int((hits == 0).sum()), int((hits > 0).sum())


def _judged(systems: Sequence[Scores]) -> Bools:
    """Return which queries carry weight in all systems, (Q,)."""
    return np.asarray(np.logical_and.reduce([scores.weight[0] > 0 for scores in systems]))


def _mean_hits(runs: Sequence[Scores], judged: Bools) -> Floats:
    return np.asarray(np.mean([scores.numerator[0][judged] / scores.weight[0][judged] for scores in runs], axis=0))


def why_no_network(annotations: Annotations, measures: Sequence[Measure], train: Annotations | None) -> str:
    """Return the reason why the sentence network cannot be compared with; "" if it can."""
    if train is None:
        return "there is no training split to fit it on (--fit-split, --fit-annotations)"
    for measure in measures:
        if measure.needs not in ("overlaps", "sets"):
            return f"it finds moments only, and {measure} is no measure of them (--measures)"
    n_unknown = int((~(annotations.queries.duration_s > 0)).sum())
    if n_unknown:
        return f"it answers with shares of the video, and {n_unknown:,} queries have no duration"
    if not (train.with_moments().queries.duration_s > 0).any():
        return f"no query of {train.split} has a moment and a duration to learn from"
    return ""


def run_network(setting: Setting, train: Annotations, depths: Sequence[int | None]) -> NetworkRow:
    """Fit the sentence network, or read it from the cache, and measure its answers.

    Parameters
    ----------
    setting
        Data and measures.
    train
        Annotations on which it is fitted; :func:`why_no_network` returns "" for them.
    depths
        As for :func:`truemoment.baselines.equal_depth.evaluate_to_depths`.

    Raises
    ------
    InputError
        If it cannot be fitted.
    """
    row = run_floor(NETWORK, setting, train, depths)
    return NetworkRow(*row, located(train))


class FloorRow(NamedTuple):
    """A blind baseline as a method; fields as in :class:`NetworkRow`, the runs are trainings or draws."""

    runs: tuple[Scores, ...]
    hit: Recall
    hits: tuple[Scores, ...]
    training_spread: float


def run_floor(name: str, setting: Setting, train: Annotations, depths: Sequence[int | None]) -> FloorRow:
    """Fit a blind baseline (:data:`truemoment.baselines.floors.FLOORS`), or read it from the cache, and measure it.

    Parameters and exceptions are as for :func:`run_network`.
    """
    annotations, measures, protocol = setting.annotations, setting.measures, setting.protocol
    hit = hit_of(measures[setting.headline])
    runs, hits = [], []
    floor = Floor(name, replace(setting, train=located(train), measures=(*measures, hit)))
    for *answers, by_hits in floor.answers(annotations):
        parts = [
            (evaluate_to_depths(annotations, predictions, [measure], [depth], protocol), 0)
            for predictions, measure, depth in zip(answers, measures, depths, strict=True)
        ]
        runs.append(join_measures(parts))
        hits.append(evaluate(annotations, by_hits, [hit], protocol))
    return FloorRow(tuple(runs), hit, tuple(hits), floor.training_spread(annotations))


def located(train: Annotations) -> Annotations:
    """Return the queries with a moment in a video of known duration, from which a floor learns."""
    annotations = train.with_moments()
    return annotations.select_queries(annotations.queries.duration_s > 0)


def hit_of(headline: Measure) -> Recall:
    """Return R@1 at the IoU of a measure; at 0.5 where it has none."""
    return Recall(1, headline.iou if isinstance(headline, Recall | DiscountedRecall) else 0.5)


def excess(hits: Floats, video_id: Strings, rng: np.random.Generator, *, resamples: int) -> tuple[Floats, Floats]:
    """Return the excess over each of K systems, (K,), and its 95 % interval by resampling videos, (K, 2).

    Parameters
    ----------
    hits : (Q, 2 + K)
        Hits of the method, the first network and the K systems.
    video_id : (Q,)
        Video of each query.
    """
    video, missed = numbers_of(video_id), 1 - hits[:, 1]
    gains = ((hits[:, :1] - hits[:, 2:]) * missed[:, None]).T
    gain, count = (
        np.stack([np.bincount(video, row) for row in parts], axis=1).astype(np.float64) for parts in (gains, [missed])
    )
    below = np.zeros(len(gains), dtype=np.int64)
    estimate = resample_ratios(gain, count, rng, resamples=resamples, below=below)
    return estimate.value, np.stack(estimate.bounds(LEVEL), axis=-1)


def _share(hits: Floats, weight: Floats) -> float:
    total = float(weight.sum())
    return float((hits * weight).sum()) / total if total else float("nan")
