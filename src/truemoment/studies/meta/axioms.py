"""Axioms of a measure as executable checks: INV-k and MON-k, for any measure.

On a minimal pair (:mod:`~truemoment.studies.meta.minimal_pairs`) that fulfils A.1 and A.2, INV-k requires the same
value. On one that fulfils A.1 and A.3, MON-k requires a strict rise (a fall if less is better). k covers the ranks that
a measure uses. A check finds counterexamples and proves nothing. Guide: ``docs/meta.md``. Source: AxIoU (Togashi et al.
2022), section 5 and appendix A.

*Shrinking* searches greedily for the smallest pair that breaks an axiom, without random draws. Each step applies the
change that gives the smallest pair among those that still break the axiom, until there is none. A change drops a moment
or a reference, simplifies one time or all times of a value, or rounds, halves, shifts or mirrors all times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, get_args

import numpy as np

from truemoment.base.errors import MeasureError, UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import Annotations, Predictions, as_strings
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import Measure, as_measures
from truemoment.evaluation.protocols import Protocol, get_protocol
from truemoment.evaluation.uncertainty import ROUNDING
from truemoment.studies.meta.minimal_pairs import Axiom, MinimalPairs, draw_pairs, fulfils, relevance
from truemoment.studies.meta.systems import direction_of, figures_of

MEASURES = (
    "R@1,IoU=0.5; R@5,IoU=0.5; R@5,IoU=0.7; AxIoU@1; AxIoU@5; NCxIoU@5,p=geometric(0.5); NCxIoU@3,p=weights(1,0,1); "
    "AP@5,IoU=0.5; DCG@5; mIoU; dR@1,IoU=0.5; dR@5,IoU=0.5; mAP; mAP,IoU=0.5; SetIoU; F1,IoU=0.5"
)
"""The measures of the paper's appendix A, and measures whose axioms the literature does not state."""

DEEPEST = 100
"""Maximum rank that is changed, also for deeper measures."""


@dataclass(frozen=True, eq=False)
class MinimalPair:
    """Two lists for one query that differ at one rank, and the values of a measure on them.

    Parameters
    ----------
    duration_s
        Of the video, seconds.
    references : (R, 2)
        Start and end, seconds.
    before, after : (K, 2)
        The lists, best first.
    rank
        Rank at which they differ, from 1.
    value_before, value_after
        The measure's values, fractions.
    iou_before, iou_after : (K,)
        Relevance of each moment: its IoU with the nearest reference.
    """

    duration_s: float
    references: Floats
    before: Floats
    after: Floats
    rank: int
    value_before: float
    value_after: float
    iou_before: Floats
    iou_after: Floats


@dataclass(frozen=True, eq=False)
class AxiomResult:
    """Whether a measure satisfies an axiom on the pairs that were tried.

    Parameters
    ----------
    rank : (K,)
        Ranks at which lists were changed; none for INV and a measure of one answer.
    pairs : (K,)
        Number of pairs at each rank on which the measure is defined.
    broken : (K,)
        Number of pairs on which it breaks the axiom.
    worse : (K,)
        Number of pairs, among these, on which it ranks the worse list higher.
    counterexample
        The smallest counterexample, one of the `worse` if there are any and the axiom is MON; None if there is none.
    """

    measure: Measure
    axiom: Axiom
    rank: Ints
    pairs: Ints
    broken: Ints
    worse: Ints
    counterexample: MinimalPair | None
    references: int
    protocol: Protocol

    @property
    def n_pairs(self) -> int:
        """Number of pairs that were tried."""
        return int(self.pairs.sum())

    @property
    def n_broken(self) -> int:
        """Number of pairs on which the measure breaks the axiom."""
        return int(self.broken.sum())

    @property
    def n_worse(self) -> int:
        """Number of pairs on which it ranks the worse list higher."""
        return int(self.worse.sum())

    @property
    def holds(self) -> bool:
        """Whether no pair breaks the axiom, which is not a proof."""
        return self.n_broken == 0


def check_axioms(
    measures: str | Sequence[Measure | str],
    rng: np.random.Generator,
    *,
    pairs: int = 2000,
    length: int = 5,
    references: int = 1,
    protocol: str | Protocol | None = None,
) -> tuple[AxiomResult, ...]:
    """Check which axioms each measure satisfies: INV, then MON.

    Measures are texts (``"R@1,IoU=0.5; mIoU"``) or values. The result of a measure does not depend on the others. Lists
    have up to `length` moments, 1 to 100, for measures of whole lists; for others, as many as they use.

    Examples
    --------
    >>> checks = check_axioms("R@1,IoU=0.5; AxIoU@3", np.random.default_rng(0), pairs=100)
    >>> [(str(check.measure), check.axiom) for check in checks if not check.holds]
    [('R@1,IoU=0.5', 'MON')]
    """
    if pairs < 1 or references < 1 or not 1 <= length <= DEEPEST:
        raise UsageError(
            f"got pairs={pairs}, length={length} and references={references}, expected pairs and references of 1 or "
            f"more and a length from 1 to {DEEPEST}"
        )
    protocol = "default" if protocol is None else protocol
    convention = get_protocol(protocol) if isinstance(protocol, str) else protocol
    listed, seed = _parse_all(measures), int(rng.integers(2**63))
    results: dict[tuple[Measure, Axiom], AxiomResult] = {}
    groups: dict[int, list[Measure]] = {}
    for measure in listed:
        groups.setdefault(length if measure.depth is None else min(measure.depth, DEEPEST), []).append(measure)
    for depth, group in groups.items():
        for number, axiom in enumerate(get_args(Axiom)):
            ranks = np.arange(2 if axiom == "INV" else 1, depth + 1)
            child = np.random.default_rng([seed, depth, number])
            rank = np.resize(ranks, pairs if len(ranks) else 0)
            drawn = draw_pairs(axiom, rank, child, length=depth, references=references, protocol=convention)
            for measure, result in zip(group, _results(group, axiom, ranks, drawn, convention), strict=True):
                results[measure, axiom] = result
    return tuple(results[measure, axiom] for measure in listed for axiom in get_args(Axiom))


def _parse_all(measures: str | Sequence[Measure | str]) -> tuple[Measure, ...]:
    """Return the measures as values, each once."""
    measure_list = as_measures(measures)
    for measure in measure_list:
        if measure.needs not in ("overlaps", "sets"):
            raise MeasureError(f"{measure} is not a measure of ranked moments, and the axioms are only about these")
    return measure_list


def _results(
    measures: Sequence[Measure], axiom: Axiom, ranks: Ints, drawn: MinimalPairs, protocol: Protocol
) -> list[AxiomResult]:
    n_references = drawn.references.shape[1]
    if not len(drawn):
        nothing = np.zeros(0, dtype=np.int64)
        return [
            AxiomResult(measure, axiom, nothing, nothing, nothing, nothing, None, n_references, protocol)
            for measure in measures
        ]
    results = []
    for measure, rise in zip(measures, _rises(measures, drawn, protocol), strict=True):
        broken = _breaks(axiom, rise)
        results.append(
            AxiomResult(
                measure,
                axiom,
                ranks,
                pairs=_by_rank(drawn, ~np.isnan(rise), ranks),
                broken=_by_rank(drawn, broken, ranks),
                worse=_by_rank(drawn, broken & (rise < 0), ranks),
                counterexample=_smallest(measure, axiom, drawn, rise, protocol) if broken.any() else None,
                references=n_references,
                protocol=protocol,
            )
        )
    return results


def _smallest(measure: Measure, axiom: Axiom, drawn: MinimalPairs, rise: Floats, protocol: Protocol) -> MinimalPair:
    falls = axiom == "MON" and bool((rise < 0).any())

    def is_wanted(rises: Floats) -> Bools:
        return rises < 0 if falls else _breaks(axiom, rises)

    pair = shrink(
        drawn.take(is_wanted(rise)),
        allowed=lambda tried: fulfils(axiom, tried, protocol),
        breaks=lambda tried: is_wanted(_rises([measure], tried, protocol)[0]),
    )
    return _with_values(pair, measure, protocol)


def _rises(measures: Sequence[Measure], pairs: MinimalPairs, protocol: Protocol) -> Floats:
    """Return how each measure rates the change: 1 better, 0 equal, -1 worse, NaN undefined; shape (M, P)."""
    before, after = values(measures, pairs, protocol)
    direction = direction_of(measures)[:, None]
    slack = ROUNDING if protocol.precision == "float64" else 4 * float(np.finfo(protocol.precision).eps)
    change = direction * (after - before)
    return np.asarray(np.where(np.abs(change) <= slack, 0.0, np.sign(change)))


def values(measures: Sequence[Measure], pairs: MinimalPairs, protocol: Protocol) -> tuple[Floats, Floats]:
    """Return the values of measures on the lists before and after the change.

    Returns
    -------
    before, after : (M, P)
        Fractions, NaN if a measure is undefined. Scores of a list fall by 1 from rank to rank.
    """
    lists = np.concatenate([pairs.before, pairs.after])
    references = np.concatenate([pairs.references, pairs.references])
    named = ~np.isnan(references[:, :, 0])
    owner = np.repeat(np.arange(len(lists)), named.sum(axis=1))
    query_id = as_strings(map(str, range(len(lists))), "query_id")
    nothing = as_strings([""] * len(owner), "annotator")
    duration_s = np.concatenate([pairs.duration_s, pairs.duration_s])[owner]
    start_s, end_s = references[named].T
    annotations = Annotations(query_id[owner], query_id[owner], duration_s, nothing, start_s, end_s, nothing)
    placed = ~np.isnan(lists[:, :, 0])
    score = np.broadcast_to(-np.arange(lists.shape[1], dtype=np.float64), placed.shape)[placed]
    offsets = np.concatenate([[0], np.cumsum(placed.sum(axis=1))])
    start_s, end_s = lists[placed].T
    scores = evaluate(annotations, Predictions(query_id, offsets, start_s, end_s, score), measures, protocol)
    before, after = np.split(figures_of(scores.numerator, scores.weight), 2, axis=1)
    return before, after


def _breaks(axiom: Axiom, rise: Floats) -> Bools:
    """Return the pairs on which a measure breaks an axiom, given its ratings of the change; undefined is not broken."""
    return np.asarray((rise != 0) & ~np.isnan(rise) if axiom == "INV" else rise <= 0)


def _by_rank(pairs: MinimalPairs, selected: Bools, ranks: Ints) -> Ints:
    """Count some pairs by the rank at which they differ."""
    return np.asarray(np.bincount(pairs.rank[selected], minlength=int(ranks[-1]) + 1)[ranks])


def _with_values(pair: MinimalPairs, measure: Measure, protocol: Protocol) -> MinimalPair:
    """Return a single pair with the values of a measure on it."""
    before, after = values([measure], pair, protocol)
    k, present = int(pair.length[0]), ~np.isnan(pair.references[0, :, 0])
    lists = (pair.before, pair.after)
    iou = [
        relevance(moments, pair.references, pair.duration_s, protocol)[0, :k].astype(np.float64) for moments in lists
    ]
    return MinimalPair(
        float(pair.duration_s[0]),
        pair.references[0, present],
        pair.before[0, :k],
        pair.after[0, :k],
        int(pair.rank[0]),
        float(before[0, 0]),
        float(after[0, 0]),
        *iou,
    )


Judge: TypeAlias = Callable[[MinimalPairs], Bools]
"""A test of each pair, shape (P,)."""

STARTS = 12
"""Number of pairs that are shrunk, the smallest first; the smallest outcome counts."""

TRIED_AT_ONCE = 64
"""Number of changes that are tried at a time, the best first."""


def shrink(pairs: MinimalPairs, allowed: Judge, breaks: Judge) -> MinimalPairs:
    """Shrink pairs that break an axiom, and return the smallest pair.

    `allowed` returns which pairs fulfil the conditions of the axiom, and `breaks` which of these break it.
    """
    seen: dict[bytes, MinimalPairs] = {}  # the search from a pair seen before is known
    for start in np.argsort(cost(pairs), kind="stable")[:STARTS]:
        pair: MinimalPairs | None = pairs.take(np.array([start]))
        while pair is not None and (key := pair.rank.tobytes() + _to_rows(pair).tobytes()) not in seen:
            seen[key] = pair
            pair = _shrink_once(pair, allowed, breaks)
    return min(seen.values(), key=lambda pair: float(cost(pair)[0]))


def _shrink_once(pair: MinimalPairs, allowed: Judge, breaks: Judge) -> MinimalPairs | None:
    parts = [*_drop_each(pair), _mirror(pair), _from_rows(_change_times(_to_rows(pair)[0]), pair)]
    tables = ("duration_s", "references", "before", "changed", "rank")
    changed = MinimalPairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in tables))
    changed = changed.take(well_formed(changed))
    costs = cost(changed)
    order = np.argsort(costs, kind="stable")
    changed = changed.take(order[: np.searchsorted(costs, cost(pair)[0], sorter=order)])
    changed = changed.take(allowed(changed))
    for low in range(0, len(changed), TRIED_AT_ONCE):
        tried = changed.take(np.arange(low, min(low + TRIED_AT_ONCE, len(changed))))
        broken = np.flatnonzero(breaks(tried))
        if len(broken):
            return tried.take(broken[:1])
    return None


def cost(pairs: MinimalPairs) -> Floats:
    """Return how hard pairs are to read: by their moments and references, different times, and times not round."""
    times = _to_rows(pairs)
    uneven = 4.0 * (times % 10 > 0) + 4.0 * (times % 5 > 0)
    different = (np.diff(np.sort(times, axis=1), axis=1) > 0).sum(axis=1)  # NaN last
    late = np.nansum(pairs.references, axis=(1, 2)) + np.nansum(times, axis=1)
    known = (~np.isnan(times)).sum(axis=1)
    return np.asarray(100.0 * known + uneven.sum(axis=1) + 2.0 * different + late / 1000)


def well_formed(pairs: MinimalPairs) -> Bools:
    """Return which pairs have moments and disjoint references within their videos, shape (P,)."""
    moments = np.concatenate([pairs.references, pairs.before, pairs.changed[:, None]], axis=1)
    start, end = moments[:, :, 0], moments[:, :, 1]
    good = np.isnan(start) | ((start >= 0) & (start < end) & (end <= pairs.duration_s[:, None]))
    touch = pairs.references[:, :-1, 1] >= pairs.references[:, 1:, 0]  # False where there is none
    return np.asarray(good.all(axis=1) & ~touch.any(axis=1) & ~np.isnan(pairs.references[:, 0, 0]))


def _to_rows(pairs: MinimalPairs) -> Floats:
    """Return all times of each pair in one row: duration, references, list, new moment; (P, T)."""
    tables = (pairs.references, pairs.before, pairs.changed[:, None])
    rows = [table.reshape(len(pairs), 2 * table.shape[1]) for table in tables]
    return np.concatenate([pairs.duration_s[:, None], *rows], axis=1)


def _from_rows(times: Floats, like: MinimalPairs) -> MinimalPairs:
    """Return pairs from rows of times, all changed at the rank of one pair."""
    n_references, n_places = like.references.shape[1], like.before.shape[1]
    middle = 1 + 2 * n_references
    return MinimalPairs(
        times[:, 0],
        times[:, 1:middle].reshape(-1, n_references, 2),
        times[:, middle:-2].reshape(-1, n_places, 2),
        times[:, -2:],
        np.repeat(like.rank, len(times)),
    )


def _drop_each(pair: MinimalPairs) -> Iterator[MinimalPairs]:
    """Return the pair without each of its moments, and without each of its references."""
    k = int(pair.rank[0]) - 1
    for place in range(int(pair.length[0])):
        if place != k:
            before = _drop_row(pair.before, place)
            yield MinimalPairs(pair.duration_s, pair.references, before, pair.changed, pair.rank - (place < k))
    for r in range(pair.references.shape[1]):
        yield MinimalPairs(pair.duration_s, _drop_row(pair.references, r), pair.before, pair.changed, pair.rank)


def _mirror(pair: MinimalPairs) -> MinimalPairs:
    references, before, changed = (
        pair.duration_s - table[..., ::-1] for table in (pair.references, pair.before, pair.changed)
    )
    return MinimalPairs(pair.duration_s, np.sort(references, axis=1), before, changed, pair.rank)


def _drop_row(table: Floats, place: int) -> Floats:
    """Return a table (1, N, 2) without a row; the others move up, and the last is empty."""
    return np.concatenate([np.delete(table, place, axis=1), np.full((1, 1, 2), np.nan)], axis=1)


def _change_times(times: Floats) -> Floats:
    """Return times (T,) with one of them, all of one value, or all set to simpler values; one row each."""
    known = np.unique(times[~np.isnan(times)])
    simple = np.arange(0, known[-1] + 10, 5)
    targets = np.unique(np.concatenate([known, simple]))
    masks = np.concatenate([times == known[:, None], np.eye(len(times), dtype=bool)[~np.isnan(times)]])
    masks = masks[np.sort(np.unique(masks, axis=0, return_index=True)[1])]  # a value that occurs once, once
    single = np.where(masks[:, None], targets[:, None], times).reshape(-1, len(times))
    whole = [10 * np.round(times / 10), 10 * np.floor(times / 10), 10 * np.ceil(times / 10), 5 * np.round(times / 5)]
    return np.concatenate([single, *(row[None] for row in (*whole, times // 2, times - known[0]))])
