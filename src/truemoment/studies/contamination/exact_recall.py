r"""Exact recall of official times: answers with the official digits, more often than a method that sees the video.

The difference of an answer and the official time is counted in cells of 0.1 s, up to 10 cells to either side of 0. A
method that sees the video has differences whose density is smooth around 0. A method that recalls official times has a
spike in the cell at 0. The test compares the count at 0 with the count that the other cells predict:

.. math:: n_k \sim \mathrm{Poisson}(\lambda_k\, o_k), \quad \log \lambda_k = a + b\,|k| + c\,k, \quad k \ne 0

The slope b lets an honest density have a peak at 0. The number of opportunities :math:`o_k` makes the test aware of
grids: with N official times :math:`r_i`, answers :math:`a_j` and c = 50 cells in 5 s,

.. math:: o_k = \frac{c}{N - 1} \#\{(i, j): i \ne j,\ a_j \equiv r_i + k \pmod c\}

is how well official times, moved by k cells, fit the answers of other queries; a 20th of an even spread keeps it above
0. Answers in whole seconds hit official times in whole seconds more often, and this is no spike. The expected count at
0 is :math:`\mu = e^{a} o_0`, and p is :math:`P(N \ge n_0)` for a Poisson count whose log mean is normal with the
standard error of a.

For both ends of a moment, cells are pairs (j, k), the slopes are those of :math:`|j| + |k|, |j - k|, j, k`, and pairs
with j = 0 or k = 0 are left out of the fit: they may have spikes of their own.

An official time within reach of either end of the video is left out: answers at 0 or at the video's end are frequent
in every method. Each official time of a video counts once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import numbers_of
from truemoment.evaluation.uncertainty import interval95, normal_tail, resample_sums

OneSide = Literal["start", "end"]
Side = Literal["start", "end", "both"]
ONE_SIDE: tuple[OneSide, ...] = get_args(OneSide)
SIDES: tuple[Side, ...] = get_args(Side)

CELL_S = 0.1
"""Width of a cell, the resolution of most official times; an answer is exact within half of it."""

REACH = 10
"""Cells to either side of 0 that predict the count at 0."""

EDGE_S = (REACH + 1) * CELL_S
"""Official times closer to an end of the video are left out."""

PERIOD_S = 5.0
"""The longest grid of answers; see :mod:`truemoment.studies.evaluate.first_answers`."""

COARSE_S = 0.5
"""Official times on such a grid, or a coarser one, are not tested: a method on the same grid is often exact."""

EVEN = 0.05
"""Share of an even spread in the opportunities, so that none is 0 by chance."""

MOST_COARSE, ROUNDING_S = 0.9, 1e-6
_WIDTH, _PERIOD = 2 * REACH + 1, round(PERIOD_S / CELL_S)


@dataclass(frozen=True, eq=False)
class MomentPairs:
    """N answers and the official moments of their queries; all arrays (N,), seconds.

    Parameters
    ----------
    video_id
        Video of each.
    duration_s
        Duration of the video; NaN where it is not known.
    """

    video_id: Sequence[str]
    duration_s: Floats
    answer_start_s: Floats
    answer_end_s: Floats
    official_start_s: Floats
    official_end_s: Floats

    @property
    def answers_s(self) -> tuple[Floats, Floats]:
        """Starts and ends of the answers."""
        return self.answer_start_s, self.answer_end_s

    @property
    def differences_s(self) -> tuple[Floats, Floats]:
        """Absolute differences of starts and of ends."""
        return np.abs(self.answer_start_s - self.official_start_s), np.abs(self.answer_end_s - self.official_end_s)

    def times_s(self, side: OneSide) -> tuple[Floats, Floats]:
        """Return answers and official times of one side."""
        if side == "start":
            return self.answer_start_s, self.official_start_s
        return self.answer_end_s, self.official_end_s

    def inside(self, sides: Sequence[OneSide]) -> Bools:
        """Which answers lie within the video, not at its ends, on the given sides."""
        answers = [self.times_s(side)[0] for side in sides]
        half = CELL_S / 2
        return np.asarray(np.all([(time_s > half) & ~(time_s > self.duration_s - half) for time_s in answers], axis=0))

    def mask(self, side: Side) -> Bools:
        """Return which rows count: official times away from the ends of the video, each once per video."""
        ends = {"start": (self.official_start_s,), "end": (self.official_end_s,)}
        times = ends.get(side, (self.official_start_s, self.official_end_s))
        is_inside = np.all([(time_s > EDGE_S) & ~(time_s > self.duration_s - EDGE_S) for time_s in times], axis=0)
        rows = np.nonzero(is_inside & ~np.isnan(self.answer_start_s))[0]
        table = np.column_stack([numbers_of(self.video_id)[rows], *(_cells(time_s[rows]) for time_s in times)])
        mask = np.zeros(len(is_inside), dtype=bool)
        mask[rows[np.unique(table, axis=0, return_index=True)[1]]] = True
        return mask


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of C cells by video, with the official times of each video last, (V, C + 1); opportunities (C,)."""

    cells: Ints
    features: Floats
    opportunities: Floats
    by_video: Floats
    is_coarse: bool


def tally_of(pairs: MomentPairs, mask: Bools, side: Side) -> Tally:
    """Count the differences of the rows that count, on one side or on both."""
    sides = ONE_SIDE if side == "both" else (side,)
    cells, features = _cells_of(len(sides))
    answers, official = (
        np.stack([_cells(pairs.times_s(boundary)[column][mask]) for boundary in sides], axis=1) for column in (0, 1)
    )
    differences = np.stack([_cells(np.subtract(*pairs.times_s(boundary))[mask]) for boundary in sides], axis=1)
    is_near = np.all(np.abs(differences) <= REACH, axis=1)
    video = numbers_of(np.asarray(pairs.video_id, dtype=object)[mask])
    by_video = np.zeros((int(video.max(initial=-1)) + 1, len(cells) + 1))
    np.add.at(
        by_video, (video[is_near], np.ravel_multi_index((differences[is_near] + REACH).T, (_WIDTH,) * len(sides))), 1.0
    )
    np.add.at(by_video[:, -1], video, 1.0)
    steps = np.stack([pairs.times_s(boundary)[1][mask] for boundary in sides]) / COARSE_S
    on_step = np.abs(steps - np.rint(steps)) < ROUNDING_S
    return Tally(
        cells,
        features,
        _opportunities(answers, official, pairs.inside(sides)[mask], cells),
        by_video,
        on_step.size > 0 and bool((on_step.mean(axis=1) > MOST_COARSE).any()),
    )


def _cells(time_s: Floats) -> Ints:
    return np.asarray(np.rint(time_s / CELL_S), dtype=np.int64)


def _cells_of(n_sides: int) -> tuple[Ints, Floats]:
    """Return the cells (C, n_sides) and the features of the fit (C, F), a column of ones first."""
    steps = np.arange(-REACH, REACH + 1)
    cells = np.stack(np.meshgrid(*[steps] * n_sides, indexing="ij"), axis=-1).reshape(-1, n_sides)
    columns = [np.ones(len(cells)), np.abs(cells).sum(axis=1) / REACH, *(cells.T / REACH)]
    if n_sides == 2:
        columns.append(np.abs(cells[:, 0] - cells[:, 1]) / REACH)
    return cells, np.column_stack(columns)


def _opportunities(answers: Ints, official: Ints, is_inside: Bools, cells: Ints) -> Floats:
    """Return how well official times (N, S), moved by each cell, fit the answers of other queries (N, S): (C,).

    Answers that are not marked in `is_inside` (N,) are left out.
    """
    shape = (_PERIOD,) * cells.shape[1]
    n_answers, n_official, n_own = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    np.add.at(n_answers, tuple(np.mod(answers[is_inside], _PERIOD).T), 1.0)
    np.add.at(n_official, tuple(np.mod(official, _PERIOD).T), 1.0)
    np.add.at(n_own, tuple(np.mod((answers - official)[is_inside], _PERIOD).T), 1.0)
    matches = [
        float((n_official * _moved(n_answers, cell)).sum() - n_own[tuple(np.mod(cell, _PERIOD))]) for cell in cells
    ]
    fits = np.maximum(matches, 0.0) * n_answers.size / max(int(is_inside.sum()) - 1, 1)
    return (1 - EVEN) * fits + EVEN * len(official)


def _moved(table: Floats, cell: Ints) -> Floats:
    return np.asarray(np.roll(table, tuple(-cell), axis=tuple(range(table.ndim))))


PRIOR_DEVIATION = 2.0
"""Deviation of the normal prior of each slope over the reach: few counts do not decide a slope."""

ADDED_COUNT = 0.5
"""Total that is added to the counts of a fit, by opportunities: a mean is defined if all other cells are empty."""

FEWEST = 50
"""Fewer official times are not tested."""

FEWEST_ROUNDED = 100
"""Fewer answers in whole seconds are not tested."""

HALF_SECOND = round(0.5 / CELL_S)
"""Cells in half a second."""

_STEPS = 25
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_CHANCES = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True, eq=False)
class ExactRecall:
    """Exact answers of one side, or of both, compared with the prediction of the neighbourhood.

    Parameters
    ----------
    n, n_videos
        Official times that count, and their videos.
    n_exact
        Number of exact answers.
    share, share_ci95
        Their share.
    expected
        Share that the neighbourhood predicts.
    excess, excess_ci95
        Share above it: an estimate of the share of official times that are recalled.
    p
        One-sided p-value.
    detectable
        Share of recalled times that the test finds in 80 of 100 such files, at `level`.
    difference_s, counts, predicted
        Of one side: the cells, how many answers are in each, and how many the fit predicts.
    """

    side: Side
    n: int
    n_videos: int
    n_exact: int
    share: float
    share_ci95: tuple[float, float]
    expected: float
    excess: float
    excess_ci95: tuple[float, float]
    p: float
    detectable: float
    difference_s: Floats
    counts: Ints
    predicted: Floats


def exact_recall(
    pairs: MomentPairs, side: Side, rng: np.random.Generator, *, resamples: int = 1000, level: float = 0.05
) -> ExactRecall | None:
    """Test one side for exact recall; None with fewer than :data:`FEWEST` official times. 0 `resamples`: no interval.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> start_s = np.round(rng.uniform(3, 20, 500), 1)
    >>> official = {"official_start_s": start_s, "official_end_s": start_s + 5.0}
    >>> error_s = np.where(rng.random(500) < 0.1, 0.0, np.round(rng.normal(0, 2, 500), 1))
    >>> answers = {"answer_start_s": start_s + error_s, "answer_end_s": start_s + error_s + 5.0}
    >>> videos = [f"v{k}" for k in range(500)]
    >>> recall = exact_recall(MomentPairs(videos, np.full(500, 30.0), **official, **answers), "start", rng, resamples=0)
    >>> recall.n_exact, round(recall.expected, 2), recall.p < 1e-6
    (46, 0.02, True)
    """
    mask = pairs.mask(side)
    n = int(mask.sum())
    tally = tally_of(pairs, mask, side)
    if n < FEWEST or tally.is_coarse:
        return None
    cells, features, opportunities, table = tally.cells, tally.features, tally.opportunities, tally.by_video
    keep, centre = np.all(cells != 0, axis=1), len(cells) // 2
    counts = table.sum(axis=0)[:-1]
    coefficients, error = _fit(counts[None, keep], opportunities[keep], features[keep])
    log_means = math.log(opportunities[centre]) + coefficients[0, 0] + error[0] * np.array([0.0, *_NODES])
    expected, *means = np.exp(np.minimum(log_means, math.log(n))).tolist()
    expected /= n
    n_exact = int(counts[centre])
    share_ci95 = excess_ci95 = (math.nan, math.nan)
    if resamples and len(table) > 1:
        draws = resample_sums(table, rng, resamples=resamples)
        slopes, _ = _fit(draws[:, :-1][:, keep], opportunities[keep], features[keep])
        shares = draws[:, centre] / draws[:, -1]
        excesses = shares - np.exp(np.minimum(slopes[:, 0] + math.log(opportunities[centre]), math.log(n))) / n
        share_ci95, excess_ci95 = (_ends(values) for values in (shares, excesses))
    return ExactRecall(
        side=side,
        n=n,
        n_videos=len(table),
        n_exact=n_exact,
        share=n_exact / n,
        share_ci95=share_ci95,
        expected=expected,
        excess=n_exact / n - expected,
        excess_ci95=excess_ci95,
        p=_tail(n_exact, np.array(means)),
        detectable=_detectable(np.array(means), n, level),
        difference_s=cells * CELL_S,
        counts=counts.astype(np.int64),
        predicted=np.exp(features @ coefficients[0]) * opportunities,
    )


@dataclass(frozen=True)
class RoundedRecall:
    """Whole-second answers within half a second of both ends, compared with the prediction of answers further away.

    Parameters
    ----------
    n, n_videos
        Official moments that count, with an answer in whole seconds, and their videos.
    share, share_ci95
        Share of the answers within half a second at both ends.
    ratio, ratio_ci95
        Ratio of their number to the number that the neighbourhood predicts.
    p
        One-sided p-value.
    """

    n: int
    n_videos: int
    share: float
    share_ci95: tuple[float, float]
    ratio: float
    ratio_ci95: tuple[float, float]
    p: float


def rounded_recall(pairs: MomentPairs, rng: np.random.Generator, *, resamples: int = 1000) -> RoundedRecall | None:
    """Test whole-second answers for recall of official moments that are rounded; None with fewer than 100 of them.

    Such answers are the whole seconds nearest to the official times, never the next ones: the density of their
    differences falls at half a second. The fit of both ends has a step there, and p is that of its size. A method whose
    error is often below half a second has such a step too.
    """
    is_whole = np.all([np.abs(time_s - np.rint(time_s)) < ROUNDING_S for time_s in pairs.answers_s], axis=0)
    mask = pairs.mask("both") & is_whole
    tally = tally_of(pairs, mask, "both")
    n = int(mask.sum())
    if n < FEWEST_ROUNDED or tally.is_coarse:
        return None
    distance = np.abs(tally.cells)
    inner, keep = np.all(distance < HALF_SECOND, axis=1), np.all(distance != HALF_SECOND, axis=1)
    features = np.column_stack([inner.astype(np.float64), tally.features])
    size, error = _fit(tally.by_video[:, :-1].sum(axis=0)[None, keep], tally.opportunities[keep], features[keep])
    share_ci95 = ratio_ci95 = (math.nan, math.nan)
    if resamples and len(tally.by_video) > 1:
        draws = resample_sums(tally.by_video, rng, resamples=resamples)
        sizes, _ = _fit(draws[:, :-1][:, keep], tally.opportunities[keep], features[keep])
        share_ci95 = _ends(draws[:, :-1][:, inner].sum(axis=1) / draws[:, -1])
        ratio_ci95 = _ends(np.exp(sizes[:, 0]))
    return RoundedRecall(
        n=n,
        n_videos=len(tally.by_video),
        share=float(tally.by_video[:, :-1][:, inner].sum() / n),
        share_ci95=share_ci95,
        ratio=math.exp(size[0, 0]),
        ratio_ci95=ratio_ci95,
        p=float(normal_tail(np.asarray(size[0, 0] / error[0]))),
    )


def _ends(values: Floats) -> tuple[float, float]:
    low, high = interval95(values).tolist()
    return low, high


# --------------------------------------------------------------------------------------------- the fit


def _fit(counts: Floats, opportunities: Floats, features: Floats) -> tuple[Floats, Floats]:
    """Fit Poisson counts (B, C) by Newton's method; coefficients (B, F), and standard errors of the first (B,).

    The column of ones has no prior.
    """
    constant = int(np.argmax(np.all(features == 1, axis=0)))
    n_features = features.shape[1]
    precision = np.diag([1e-6 if column == constant else PRIOR_DEVIATION**-2 for column in range(n_features)])
    offset, total = np.log(opportunities), opportunities.sum()
    counts = counts + ADDED_COUNT * opportunities / total
    coefficients = np.zeros((len(counts), n_features))
    coefficients[:, constant] = np.log(counts.sum(axis=1) / total)
    for _ in range(_STEPS):
        means = np.exp(np.minimum(coefficients @ features.T + offset, 30.0))
        gradient = (counts - means) @ features - coefficients @ precision
        hessian = np.einsum("bc,cf,cg->bfg", means, features, features) + precision
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        coefficients = coefficients + np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-8:
            break
    return coefficients, np.sqrt(np.linalg.inv(hessian)[:, 0, 0])


def _tail(count: int, means: Floats) -> float:
    """Return the chance of `count` or more, for a Poisson count whose mean is drawn at the nodes."""
    return float(sum(weight * _poisson_tail(count, float(mean)) for mean, weight in zip(means, _CHANCES, strict=True)))


def _poisson_tail(count: int, mean: float) -> float:
    if count == 0 or mean > 1e8:
        return 1.0
    if mean <= 0:
        return 0.0
    last = max(count, mean) + 12 * math.sqrt(max(count, mean)) + 60
    terms = np.arange(count if count > mean else 0, last if count > mean else count)
    first = float(terms[0])
    log_factorials = math.lgamma(first + 1) + np.append(0.0, np.cumsum(np.log(terms[1:])))
    logs = terms * math.log(mean) - mean - log_factorials
    part = float(np.exp(logs).sum())
    return min(1.0, part if count > mean else 1.0 - part)


def _detectable(means: Floats, n: int, level: float) -> float:
    """Return the share of recalled times that makes p at most `level` in 80 of 100 files."""
    fewest, most = 0, n + 1  # counts that are no sign, and a count that is one
    while most - fewest > 1:
        middle = (fewest + most) // 2
        fewest, most = (fewest, middle) if _tail(middle, means) <= level else (middle, most)
    low, high = 0.0, 1.0
    for _ in range(20):
        share = (low + high) / 2
        detects = _tail(most, means + share * n) >= 0.8
        low, high = (low, share) if detects else (share, high)
    return high
