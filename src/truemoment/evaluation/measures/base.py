"""The contract of a measure, and its input.

A measure is a small frozen value. It prints as its text (``str(measure)``), is read back by
:func:`~truemoment.evaluation.measures.parse_measure`, hashes, and computes one numerator and one weight per unit from
an :class:`Overlaps`. Its value is the sum of numerators over the sum of weights.

To add a measure: write one file in this folder with a frozen dataclass that follows :class:`Measure`, and name it in
``evaluation/measures/__init__.py``.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from truemoment.base.errors import MeasureError
from truemoment.base.intervals import (
    TIE,
    Bools,
    Denominator,
    Floats,
    Ints,
    iou_with_set,
    pooled_iou,
    running_best,
    temporal_iou,
)
from truemoment.base.papers import Paper
from truemoment.evaluation.references import ReferenceRule, References

Comparison = Literal[">", ">="]

Needs = Literal["overlaps", "sets", "abstentions", "saliency"]
"""Input of a measure: overlaps under a reference rule, all references at once, who abstains, or clip
ratings."""

LENGTH_CLASSES_S: dict[str, tuple[float, float]] = {"short": (0.0, 10.0), "middle": (10.0, 30.0), "long": (30.0, 150.0)}
"""QVHighlights' classes of reference length: longer than the first figure, up to the second, seconds."""


class Statistic(NamedTuple):
    """The per-unit output of a measure.

    Parameters
    ----------
    numerator, weight : (U,)
        The value is the sum of numerators over the sum of weights; weight 0 is undefined.
    margin : (U,)
        Distance of the deciding IoU to the threshold: 0 is an exact tie. None if no single IoU decides.
    slack : (U,)
        Distance up to which rounding may have moved the IoU across the threshold. None for 1e-9.
    """

    numerator: Floats
    weight: Floats
    margin: Floats | None = None
    slack: Floats | None = None


@dataclass(frozen=True)
class HitRule:
    """When an IoU reaches a threshold m.

    Parameters
    ----------
    comparison
        ``">"`` (more than m) or ``">="`` (at least m).
    tolerance
        IoUs this close to m count as equal to it; 0 or more. None compares plain floating-point numbers, where the last
        bit decides ties.

    Examples
    --------
    >>> import numpy as np
    >>> iou = np.array([0.5, 0.5 + 1e-12, 0.6])
    >>> HitRule(">", 1e-9)(iou, 0.5)
    array([False, False,  True])
    >>> HitRule(">", None)(iou, 0.5)
    array([False,  True,  True])
    """

    comparison: Comparison = ">"
    tolerance: float | None = TIE

    def __call__(self, iou: Floats, threshold: float) -> Bools:
        """Return True where `iou`, of any shape, reaches `threshold` (m in [0, 1])."""
        slack = 0.0 if self.tolerance is None else self.tolerance
        if self.comparison == ">":
            return iou > threshold + slack
        return iou >= threshold - slack


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Predictions and references of a block of U units: the input of a measure.

    Parameters
    ----------
    start, end, score : (U, K)
        Predicted moments by rank, in the protocol's unit, padded with 0.
    n_predicted : (U,)
        Length of each list.
    references
        The references that count, (U, R).
    duration : (U,)
        Duration of each unit's video in the protocol's unit (1 if times are normalised).
    hit
        When an IoU reaches a threshold.
    denominator, epsilon
        Form of the IoU's denominator, see :func:`truemoment.base.intervals.temporal_iou`.
    """

    start: Floats
    end: Floats
    score: Floats
    n_predicted: Ints
    references: References
    duration: Floats
    hit: HitRule = HitRule()
    denominator: Denominator = "hull"
    epsilon: float = 0.0

    @functools.cached_property
    def filled(self) -> Bools:
        """Where a list has an answer, (U, K)."""
        return np.arange(self.start.shape[1]) < self.n_predicted[:, None]

    @functools.cached_property
    def iou_by_reference(self) -> tuple[Floats, ...]:
        """IoU of each predicted moment with each reference: R arrays of shape (U, K).

        Under the rule ``merged`` there is one array, the IoU with the whole region; under ``pooled`` one of shape (U,
        1).
        """
        refs = self.references
        if refs.rule == "merged":
            return (iou_with_set(self.start, self.end, refs.start, refs.end, epsilon=self.epsilon),)
        if refs.rule == "pooled":
            return (pooled_iou(self.start, self.end, refs.start, refs.end, epsilon=self.epsilon)[:, None],)
        return tuple(
            temporal_iou(
                self.start,
                self.end,
                refs.start[:, r : r + 1],
                refs.end[:, r : r + 1],
                denominator=self.denominator,
                epsilon=self.epsilon,
            )
            for r in range(refs.start.shape[1])
        )

    @functools.cached_property
    def iou(self) -> Floats:
        """IoU of each predicted moment with the nearest reference, (U, K), or (U, 1) under the rule ``pooled``."""
        return functools.reduce(np.maximum, self.iou_by_reference)

    @functools.cached_property
    def best_iou(self) -> Floats:
        """Best IoU among the first k answers for every k, shape as `iou`."""
        return running_best(self.iou)

    @functools.cached_property
    def discount_by_reference(self) -> tuple[Floats, ...]:
        r"""Closer Look's location discount of each predicted moment against each reference, (U, K).

        :math:`\alpha^s \alpha^e` with :math:`\alpha^* = \max(0, 1 - |p^* - g^*| / d)`, eq. 2. A merged region counts
        from its first start to its last end; 0 without a reference.
        """
        refs = self.references
        if refs.rule == "pooled":
            raise MeasureError("dR: answers pooled into one have no start and end; choose another [ref=...]")
        pairs = [(refs.start[:, r], refs.end[:, r]) for r in range(refs.start.shape[1])]
        if refs.rule == "merged":  # disjoint and in order of time: from the first start to the last end
            last = np.maximum((~np.isnan(refs.end)).sum(axis=1) - 1, 0)
            pairs = [(refs.start[:, 0], refs.end[np.arange(len(last)), last])]
        duration = self.duration[:, None]
        tables = []
        for start, end in pairs:
            alpha_start = np.maximum(1 - np.abs(self.start - start[:, None]) / duration, 0)
            alpha_end = np.maximum(1 - np.abs(self.end - end[:, None]) / duration, 0)
            product = alpha_start * alpha_end
            tables.append(product if not np.isnan(start).any() else np.nan_to_num(product, nan=0.0))
        return tuple(tables)

    @functools.cached_property
    def _best_discounted(self) -> dict[float, Floats]:
        return {}

    def best_discounted(self, threshold: float) -> Floats:
        """Return the best discounted hit (IoU at `threshold`) among the first k answers for every k, (U, K)."""
        if threshold not in self._best_discounted:
            pairs = zip(self.iou_by_reference, self.discount_by_reference, strict=True)
            hits = (np.where(self.hit(iou, threshold), discount, 0) for iou, discount in pairs)
            best = functools.reduce(np.maximum, hits)
            if not self.filled.all():  # with "IoU >= 0" silence would hit
                best *= self.filled
            self._best_discounted[threshold] = running_best(best)
        return self._best_discounted[threshold]

    def at(self, table: Floats, rank: int) -> Floats:
        """Return the column of a running table at a rank from 1; beyond the last column, the last."""
        return table[:, min(rank, table.shape[1]) - 1]


@dataclass(frozen=True, eq=False)
class Abstentions:
    """Input of a measure of abstention: does the method abstain, does the query have a reference moment, (Q,)."""

    abstains: Bools
    has_reference: Bools


@dataclass(frozen=True, eq=False)
class SaliencyPair:
    """Input of a highlight measure: predicted and rated clips of Q queries.

    Parameters
    ----------
    predicted : (Q, P) predicted ratings, padded with NaN
    rating : (Q, C, A) reference ratings, one layer per annotator
    n_clips : (Q,) number of clips of each video
    """

    predicted: Floats
    rating: Ints
    n_clips: Ints


class Measure(Protocol):
    """The interface of every measure.

    Optional attributes: ``undefined`` (:func:`why_undefined`), ``lower_is_better``, ``is_of_sets`` and ``papers``.
    """

    needs: ClassVar[Needs]
    """Input of the measure."""

    needs_duration: ClassVar[bool]
    """Whether it is undefined without the videos' durations."""

    @property
    def depth(self) -> int | None:
        """Number of answers of a list that are used; None for all."""
        ...

    @property
    def ref(self) -> ReferenceRule | None:
        """Reference rule; None for the protocol's."""
        ...

    def __str__(self) -> str:
        """Return the measure in the grammar."""
        ...


class OverlapMeasure(Measure, Protocol):
    """A measure of ranked moments."""

    def per_unit(self, overlaps: Overlaps) -> Statistic:
        """Return numerator and weight of each unit of judgement."""
        ...


class AbstentionMeasure(Measure, Protocol):
    """A measure of abstention."""

    def per_query(self, abstentions: Abstentions) -> Statistic:
        """Return numerator and weight of each query."""
        ...


class SaliencyMeasure(Measure, Protocol):
    """A measure of clip ratings."""

    def per_query(self, pair: SaliencyPair) -> Statistic:
        """Return numerator and weight of each query."""
        ...


def why_undefined(measure: Measure) -> str:
    """Return why a measure is undefined: no query has weight."""
    return str(getattr(measure, "undefined", "no query has a reference that counts"))


def papers_of(measure: Measure) -> tuple[Paper, ...]:
    """Return the papers that define a measure; none for a definition in common use."""
    papers: tuple[Paper, ...] = getattr(measure, "papers", ())
    return papers


def lower_is_better(measure: Measure) -> bool:
    """Whether a lower value of a measure is better."""
    return bool(getattr(measure, "lower_is_better", False))


def is_of_sets(measure: Measure) -> bool:
    """Whether a measure treats the answers as a set, so that a wrong answer lowers it at any rank."""
    return bool(getattr(measure, "is_of_sets", False)) or measure.ref == "pooled"


def checked_rank(rank: int, name: str) -> None:
    """Refuse a number of answers below 1; `name` is the measure's."""
    if rank < 1:
        raise MeasureError(f"{name}@{rank}: got {rank} answers, expected 1 or more")


def checked_threshold(threshold: float, name: str, option: str = "IoU") -> None:
    """Refuse a threshold outside [0, 1]; `name` is the measure's, `option` that of the threshold."""
    if not 0 <= threshold <= 1:
        raise MeasureError(f"{name}: got {option}={threshold:g}, expected a threshold from 0 to 1")


def suffix(ref: ReferenceRule | None) -> str:
    """Return the reference rule as the grammar writes it."""
    return "" if ref is None else f"[ref={ref}]"


def in_length_class(references: References, length_class: str) -> Bools:
    """Return which references (U, R) belong to a length class, by their annotated length in seconds."""
    if references.rule in ("merged", "pooled"):
        raise MeasureError(f"length={length_class}: references that are {references.rule} have no length of their own")
    low, high = seconds_of(length_class)
    return (references.lengths_s > low) & (references.lengths_s <= high)


def seconds_of(length_class: str) -> tuple[float, float]:
    """Return the bounds of a length class, (longer than, up to) in seconds."""
    if length_class not in LENGTH_CLASSES_S:
        raise MeasureError(f"length={length_class}: expected one of {', '.join(LENGTH_CLASSES_S)}")
    return LENGTH_CLASSES_S[length_class]
