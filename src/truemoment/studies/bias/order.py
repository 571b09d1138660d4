"""How far the place of a sentence among those of its video predicts its moment, by split.

Beside the share of neighbouring sentences that start later
(:func:`truemoment.data.language.paragraphs.order_of_starts`), each split has the score of the order table
(:class:`truemoment.baselines.OrderTable`), fitted on the split ``train``: in the order of the file, and as a control
sorted by true start, as a loader that sorts sentences provides it. Queries without a moment are left out;
the table also leaves out videos of unknown duration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.records import Annotations
from truemoment.baselines import OrderTable
from truemoment.data.language.paragraphs import OrderOfStarts, order_of_starts
from truemoment.evaluation.evaluate import evaluate

MEASURE = "R@1,IoU=0.5"
"""Measure for which the order table is fitted and evaluated."""


@dataclass(frozen=True)
class SplitOrder:
    """How far the order of sentences predicts the moments of a split.

    Parameters
    ----------
    split
        Name of the split.
    starts
        Order of the moments of neighbouring sentences.
    in_file_order, by_start
        Scores of the order table by :data:`MEASURE`, with the sentences as in the file and sorted by true start; NaN
        where they are undefined.
    why
        Reason if they are undefined, else "".
    """

    split: str
    starts: OrderOfStarts
    in_file_order: float = np.nan
    by_start: float = np.nan
    why: str = ""


def orders_of_splits(annotations_by_split: Mapping[str, Annotations]) -> tuple[SplitOrder, ...]:
    """Measure the order of sentences in each split, by name; the order table is fitted on ``train``.

    Examples
    --------
    >>> rows = [(f"{v}{k}", f"v{v}", 10.0, "x", 5.0 * k, 5.0 * k + 5) for v in range(20) for k in range(2)]
    >>> split = Annotations.from_rows(rows)
    >>> train, test = orders_of_splits({"train": split, "test": split})
    >>> test.starts.later, test.in_file_order, train.why
    (1.0, 1.0, 'fitted on this split')
    """
    splits = {name: split.with_moments() for name, split in annotations_by_split.items()}
    train = splits.get("train")
    tables, why = None, "there is no split train"
    if train is not None and len(splits) > 1:
        tables, why = _fit(train), "train has no moment in a video of known duration"
    return tuple(
        SplitOrder(name, order_of_starts(split), why="fitted on this split")
        if name == "train"
        else _order(name, split, tables, why)
        for name, split in splits.items()
    )


def _fit(train: Annotations) -> tuple[OrderTable, OrderTable] | None:
    """Return the order table and its control, fitted; None if the split has nothing to learn from."""
    annotations = _of_known_duration(train)
    try:
        return OrderTable(MEASURE).fit(annotations), OrderTable(MEASURE, references=annotations).fit(annotations)
    except InputError:
        return None


def _order(name: str, split: Annotations, tables: tuple[OrderTable, OrderTable] | None, why: str) -> SplitOrder:
    starts, annotations = order_of_starts(split), _of_known_duration(split)
    if tables is None:
        return SplitOrder(name, starts, why=why)
    if not annotations.n_queries:
        return SplitOrder(name, starts, why="no query has a moment in a video of known duration")
    table, control = tables
    in_file_order, by_start = (
        evaluate(annotations, method.ground(annotations.queries), MEASURE).value(MEASURE)
        for method in (table, replace(control, references=annotations))
    )
    return SplitOrder(name, starts, in_file_order, by_start)


def _of_known_duration(annotations: Annotations) -> Annotations:
    return annotations.select_queries(np.asarray(annotations.queries.duration_s > 0))
