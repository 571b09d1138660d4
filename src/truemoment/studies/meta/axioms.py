"""Axioms of a measure as executable checks: INV-k and MON-k, for any measure.

On a minimal pair (:mod:`~truemoment.studies.meta.minimal_pairs`) that fulfils A.1 and A.2, INV-k requires the same
value. On one that fulfils A.1 and A.3, MON-k requires a strict rise (a fall, where less is better). k covers the ranks
that a measure uses. A check finds counterexamples and proves nothing. Guide: ``docs/meta.md``. Source: AxIoU (Togashi
et al. 2022), section 5 and appendix A.

*Shrinking* goes from a pair that breaks an axiom to the smallest one that still does, greedily and without chance: of
all changes after which the axiom is still broken, the one with the smallest pair is made, until there is none. A change
drops a moment or a reference, simplifies one time or all times of a value, or rounds, halves, shifts or mirrors all
times.
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
from truemoment.evaluation.measures import Measure, parse_measure, parse_measures
from truemoment.evaluation.protocols import Protocol, get_protocol
from truemoment.evaluation.uncertainty import ROUNDING
from truemoment.studies.meta.minimal_pairs import Axiom, MinimalPairs, draw_pairs, fulfils, relevance
from truemoment.studies.meta.systems import direction_of, figures_of

MEASURES = (
    "R@1,IoU=0.5; R@5,IoU=0.5; R@5,IoU=0.7; AxIoU@1; AxIoU@5; NCxIoU@5,p=geometric(0.5); NCxIoU@3,p=weights(1,0,1); "
    "AP@5,IoU=0.5; DCG@5; mIoU; dR@1,IoU=0.5; dR@5,IoU=0.5; mAP; mAP,IoU=0.5; SetIoU; F1,IoU=0.5"
)
"""The measures of the paper's appendix A, and measures for which the literature does not say which axioms hold."""

DEEPEST = 100
"""Ranks beyond this one are not changed, however far a measure looks."""


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
        Where they differ, from 1.
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
    """Whether a measure holds to an axiom on the pairs tried.

    Parameters
    ----------
    rank : (K,)
        Ranks at which lists were changed; none for INV and a measure that looks at one answer.
    pairs : (K,)
        Pairs tried at each rank: those on which the measure is defined.
    broken : (K,)
        Pairs on which it breaks the axiom.
    worse : (K,)
        Pairs, among these, on which it ranks the worse list higher.
    counterexample
        The smallest one found, None where none was: one of the `worse` where there are any and the axiom is MON.
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
        """Pairs tried."""
        return int(self.pairs.sum())

    @property
    def n_broken(self) -> int:
        """Pairs on which the measure breaks the axiom."""
        return int(self.broken.sum())

    @property
    def n_worse(self) -> int:
        """Pairs on which it ranks the worse list higher."""
        return int(self.worse.sum())

    @property
    def holds(self) -> bool:
        """Whether no pair breaks the axiom; that is no proof."""
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
    """Check which axioms measures hold to: INV and MON of each measure in turn.

    Measures are texts (``"R@1,IoU=0.5; mIoU"``) or values. The result of a measure does not depend on the others. Lists
    have up to `length` moments, 1 to 100, for measures of whole lists; for others, as many as they use.

    Examples
    --------
    >>> found = check_axioms("R@1,IoU=0.5; AxIoU@3", np.random.default_rng(0), pairs=100)
    >>> [(str(one.measure), one.axiom) for one in found if not one.holds]
    [('R@1,IoU=0.5', 'MON')]
    """
    if pairs < 1 or references < 1 or not 1 <= length <= DEEPEST:
        raise UsageError(
            f"got pairs={pairs}, length={length} and references={references}, expected pairs and references of 1 or "
            f"more and a length from 1 to {DEEPEST}"
        )
    protocol = "default" if protocol is None else protocol
    convention = get_protocol(protocol) if isinstance(protocol, str) else protocol
    seed = int(rng.integers(2**63))
    results: dict[tuple[Measure, Axiom], AxiomResult] = {}
    for depth, of_depth in _by_depth(_checked(measures), length).items():
        for number, axiom in enumerate(get_args(Axiom)):
            ranks = np.arange(2 if axiom == "INV" else 1, depth + 1)
            own = np.random.default_rng([seed, depth, number])
            rank = np.resize(ranks, pairs if len(ranks) else 0)
            drawn = draw_pairs(axiom, rank, own, length=depth, references=references, protocol=convention)
            for measure, result in zip(of_depth, _judged(of_depth, axiom, ranks, drawn, convention), strict=True):
                results[measure, axiom] = result
    return tuple(results[measure, axiom] for measure in _checked(measures) for axiom in get_args(Axiom))


def _checked(measures: str | Sequence[Measure | str]) -> tuple[Measure, ...]:
    """Return the measures as values, each once."""
    if isinstance(measures, str):
        measure_list = parse_measures(measures)
    else:
        measure_list = tuple(dict.fromkeys(parse_measure(one) if isinstance(one, str) else one for one in measures))
    for measure in measure_list:
        if measure.needs not in ("overlaps", "sets"):
            raise MeasureError(f"{measure} is no measure of ranked moments, and the axioms speak of these only")
    if not measure_list:
        raise MeasureError("got no measure, expected at least one")
    return measure_list


def _by_depth(measures: Sequence[Measure], length: int) -> dict[int, list[Measure]]:
    groups: dict[int, list[Measure]] = {}
    for measure in measures:
        depth = length if measure.depth is None else min(measure.depth, DEEPEST)
        groups.setdefault(depth, []).append(measure)
    return groups


def _judged(
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

    def sought(of_pairs: Floats) -> Bools:
        return of_pairs < 0 if falls else _breaks(axiom, of_pairs)

    found = shrink(
        drawn.take(sought(rise)),
        allowed=lambda tried: fulfils(axiom, tried, protocol),
        breaks=lambda tried: sought(_rises([measure], tried, protocol)[0]),
    )
    return _printed(found, measure, protocol)


def _rises(measures: Sequence[Measure], pairs: MinimalPairs, protocol: Protocol) -> Floats:
    """Say what measures make of the change: 1 better, 0 as good, -1 worse, NaN undefined; shape (M, P)."""
    before, after = values(measures, pairs, protocol)
    direction = direction_of(measures)[:, None]
    slack = ROUNDING if protocol.precision == "float64" else 4 * float(np.finfo(protocol.precision).eps)
    change = direction * (after - before)
    return np.asarray(np.where(np.abs(change) <= slack, 0.0, np.sign(change)))


def values(measures: Sequence[Measure], pairs: MinimalPairs, protocol: Protocol) -> tuple[Floats, Floats]:
    """Values of measures on the lists before and after the change.

    Returns
    -------
    before, after : (M, P)
        Fractions, NaN where a measure is undefined. Scores of a list fall by 1 from rank to rank.
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
    """Say on which pairs a measure breaks an axiom, given what it makes of the change; undefined is not broken."""
    return np.asarray((rise != 0) & ~np.isnan(rise) if axiom == "INV" else rise <= 0)


def _by_rank(pairs: MinimalPairs, which: Bools, ranks: Ints) -> Ints:
    """Count some pairs by the rank at which they differ."""
    return np.asarray(np.bincount(pairs.rank[which], minlength=int(ranks[-1]) + 1)[ranks])


def _printed(pair: MinimalPairs, measure: Measure, protocol: Protocol) -> MinimalPair:
    """A single pair with the values of a measure on it."""
    before, after = values([measure], pair, protocol)
    k, present = int(pair.length[0]), ~np.isnan(pair.references[0, :, 0])
    lists = (pair.before, pair.after)
    iou = [relevance(one, pair.references, pair.duration_s, protocol)[0, :k].astype(np.float64) for one in lists]
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
"""Says something of each of some pairs, shape (P,)."""

STARTS = 12
"""Pairs that are shrunk, the smallest first; the smallest outcome counts."""

TRIED_AT_ONCE = 64
"""Changes that are tried at a time, the best first."""


def shrink(pairs: MinimalPairs, allowed: Judge, breaks: Judge) -> MinimalPairs:
    """Return the smallest pair that is found from some pairs, each of which breaks an axiom.

    `allowed` returns which pairs fulfil the conditions of the axiom, and `breaks` which of these break it.
    """
    seen: dict[bytes, MinimalPairs] = {}  # from one that was seen before, the way is known
    for start in np.argsort(cost(pairs), kind="stable")[:STARTS]:
        pair: MinimalPairs | None = pairs.take(np.array([start]))
        while pair is not None and (key := pair.rank.tobytes() + _flat(pair).tobytes()) not in seen:
            seen[key] = pair
            pair = _smaller(pair, allowed, breaks)
    return min(seen.values(), key=lambda pair: float(cost(pair)[0]))


def _smaller(pair: MinimalPairs, allowed: Judge, breaks: Judge) -> MinimalPairs | None:
    parts = [*_without_one(pair), _mirrored(pair), _of_flat(_retimed(_flat(pair)[0]), pair)]
    tables = ("duration_s", "references", "before", "changed", "rank")
    changed = MinimalPairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in tables))
    changed = changed.take(well_formed(changed) & (cost(changed) < cost(pair)))
    changed = changed.take(allowed(changed))
    order = np.argsort(cost(changed), kind="stable")
    for low in range(0, len(order), TRIED_AT_ONCE):
        tried = changed.take(order[low : low + TRIED_AT_ONCE])
        found = np.flatnonzero(breaks(tried))
        if len(found):
            return tried.take(found[:1])
    return None


def cost(pairs: MinimalPairs) -> Floats:
    """How hard pairs are to read: by their moments and references, different times, and times that are not round."""
    times = _flat(pairs)
    uneven = 4.0 * (times % 10 > 0) + 4.0 * (times % 5 > 0)
    different = (np.diff(np.sort(times, axis=1), axis=1) > 0).sum(axis=1)  # NaN last
    late = np.nansum(pairs.references, axis=(1, 2)) + np.nansum(times, axis=1)
    known = (~np.isnan(times)).sum(axis=1)
    return np.asarray(100.0 * known + uneven.sum(axis=1) + 2.0 * different + late / 1000)


def well_formed(pairs: MinimalPairs) -> Bools:
    """Which pairs hold moments and disjoint references within their videos, shape (P,)."""
    moments = np.concatenate([pairs.references, pairs.before, pairs.changed[:, None]], axis=1)
    start, end = moments[:, :, 0], moments[:, :, 1]
    good = np.isnan(start) | ((start >= 0) & (start < end) & (end <= pairs.duration_s[:, None]))
    touch = pairs.references[:, :-1, 1] >= pairs.references[:, 1:, 0]  # False where there is none
    return np.asarray(good.all(axis=1) & ~touch.any(axis=1) & ~np.isnan(pairs.references[:, 0, 0]))


def _flat(pairs: MinimalPairs) -> Floats:
    """All times of each pair in a row: duration, references, list, the new moment; (P, T)."""
    tables = (pairs.references, pairs.before, pairs.changed[:, None])
    rows = [table.reshape(len(pairs), 2 * table.shape[1]) for table in tables]
    return np.concatenate([pairs.duration_s[:, None], *rows], axis=1)


def _of_flat(times: Floats, like: MinimalPairs) -> MinimalPairs:
    """Pairs of rows of times, all changed at the rank of one pair."""
    n_references, n_places = like.references.shape[1], like.before.shape[1]
    middle = 1 + 2 * n_references
    return MinimalPairs(
        times[:, 0],
        times[:, 1:middle].reshape(-1, n_references, 2),
        times[:, middle:-2].reshape(-1, n_places, 2),
        times[:, -2:],
        np.repeat(like.rank, len(times)),
    )


def _without_one(pair: MinimalPairs) -> Iterator[MinimalPairs]:
    """The pair without one of its moments, or without one of its references."""
    k = int(pair.rank[0]) - 1
    for place in range(int(pair.length[0])):
        if place != k:
            before = _without(pair.before, place)
            yield MinimalPairs(pair.duration_s, pair.references, before, pair.changed, pair.rank - (place < k))
    for r in range(pair.references.shape[1]):
        yield MinimalPairs(pair.duration_s, _without(pair.references, r), pair.before, pair.changed, pair.rank)


def _mirrored(pair: MinimalPairs) -> MinimalPairs:
    references, before, changed = (
        pair.duration_s - table[..., ::-1] for table in (pair.references, pair.before, pair.changed)
    )
    return MinimalPairs(pair.duration_s, np.sort(references, axis=1), before, changed, pair.rank)


def _without(table: Floats, place: int) -> Floats:
    """A table (1, N, 2) without a row; the others move up, and the last is empty."""
    return np.concatenate([np.delete(table, place, axis=1), np.full((1, 1, 2), np.nan)], axis=1)


def _retimed(times: Floats) -> Floats:
    """Times (T,) with one of them, all of one value, or all put to simpler values; a row each."""
    known = np.unique(times[~np.isnan(times)])
    simple = np.arange(0, known[-1] + 10, 5)
    targets = np.unique(np.concatenate([known, simple]))
    masks = np.concatenate([times == known[:, None], np.eye(len(times), dtype=bool)[~np.isnan(times)]])
    single = np.where(masks[:, None], targets[:, None], times).reshape(-1, len(times))
    whole = [10 * np.round(times / 10), 10 * np.floor(times / 10), 10 * np.ceil(times / 10), 5 * np.round(times / 5)]
    return np.concatenate([single, *(row[None] for row in (*whole, times // 2, times - known[0]))])
