"""Curves: R@n and dR@n against the threshold m, and success and failure by the length of the reference.

Sources: R and dR, Closer Look (Yuan et al. 2021), section 5.3, Fig. 8 (Fig. 12 of the journal version); success and
failure, Hidden Challenges (Otani et al. 2020), section 4, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from truemoment.base.errors import MeasureError, UsageError
from truemoment.base.intervals import Bools, Floats
from truemoment.base.records import Annotations, Predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import DiscountedRecall, Recall
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores
from truemoment.report.charts import Plot, PlotCurve
from truemoment.report.roles import SERIES, MarkLook
from truemoment.studies.evaluate.slices import check_same_queries, class_of, reference_lengths

if TYPE_CHECKING:
    pass

THRESHOLDS = tuple(step / 20 for step in range(20))
"""m = 0, 0.05, ..., 0.95."""


@dataclass(frozen=True, eq=False)
class Curves:
    """R and dR against the threshold m.

    Parameters
    ----------
    thresholds : (T,)
        m.
    recall : (N, T)
        R@n,IoU=m, fractions; never rising with m.
    discounted : (N, T)
        dR@n,IoU=m, never above `recall`; NaN where it is undefined.
    """

    thresholds: Floats
    ranks: tuple[int, ...]
    recall: Floats
    discounted: Floats
    why: str


@dataclass(frozen=True, eq=False)
class LengthCounts:
    """Successes and failures in classes of reference length.

    Parameters
    ----------
    bounds : (B + 1,)
        Class k contains lengths of more than ``bounds[k]``, up to ``bounds[k + 1]``.
    success, failure : (B,)
        Queries with and without a hit (weights, where references are ``rows``).
    left_out
        Queries without a place: no weight in the measure, no reference moment, an empty or swapped one, or (for
        shares of the video) a duration that is not known.
    """

    bounds: Floats
    success: Floats
    failure: Floats
    left_out: int


@dataclass(frozen=True, eq=False)
class SuccessByLength:
    """Successes and failures of a measure by the length of the reference.

    Parameters
    ----------
    norm
        By share of the video; references longer than the video are in the last class.
    seconds
        By length in seconds, in classes of one width up to the 99th percentile; the last class contains the longest
        hundredth.
    """

    measure: str
    norm: LengthCounts
    seconds: LengthCounts


def recall_curves(
    annotations: Annotations,
    predictions: Predictions,
    protocol: str | Protocol | None = None,
    *,
    thresholds: Sequence[float] | Floats = THRESHOLDS,
    ranks: Sequence[int] = (1,),
) -> Curves:
    """Return R@n and dR@n, a curve for each n in `ranks`, against the threshold m in [0, 1].

    Other parameters are as for :func:`~truemoment.evaluation.evaluate.evaluate`.

    Examples
    --------
    >>> a = Annotations.from_rows([("v#0", "v", 20.0, "a door opens", 0.0, 10.0)])
    >>> curves = recall_curves(a, Predictions.from_lists({"v#0": [(5.0, 15.0)]}), thresholds=[0.3, 0.5])
    >>> curves.recall, curves.discounted
    (array([[1., 0.]]), array([[0.5625, 0.    ]]))
    """
    at = [round(float(m), 12) for m in thresholds]  # 0.15, where numpy.arange leaves 0.15000000000000002
    recall = [Recall(n, m) for n in ranks for m in at]
    discounted = [DiscountedRecall(n, m) for n in ranks for m in at]
    scores, why = evaluate(annotations, predictions, recall, protocol), ""
    table = np.array([scores.value(measure) for measure in recall])
    table_of_discounted = np.full(len(discounted), np.nan)
    try:
        scores = evaluate(annotations, predictions, discounted, protocol)
        table_of_discounted = np.array([scores.value(measure) for measure in discounted])
    except MeasureError as error:  # a duration is not known, or answers are pooled
        why = str(error)
    shape = (len(ranks), len(at))
    return Curves(np.array(at), tuple(ranks), table.reshape(shape), table_of_discounted.reshape(shape), why)


def success_by_length(
    scores: Scores, annotations: Annotations, measure: str | Recall = "R@1,IoU=0.5", *, bins: int = 20
) -> SuccessByLength:
    """Count hits and misses of a recall by the length of the reference.

    Examples
    --------
    >>> a = Annotations.from_rows([("v#0", "v", 20.0, "a door opens", 0.0, 10.0)])
    >>> scores = evaluate(a, Predictions.from_lists({"v#0": [(0.0, 9.0)]}), "R@1,IoU=0.5")
    >>> success_by_length(scores, a, bins=4).norm.success
    array([0., 1., 0., 0.])
    """
    row = scores.row(measure)
    if not isinstance(scores.measures[row], Recall):
        raise MeasureError(f"{measure}: success and failure are counted of R@n only")
    if bins < 1:
        raise UsageError(f"got {bins} classes, expected 1 or more")
    check_same_queries(scores, annotations)
    lengths = reference_lengths(annotations)
    hits, weight = scores.numerator[row], scores.weight[row]
    norm = _counted(np.minimum(lengths.length_norm, 1), np.linspace(0, 1, bins + 1), hits, weight)
    seconds = _counted(lengths.length_s, _bounds_s(lengths.length_s, bins), hits, weight)
    return SuccessByLength(str(scores.measures[row]), norm, seconds)


def _bounds_s(length_s: Floats, bins: int) -> Floats:
    """Return bounds of classes of seconds, (bins + 1,): a few very long references do not stretch all classes."""
    lengths = length_s[~np.isnan(length_s)]
    longest, q99 = (float(lengths.max()), float(np.quantile(lengths, 0.99))) if len(lengths) else (1.0, 1.0)
    if bins == 1 or q99 == longest:
        return np.linspace(0, longest, bins + 1)
    return np.append(np.linspace(0, q99, bins), longest)


def _counted(length: Floats, bounds: Floats, hits: Floats, weight: Floats) -> LengthCounts:
    counts: Bools = ~np.isnan(length) & (weight > 0)
    at = class_of(length[counts], bounds[:-1])
    n_classes = len(bounds) - 1
    success, all_of_class = (np.bincount(at, values[counts], n_classes).astype(np.float64) for values in (hits, weight))
    return LengthCounts(bounds, success, all_of_class - success, int((~counts).sum()))


# ----------------------------------------------------------------------------------------- figure

MOST_CURVES = len(SERIES)
"""Maximum number of systems in the figure."""


def curves_plot(systems: Sequence[tuple[str, Curves]], looks: Sequence[MarkLook] = SERIES, note: str = "") -> Plot:
    """Return R@1 and dR@1 against the threshold m (Closer Look, Fig. 8): the first :data:`MOST_CURVES` curves."""
    drawn = []
    for (name, curves), look in zip(systems[:MOST_CURVES], looks, strict=False):
        x = tuple(curves.thresholds.tolist())
        recall, discounted = ((100 * values[0]).tolist() for values in (curves.recall, curves.discounted))
        drawn.append(PlotCurve(name, look._replace(dashes=(), hollow=False), x, tuple(recall)))
        dashed = look._replace(dashes=(3, 2), hollow=True)
        drawn.append(PlotCurve(f"{name}, dR@1", dashed, x, tuple(discounted), in_legend=False))
    return Plot(
        "curves",
        "R@1 and dR@1 against the threshold",
        "Where a solid line (R@1) lies far above its dashed line (dR@1), the ends of hits are far from those of the "
        f"reference{note}. After Closer Look, Fig. 8.",
        "threshold m on the IoU",
        "% of the queries",
        tuple(drawn),
        x_end=1.0,
    )
