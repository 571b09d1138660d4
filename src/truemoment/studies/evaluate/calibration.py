r"""Calibration of scores: how well the score of a predicted moment estimates its quality.

A score is read as an estimate of two things: the IoU with the nearest reference, and the probability that this IoU is
above 0.5. With moments in bins, :math:`\bar s_b` their mean score, :math:`\bar y_b` the mean of what is estimated and
:math:`p_b` the share of the moments in bin b,

.. math:: \mathrm{ECE} = \sum_b p_b \, |\bar y_b - \bar s_b|, \qquad
    \mathrm{MSCE} = \sum_b p_b \left[(\bar y_b - \bar s_b)^2 - V_b\right].

The expected calibration error (ECE) is above 0 even for a perfect score, by chance. So it is given beside its value for
a perfect score of the same data, :math:`\sum_b p_b \sqrt{2 V_b / \pi}`. The mean squared calibration error (MSCE)
subtracts the squared error :math:`V_b` of each bin, as Kumar et al. do, and is 0 on average for a perfect score; its
root is reported. :math:`V_b` is estimated over videos, since moments of a video are alike. The root has a basic
bootstrap interval over videos. The ECE has none: for a perfect score, resamples are further from 0 than the data.

Scores outside 0 to 1 estimate nothing by themselves. They are mapped to IoU, and to the probability, by isotonic
regression on the other half of the videos; the figures then describe the mapped score.

References
----------
M. P. Naeini, G. Cooper and M. Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning, AAAI 2015
(ECE); A. Kumar, P. Liang and T. Ma, Verified uncertainty calibration, NeurIPS 2019, section 4 (debiased estimate); N.
A. Obuchowski, Nonparametric analysis of clustered ROC curve data, Biometrics 53, 1997 (interval of the AUC).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import TIE, Bools, Floats, Ints, temporal_iou
from truemoment.base.records import Annotations, Predictions, numbers_of
from truemoment.evaluation.references import pad
from truemoment.evaluation.uncertainty import resample_sums

N_BINS = 10
HIT_IOU = 0.5
N_STEPS = 100
"""Classes of scores between which the isotonic map is constant or rises."""

RESAMPLES = 1000

COVERAGES = (0.1, 0.25, 0.5, 0.75, 1.0)

FIRST, ALL = "top-1 moments", "all moments"
IOU, HIT = "IoU", f"IoU>{HIT_IOU}"


class FigureWithInterval(NamedTuple):
    """A figure and its 95 % interval (2,), NaN where it is undefined."""

    value: float
    ci95: Floats


@dataclass(frozen=True, eq=False)
class Reliability:
    """The score of some moments as an estimate of their IoU, or of a hit.

    Parameters
    ----------
    moments, target
        Which moments, and what their score estimates: "IoU" or "IoU>0.5".
    mean_score, mean_target
        Means over the moments.
    overconfidence
        Mean score less mean target.
    ece_width, ece_size
        Expected calibration error with ten bins of equal width, and with ten of equal size.
    by_chance
        Mean `ece_size` of a perfect score on the same data.
    rmsce
        Root of the debiased mean squared calibration error, bins of equal size; 0 where the estimate is below 0.
    score, outcome, count : (B,)
        By bin of equal width, those with moments: mean score, mean of what is estimated, number of moments.
    """

    moments: str
    target: str
    mean_score: float
    mean_target: float
    overconfidence: FigureWithInterval
    ece_width: float
    ece_size: float
    by_chance: float
    rmsce: FigureWithInterval
    score: Floats
    outcome: Floats
    count: Ints


class Discrimination(NamedTuple):
    """How well scores separate better from worse moments.

    Parameters
    ----------
    rank_correlation
        Spearman's, of score and IoU; NaN where either is constant.
    auc
        Probability that a moment with IoU above 0.5 has a higher score than one without; a tie is a half.
    """

    moments: str
    n_moments: int
    rank_correlation: float
    auc: FigureWithInterval


@dataclass(frozen=True, eq=False)
class ScoreCalibration:
    """Calibration of the scores of a prediction file.

    Parameters
    ----------
    mapped
        Whether the scores lie outside 0 to 1, so that the reliabilities describe mapped scores.
    lowest, highest
        Range of the scores of the file.
    left_out
        Number of queries without a reference moment or without a prediction.
    coverage : (C,)
        Shares of the queries, those whose top-1 moment has the highest score.
    iou_at, hits_at : (C,)
        Mean IoU of their top-1 moments, and share of these with an IoU above 0.5.
    resamples
        Resamples of the videos.
    """

    mapped: bool
    lowest: float
    highest: float
    n_queries: int
    left_out: int
    reliabilities: tuple[Reliability, ...]
    discriminations: tuple[Discrimination, ...]
    coverage: Floats
    iou_at: Floats
    hits_at: Floats
    resamples: int


def calibration(
    annotations: Annotations, predictions: Predictions, rng: np.random.Generator, *, resamples: int = RESAMPLES
) -> ScoreCalibration:
    """Measure the calibration of scores, with times as annotated and as predicted.

    Raises
    ------
    UsageError
        If the predictions have no scores, or fewer than 2 videos have a prediction and a reference moment.

    Examples
    --------
    >>> a = Annotations.from_rows([(f"v{k}#0", f"v{k}", 40.0, "a door opens", 0.0, 10.0) for k in range(4)])
    >>> p = Predictions.from_lists({f"v{k}#0": [(0.0, 2.5 * (k + 1), 0.25 * (k + 1))] for k in range(4)})
    >>> scores = calibration(a, p, np.random.default_rng(0), resamples=100)
    >>> [(first.target, first.ece_width) for first in scores.reliabilities if first.moments == FIRST]
    [('IoU', 0.0), ('IoU>0.5', 0.25)]
    """
    if not predictions.scored:
        raise UsageError("the predictions have no scores; calibration needs one for each moment")
    ranked = predictions.ranked_by_score()
    row = ranked.rows_of(annotations.queries.query_id)
    usable = (row >= 0) & ~annotations.without_moment
    usable[usable] = ranked.lengths[row[usable]] > 0
    n_videos = len(set(annotations.queries.video_id[usable]))
    if n_videos < 2:
        raise UsageError(
            f"found {n_videos} videos with a prediction and a reference moment, expected 2 or more for calibration"
        )
    queries = np.flatnonzero(usable)
    lengths = ranked.lengths[row[queries]]
    is_first = np.zeros(int(lengths.sum()), dtype=bool)
    firsts = np.append(0, np.cumsum(lengths)[:-1])
    is_first[firsts] = True
    moment = np.repeat(ranked.offsets[row[queries]] - firsts, lengths) + np.arange(len(is_first))
    query = np.repeat(queries, lengths)
    iou = _nearest_iou(annotations, query, ranked.start_s[moment], ranked.end_s[moment])
    score, video = ranked.score[moment], numbers_of(annotations.queries.video_id[query])
    hit = (iou > HIT_IOU + TIE).astype(np.float64)
    mapped = bool(score.min() < 0 or score.max() > 1)
    half = rng.permutation(int(video.max()) + 1)[video] % 2 == 0
    estimates, discriminations = [], []
    for name, selected in ((FIRST, is_first), (ALL, np.ones_like(is_first))):
        if name == ALL and is_first.all():
            break
        for target, outcome in ((IOU, iou[selected]), (HIT, hit[selected])):
            estimate = isotonic(score[selected], outcome, half[selected]) if mapped else score[selected]
            estimates.append(JudgedScores(name, target, estimate, outcome, video[selected]))
        correlation = rank_correlation(score[selected], iou[selected])
        area = auc(score[selected], hit[selected] > 0, video[selected])
        discriminations.append(Discrimination(name, int(selected.sum()), correlation, area))
    iou_at, hits_at = (_means_of_highest(score[is_first], values[is_first]) for values in (iou, hit))
    return ScoreCalibration(
        mapped=mapped,
        lowest=float(score.min()),
        highest=float(score.max()),
        n_queries=len(queries),
        left_out=annotations.n_queries - len(queries),
        reliabilities=reliabilities(estimates, rng, resamples=resamples),
        discriminations=tuple(discriminations),
        coverage=np.array(COVERAGES),
        iou_at=iou_at,
        hits_at=hits_at,
        resamples=resamples,
    )


class JudgedScores(NamedTuple):
    """M moments with scores within 0 to 1, their targets, and numbers of their videos, (M,) each."""

    moments: str
    target: str
    score: Floats
    outcome: Floats
    video: Ints


def reliabilities(
    estimates: Sequence[JudgedScores], rng: np.random.Generator, *, resamples: int = RESAMPLES
) -> tuple[Reliability, ...]:
    """Compare scores with their targets, all under the same resamples of videos."""
    n_videos = max(int(estimate.video.max()) for estimate in estimates) + 1
    tables = [_tables(estimate, n_videos) for estimate in estimates]  # each has 4 columns a bin
    sums = resample_sums(np.concatenate(tables, axis=1), rng, resamples=resamples)
    draws = np.split(sums, len(estimates), axis=1)
    return tuple(_reliability(*row) for row in zip(estimates, tables, draws, strict=True))


def _by_width(score: Floats) -> Ints:
    return np.minimum((score * N_BINS).astype(np.int64), N_BINS - 1)


def _tables(estimate: JudgedScores, n_videos: int) -> Floats:
    """Return sums by video and bin: outcomes less scores, and counts, by width and then by size; (V, 4 x bins)."""
    edges = np.unique(np.quantile(estimate.score, np.arange(1, N_BINS) / N_BINS))
    by_size = np.searchsorted(edges, estimate.score, side="left")
    columns = [
        np.bincount(estimate.video * N_BINS + bins, values, n_videos * N_BINS).reshape(n_videos, N_BINS)
        for bins in (_by_width(estimate.score), by_size)
        for values in (estimate.outcome - estimate.score, None)
    ]
    return np.concatenate(columns, axis=1).astype(np.float64)


def _reliability(estimate: JudgedScores, table: Floats, draws: Floats) -> Reliability:
    in_width, n_width, in_size, n_size = np.split(table, 4, axis=1)
    _, _, drawn_size, n_drawn = np.split(draws, 4, axis=1)
    n_moments, n, total = len(estimate.score), n_size.sum(axis=0), n_drawn.sum(axis=1)
    share, mean = n / n_moments, _over(in_size.sum(axis=0), n)
    n_videos = len(np.unique(estimate.video))
    variance = _over(((in_size - mean * n_size) ** 2).sum(axis=0) * n_videos / (n_videos - 1), n**2)
    plain = float((share * mean**2).sum())
    squares = _over(drawn_size**2, n_drawn).sum(axis=1) / total
    bounds = np.maximum(2 * plain - np.quantile(squares, [0.975, 0.025]), 0.0)  # the basic interval
    by_width = _by_width(estimate.score)
    count = np.bincount(by_width, minlength=N_BINS)
    at = np.flatnonzero(count)
    return Reliability(
        moments=estimate.moments,
        target=estimate.target,
        mean_score=float(estimate.score.mean()),
        mean_target=float(estimate.outcome.mean()),
        overconfidence=FigureWithInterval(
            float((estimate.score - estimate.outcome).mean()),
            np.quantile(-drawn_size.sum(axis=1) / total, [0.025, 0.975]),
        ),
        ece_width=float(np.abs(in_width.sum(axis=0)).sum() / n_width.sum()),
        ece_size=float(np.abs(in_size.sum(axis=0)).sum() / n_moments),
        by_chance=float((share * np.sqrt(2 * variance / math.pi)).sum()),
        rmsce=FigureWithInterval(math.sqrt(max(plain - float((share * variance).sum()), 0.0)), np.sqrt(bounds)),
        score=np.bincount(by_width, estimate.score, N_BINS)[at] / count[at],
        outcome=np.bincount(by_width, estimate.outcome, N_BINS)[at] / count[at],
        count=count[at],
    )


def isotonic(score: Floats, outcome: Floats, half: Bools) -> Floats:
    """Map scores to outcomes, (M,): those of each half by the rising map that fits the other half best.

    The map takes the mean outcome of up to 100 classes of scores of equal size, pools neighbours that fall (pool
    adjacent violators, Ayer et al. 1955), and interpolates.

    Examples
    --------
    >>> rises = np.repeat(np.arange(4.0), 50)
    >>> isotonic(5 * rises - 7, rises / 4, np.arange(200) % 2 == 0)[::50].tolist()
    [0.0, 0.25, 0.5, 0.75]
    """
    mapped = np.zeros(len(score))
    for fit in (half, ~half):
        edges = np.unique(np.quantile(score[fit], np.arange(1, N_STEPS) / N_STEPS))
        step = np.searchsorted(edges, score[fit], side="left")
        n = np.bincount(step, minlength=len(edges) + 1)
        at = np.flatnonzero(n)
        place, mean = (np.bincount(step, values[fit], len(n))[at] / n[at] for values in (score, outcome))
        mapped[~fit] = np.interp(score[~fit], place, _rising(mean, n[at]))
    return mapped


def _rising(mean: Floats, n: Ints) -> Floats:
    """Return the rising values that are nearest to means of n each, by pooling neighbours."""
    pools: list[tuple[float, int, int]] = []  # mean, weight, number of classes
    for value, weight in zip(mean.tolist(), n.tolist(), strict=True):
        pools.append((value, weight, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, p, i), (b, q, j) = pools[-2:]
            pools[-2:] = [((a * p + b * q) / (p + q), p + q, i + j)]
    return np.repeat([value for value, _, _ in pools], [count for _, _, count in pools])


def rank_correlation(a: Floats, b: Floats) -> float:
    """Return Spearman's rank correlation, tied values with their mean rank; NaN where either is constant.

    Examples
    --------
    >>> rank_correlation(np.array([1.0, 2.0, 2.0, 5.0]), np.array([0.1, 0.3, 0.3, 0.9]))
    1.0
    """
    ranks = [_ranks(values) - (len(values) - 1) / 2 for values in (a, b)]
    spread = math.sqrt(float((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum()))
    return float((ranks[0] * ranks[1]).sum()) / spread if spread > 0 else math.nan


def auc(score: Floats, hit: Bools, video: Ints) -> FigureWithInterval:
    """Return the area under the ROC curve of scores, (M,), for hits, with an interval over videos; NaN with one class.

    Examples
    --------
    >>> auc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, False, True, True]), np.arange(4)).value
    0.875
    """
    n_hit, n_miss = int(hit.sum()), int((~hit).sum())
    if not n_hit or not n_miss:
        return FigureWithInterval(math.nan, np.full(2, np.nan))
    ranks = _ranks(score)
    above = np.zeros(len(score))  # of a hit: share of misses below it; of a miss: share of hits above it
    above[hit] = (ranks[hit] - _ranks(score[hit])) / n_miss
    above[~hit] = 1 - (ranks[~hit] - _ranks(score[~hit])) / n_hit
    area = float(above[hit].mean())
    by_video = np.bincount(video, (above - area) / np.where(hit, n_hit, n_miss))
    n_videos = len(np.unique(video))
    error = math.sqrt(n_videos / (n_videos - 1) * float((by_video**2).sum()))
    return FigureWithInterval(area, np.clip(area + np.array([-1.96, 1.96]) * error, 0, 1))


def _means_of_highest(score: Floats, outcome: Floats) -> Floats:
    """Return mean outcomes of the moments with the highest scores, by coverage; equal scores have their mean outcome.

    Examples
    --------
    >>> _means_of_highest(np.array([1.0, 3.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0, 0.0])).tolist()
    [1.0, 1.0, 0.5, 0.5, 0.5]
    """
    _, group, count = np.unique(-score, return_inverse=True, return_counts=True)
    expected = (np.bincount(group, outcome) / count)[np.sort(group)]
    size = np.array([max(1, round(share * len(score))) for share in COVERAGES])
    return np.asarray(np.cumsum(expected)[size - 1] / size)


def _ranks(values: Floats) -> Floats:
    """Return ranks from 0, tied values with their mean."""
    _, number, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count + 1) / 2)[number]


def _nearest_iou(annotations: Annotations, query: Ints, start_s: Floats, end_s: Floats) -> Floats:
    """Return the IoU of moments with the nearest reference of their query, (M,)."""
    start, end = (pad(annotations.offsets, column) for column in (annotations.start_s, annotations.end_s))
    best = np.zeros(len(query))
    for r in range(start.shape[1]):
        iou = temporal_iou(start_s, end_s, start[query, r], end[query, r])
        best = np.fmax(best, iou)
    return best


def _over(numerator: Floats, denominator: Floats) -> Floats:
    return np.divide(numerator, denominator, out=np.zeros(denominator.shape), where=denominator > 0)
