"""Errors: the kind of error of each first answer, and the gain from correcting each kind.

Every query with a reference is of exactly one kind. With r the reference, a the first answer and m the threshold::

    reference              ├────────┤
    hit                     ├────────┤             IoU reaches m
    too long           ├───────────────────┤       ≥ 90 % of r lies in a, and a is longer
    too short                ├──┤                  ≥ 90 % of a lies in r, and a is shorter
    shifted                     ├────────┤         they overlap otherwise
    wrong place    ├───┤                           no overlap with any reference
    empty or swapped           |                   a ends where it starts, or before
    no answer                                      an empty list, or none
    faulty reference                               every reference is empty or swapped: nothing can be right

Queries without a reference moment are left out, under every protocol: no moment can be wrong there.

The first kind that applies counts, in the order: hit, faulty reference, no answer, empty or swapped, wrong place, too
long, too short, shifted. The reference with the largest IoU decides the kind.

Beside its kind, a query whose first answer is wrong may be *hidden*: a hit is at a rank 2..K. It is *hidden
by duplicates* when it is at rank 3 or below and all answers between the first and it repeat the first
(IoU > 0.45 with it, the threshold at which Hidden Challenges suppresses).

Gain from correcting a kind
    The figures if the queries of one kind had the reference as their first answer (IoU 1), all else unchanged;
    for hidden hits, if the hit were at rank 1. Kinds are corrected one at a time, as in TIDE (Bolya et al., ECCV
    2020). For R@1 the gains of all kinds add up to the difference from 1 (faulty references excluded).

The protocol's order of answers, suppression, clipping, unit and comparison all apply, since the kinds are computed
inside :func:`~truemoment.evaluation.evaluate.evaluate`. Where the protocol merges or pools references, or makes each a
query of its own, each answer is compared with its nearest one instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from truemoment.base.intervals import TIE, Bools, Floats, Ints, temporal_iou
from truemoment.base.records import Annotations, Predictions
from truemoment.evaluation.evaluate import evaluate, resolve_protocol
from truemoment.evaluation.measures import AxIoU, MeanIoU, Recall
from truemoment.evaluation.measures.base import Needs, Overlaps, Statistic
from truemoment.evaluation.measures.max_iou import average_max_iou
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.references import ReferenceRule

HIT = "hit"
KINDS = (HIT, "too long", "too short", "shifted", "wrong place", "empty or swapped", "no answer", "faulty reference")
"""Every kind, in the order of the table."""

NEARLY = 0.9
"""Share of one moment within the other from which it lies within it."""

DUPLICATE_IOU = 0.45
"""IoU above which an answer repeats another: Hidden Challenges' suppression (section 3.2)."""

OWN_RULES: tuple[ReferenceRule, ...] = ("nearest", "first", "representative")
"""Reference rules under which an answer has a reference of its own to be compared with."""


class ErrorKind(NamedTuple):
    """One line of the table.

    Parameters
    ----------
    kind
        One of :data:`KINDS`, ``hidden`` or ``hidden by duplicates`` (which are of other kinds too).
    mended : (3,)
        R@1, mIoU and AxIoU if this kind were corrected; fractions.
    gain : (3,)
        Increase of each figure.
    """

    kind: str
    n_queries: int
    share: float
    mended: Floats
    gain: Floats


@dataclass(frozen=True, eq=False)
class ErrorKinds:
    """Kinds of error of the first answers.

    Parameters
    ----------
    threshold, depth
        m and K.
    references
        The reference rule by which answers were compared with references.
    measures
        Measures of the figures: R@1,IoU=m, mIoU and AxIoU@K.
    figures : (3,)
        The figures as they are.
    kind : (Q,)
        Each query's kind, a position in :data:`KINDS`.
    counts : (Q,)
        Whether the query counts: False where the protocol drops it because it has no answer, or there is no reference
        moment.
    rank_of_hit : (Q,)
        Rank of the first hit among the first K answers, 0 where there is none.
    duplicates : (Q,)
        Whether that hit is hidden by duplicates.
    iou, best_iou : (Q,)
        IoU of the first answer, and the best of the first K.
    table
        One line a kind, then ``hidden`` and ``hidden by duplicates``.
    """

    threshold: float
    depth: int
    references: ReferenceRule
    measures: tuple[str, str, str]
    figures: Floats
    kind: Ints
    counts: Bools
    rank_of_hit: Ints
    duplicates: Bools
    iou: Floats
    best_iou: Floats
    table: tuple[ErrorKind, ...]


def error_kinds(
    annotations: Annotations,
    predictions: Predictions,
    threshold: float = 0.5,
    protocol: str | Protocol | None = None,
    *,
    depth: int = 10,
) -> ErrorKinds:
    """Return the kind of error of each first answer, and the gain from correcting each kind.

    `threshold` is m in [0, 1]; `depth` is K, the largest rank of a hit. Other parameters are as for
    :func:`~truemoment.evaluation.evaluate.evaluate`.

    Examples
    --------
    >>> a = Annotations.from_rows([("v#0", "v", 60.0, "a door opens", 10.0, 20.0)])
    >>> kinds = error_kinds(a, Predictions.from_lists({"v#0": [(0.0, 40.0), (11.0, 20.0)]}))
    >>> KINDS[kinds.kind[0]], kinds.rank_of_hit.tolist(), kinds.figures.tolist()
    ('too long', [2], [0.0, 0.25, 0.835])
    >>> [(line.kind, line.gain.round(3).tolist()) for line in kinds.table if line.n_queries]
    [('too long', [1.0, 0.75, 0.165]), ('hidden', [1.0, 0.65, 0.065])]
    """
    protocol = replace(resolve_protocol(protocol, annotations), empty="drop")
    rule = protocol.references if protocol.references in OWN_RULES else "nearest"
    ref = None if rule == protocol.references else rule
    recall, miou, axiou = Recall(1, threshold, ref=ref), MeanIoU(ref), AxIoU(depth, ref)

    def observed(name: str, look: Callable[[Overlaps], Floats], ranks: int = depth) -> _Observation:
        return _Observation(name, look, ranks, rule)

    measure_list = (
        recall,
        miou,
        axiou,
        observed("kind", lambda overlaps: _kinds(overlaps, threshold)),
        observed("rank of the first hit", lambda overlaps: _rank_of_hit(overlaps, threshold)),
        observed("duplicates", lambda overlaps: _duplicates(overlaps, threshold)),
        observed("IoU of the first hit", lambda overlaps: _iou_of_hit(overlaps, threshold)),
        observed("AxIoU, the hit first", lambda overlaps: _axiou_hit_first(overlaps, threshold, depth)),
        observed("best IoU", lambda overlaps: overlaps.best_iou[:, -1].astype(np.float64)),
    )
    scores = evaluate(annotations, predictions, measure_list, protocol)
    hits, iou, average, kinds, ranks, repeats, iou_of_hit, average_hit_first, best_iou = scores.numerator
    counts = scores.weight[0] > 0
    kind, rank_of_hit = kinds.astype(np.int64), ranks.astype(np.int64)
    values = np.stack([hits, iou, average])
    right = np.ones_like(values)
    brought_up = np.stack([np.ones_like(hits), iou_of_hit, average_hit_first])
    hidden, duplicates = rank_of_hit > 1, repeats > 0
    lines: list[tuple[str, Bools, Floats]] = [
        (name, kind == number, values if name in (HIT, "faulty reference") else right)
        for number, name in enumerate(KINDS)
    ]
    lines += [("hidden", hidden, brought_up), ("hidden by duplicates", duplicates, brought_up)]
    figures = _mean(values, counts)
    table = []
    for name, marked, values_corrected in lines:
        of_kind = marked & counts
        gain = _mean(np.where(of_kind, values_corrected - values, 0), counts)
        table.append(ErrorKind(name, int(of_kind.sum()), _mean(of_kind, counts).item(), figures + gain, gain))
    return ErrorKinds(
        threshold=threshold,
        depth=depth,
        references=rule,
        measures=(str(recall), str(miou), str(axiou)),
        figures=figures,
        kind=kind,
        counts=counts,
        rank_of_hit=rank_of_hit,
        duplicates=duplicates,
        iou=iou,
        best_iou=best_iou,
        table=tuple(table),
    )


def _mean(values: Floats | Bools, counts: Bools) -> Floats:
    """Mean over the queries that count, along the last axis; NaN where none does."""
    n_queries = int(counts.sum())
    return np.asarray(values[..., counts].sum(axis=-1) / n_queries if n_queries else np.full(values.shape[:-1], np.nan))


@dataclass(frozen=True)
class _Observation:
    """A property of each query's overlaps, in the form of a measure, so that the protocol applies."""

    name: str
    look: Callable[[Overlaps], Floats]
    depth: int
    ref: ReferenceRule

    needs: ClassVar[Needs] = "overlaps"
    needs_duration: ClassVar[bool] = False

    def __str__(self) -> str:
        return self.name

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        values = self.look(overlaps)
        return Statistic(values, np.ones(len(values)))


def _nearest(overlaps: Overlaps) -> tuple[Floats, Floats]:
    """Start and end of the reference that each first answer is compared with, (U,)."""
    refs = overlaps.references
    iou = np.stack([table[:, 0] for table in overlaps.iou_by_reference], axis=1)
    middle = (overlaps.start[:, :1] + overlaps.end[:, :1]) / 2
    distance = np.abs((refs.start + refs.end) / 2 - middle)
    order = np.lexsort((distance, -iou))  # by IoU, then by the distance of the middles; NaN last
    rows = np.arange(len(iou))
    return refs.start[rows, order[:, 0]], refs.end[rows, order[:, 0]]


def _kinds(overlaps: Overlaps, threshold: float) -> Floats:
    start, end = overlaps.start[:, 0], overlaps.end[:, 0]
    ref_start, ref_end = _nearest(overlaps)
    length, ref_length = end - start, ref_end - ref_start
    overlap = np.minimum(end, ref_end) - np.maximum(start, ref_start)
    proper = overlaps.references.end > overlaps.references.start
    answered = overlaps.n_predicted > 0
    nearly = NEARLY - TIE  # nine tenths to within rounding
    # The first that applies decides.
    conditions = {
        HIT: overlaps.hit(overlaps.iou[:, 0], threshold) & answered,
        "faulty reference": ~proper.any(axis=1),
        "no answer": ~answered,
        "empty or swapped": ~(length > 0),
        "wrong place": ~(overlaps.iou[:, 0] > 0),
        "too long": (overlap >= nearly * ref_length) & (length > ref_length),
        "too short": (overlap >= nearly * length) & (length < ref_length),
        "shifted": np.ones_like(answered),
    }
    return np.asarray(np.select(list(conditions.values()), [float(KINDS.index(name)) for name in conditions]))


def _hits(overlaps: Overlaps, threshold: float) -> Bools:
    return overlaps.hit(overlaps.iou, threshold) & overlaps.filled


def _rank_of_hit(overlaps: Overlaps, threshold: float) -> Floats:
    hits = _hits(overlaps, threshold)
    return np.where(hits.any(axis=1), hits.argmax(axis=1) + 1.0, 0.0)


def _iou_of_hit(overlaps: Overlaps, threshold: float) -> Floats:
    """IoU of the first hit; 0 where there is none."""
    hits = _hits(overlaps, threshold)
    first = np.take_along_axis(overlaps.iou, hits.argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(hits.any(axis=1), first, 0).astype(np.float64)


def _axiou_hit_first(overlaps: Overlaps, threshold: float, depth: int) -> Floats:
    """AxIoU@K if the first hit were at rank 1.

    No answer above the hit is better than it, so the best so far becomes the larger of the two, at every rank.
    """
    brought_up = np.maximum(overlaps.best_iou, _iou_of_hit(overlaps, threshold)[:, None])
    return average_max_iou(brought_up, depth)


def _duplicates(overlaps: Overlaps, threshold: float) -> Floats:
    """1 where all answers between the first and the first hit repeat the first, and there is one at least."""
    rank = _rank_of_hit(overlaps, threshold)
    with_first = temporal_iou(overlaps.start, overlaps.end, overlaps.start[:, :1], overlaps.end[:, :1])
    between = np.arange(1, overlaps.start.shape[1] + 1) < rank[:, None]
    between[:, 0] = False
    repeated = (rank > 2) & np.all((with_first > DUPLICATE_IOU) | ~between, axis=1)
    return np.asarray(repeated, dtype=np.float64)
