"""Uncertainty of figures and of differences: resampling and permuting videos.

Queries of one video are not independent; videos are. All functions start from sums of numerators and weights by video.
Several runs of one model are the subject of :mod:`truemoment.studies.compare.comparison`.

References
----------
Bootstrap of whole clusters: C. A. Field and A. H. Welsh, Bootstrapping clustered data, JRSS B 69 (2007). Permutation
test of two systems: M. D. Smucker, J. Allan and B. Carterette, A comparison of statistical significance tests for
information retrieval evaluation, CIKM 2007; a p-value that is never 0: B. Phipson and G. K. Smyth, Permutation p-values
should never be zero, SAGMB 9 (2010). Correction: S. Holm, A simple sequentially rejective multiple test procedure,
Scand. J. Statist. 6 (1979); of many comparisons at once: P. H. Westfall and S. S. Young, Resampling-based multiple
testing (1993). Detectable difference: H. S. Bloom, Minimum detectable effects, Evaluation Review 19 (1995).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import numbers_of
from truemoment.evaluation.progress import with_progress
from truemoment.evaluation.scores import Scores

LEVEL = 0.05
"""A difference whose p-value is this or less, corrected where there are several, is significant."""

BLOCK_DRAWS = 1 << 22
"""Numbers of a table of draws that are in memory at a time."""

CACHED_NUMBERS = 1 << 15
"""Numbers of a table of draws that stay in the processor's cache."""

ROUNDING = 1e-12
"""Figures (fractions) this close are equal: sums in float64 leave no more between equal ones."""

FEW_DIFFERING = 10
"""Systems that differ on fewer videos do not show which differences can be detected on a split."""

NO_WEIGHT = 1e-9
"""A sum of weights below this counts as 0: weights are counts, or means of counts over a few runs."""


@dataclass(frozen=True)
class DrawSettings:
    """How intervals and tests are drawn: resamples of the videos, permutations of the test, and the seed of both."""

    resamples: int = 1000
    permutations: int = 10_000
    seed: int = 0


DEFAULT_DRAW_SETTINGS = DrawSettings()


def stream(seed: int, name: str) -> np.random.Generator:
    """Return the generator of whatever is called `name`: its draws do not depend on other draws.

    Examples
    --------
    >>> float(stream(0, "ties").random()) == float(stream(0, "ties").random())
    True
    >>> float(stream(0, "ties").random()) == float(stream(0, "power").random())
    False
    """
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def sums_by_video(scores: Scores) -> tuple[Floats, Floats]:
    """Sums of numerators and of weights over the queries of each video, (V, M) each, in order of first occurrence."""
    video = numbers_of(scores.video_id)
    numerator, weight = (
        np.stack([np.bincount(video, values).astype(np.float64) for values in table], axis=1)
        for table in (scores.numerator, scores.weight)
    )
    return numerator, weight


def check_paired(scores: Sequence[Scores]) -> None:
    """Refuse scores that are not of the same queries, measures and convention."""
    if not scores:
        raise UsageError("got no scores, expected one or more")
    expected = _identity(scores[0])
    for number, other in enumerate(scores[1:], start=1):
        for (field, value), (_, first_value) in zip(_identity(other), expected, strict=True):
            if value != first_value:
                raise UsageError(
                    f"scores {number} have {field} {value}, expected {first_value} as in scores 0; "
                    "only answers to the same queries, measured alike, can be paired"
                )
        differs = other.query_id != scores[0].query_id
        if differs.any():
            at = int(np.argmax(differs))
            raise UsageError(
                f"scores {number} have query {other.query_id[at]!r} in place {at}, expected {scores[0].query_id[at]!r} "
                "as in scores 0; only answers to the same queries, in the same order, can be paired"
            )


def _identity(scores: Scores) -> list[tuple[str, str]]:
    """Properties that must be equal for two scores to be paired, in words."""
    return [
        ("dataset", scores.dataset),
        ("split", scores.split),
        ("annotations", f"#{scores.annotations_sha256[:8]}"),
        ("measures", "; ".join(map(str, scores.measures))),
        ("convention", scores.protocol.signature()),
        ("queries", f"{len(scores):,} in number"),
    ]


def bootstrap(scores: Scores, rng: np.random.Generator, *, resamples: int = 1000) -> Floats:
    """Figures of each measure in resamples of the videos, (resamples, M); NaN where a resample has no weight."""
    return np.asarray(resample_figures([scores], rng, resamples=resamples)[:, 0])


def resample_figures(
    scores: Sequence[Scores], rng: np.random.Generator, *, resamples: int = 1000, progress: bool = False
) -> Floats:
    """Figures of S systems in the *same* resamples of the videos (the paired bootstrap), (resamples, S, M).

    A resample draws as many videos as there are, with replacement. NaN where it leaves a measure without weight. The
    same seed gives the same figures, whatever S.

    Examples
    --------
    >>> import numpy as np
    >>> from truemoment import Annotations, Predictions
    >>> from truemoment.evaluation.evaluate import evaluate
    >>> a = Annotations.from_rows([(f"{v}#0", v, 30.0, "a door opens", 2.0, 6.0) for v in "abcd"])
    >>> ours = evaluate(a, Predictions.from_lists({f"{v}#0": [(2.0, 5.0)] for v in "abcd"}), "mIoU")
    >>> theirs = evaluate(a, Predictions.from_lists({f"{v}#0": [(2.0, 4.0)] for v in "abcd"}), "mIoU")
    >>> figures = resample_figures([ours, theirs], np.random.default_rng(0), resamples=3)
    >>> (figures[:, 0] - figures[:, 1]).ravel().tolist()  # every video differs by as much
    [0.25, 0.25, 0.25]
    """
    if resamples < 2:
        raise UsageError(f"got {resamples} resamples, expected 2 or more")
    check_paired(scores)
    sums = [sums_by_video(system) for system in scores]
    numerator, weight = (np.concatenate([pair[part] for pair in sums], axis=1) for part in (0, 1))
    figures = np.empty((resamples, numerator.shape[1]))
    for block, times_drawn in _draws_of_videos(len(numerator), rng, resamples, show=progress):
        figures[block] = ratio(times_drawn @ numerator, times_drawn @ weight)
    return figures.reshape(resamples, len(scores), -1)


def resample_sums(sums: Floats, rng: np.random.Generator, *, resamples: int = 1000) -> Floats:
    """Totals of sums by video, (V, C), in resamples of the videos: (resamples, C).

    Examples
    --------
    >>> import numpy as np
    >>> videos = np.array([[2.0, 1.0], [4.0, 1.0]])  # a sum, and a count of one
    >>> resample_sums(videos, np.random.default_rng(0), resamples=3)[:, 1].tolist()  # as many videos as there are
    [2.0, 2.0, 2.0]
    """
    if resamples < 2:
        raise UsageError(f"got {resamples} resamples, expected 2 or more")
    totals = np.empty((resamples, sums.shape[1]))
    for block, times_drawn in _draws_of_videos(len(sums), rng, resamples, show=False):
        totals[block] = times_drawn @ sums
    return totals


def _draws_of_videos(
    n_videos: int, rng: np.random.Generator, resamples: int, *, show: bool
) -> Iterator[tuple[slice, Floats]]:
    """Draw resamples of the videos, some at a time: how often each video was drawn, (B, V)."""
    for block in _blocks(resamples, n_videos, "resampling", show=show):
        yield block, draw_videos(n_videos, rng, block.stop - block.start)


def draw_videos(n_videos: int, rng: np.random.Generator, resamples: int) -> Floats:
    """Draw as many videos as there are, with replacement: how often each is in each resample, (resamples, V).

    Examples
    --------
    >>> draw_videos(5, np.random.default_rng(0), resamples=2).sum(axis=1).tolist()
    [5.0, 5.0]
    """
    times_drawn = np.empty((resamples, n_videos))
    together = max(1, CACHED_NUMBERS // n_videos)
    for low in range(0, resamples, together):
        block = times_drawn[low : low + together]
        drawn = rng.integers(n_videos, size=block.shape)
        drawn += np.arange(len(block))[:, None] * n_videos
        block[:] = np.bincount(drawn.ravel(), minlength=block.size).reshape(block.shape)
    return times_drawn


def interval95(figures: Floats) -> Floats:
    """95 % percentile interval of resampled figures or differences, (N, ...): (..., 2); NaN where any is undefined."""
    return np.stack([np.quantile(figures, 0.025, axis=0), np.quantile(figures, 0.975, axis=0)], axis=-1)


def paired_permutation(a: Scores, b: Scores, rng: np.random.Generator, *, permutations: int = 10_000) -> Floats:
    r"""Two-sided p-values of the difference between two systems, (M,): labels swapped by video.

    With :math:`d` the difference of the two figures and :math:`d^*_1, ..., d^*_N` the same after the numerators and
    weights of each video were swapped at random,

    .. math:: p = \frac{1 + \#\{i : |d^*_i| \ge |d|\}}{1 + N}

    If there are at most N different swaps, all are used instead, and p is the share with :math:`|d^*| \ge |d|`. p is
    NaN where either figure, or that of any permutation, is undefined.

    Examples
    --------
    >>> import numpy as np
    >>> from truemoment import Annotations, Predictions
    >>> from truemoment.evaluation.evaluate import evaluate
    >>> videos = "abcdef"
    >>> annotations = Annotations.from_rows([(f"{v}#0", v, 30.0, "a door opens", 2.0, 6.0) for v in videos])
    >>> a = evaluate(annotations, Predictions.from_lists({f"{v}#0": [(2.0, 5.0)] for v in videos}), "mIoU")
    >>> b = evaluate(annotations, Predictions.from_lists({f"{v}#0": [(2.0, 4.0)] for v in videos}), "mIoU")
    >>> paired_permutation(a, b, np.random.default_rng(0)).tolist()  # 2 of the 64 swaps differ by as much
    [0.03125]
    """
    check_paired([a, b])
    numerator, weight = (np.stack(parts) for parts in zip(sums_by_video(a), sums_by_video(b), strict=True))
    return np.asarray(permutation_p_values(numerator, weight, [(0, 1)], rng, permutations=permutations)[0])


def permutation_p_values(
    numerator: Floats,
    weight: Floats,
    pairs: Sequence[tuple[int, int]],
    rng: np.random.Generator,
    *,
    permutations: int = 10_000,
    progress: bool = False,
) -> Floats:
    """Two-sided p-values of several pairs of systems, from their sums by video: `p` of :func:`permutation_tests`."""
    return permutation_tests(numerator, weight, pairs, rng, permutations=permutations, progress=progress).p


@dataclass(frozen=True, eq=False)
class PermutationTests:
    """Permutation tests of K = P x M comparisons, alone and corrected for all of them.

    Parameters
    ----------
    difference : (P, M)
        Figures of the first system of each pair less those of the second, fractions.
    p : (P, M)
        Two-sided p-value of each comparison alone; NaN where a figure, or that of any permutation, is undefined.
    p_corrected : (P, M)
        The same corrected for all K comparisons.
    interval : (P, M, 2)
        Simultaneous 95 % intervals of all K differences. One contains 0 where `p_corrected` is above 0.05, and
        only there. NaN where it would have no end: too few videos, or too few permutations.
    critical : float
        The largest studentised difference that is not significant after the correction.
    """

    difference: Floats
    p: Floats
    p_corrected: Floats
    interval: Floats
    critical: float


def permutation_tests(
    numerator: Floats,
    weight: Floats,
    pairs: Sequence[tuple[int, int]],
    rng: np.random.Generator,
    *,
    permutations: int = 10_000,
    progress: bool = False,
) -> PermutationTests:
    r"""Test several pairs of systems in several measures, alone and together (max-t), from their sums by video.

    As :func:`paired_permutation`, with the same swaps for every pair: each p-value is as it would be alone, and one
    product of matrices computes all.

    The correction is the single-step one of Westfall and Young. With :math:`d_v` what video v adds to a difference
    :math:`d`, each difference is studentised, :math:`t = d / \sqrt{\sum_v d_v^2}`, and the largest
    :math:`|t^*|` of all K comparisons in a permutation takes the place of :math:`|d^*|` in the p-value. Measures that
    nearly agree therefore cost nearly nothing, whereas Holm's method would count each of them.

    The intervals invert this test: with q the critical value of the largest :math:`|t^*|`, an interval contains every
    :math:`\delta` for which :math:`|d - \delta| \le q \sqrt{\sum_v (d_v - \delta w_v)^2}`, where :math:`w_v` is the
    share of video v in all weight. So intervals and corrected p-values never contradict each other. (Where two systems
    are measured on different queries, :math:`d_v` is linearised, and they agree approximately.)

    Parameters
    ----------
    numerator, weight : (S, V, M)
        Sums by video of S systems, see :func:`sums_by_video`.
    pairs
        P pairs of systems, by number, one or more.
    permutations
        1 or more; all swaps are used where there are no more than that.
    """
    if permutations < 1:
        raise UsageError(f"got {permutations} permutations, expected 1 or more")
    a, b = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    sum_a, sum_b = numerator.sum(axis=1)[a], numerator.sum(axis=1)[b]
    weight_a, weight_b = weight.sum(axis=1)[a], weight.sum(axis=1)[b]
    difference = ratio(sum_a, weight_a) - ratio(sum_b, weight_b)
    squares = np.stack([_squares(numerator, weight, i, j) for i, j in pairs], axis=1)
    scale = np.sqrt(_at(squares, difference))
    per_scale = np.divide(1, scale, out=np.zeros_like(scale), where=scale > ROUNDING)
    differs: Bools = np.asarray(((numerator != numerator[:1]) | (weight != weight[:1])).any(axis=(0, 2)))
    n_videos = int(differs.sum())
    by_video = _columns(numerator[:, differs])
    weight_by_video = _columns(weight[:, differs]) if bool((weight != weight[:1]).any()) else None
    exact = 2**n_videos <= permutations
    n_swaps = 2**n_videos if exact else permutations
    as_far, largest_as_far = np.zeros((2, *difference.shape), dtype=np.int64)
    largest = np.zeros(n_swaps)
    undefined = np.isnan(difference)
    for block in _blocks(n_swaps, max(n_videos, difference.size), "permuting", show=progress):
        if exact:  # all possible swaps of this block, by their binary digits
            swap: Floats = (np.arange(block.start, block.stop)[:, None] >> np.arange(n_videos) & 1).astype(np.float64)
        else:
            swap = _drawn_swaps(block, n_videos, rng)
        moved = _moved(swap, by_video, numerator.shape, a, b)
        moved_weight = 0.0 if weight_by_video is None else _moved(swap, weight_by_video, weight.shape, a, b)
        permuted = np.abs(ratio(sum_a + moved, weight_a + moved_weight) - ratio(sum_b - moved, weight_b - moved_weight))
        undefined |= np.isnan(permuted).any(axis=0)
        as_far += (permuted >= np.abs(difference) - ROUNDING).sum(axis=0)
        largest[block] = np.where(undefined, 0, permuted * per_scale).max(axis=(1, 2), initial=0)
        of_largest = largest[block, None, None] * scale
        largest_as_far += (np.maximum(permuted, of_largest) >= np.abs(difference) - ROUNDING).sum(axis=0)
    drawn = 0 if exact else 1
    p, p_corrected = (
        np.where(undefined, np.nan, (drawn + count) / (drawn + n_swaps)) for count in (as_far, largest_as_far)
    )
    n_beyond = math.floor(LEVEL * (drawn + n_swaps) + ROUNDING) - drawn  # as many may be as far
    critical = math.inf if n_beyond < 0 else float(np.sort(largest)[-1 - n_beyond])
    interval = np.where(undefined[..., None], np.nan, _inverted(difference, squares, critical))
    return PermutationTests(difference, p, p_corrected, interval, critical)


def _squares(numerator: Floats, weight: Floats, i: int, j: int) -> Floats:
    """Sums over videos of e e, e w and w w, (3, M): e what a video adds to a difference less its share w of it."""
    influence, share = np.zeros((2, *numerator.shape[1:]))
    for system, sign in ((i, 1), (j, -1)):
        total = weight[system].sum(axis=0)
        figure = ratio(numerator[system].sum(axis=0), total)
        share += weight[system] / np.where(total > NO_WEIGHT, 2 * total, np.nan)
        influence += sign * (numerator[system] - figure * weight[system]) / np.where(total > NO_WEIGHT, total, np.nan)
    return np.stack([(influence**2).sum(axis=0), (influence * share).sum(axis=0), (share**2).sum(axis=0)])


def _at(squares: Floats, difference: Floats) -> Floats:
    """Sum over videos of the squares of what they add to a difference; from sums (3, ...)."""
    return np.asarray(np.maximum(squares[0] + 2 * difference * squares[1] + difference**2 * squares[2], 0))


def _inverted(difference: Floats, squares: Floats, critical: float) -> Floats:
    """Differences that a test with a critical value does not reject, (..., 2); NaN where there is no end to them."""
    if not math.isfinite(critical):
        return np.full((*difference.shape, 2), np.nan)
    q = critical**2
    own, mixed, share = squares
    with np.errstate(invalid="ignore", divide="ignore"):
        denominator = np.where(q * share < 1, 1 - q * share, np.nan)
        middle = q * mixed / denominator
        width = np.sqrt(np.maximum(middle**2 + q * own / denominator, 0))
    return np.stack([difference - middle - width, difference - middle + width], axis=-1)


def smallest_p(n_videos: int, permutations: int) -> float:
    """Smallest p-value of a paired permutation test on videos that have weight.

    Examples
    --------
    >>> smallest_p(4, 10_000), smallest_p(1000, 9_999)
    (0.125, 0.0001)
    """
    if 2**n_videos <= permutations:
        return min(2 / float(2**n_videos), 1.0)  # no swap at all, and every video swapped
    return 1 / (1 + permutations)


def ratio(numerator: Floats, weight: Floats) -> Floats:
    """Figures; NaN where there is no weight."""
    defined = weight > NO_WEIGHT
    return np.asarray(np.where(defined, numerator / np.where(defined, weight, 1), np.nan))


def _columns(table: Floats) -> Floats:
    """Lay (S, V, M) out as (V, S x M)."""
    systems, n_videos, measures = table.shape
    return np.ascontiguousarray(table.transpose(1, 0, 2)).reshape(n_videos, systems * measures)


def _moved(swap: Floats, by_video: Floats, shape: tuple[int, ...], a: Ints, b: Ints) -> Floats:
    """Amounts that swapping moves from the second system's sum to the first's, shape (B, P, M)."""
    systems, _, measures = shape
    swapped = (swap @ by_video).reshape(len(swap), systems, measures)
    return np.asarray(swapped[:, b] - swapped[:, a])


def _drawn_swaps(block: slice, n_videos: int, rng: np.random.Generator) -> Floats:
    """Toss a coin for every video, 1 where it is swapped, shape (B, V): 64 coins a word, so cutting changes no draw."""
    words = rng.integers(2**64, size=(block.stop - block.start, -(-n_videos // 64)), dtype=np.uint64)
    coins = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, count=n_videos, bitorder="little")
    return coins.astype(np.float64)


def normal_tail(z: Floats) -> Floats:
    """Chance that a standard normal deviate is more than `z`, accurate in the upper tail; any shape.

    Examples
    --------
    >>> normal_tail(np.array([0.0, 1.959964])).round(6).tolist()
    [0.5, 0.025]
    """
    return np.asarray(np.vectorize(math.erfc, otypes=[np.float64])(np.asarray(z) / math.sqrt(2)) / 2)


def holm(p: Floats) -> Floats:
    r"""Adjust p-values, (K, ...), of families along the first axis, Holm's step-down method; NaN is in no family.

    With :math:`p_{(1)} \le ... \le p_{(K)}` in order, :math:`\tilde p_{(i)} = \max_{j \le i} \min(1, (K - j + 1) \,
    p_{(j)})`. The chance of any false claim in a family is at most 5 % if adjusted values of at most 0.05 are
    significant.

    Examples
    --------
    >>> import numpy as np
    >>> holm(np.array([0.01, 0.04, 0.03, np.nan])).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    p = np.asarray(p, dtype=np.float64)
    order = np.argsort(p, axis=0, kind="stable")  # NaN last
    family = (~np.isnan(p)).sum(axis=0)
    n_hypotheses = family - np.arange(len(p)).reshape(-1, *[1] * (p.ndim - 1))
    stepped = np.minimum(np.take_along_axis(p, order, axis=0) * np.maximum(n_hypotheses, 1), 1)
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, np.maximum.accumulate(stepped, axis=0), axis=0)
    return adjusted


def false_discoveries(p: Floats, rate: float) -> Bools:
    r"""Mark the comparisons, (K,), that Benjamini and Hochberg's procedure keeps; NaN is never kept.

    With :math:`p_{(1)} \le ... \le p_{(K)}` in order, those up to the last i with :math:`p_{(i)} \le i \, rate / K`: at
    most a share of `rate` of them is expected to be false (Y. Benjamini and Y. Hochberg, Controlling the false
    discovery rate, JRSS B 57, 1995).

    Examples
    --------
    >>> false_discoveries(np.array([0.04, 0.001, 0.5, 0.02]), 0.05).tolist()
    [False, True, False, True]
    """
    order = np.argsort(p, kind="stable")  # NaN last
    family = int((~np.isnan(p)).sum())
    below = np.flatnonzero(p[order[:family]] <= rate * np.arange(1, family + 1) / max(family, 1))
    rejected = np.zeros(len(p), dtype=bool)
    rejected[order[: below[-1] + 1 if len(below) else 0]] = True
    return rejected


def q_values(p: Floats) -> Floats:
    r"""Return the false discovery rate at which each of K tests would just be kept, (K,); NaN stays NaN.

    With :math:`p_{(1)} \le ... \le p_{(K)}`, :math:`q_{(i)} = \min_{j \ge i} p_{(j)} \, K c / j`, at most 1, and
    :math:`c = \sum_{k=1}^K 1 / k`, which makes the rate valid however the tests depend on each other (Y. Benjamini and
    D. Yekutieli, The control of the false discovery rate in multiple testing under dependency, Annals of Statistics
    29, 2001, theorem 1.3).

    Examples
    --------
    >>> q_values(np.array([0.01, 0.5, np.nan, 0.02])).round(4).tolist()
    [0.055, 0.9167, nan, 0.055]
    """
    order = np.argsort(p, kind="stable")[: int((~np.isnan(p)).sum())]  # NaN is last
    rank = np.arange(1, len(order) + 1)
    scaled = p[order] * len(order) * (1 / rank).sum() / rank
    q = np.full(len(p), np.nan)
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1)
    return q


def videos_that_differ(a: Scores, b: Scores) -> Ints:
    """Number of videos that two systems score differently."""
    check_paired([a, b])
    pairs = zip(sums_by_video(a), sums_by_video(b), strict=True)
    return np.asarray(np.logical_or.reduce([x != y for x, y in pairs]).sum(axis=0), dtype=np.int64)


def minimum_detectable_difference(
    difference_figures: Floats, *, level: float = LEVEL, power: float = 0.8, n_differing: Ints | None = None
) -> Floats:
    r"""Smallest true difference that is significant at `level` in a share `power` of test sets like this one.

    .. math:: (z_{1 - \alpha / 2} + z_{power}) \cdot \mathrm{SE}

    where SE is the standard deviation of the difference over N paired resamples (:func:`resample_figures`). A smaller
    difference that was not significant may still exist. The normal approximation is good where the systems differ on
    about 30 videos or more; at 10 videos the value is some 15 % too low.

    Parameters
    ----------
    difference_figures : (N, ...)
        Differences of two systems' figures in N paired resamples.
    n_differing : (...)
        Number of videos on which the two differ (:func:`videos_that_differ`), if known.

    Returns
    -------
    array, shape (...)
        In the unit of the figures. NaN where a difference is undefined, where the differences do not vary, and where
        `n_differing` is below 10.

    Examples
    --------
    >>> import numpy as np
    >>> differences = np.random.default_rng(0).normal(0.01, 0.005, size=(100_000, 1))
    >>> minimum_detectable_difference(differences).round(4).tolist()  # 2.80 standard errors
    [0.014]
    """
    for name, value in (("level", level), ("power", power)):
        if not 0 < value < 1:
            raise UsageError(f"got {name} {value}, expected more than 0 and less than 1")
    if len(difference_figures) < 2:
        raise UsageError(f"got {len(difference_figures)} resamples, expected 2 or more")
    normal = NormalDist()
    error = difference_figures.std(axis=0, ddof=1)
    times = normal.inv_cdf(1 - level / 2) + normal.inv_cdf(power)
    defined = error > ROUNDING
    if n_differing is not None:
        defined &= n_differing >= FEW_DIFFERING
    return np.asarray(np.where(defined, times * error, np.nan))


def _blocks(count: int, width: int, label: str, *, show: bool) -> Iterator[slice]:
    """Cut `count` draws, each of `width` numbers, into blocks that fit in memory."""
    step = max(1, BLOCK_DRAWS // width)
    blocks = [slice(low, min(low + step, count)) for low in range(0, count, step)]
    return with_progress(blocks, label, show=show, unit="block", fewest=8)
