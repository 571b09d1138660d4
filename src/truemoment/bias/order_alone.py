"""What the order of sentences alone predicts on a new split: the order table on its tests, in the order of the file."""

from __future__ import annotations

import math
from typing import NamedTuple

from truemoment.baselines import OrderTable
from truemoment.bias.guessing import MEASURES, located
from truemoment.bias.splitting import Resplit
from truemoment.datasets.resplit_folder import SPLITS
from truemoment.evaluation import evaluate
from truemoment.exceptions import InputError
from truemoment.language.paragraphs import OrderOfStarts, order_of_starts


class OrderAlone(NamedTuple):
    """What the order predicts on a split.

    Parameters
    ----------
    value
        Headline measure of the order table, fitted on train, as a fraction; NaN on train itself.
    order
        How the moments of neighbouring sentences follow each other.
    """

    split: str
    value: float
    order: OrderOfStarts


def order_alone(found: Resplit) -> tuple[OrderAlone, ...]:
    """Measure what the order of sentences predicts on train and on each test where videos have several sentences.

    The order table reads "sentence k of n", and neither words nor the video.
    """
    parts = [located(found.part(name)) for name in SPLITS if found.members[name].any()]
    orders = {part.split: order_of_starts(part) for part in parts}
    parts = [part for part in parts if part.split != "val" and orders[part.split].n_pairs]
    if not parts or parts[0].split != "train":
        return ()
    try:
        table = OrderTable(MEASURES[0]).fit(parts[0])
    except InputError:  # no moment of train has a place
        return ()
    values = [evaluate(part, table.ground(part.queries), MEASURES[0]).value(MEASURES[0]) for part in parts[1:]]
    return tuple(
        OrderAlone(part.split, value, orders[part.split])
        for part, value in zip(parts, [math.nan, *values], strict=True)
    )
