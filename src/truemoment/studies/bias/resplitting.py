"""A dataset that is split again and measured: its guarantees, and the scores of floors on its tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.records import Annotations
from truemoment.data.datasets.random_order import Order, random_order, without_order
from truemoment.data.datasets.resplit_folder import SPLITS
from truemoment.data.datasets.whole import OriginalSplits
from truemoment.data.language import get_engine
from truemoment.studies.bias.guarantees import Inspection, inspect_split
from truemoment.studies.bias.guessing import Guessing, guess_on_split
from truemoment.studies.bias.order import SplitOrder, orders_of_splits
from truemoment.studies.bias.splitting import Plan, Resplit, resplit


@dataclass(frozen=True, eq=False)
class MeasuredResplit:
    """A new split, its guarantees and scores of floors, the order of its queries, and the order in the source."""

    split: Resplit
    inspection: Inspection
    guessing: tuple[Guessing, ...]
    engine: str
    permutations: int
    seed: int
    order: Order = "file"
    orders: tuple[SplitOrder, ...] = ()


def resplit_and_measure(
    annotations: Annotations,
    plan: Plan | None = None,
    *,
    original: OriginalSplits | None = None,
    engine: str = "lexicon",
    permutations: int = 1000,
    seed: int = 0,
    order: Order = "file",
    cache: Cache = NO_CACHE,
    on_status: Callable[[str], None] = lambda _: None,
) -> MeasuredResplit:
    """Split a dataset again, inspect the split, and measure every floor on its tests.

    Floors are also measured on `original`, the training split and the test splits of the dataset. With `order`
    "random", the queries of the new split are in random order within each video and have new ids. Errors are those of
    :func:`~truemoment.studies.bias.splitting.resplit`.
    """
    plan, reader = Plan() if plan is None else plan, get_engine(engine)
    on_status("splitting")
    splitting, inspecting = np.random.default_rng(seed).spawn(2)
    whole = annotations if order == "file" else without_order(annotations, seed)
    split = resplit(whole, splitting, plan, reader)
    guessing = guess_on_split(split, original=original, engine=engine, seed=seed, cache=cache, on_status=on_status)
    inspection = inspect_split(split, inspecting, guessing, permutations=permutations, on_status=on_status)
    on_status("order of sentences")
    orders = _orders(split if order == "file" else _in_file_order(split, annotations, seed))
    return MeasuredResplit(split, inspection, guessing, reader.name, permutations, seed, order, orders)


def _in_file_order(split: Resplit, annotations: Annotations, seed: int) -> Resplit:
    """Return the members of a split in random order as queries of the file, in its order."""
    row, new_id = split.annotations.queries.index, random_order(annotations.queries, seed)
    rows = [row[new_id[query_id]] for query_id in annotations.queries.query_id]
    return replace(
        split, annotations=annotations, members={name: member[rows] for name, member in split.members.items()}
    )


def _orders(split: Resplit) -> tuple[SplitOrder, ...]:
    """Measure the order of sentences in train and the tests; nothing where no video has two sentences."""
    names = [name for name in SPLITS if name != "val" and split.members[name].any()]
    orders = orders_of_splits({name: split.part(name) for name in names})
    return orders if any(order.starts.n_pairs for order in orders) else ()
