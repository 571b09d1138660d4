r"""Differences between methods over other videos *and* other trainings, from several runs.

A run is one training; its figure is a ratio of sums over queries, which lie in videos. With :math:`\theta_s` the figure
of run s, :math:`W_s` its weight, and :math:`x_{sv}, w_{sv}` the sums of video v, the linearised part of a video is

.. math:: u_{sv} = (x_{sv} - \theta_s w_{sv}) / W_s .

Runs and videos are crossed: :math:`u_{sv}` has an effect of the video, one of the run, and a rest of both. The mean of
S runs over V videos has the variance :math:`\sigma^2_{video}/V + \sigma^2_{run}/S + \sigma^2_{rest}/(SV)`. For methods
1 and 2, trained independently,

.. math::

    A &= \frac{V}{V-1} \sum_v (\bar u_{1v} - \bar u_{2v})^2, \qquad B_g = \operatorname{var}_s(\theta_s) / S_g, \\
    C_g &= \frac{1}{S_g (S_g - 1)} \frac{V}{V-1} \sum_{s,v} (u_{sv} - \bar u_{gv})^2, \qquad
    T = A + \sum_g \max(B_g - C_g, 0).

A and B both contain the rest, so C subtracts it once. The B and C of a method with one run are 0. The t
test of the difference has
:math:`\max(1, T^2 / (A^2/(V-1) + \sum_g B_g^2/(S_g-1)))` degrees of freedom;
``benchmarks/trainings.py`` measures its errors.

References
----------
N. A. Obuchowski and H. E. Rockette, Communications in Statistics 24 (1995), 285: readers and cases, which are runs and
videos here; S. L. Hillis, Statistics in Medicine 26 (2007), 596: the degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import numbers_of
from truemoment.evaluation.repeated_measures import caption_without_repeats
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.student import two_sided_p, two_sided_quantile
from truemoment.evaluation.uncertainty import LEVEL, ROUNDING, sums_by_video
from truemoment.report.model import Cell, Table
from truemoment.report.words import UNDEFINED, listed, number

if TYPE_CHECKING:
    from truemoment.studies.compare.comparison import Comparison

POWER = 0.8
"""Share of test sets in which the smallest detectable difference of a split would be found."""

SOURCES = ("queries", "videos", "trainings")
"""Sources of the variance of a difference."""


@dataclass(frozen=True, eq=False)
class TrainingsTested:
    """P differences in M measures, tested over videos and trainings; NaN where both methods have one run.

    Parameters
    ----------
    interval : (P, M, 2)
        95 % intervals, corrected for all comparisons (Bonferroni).
    p, p_corrected : (P, M)
        Two-sided p-values, and the same corrected.
    resolves : (P, M)
        Smallest true difference that would be found in 80 % of such splits and trainings, with the correction.
    freedom : (P, M)
        Degrees of freedom.
    share : (P, M, 3)
        Share of the variance that comes from queries, videos and trainings (:data:`SOURCES`); the first two are
        undefined where every video has one query.
    """

    interval: Floats
    p: Floats
    p_corrected: Floats
    resolves: Floats
    freedom: Floats
    share: Floats


@dataclass(frozen=True, eq=False)
class _TrainedMethod:
    """The runs of one method: mean (M,), linearised parts of queries (Q, M) and videos (V, M), and variances (M,)."""

    mean: Floats
    of_query: Floats
    of_video: Floats
    between_runs: Floats  # B
    rest: Floats  # C
    n_runs: int


def over_trainings(
    groups: Sequence[Sequence[Scores]], pairs: Sequence[tuple[int, int]], *, family: int = 0
) -> TrainingsTested:
    """Test the differences of pairs of methods, given the scores of their runs on the same queries.

    They are corrected for `family` comparisons, or for those that are tested here if there are more.

    Examples
    --------
    >>> import numpy as np
    >>> from truemoment import Annotations, Predictions
    >>> from truemoment.evaluation.evaluate import evaluate
    >>> videos = [f"v{i}" for i in range(8)]
    >>> annotations = Annotations.from_rows([(f"{v}#0", v, 30.0, "a door opens", 2.0, 6.0) for v in videos])
    >>> def answers(end_s):
    ...     ends = np.where(np.arange(8) < 4, end_s, end_s - 0.25)
    ...     lists = {f"{v}#0": [(2.0, end)] for v, end in zip(videos, ends, strict=True)}
    ...     return evaluate(annotations, Predictions.from_lists(lists), "mIoU")
    >>> tests = over_trainings([[answers(5.0), answers(5.5)], [answers(4.0), answers(4.25)]], [(0, 1)])
    >>> tests.interval.round(3).tolist(), tests.p.round(3).tolist(), tests.freedom.round(2).tolist()
    ([[[-0.151, 0.714]]], [[0.092]], [[1.47]])
    >>> tests.share.round(3).tolist()
    [[[nan, nan, 1.0]]]
    """
    methods = [_measured(runs) for runs in groups]
    video = numbers_of(groups[0][0].video_id)
    results = [_tested(methods[i], methods[j], video) for i, j in pairs]
    difference, variance, freedom, share = (np.stack(parts) for parts in zip(*results, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(variance > ROUNDING**2, np.sqrt(variance), np.nan)
        p = two_sided_p(difference / error, freedom)
        family = max(int(np.isfinite(p).sum()), family, 1)
        margin = two_sided_quantile(LEVEL / family, freedom) * error
    return TrainingsTested(
        interval=np.stack([difference - margin, difference + margin], axis=-1),
        p=p,
        p_corrected=np.minimum(p * family, 1),
        resolves=margin + NormalDist().inv_cdf(POWER) * error,
        freedom=freedom,
        share=share,
    )


def _measured(runs: Sequence[Scores]) -> _TrainedMethod:
    """Return the mean of a method's runs, and the terms of its variance."""
    n_runs = len(runs)
    figures = np.array([[run.value(measure) for measure in run.measures] for run in runs])  # (S, M)
    weights = np.array([run.weight.sum(axis=1) for run in runs])
    sums = [sums_by_video(run) for run in runs]
    with np.errstate(divide="ignore", invalid="ignore"):
        of_video = np.array(
            [(x - figure * w) / total for (x, w), figure, total in zip(sums, figures, weights, strict=True)]
        )  # (S, V, M)
        of_query = np.mean(
            [
                (run.numerator.T - figure * run.weight.T) / total
                for run, figure, total in zip(runs, figures, weights, strict=True)
            ],
            axis=0,
        )
    between_runs, rest = np.zeros((2, figures.shape[1]))
    if n_runs > 1:
        n_videos = of_video.shape[1]
        squares = ((of_video - of_video.mean(axis=0)) ** 2).sum(axis=(0, 1))
        between_runs = figures.var(axis=0, ddof=1) / n_runs
        rest = squares / (n_runs * (n_runs - 1)) * np.divide(n_videos, max(n_videos - 1, 1))
    return _TrainedMethod(figures.mean(axis=0), of_query, of_video.mean(axis=0), between_runs, rest, n_runs)


def _tested(a: _TrainedMethod, b: _TrainedMethod, video: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the difference of two methods, its variance, degrees of freedom and shares of the variance; (M,) each."""
    n_videos = len(a.of_video)
    unknown = np.full(a.mean.shape, np.nan)
    if n_videos < 2 or a.n_runs == b.n_runs == 1:
        return a.mean - b.mean, unknown, unknown, np.full((len(unknown), len(SOURCES)), np.nan)
    from_videos = n_videos / (n_videos - 1) * ((a.of_video - b.of_video) ** 2).sum(axis=0)
    from_queries = np.minimum(_within_videos(a.of_query - b.of_query, video), from_videos)
    from_trainings = sum(np.maximum(method.between_runs - method.rest, 0) for method in (a, b))
    variance = from_videos + from_trainings
    spread = sum(method.between_runs**2 / max(method.n_runs - 1, 1) for method in (a, b))
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.maximum(variance**2 / (from_videos**2 / (n_videos - 1) + spread), 1)
        share = np.stack([from_queries, from_videos - from_queries, from_trainings], axis=-1) / variance[:, None]
    return a.mean - b.mean, variance, freedom, share


def _within_videos(of_query: Floats, video: Ints) -> Floats:
    """Return the variance of a sum over queries, (Q, M) to (M,), that comes from the queries within their videos.

    A video with a single query has the mean variance of a query in the other videos.
    """
    count = np.bincount(video).astype(np.float64)
    several = count[video] > 1
    if not several.any():
        return np.full(of_query.shape[1], np.nan)
    mean = np.stack([np.bincount(video, column) for column in of_query.T], axis=1) / count[:, None]
    squares = (of_query - mean[video]) ** 2 * (count / np.maximum(count - 1, 1))[video][:, None]
    return np.asarray(squares[several].sum(axis=0) * (len(video) / several.sum()))


# ----------------------------------------------------------------------------------------- report

EXPLANATION = (
    "where a method of a pair has several runs, differences are about other videos and other trainings, by a t test; "
    f"parts: how much of their variance comes from {' / '.join(SOURCES)}; more of the largest part's kind help most"
)


def trainings_table(comparison: Comparison, measures: Sequence[int]) -> Table:
    """Return the sources of the variance of differences at some measures: a row a pair with several runs."""
    tests = comparison.trainings
    pairs = [
        pair
        for pair in np.flatnonzero(np.isfinite(tests.share).any(axis=(1, 2))).tolist()
        if _several(comparison, pair)
    ]

    def cells(name: str, pair: int, row: int) -> tuple[Cell, ...]:
        parts = " / ".join(UNDEFINED if np.isnan(share) else f"{100 * share:.0f}" for share in tests.share[pair, row])
        return tuple(map(Cell, (name, number(float(tests.freedom[pair, row]), 1), parts)))

    groups = [
        (
            str(comparison.measures[row]),
            tuple(cells(" - ".join(comparison.methods[i] for i in comparison.pairs[at]), at, row) for at in pairs),
        )
        for row in measures
    ]
    caption = "What the uncertainty of differences over videos and trainings comes from"
    caption = caption_without_repeats(caption, measures, comparison.measures)
    return Table(caption, ("methods", "degrees of freedom", "parts (%)"), tuple(groups), text_columns=(0, 2))


def has_trainings(comparison: Comparison) -> bool:
    """Return whether a method that is no blind one has several runs, so that a pair is tested over its trainings."""
    is_tested = np.isfinite(comparison.trainings.share).any(axis=(1, 2))
    return any(_several(comparison, pair) for pair in np.flatnonzero(is_tested).tolist())


def _several(comparison: Comparison, pair: int) -> bool:
    names = (comparison.methods[number] for number in comparison.pairs[pair])
    return any(len(comparison.groups[name]) > 1 for name in names if name not in comparison.blind)


def trainings_notes(comparison: Comparison) -> Iterator[str]:
    """Name the methods with one run, where others have several."""
    names = [method for method, runs in comparison.groups.items() if len(runs) == 1 and method not in comparison.blind]
    if names and has_trainings(comparison):
        yield f"{listed(names)}: one run, so its own luck in training is in no interval"


def trainings_entry(comparison: Comparison, pair: int, row: int) -> dict[str, Any] | None:
    """Return the JSON values of a difference over videos and trainings; None where it is not tested so."""
    tests = comparison.trainings
    if np.isnan(tests.share[pair, row]).all():
        return None
    return {
        "degrees_of_freedom": float(tests.freedom[pair, row]),
        "variance": dict(zip(SOURCES, tests.share[pair, row].tolist(), strict=True)),
    }
