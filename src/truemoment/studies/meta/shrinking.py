"""Shrinking: from a minimal pair that breaks an axiom to the smallest one that still does.

Greedy and without chance: of all changes after which the axiom is still broken, the one with the smallest pair is made,
until there is none. A change drops a moment or a reference, simplifies one time or all times of a value, or rounds,
halves, shifts or mirrors all times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from truemoment.base.intervals import Bools, Floats
from truemoment.studies.meta.minimal_pairs import MinimalPairs

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
    changed = _one_change_away(pair)
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


def _one_change_away(pair: MinimalPairs) -> MinimalPairs:
    parts = [*_without_one(pair), _mirrored(pair), _of_flat(_retimed(_flat(pair)[0]), pair)]
    tables = ("duration_s", "references", "before", "changed", "rank")
    return MinimalPairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in tables))


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
