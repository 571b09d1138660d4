"""An epoch of training at the size of Charades-CD: its time, its memory, and how long it waits for data.

11,071 pairs of a sentence and a video of 30 s (a row a second of 157 numbers, as simulated perception has them), with
the loop of the package: making batches, forward and backward pass, and the optimiser's steps. Small recipes as they
are, one epoch of their first stage, each in a process of its own. Times are those of the process and of the clock;
memory is what the process grows by at its peak, including features and windows.

Run: OMP_NUM_THREADS=1 python benchmarks/training.py [RECIPE...]
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
import torch

from truemoment.base.records import Annotations
from truemoment.learning.training.performing import perform
from truemoment.learning.training.recipes import Recipe, read_recipe
from truemoment.learning.training.run import Run
from truemoment.media.features.base import Features

N_VIDEOS, N_PAIRS, N_VAL = 4564, 11_071, 64
WIDTH, SECONDS = 157, 30
WORDS = (
    "a",
    "person",
    "opens",
    "closes",
    "takes",
    "puts",
    "the",
    "door",
    "bag",
    "book",
    "cup",
    "window",
    "and",
    "sits",
)
T = TypeVar("T")
RECIPES = ("ctrl", "acrn", "ablr", "scdm", "drn", "tan2d", "blind-tan", "tcn-dcm", "mdd")


def made(rng: np.random.Generator) -> tuple[Annotations, Annotations, Features]:
    """Pairs of as many videos, with sentences of six words."""
    features = {f"v{number}": rng.random((SECONDS, WIDTH), dtype=np.float32) for number in range(N_VIDEOS + 1)}

    def pairs(n: int, first: int, videos: int, split: str) -> Annotations:
        start = rng.uniform(0, 20, n)
        return Annotations.from_rows(
            [
                (f"{split}{at}", f"v{first + at % videos}", float(SECONDS), " ".join(rng.choice(WORDS, 6)), s, s + 8.0)
                for at, s in enumerate(start.tolist())
            ],
            split=split,
        )

    return pairs(N_PAIRS, 0, N_VIDEOS, "train"), pairs(N_VAL, N_VIDEOS, 1, "val"), Features(features, 1.0)


def one_epoch(name: str) -> Recipe:
    """Return a recipe with one epoch of its first stage."""
    recipe = read_recipe(name, [])
    first = msgspec.structs.replace(recipe.train.every_stage[0], epochs=1)
    return msgspec.structs.replace(recipe, train=msgspec.structs.replace(recipe.train, stages=(first,)))


class EpochTimer:
    """Follows the batches of an epoch, and notes the processor time that it takes."""

    seconds = float("nan")

    def __call__(self, items: Iterable[T], what: str) -> Iterable[T]:
        return self._timed(items) if what == "epoch 1" else items

    def _timed(self, batches: Iterable[T]) -> Iterator[T]:
        began = time.process_time()
        yield from batches
        self.seconds = time.process_time() - began


def measure(name: str) -> None:
    """Print a line on an epoch of a recipe."""
    recipe = one_epoch(name)
    train, val, features = made(np.random.default_rng(0))
    store = features if recipe.family.sees_video else None
    run = Run(recipe=recipe, seed=0, train=train, val=val, features="made" if store else "", store=store)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    timer = EpochTimer()
    with tempfile.TemporaryDirectory() as folder:
        result = perform(run, Path(folder) / "run", track=timer)
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3
    epoch = result.history[0]
    print(
        f"{name}: {result.n_parameters:,} parameters, {timer.seconds:.1f} s of processor time, "
        f"{epoch.seconds:.1f} s by the clock, {100 * epoch.waited:.2f} % of it waiting for data, {grown_mb:.0f} MB"
    )


def main() -> None:
    names = sys.argv[1:] or RECIPES
    if len(names) == 1:
        measure(names[0])
        return
    print(f"{N_PAIRS:,} pairs, {torch.get_num_threads()} threads, load of the machine {os.getloadavg()[0]:.1f}")
    for name in names:
        subprocess.run([sys.executable, __file__, name], check=True)


if __name__ == "__main__":
    main()
