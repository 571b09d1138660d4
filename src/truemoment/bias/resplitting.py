"""A dataset that is split again and measured: its guarantees, and what guessing reaches on its tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from truemoment.bias.guarantees import Inspection, inspect_split
from truemoment.bias.guessing import Guessing, guess_on_split
from truemoment.bias.splitting import Plan, Resplit, resplit
from truemoment.caching import NO_CACHE, Cache
from truemoment.datasets.whole import OriginalSplits
from truemoment.language import get_engine
from truemoment.records import Annotations


@dataclass(frozen=True, eq=False)
class MeasuredResplit:
    """A new split and what was measured on it."""

    split: Resplit
    inspection: Inspection
    guessing: tuple[Guessing, ...]
    engine: str
    permutations: int
    seed: int


def resplit_and_measure(
    annotations: Annotations,
    plan: Plan | None = None,
    *,
    original: OriginalSplits | None = None,
    engine: str = "lexicon",
    permutations: int = 1000,
    seed: int = 0,
    cache: Cache = NO_CACHE,
    on_status: Callable[[str], None] = lambda _: None,
) -> MeasuredResplit:
    """Split a dataset again, inspect the split, and measure every floor on its tests.

    Floors are also measured on `original`, the training split and the test splits of the dataset. Errors are those of
    :func:`~truemoment.bias.splitting.resplit`.
    """
    plan, reader = Plan() if plan is None else plan, get_engine(engine)
    on_status("splitting")
    splitting, inspecting = np.random.default_rng(seed).spawn(2)
    split = resplit(annotations, splitting, plan, reader)
    guessing = guess_on_split(split, original=original, engine=engine, seed=seed, cache=cache, on_status=on_status)
    inspection = inspect_split(split, inspecting, guessing, permutations=permutations, on_status=on_status)
    return MeasuredResplit(split, inspection, guessing, reader.name, permutations, seed)
