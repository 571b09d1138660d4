"""Several reference moments per query: which of them count.

A query may have several references because several annotators marked it (DiDeMo, the Hidden Challenges re-annotations)
or because the moment occurs several times (QVHighlights). Six rules are in use; on one public prediction file they give
R@1,IoU=0.5 from 29.83 to 53.94.

==================  ==================================================================================
``nearest``         the reference with the largest IoU, for each predicted moment
``first``           the first reference of the file
``representative``  the reference that agrees best with the others (largest mean IoU)
``merged``          the union of all references, as one region with gaps
``pooled``          all answers and all references at once: intersections of all pairs over the sum of all
                    lengths less these (UniTime); can exceed 1 where answers overlap each other
``rows``            every reference is a query of its own; a query's weight is its number of references
==================  ==================================================================================

A query without a reference moment is a row of NaN, and one unit under every rule.

References
----------
Hidden Challenges (Otani et al. 2020), section 6, Table 2: nearest and representative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from truemoment.base.intervals import TIE, Floats, Ints, merge, temporal_iou
from truemoment.base.records import Annotations

ReferenceRule = Literal["nearest", "representative", "first", "merged", "pooled", "rows"]
REFERENCE_RULES: tuple[ReferenceRule, ...] = get_args(ReferenceRule)


@dataclass(frozen=True, eq=False)
class References:
    """Reference moments as a padded table, one row per unit of evaluation.

    Parameters
    ----------
    start, end : (U, R)
        Times in the protocol's unit, padded with NaN.
    query : (U,)
        Query of each unit. One unit per query, except for the rule ``rows``.
    rule
        The rule by which they were selected.
    length_s : (U, R)
        Annotated length of each reference in seconds; default ``end - start``.
    """

    start: Floats
    end: Floats
    query: Ints
    rule: ReferenceRule = "nearest"
    length_s: Floats | None = None

    @property
    def lengths_s(self) -> Floats:
        """Length of each reference in seconds, as annotated."""
        return self.end - self.start if self.length_s is None else self.length_s


def pad(offsets: Ints, values: Floats) -> Floats:
    """Return ragged lists as a table (Q, R), padded with NaN."""
    lengths = np.diff(offsets)
    table = np.full((len(lengths), max(int(lengths.max(initial=0)), 1)), np.nan, dtype=values.dtype)
    table[np.arange(table.shape[1]) < lengths[:, None]] = values
    return table


def all_references(annotations: Annotations, start: Floats, end: Floats, length_s: Floats | None = None) -> References:
    """Return every reference of every query, with times `start` and `end`, one per row of the annotations."""
    length_s = annotations.end_s - annotations.start_s if length_s is None else length_s
    start, end, length_s = (pad(annotations.offsets, column) for column in (start, end, length_s))
    return References(start, end, np.arange(annotations.n_queries), length_s=length_s)


def apply_rule(rule: ReferenceRule, references: References) -> References:
    """Return the references that count under `rule`, given all of them.

    Examples
    --------
    >>> import numpy as np
    >>> both = References(np.array([[0.0, 4.0]]), np.array([[6.0, 10.0]]), np.array([0]))
    >>> apply_rule("merged", both).end
    array([[10., nan]])
    >>> apply_rule("rows", both).start.ravel()
    array([0., 4.])
    """
    start, end, query, length_s = references.start, references.end, references.query, references.lengths_s
    if rule in ("nearest", "pooled"):
        return References(start, end, query, rule, length_s)
    if rule in ("first", "representative"):
        selected = representative(start, end)[:, None] if rule == "representative" else np.zeros_like(query)[:, None]
        start, end, length_s = (np.take_along_axis(table, selected, axis=1) for table in (start, end, length_s))
        return References(start, end, query, rule, length_s)
    if rule == "merged":
        return References(*merge(start, end), query, rule)
    present = ~np.isnan(start)
    present[:, 0] = True  # of a query without a moment: one unit, all NaN
    owner = np.repeat(query, present.sum(axis=1))
    return References(start[present][:, None], end[present][:, None], owner, rule, length_s[present][:, None])


def representative(start: Floats, end: Floats) -> Ints:
    """Return the column of the reference (Q, R) with the largest mean IoU to the others, first on a tie, (Q,)."""
    present = ~np.isnan(start)
    agreement = np.zeros(start.shape)
    for r in range(start.shape[1]):
        iou = temporal_iou(start, end, start[:, r : r + 1], end[:, r : r + 1])
        agreement += np.where(present & present[:, r : r + 1], iou, 0.0)
    own = (end > start).astype(np.float64)  # each reference's IoU with itself: 1, or 0 if it is empty
    # The number of others is the same for all references of a query, so the sum ranks as the mean does.
    total = np.where(present, agreement - own, -np.inf)
    best = total.max(axis=1, keepdims=True)
    return np.asarray(np.argmax(total >= best - TIE, axis=1), dtype=np.int64)  # the first of those that tie
