"""An epoch of training at the size of Charades-CD, and what of it is spent waiting for data.

11,071 pairs of a sentence and a video (64 rows of 157 numbers, as simulated perception has them), N = 16 clips,
H = 128, 4 layers of convolutions, batches of 64, with the plain loop of the package: the forward and backward pass, the
optimiser's step, and the batches' making. All cores there are; 2D-TAN with the small recipe's kernel of 3 and with the
published one of 5.

Run: python benchmarks/training.py
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from truemoment.features.base import Features
from truemoment.records import Annotations
from truemoment.training.recipes import read_recipe
from truemoment.training.runs import TrainingTask, perform

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


def main() -> None:
    train, val, features = made(np.random.default_rng(0))
    print(f"{N_PAIRS:,} pairs, {torch.get_num_threads()} threads")
    for name, kernel in (("tan2d", 3), ("tan2d", 5), ("blind-tan", 3), ("tcn-dcm", 3), ("mdd", 3)):
        recipe = read_recipe(name, ["settings.hidden=128", f"settings.kernel={kernel}", "train.epochs=1"])
        store = None if name == "blind-tan" else features
        task = TrainingTask(recipe=recipe, seed=0, train=train, val=val, features="made" if store else "", store=store)
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            result = perform(task, Path(folder) / "run", {})
            whole = time.perf_counter() - started
        epoch = result.history[0]
        waited = f"{100 * epoch.waited:.2f} % of it waiting for data"
        print(f"{name}, kernel {kernel}: epoch {epoch.seconds:.0f} s, {waited}; with all around it {whole:.0f} s")


if __name__ == "__main__":
    main()
