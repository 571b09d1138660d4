r"""Agreement of annotators: overlap of their moments pair by pair, and Krippendorff's alpha.

*Pairwise IoU* of a query is the mean over its pairs of annotators; every query has the same weight.

*Krippendorff's alpha* compares the disagreement within queries with the disagreement by chance:

.. math:: \alpha = 1 - \frac{D_o}{D_e}, \quad
          D_o = \frac{1}{n} \sum_u \frac{1}{m_u - 1} \sum_{i \ne j} \delta(c_{ui}, c_{uj}), \quad
          D_e = \frac{1}{n (n - 1)} \sum_{k \ne l} \delta(c_k, c_l)

with :math:`m_u` moments of query u, :math:`n = \sum_u m_u`, and ordered pairs. The difference of two moments is the
Jaccard distance :math:`1 - \mathrm{IoU}` as shares of the video; that of two starts or ends is squared. Guide:
``docs/humans.md``.

References
----------
Pairwise IoU: Hidden Challenges (Otani et al. 2020), section 5. Alpha: K. Krippendorff, Content Analysis, 2nd edition
(2004), chapter 11. The Jaccard distance is a metric: M. Levandowsky and D. Winter, Distance between sets, Nature 234
(1971).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import TIE, Bools, Floats, Ints, seconds_to_norm, temporal_iou
from truemoment.base.records import Annotations, Strings, numbers_of
from truemoment.evaluation.references import pad
from truemoment.evaluation.uncertainty import interval95, resample_sums

MOST_PAIRS = 150_000_000
"""Pairs of distinct moments that the expected disagreement is computed over; beyond, over a random sample of them."""

BLOCK_PAIRS = 1 << 21
"""Pairs in memory at a time."""

EQUAL_NORM = 1e-9
"""Shares of the video this close are equal: 55 % of 30.1 s, divided by 30.1 s, is not 0.55 to the last bit."""


# ---------------------------------------------------------------------------------------------- annotators


@dataclass(frozen=True, eq=False)
class Annotators:
    """Queries that two or more annotators marked, a moment each.

    Parameters
    ----------
    annotations
        Those queries alone, in order.
    start_s, end_s : (Q, A)
        Moments as marked, NaN where a query has fewer than A annotators; in file order.
    left_out
        Number of queries left out, by reason.

    Examples
    --------
    >>> rows = [("v#0", "v", 30.0, "a door opens", s, 6.0, f"a{s}") for s in (2.0, 3.0)]
    >>> marked = Annotators.of(Annotations.from_rows([*rows, ("v#1", "v", 30.0, "she sits", 1.0, 2.0, "a2")]))
    >>> len(marked), marked.counts.tolist(), dict(marked.left_out)
    (1, [2], {'one annotator': 1})
    """

    annotations: Annotations
    start_s: Floats
    end_s: Floats
    left_out: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, annotations: Annotations) -> Annotators:
        """Take the queries that several annotators marked.

        Left out, and counted, are queries of no named annotator, of one, without a moment, and those in which an
        annotator marked several moments: agreement is between single moments.
        """
        why = [_why_left_out(annotations, *bounds) for bounds in pairwise(annotations.offsets.tolist())]
        left_out = Counter(reason for reason in why if reason)
        keep = np.array([not reason for reason in why], dtype=bool)
        if not keep.any():
            raise UsageError(f"{annotations.dataset}/{annotations.split}: {_why_none(left_out)}")
        several = annotations.select_queries(keep)
        start_s, end_s = pad(several.offsets, several.start_s), pad(several.offsets, several.end_s)
        return cls(several, start_s, end_s, dict(left_out))

    def __len__(self) -> int:
        return self.annotations.n_queries

    @property
    def moments(self) -> tuple[Floats, Floats]:
        """Starts and ends as marked, (Q, A) each."""
        return self.start_s, self.end_s

    @property
    def present(self) -> Bools:
        """Which cells have an annotator, shape (Q, A)."""
        return ~np.isnan(self.start_s)

    @property
    def others(self) -> Bools:
        """Which other annotators each annotator of a query has, shape (Q, A, A)."""
        present = self.present
        return present[:, :, None] & present[:, None] & ~np.eye(present.shape[1], dtype=bool)

    @property
    def counts(self) -> Ints:
        """Number of annotators of each query, shape (Q,)."""
        return np.diff(self.annotations.offsets)

    @property
    def duration_s(self) -> Floats:
        """Duration of each query's video, shape (Q,); NaN where it is not known."""
        return np.asarray(self.annotations.queries.duration_s)

    @property
    def video(self) -> Ints:
        """Number of each query's video, in the order in which they first occur, shape (Q,)."""
        return numbers_of(self.annotations.queries.video_id)

    @property
    def before_video(self) -> Bools:
        """Which queries have a moment that begins (or ends) before the video does, shape (Q,)."""
        return np.asarray(((self.start_s < 0) | (self.end_s < 0)).any(axis=1))  # False where one is absent

    def identical(self) -> Bools:
        """Which two annotators of a query marked the same moment, shape (Q, A, A); each the same as itself.

        Times as shares of the video closer than 1e-9 are the same (seconds, where the duration is not known).
        """
        scale = np.where(self.duration_s > 0, self.duration_s, 1.0)[:, None, None]
        same: Bools = np.broadcast_to(True, (*self.start_s.shape, self.start_s.shape[1]))
        for times in (self.start_s, self.end_s):
            same = same & (np.abs(times[:, :, None] - times[:, None]) <= EQUAL_NORM * scale)
        return same  # False where one is absent: NaN is near nothing

    def pairwise_iou(self) -> Floats:
        """IoU of every two annotators of a query, shape (Q, A, A); NaN where one is absent."""
        iou = temporal_iou(self.start_s[:, :, None], self.end_s[:, :, None], self.start_s[:, None], self.end_s[:, None])
        return np.asarray(np.where(self.present[:, :, None] & self.present[:, None], iou, np.nan))

    def select_queries(self, keep: Bools) -> Annotators:
        """Return the queries marked True, in order; `keep` has shape (Q,)."""
        selected = self.annotations.select_queries(keep)
        return Annotators(
            selected, pad(selected.offsets, selected.start_s), pad(selected.offsets, selected.end_s), self.left_out
        )


NO_NAME, ONE, NO_MOMENT, SEVERAL_MOMENTS = (
    "no annotator named",
    "one annotator",
    "no moment",
    "several moments of one annotator",
)


def _why_left_out(annotations: Annotations, low: int, high: int) -> str:
    names: Strings = annotations.annotator[low:high]
    if np.isnan(annotations.start_s[low]):
        return NO_MOMENT
    if not all(names):
        return NO_NAME
    if len(set(names)) == 1:
        return ONE
    return SEVERAL_MOMENTS if len(set(names)) < len(names) else ""


def _why_none(left_out: Mapping[str, int]) -> str:
    if set(left_out) <= {NO_NAME, NO_MOMENT}:
        return "no annotators are named, expected two or more a query"
    if set(left_out) <= {NO_NAME, NO_MOMENT, ONE}:
        return "no query has more than one annotator, expected two or more"
    reasons = ", ".join(f"{why} ({count:,})" for why, count in left_out.items())
    return f"no query has two or more annotators with one moment each; queries left out: {reasons}"


# ----------------------------------------------------------------------------------------- pairwise overlap


@dataclass(frozen=True)
class PairwiseIoU:
    """Overlap of annotators' moments, fractions; every query counts once.

    Parameters
    ----------
    at_least_half, disjoint
        Share of pairs with an IoU of 0.5 or more, and of pairs that do not overlap at all.
    mean_ci95, at_least_half_ci95, disjoint_ci95
        By resampling videos; NaN where there is one video.
    """

    mean: float
    at_least_half: float
    disjoint: float
    mean_ci95: tuple[float, float]
    at_least_half_ci95: tuple[float, float]
    disjoint_ci95: tuple[float, float]
    n_pairs: int


def agreement_by_query(annotators: Annotators) -> Floats:
    """Mean IoU, share of pairs at 0.5 or more, and share of disjoint pairs of each query; shape (Q, 3), fractions."""
    iou = annotators.pairwise_iou()
    pair = ~np.isnan(iou) & ~np.eye(iou.shape[1], dtype=bool)
    n_pairs = pair.sum(axis=(1, 2))
    of_pairs = (iou, iou >= 0.5 - TIE, iou <= 0)
    return np.stack([np.where(pair, of_pair, 0.0).sum(axis=(1, 2)) / n_pairs for of_pair in of_pairs], axis=1)


def pairwise_iou(annotators: Annotators, rng: np.random.Generator, *, resamples: int = 1000) -> PairwiseIoU:
    """Overlap of annotators over all queries."""
    by_query = agreement_by_query(annotators)
    video = annotators.video
    sums = np.stack([np.bincount(video, column) for column in by_query.T], axis=1)
    n_queries = np.bincount(video).astype(np.float64)
    drawn = resample_sums(np.column_stack([sums, n_queries]), rng, resamples=resamples)
    intervals = interval95(drawn[:, :3] / drawn[:, 3:])
    if len(n_queries) < 2:
        intervals = np.full((3, 2), np.nan)
    counts = annotators.counts
    mean, at_least_half, disjoint = by_query.mean(axis=0).tolist()
    of_mean, of_half, of_disjoint = map(_pair, intervals)
    n_pairs = int((counts * (counts - 1) // 2).sum())
    return PairwiseIoU(mean, at_least_half, disjoint, of_mean, of_half, of_disjoint, n_pairs)


# --------------------------------------------------------------------------------------------------- alpha


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha.

    Parameters
    ----------
    value
        At most 1; NaN where chance alone would agree wholly (all moments are one), so that alpha is undefined.
    observed, expected
        Disagreement within queries, and by chance.
    ci95
        By resampling videos; NaN where there is one video. The expected disagreement of a resample is computed to
        first order (its Hajek projection), so that no resample needs all pairs; where it is computed on a sample, the
        interval includes the error of the sample.
    n_moments, n_against
        How many moments there are, and how many of them each was compared with for the expected disagreement: all,
        or a random sample where there are too many different ones.
    """

    value: float
    observed: float
    expected: float
    ci95: tuple[float, float]
    n_moments: int
    n_against: int


def moment_alpha(annotators: Annotators, rng: np.random.Generator, *, resamples: int = 1000) -> Alpha:
    """Krippendorff's alpha of moments, by the Jaccard distance of shares of the video.

    Moments that are the same have distance 0, also where they are empty; an empty or swapped moment has distance 1
    from any other.

    Examples
    --------
    >>> import numpy as np
    >>> rows = [
    ...     (f"v#{q}", f"v{q}", 30.0, "a door opens", 3.0 * q, 3.0 * q + 3, name) for q in range(9) for name in "ab"
    ... ]
    >>> marked = Annotators.of(Annotations.from_rows(rows))
    >>> moment_alpha(marked, np.random.default_rng(0)).value  # both mark the same
    1.0
    """
    start, end = _shares(annotators)
    for_sample, for_draws = rng.spawn(2)
    within = 1 - annotators.pairwise_iou()
    within[annotators.identical()] = 0
    chance = _distance_from_all(start[annotators.present], end[annotators.present], for_sample)
    return _alpha(annotators, within, chance, for_draws, resamples)


def boundary_alpha(annotators: Annotators, rng: np.random.Generator, *, resamples: int = 1000) -> tuple[Alpha, Alpha]:
    """Krippendorff's alpha of starts and of ends, by the squared difference of shares of the video."""
    alphas = []
    for share, child in zip(_shares(annotators), rng.spawn(2), strict=True):
        within = (share[:, :, None] - share[:, None]) ** 2
        x = share[annotators.present]
        x = x - x.mean()  # squares of small numbers
        n = len(x)
        from_all = (n * x**2 - 2 * x * x.sum() + (x**2).sum()) / (n - 1)
        alphas.append(_alpha(annotators, within, _ChanceDistance(from_all, n), child, resamples))
    return alphas[0], alphas[1]


def _shares(annotators: Annotators) -> tuple[Floats, Floats]:
    """Moments as shares of the video, raw, each (Q, A)."""
    duration_s = annotators.duration_s
    if not np.all(duration_s > 0):
        q = int(np.flatnonzero(~(duration_s > 0))[0])
        raise InputError(
            f"got {duration_s[q]:g} for query {annotators.annotations.queries.query_id[q]!r}, expected the video's "
            "duration: alpha compares shares of videos",
            field="duration_s",
        )
    return tuple(seconds_to_norm(times, duration_s[:, None]) for times in (annotators.start_s, annotators.end_s))  # type: ignore[return-value]  # two of them


def _alpha(
    annotators: Annotators, within: Floats, chance: _ChanceDistance, rng: np.random.Generator, resamples: int
) -> Alpha:
    """Alpha of distances: those within queries, (Q, A, A), and those that chance gives."""
    from_all, n_against = chance.from_all, chance.n_against
    counts = annotators.counts
    of_query = np.where(annotators.others, within, 0.0).sum(axis=(1, 2)) / (counts - 1)
    video = annotators.video
    by_video = np.stack(
        [np.bincount(video, of_query), np.bincount(np.repeat(video, counts), from_all), np.bincount(video, counts)],
        axis=1,
    ).astype(np.float64)
    n = int(counts.sum())
    observed, expected = float(of_query.sum() / n), float(from_all.sum() / n)
    if expected <= TIE**2:
        return Alpha(np.nan, observed, expected, (np.nan, np.nan), n, n_against)
    ci95 = (np.nan, np.nan)
    if len(by_video) > 1:
        total = resample_sums(by_video, rng, resamples=resamples)
        by_chance = 2 * total[:, 1] / total[:, 2] - expected + rng.normal(0, chance.error, resamples)
        ci95 = _pair(interval95(1 - (total[:, 0] / total[:, 2]) / np.where(by_chance > 0, by_chance, np.nan)))
    return Alpha(1 - observed / expected, observed, expected, ci95, n, n_against)


@dataclass(frozen=True, eq=False)
class _ChanceDistance:
    """Mean distance of each of n moments from others (n,), from how many, and the standard error of their mean."""

    from_all: Floats
    n_against: int
    error: float = 0.0


def _distance_from_all(start: Floats, end: Floats, rng: np.random.Generator) -> _ChanceDistance:
    """Mean Jaccard distance of each of n moments from the others.

    Moments that occur several times are examined once; where there are too many pairs of different moments, each is
    compared with a random sample.
    """
    moments = np.round(np.stack([start, end], axis=1) / EQUAL_NORM) * EQUAL_NORM
    distinct, number, times = np.unique(moments, axis=0, return_inverse=True, return_counts=True)
    number = number.ravel()
    n, against, weight, n_against = len(moments), distinct, times, len(moments)
    if len(distinct) ** 2 > MOST_PAIRS:
        n_against = max(2, MOST_PAIRS // len(distinct))
        sample = np.bincount(number[rng.choice(n, n_against, replace=False)], minlength=len(distinct))
        against, weight = distinct[sample > 0], sample[sample > 0]
    total = np.empty(len(distinct))
    step = max(1, BLOCK_PAIRS // len(against))
    for low in range(0, len(distinct), step):
        own = distinct[low : low + step, None]
        iou = temporal_iou(own[..., 0], own[..., 1], against[None, :, 0], against[None, :, 1])
        equal = (own[..., 0] == against[None, :, 0]) & (own[..., 1] == against[None, :, 1])
        total[low : low + step] = np.where(equal, 0.0, 1 - iou) @ weight
    from_all = total[number] / (n_against * (n - 1) / n)  # a sample contains the moment itself in n_against / n cases
    error = float(from_all.std() * np.sqrt((1 / n_against) * (1 - n_against / n)))
    return _ChanceDistance(from_all, n_against, error)


def _pair(interval: Floats) -> tuple[float, float]:
    low, high = interval.tolist()
    return low, high
