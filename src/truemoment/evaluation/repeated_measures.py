"""Which measures repeat others: a page folds their columns, and other tables leave them out."""

from __future__ import annotations

from collections.abc import Sequence

from truemoment.evaluation.measures import DiscountedRecall, Measure, Recall
from truemoment.report.model import Cell


def repeated_measures(
    measures: Sequence[Measure], rows: Sequence[Sequence[Cell]], first: int
) -> tuple[tuple[int, str], ...]:
    """Return the columns of measures that repeat others, each with what it repeats.

    A measure repeats an earlier one if all figures are the same, as R@5 and R@1 with one prediction a query.
    dR@n,IoU=m repeats R@n,IoU=m: it is the same recall with a discount for distant ends, at most R and close to it.

    Parameters
    ----------
    measures
        One measure per column.
    rows
        All rows of the table.
    first
        Number of the column of the first measure.
    """
    reasons: dict[int, str] = {}
    columns = [tuple(row[first + m] for row in rows) for m in range(len(measures))]
    for m, (measure, column) in enumerate(zip(measures, columns, strict=True)):
        same = next((earlier for earlier in range(m) if earlier not in reasons and columns[earlier] == column), None)
        if same is not None:
            reasons[m] = f"{measure} equals {measures[same]} in every row"
        elif isinstance(measure, DiscountedRecall) and Recall(measure.n, measure.iou, ref=measure.ref) in measures:
            reasons[m] = f"{measure} is R@{str(measure).removeprefix('dR@')} with a discount for distant ends"
    return tuple((first + m, why) for m, why in reasons.items())


def caption_without_repeats(caption: str, shown: Sequence[int], measures: Sequence[Measure]) -> str:
    """Return the caption of a table of the measures that are shown, which says so where others are left out."""
    is_whole = len(shown) == len(measures)
    return caption if is_whole else f"{caption.rstrip('.')}; without measures that repeat others"
