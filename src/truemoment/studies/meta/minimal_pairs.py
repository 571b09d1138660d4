r"""Minimal pairs: two ranked lists of moments for one query that differ at one rank only.

The axioms of the AxIoU paper are about these. With :math:`r` the relevance of a moment, :math:`\sigma` the list before
and :math:`\sigma'` the list after the change at rank k:

* A.1 :math:`r(\sigma(k)) < r(\sigma'(k))`: the new moment is the better one;
* A.2 :math:`r(\sigma'(k)) \le \max_{j < k} r(\sigma'(j))`: and no better than the best before it (INV-k, k > 1);
* A.3 :math:`r(\sigma'(k)) > \max_{j < k} r(\sigma'(j))`: or better than all before it (MON-k).

Ranks after k are free. Relevance is the IoU with the nearest reference, computed as in the protocol. Times are whole
seconds, so that IoUs are fractions of small numbers: they are equal exactly, or differ by at least :data:`GAP`, so
rounding errors do not matter.

References
----------
AxIoU (Togashi et al. 2022), section 5 and appendix A.1.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats, Ints, seconds_to_norm, temporal_iou
from truemoment.evaluation.protocols import Protocol

Axiom = Literal["INV", "MON"]
"""INV-k, invariance against redundant moments, and MON-k, strict monotonicity with respect to the best moment."""

GAP = 1e-3
"""Minimum difference of two relevances that are not equal."""

DURATION_S = (20, 120)
"""Shortest and longest video, whole seconds; longer where several references need the room."""

JITTER_S = (0, 1, 4, 10)
"""Maximum distances of the ends of a moment from those of its origin, seconds."""

ROUNDS = 1000
"""Maximum number of draws to find pairs that fulfil the conditions."""


@dataclass(frozen=True, eq=False)
class MinimalPairs:
    """P pairs of lists of up to K moments, each pair for a query of its own with up to R references.

    Parameters
    ----------
    duration_s : (P,)
        Of the video, seconds.
    references : (P, R, 2)
        Start and end, seconds; disjoint and in order of time, NaN if there are fewer.
    before : (P, K, 2)
        The list before the change, best first; NaN after its end.
    changed : (P, 2)
        The new moment at `rank`.
    rank : (P,)
        Rank that is changed, from 1.
    """

    duration_s: Floats
    references: Floats
    before: Floats
    changed: Floats
    rank: Ints

    def __len__(self) -> int:
        return len(self.rank)

    @property
    def after(self) -> Floats:
        """The list after the change, (P, K, 2)."""
        after = self.before.copy()
        after[np.arange(len(self)), self.rank - 1] = self.changed
        return after

    @property
    def length(self) -> Ints:
        """Number of moments in the lists of each pair, (P,)."""
        return np.asarray((~np.isnan(self.before[:, :, 0])).sum(axis=1))

    def take(self, rows: Ints | Bools) -> MinimalPairs:
        """Return some pairs, by number or by a mask."""
        return MinimalPairs(
            self.duration_s[rows], self.references[rows], self.before[rows], self.changed[rows], self.rank[rows]
        )


def relevance(moments: Floats, references: Floats, duration_s: Floats, protocol: Protocol) -> Floats:
    """Return the IoU of moments, (P, N, 2), with their nearest reference, (P, R, 2), by a protocol: (P, N).

    Moments and references are in seconds, NaN for none; the IoU without a moment is 0.
    """
    if protocol.times == "normalised":
        moments, references = (seconds_to_norm(table, duration_s[:, None, None]) for table in (moments, references))
    moments, references = (table.astype(protocol.precision) for table in (moments, references))
    ious = (
        temporal_iou(
            moments[:, :, 0],
            moments[:, :, 1],
            references[:, r : r + 1, 0],
            references[:, r : r + 1, 1],
            denominator=protocol.denominator,
            epsilon=protocol.epsilon,
        )
        for r in range(references.shape[1])
    )
    return functools.reduce(np.maximum, ious)


def fulfils(axiom: Axiom, pairs: MinimalPairs, protocol: Protocol) -> Bools:
    """Return which pairs fulfil the conditions of an axiom: A.1 and A.2 for INV, A.1 and A.3 for MON; shape (P,)."""
    lists = np.concatenate([pairs.before, pairs.changed[:, None]], axis=1)
    iou = relevance(lists, pairs.references, pairs.duration_s, protocol)
    old, new = iou[np.arange(len(pairs)), pairs.rank - 1], iou[:, -1]
    ahead = np.arange(iou.shape[1]) < pairs.rank[:, None] - 1
    best = np.where(ahead, iou, -np.inf).max(axis=1)
    better = new >= old + GAP
    if axiom == "INV":
        return np.asarray(better & ((new == best) | (new <= best - GAP)))
    return np.asarray(better & (new >= best + GAP))


def draw_pairs(
    axiom: Axiom, rank: Ints, rng: np.random.Generator, *, length: int, references: int, protocol: Protocol
) -> MinimalPairs:
    """Draw pairs that fulfil the conditions of an axiom.

    Lists contain moments near a reference, copies and near copies of earlier moments, and moments anywhere in the
    video. `rank`, (P,), is the rank at which each pair differs: 1 to `length`, from 2 for INV. Lists have `rank` to
    `length` moments.
    """
    n_pairs = len(rank)
    pairs = MinimalPairs(
        np.empty(n_pairs),
        np.empty((n_pairs, references, 2)),
        np.empty((n_pairs, length, 2)),
        np.empty((n_pairs, 2)),
        rank,
    )
    missing = np.arange(n_pairs)
    for _ in range(ROUNDS):
        if not len(missing):
            return pairs
        drawn = _draw(axiom, rank[missing], rng, length=length, references=references, protocol=protocol)
        good = fulfils(axiom, drawn, protocol)
        for name in ("duration_s", "references", "before", "changed"):
            getattr(pairs, name)[missing[good]] = getattr(drawn, name)[good]
        missing = missing[~good]
    raise UsageError(
        f"got {n_pairs - len(missing)} of {n_pairs} pairs of lists in {ROUNDS} draws: with protocol {protocol.name} "
        f"too few moments differ in IoU by {GAP:g}"
    )


def _draw(
    axiom: Axiom, rank: Ints, rng: np.random.Generator, *, length: int, references: int, protocol: Protocol
) -> MinimalPairs:
    n_pairs, n_ends = len(rank), 2 * references
    shortest, longest = DURATION_S
    duration_s = rng.integers(shortest, longest + 1, n_pairs) + (n_ends - 2)
    ends = np.sort(rng.integers(0, duration_s[:, None] - n_ends + 2, (n_pairs, n_ends)), axis=1) + np.arange(n_ends)
    regions = ends.reshape(n_pairs, references, 2)
    moments = np.empty((n_pairs, length + 1, 2))
    for place in range(length + 1):
        moments[:, place] = _moment(moments[:, :place], regions, duration_s, rng)
    iou = relevance(moments, regions.astype(np.float64), duration_s.astype(np.float64), protocol)
    _arrange(axiom, moments, iou, rank, rng)
    before = moments[:, :length].copy()
    before[np.arange(length) >= rng.integers(rank, length + 1)[:, None]] = np.nan
    return MinimalPairs(
        duration_s.astype(np.float64), regions.astype(np.float64), before, moments[:, length].copy(), rank
    )


def _moment(earlier: Floats, references: Ints, duration_s: Ints, rng: np.random.Generator) -> Floats:
    """Draw one more moment of each list: near a reference, near an earlier moment of the list, or anywhere; (P, 2)."""
    n_pairs, rows = len(duration_s), np.arange(len(duration_s))
    kind = rng.random(n_pairs)
    ends = rng.integers(0, duration_s[:, None] + 1, (n_pairs, 2)).astype(np.float64)
    reference = references[rows, rng.integers(0, references.shape[1], n_pairs)]
    ends = np.where(kind[:, None] < 0.4, reference, ends)
    if earlier.shape[1]:
        copied = earlier[rows, rng.integers(0, earlier.shape[1], n_pairs)]
        ends = np.where(kind[:, None] > 0.75, copied, ends)
    reach = rng.choice(JITTER_S, n_pairs)[:, None]
    ends = np.sort(np.clip(ends + rng.integers(-reach, reach + 1, (n_pairs, 2)), 0, duration_s[:, None]), axis=1)
    start = np.minimum(ends[:, 0], duration_s - 1)
    return np.stack([start, np.maximum(ends[:, 1], start + 1)], axis=1)


def _arrange(axiom: Axiom, moments: Floats, iou: Floats, rank: Ints, rng: np.random.Generator) -> None:
    """Move moments to the places that the conditions require; the last place has the new moment at rank k.

    `moments` (P, K + 1, 2) and their `iou` (P, K + 1) are changed.
    """
    rows, places = np.arange(len(rank)), np.arange(iou.shape[1])
    new = np.full(len(rank), places[-1])
    rivals = (places < rank[:, None]) | (places == places[-1])

    def swap(first: Ints, second: Ints) -> None:
        for table in (moments, iou):
            table[rows, first], table[rows, second] = table[rows, second], table[rows, first]

    best = np.where(rivals, iou, -1).argmax(axis=1)
    if axiom == "INV":  # the best goes ahead of rank k; of the other two the better one is the new one
        swap(best, rng.integers(0, rank - 1))
        swap(new, np.where(iou[:, -1] < iou[rows, rank - 1], rank - 1, new))
    else:  # the best is the new one, and what is as good gives way to the worst
        swap(best, new)
        worst = np.where(rivals, iou, 2).argmin(axis=1)
        equal = rivals & (iou > iou[:, -1:] - GAP) & (places < places[-1])
        moments[:] = np.where(equal[:, :, None], moments[rows, worst][:, None], moments)
