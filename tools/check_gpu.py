"""Run on a GPU what cannot be tested without one: an epoch of every recipe in bf16, two processes, and an index.

The world is simulated, its features have 512 numbers, and words are learned: the recipes keep their layers, batch and
precision. Recipes that train CLIP itself are left out. Two processes train the same recipe at once on the one GPU, and
must lose what one alone loses, up to 1 %. The index reads a film of moving noise (H.264, 25 frames a second) with a
ViT-B/32 of random weights.

What fails is printed, and the status is 1. No recipe is begun after ``--minutes``; those that were not are named. The
parts before the recipes come first, as they are short.

Run: PYTHONPATH=src:benchmarks python tools/check_gpu.py [--minutes 8] [--only REGEX] [--videos N] [--times N]
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import math
import multiprocessing
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from search import random_clip, write_video
from truemoment.learning.training.performing import perform
from truemoment.learning.training.recipes import names, read_recipe
from truemoment.learning.training.run import Run
from truemoment.media.video.frames import outline_of
from truemoment.searching.building import embed_shards
from truemoment.searching.extraction import Loader, Shard
from truemoment.searching.writing import VideoFile
from truemoment.worlds import FilmSettings, make_films, make_world

N_NUMBERS = 512
"""Numbers of a row of features."""

FPS, PART_ROWS, WARM = 2.0, 20, 0.1
"""Frames a second of the index, rows of a part, and the share of the parts that come first and are not timed."""

IN_TWO = "tan2d"
"""Recipe of the two processes."""

CLOSE = 0.01
"""Largest relative difference of losses: on a GPU the order of sums is not fixed, and bf16 has three digits."""


def run_of(name: str, n_videos: int) -> Run:
    """Return a run of one epoch of a recipe on a simulated world, or on films for recipes that rank clips."""
    first = ["train.epochs=1", "train.precision=bf16"]
    plain = read_recipe(name)
    if plain.train.stages:
        first.append("train.stages=[{}]")
    if "sentence" in plain.family.needs:
        films = make_films({"train": 8, "val": 2}, FilmSettings(minutes=20, n_sentences=200), np.random.default_rng(0))
        train, val = films.annotations("train"), films.annotations("val")
        recipe = read_recipe(name, first)
        return Run(recipe, 0, train, val, features="films", store=films, text_sources=("films",), texts=films)
    recipe = read_recipe(name, [*first, "text={vectors: learned, size: 300}"])
    world = make_world(n_videos, perception=0.9, n_dimensions=N_NUMBERS)
    train, val = world.splits["train"], world.splits["val"]
    if not recipe.family.sees_video:
        return Run(recipe, 0, train, val)
    return Run(recipe, 0, train, val, features="world", store=world.features)


def loss_of(name: str, n_videos: int) -> float:
    """Train an epoch of a recipe, and return its loss."""
    with tempfile.TemporaryDirectory() as folder:
        return perform(run_of(name, n_videos), Path(folder) / "run").history[0].loss["total"]


def check_recipe(name: str, n_videos: int) -> str:
    """Train an epoch of a recipe; return what it took."""
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    with tempfile.TemporaryDirectory() as folder:
        result = perform(run := run_of(name, n_videos), Path(folder) / "run")
    (epoch,) = result.history
    if not all(map(math.isfinite, (*epoch.loss.values(), *epoch.val.values()))):
        raise ValueError(f"loss {epoch.loss}, val {epoch.val}")
    memory = f", {torch.cuda.max_memory_allocated() / 1e6:,.0f} MB" if torch.cuda.is_available() else ""
    figure, value = next(iter(epoch.val.items()))
    rate = len(run.train) / epoch.seconds
    return f"loss {epoch.loss['total']:.4g}, {figure} {value:.2f}; {epoch.seconds:.1f} s, {rate:,.0f} queries/s{memory}"


def check_two_processes(n_videos: int) -> str:
    """Train the same recipe in two processes at once, and alone; return the losses."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        two = list(pool.map(loss_of, (IN_TWO, IN_TWO), (n_videos, n_videos)))
    alone = loss_of(IN_TWO, n_videos)
    if not all(math.isclose(loss, alone, rel_tol=CLOSE) for loss in two):
        raise ValueError(f"{two}, alone {alone}")
    return f"losses {two[0]:.6g} and {two[1]:.6g}, alone {alone:.6g}"


@dataclass(frozen=True)
class RandomClip(Loader):
    """Loads a ViT-B/32 of random weights."""

    device: str = "cuda"

    def load(self) -> Any:  # noqa: ANN401 - an encoder
        """Return it on the device."""
        clip = random_clip()
        return dataclasses.replace(clip, model=clip.model.to(self.device), device=torch.device(self.device))


def check_index(size: tuple[int, int], times: int, workers: int, device: str) -> str:
    """Index a film several times over; return the frames a second, and how long the device waited."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        write_video(path, *size)
        outline = outline_of(path)
        parts = range(0, outline.n_frames(FPS) - PART_ROWS + 1, PART_ROWS)
        shards = [Shard(VideoFile("v", path, ""), k, k, k + PART_ROWS, FPS, outline) for k in parts] * times
        embedded = embed_shards("local", iter(shards), RandomClip("random", device=device), workers)
        stamps = [time.perf_counter() for _ in embedded]
    first = math.ceil(WARM * len(stamps)) - 1
    rate = PART_ROWS * (len(stamps) - 1 - first) / (stamps[-1] - stamps[first])
    return f"{rate:,.0f} frames/s with {workers} workers ({PART_ROWS * len(stamps):,} frames)"


def trains_towers(name: str) -> bool:
    """Whether a recipe trains published towers, which needs pictures and a model of the hub."""
    return read_recipe(name).settings.get("tune") == "towers"


def report(what: str, check: Callable[[], str]) -> bool:
    """Print what a check gives, or why it failed; return whether it passed."""
    began = time.monotonic()
    try:
        given = check()
    except Exception as error:
        print(f"FAILED {what}: {type(error).__name__}: {error}", flush=True)
        return False
    print(f"{what}: {given}; {time.monotonic() - began:.0f} s in all", flush=True)
    return True


def main() -> int:
    """Run all parts, as far as the time allows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--only", default="", help="regular expression of the recipes")
    parser.add_argument("--videos", type=int, default=400, help="of the simulated world")
    parser.add_argument("--times", type=int, default=40, help="that the index reads its film of 20 s")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--device", default="cuda", help="of the index; training takes a GPU if there is one")
    given = parser.parse_args()
    if given.device == "cuda" and not torch.cuda.is_available():
        print("there is no GPU; --device cpu checks this script", file=sys.stderr)
        return 2
    end = time.monotonic() + 60 * given.minutes
    print(torch.cuda.get_device_name(0) if torch.cuda.is_available() else "no GPU", f"PyTorch {torch.__version__}")
    passed = [report("two processes at once", partial(check_two_processes, given.videos))]
    for size in ((640, 360), (1920, 1080)):
        what = f"index of {size[0]} x {size[1]}"
        passed.append(report(what, partial(check_index, size, given.times, given.workers, given.device)))
    left = [name for name in names() if re.search(given.only, name) and not trains_towers(name)]
    for name in itertools.takewhile(lambda _: time.monotonic() < end, list(left)):
        left.remove(name)
        passed.append(report(name, partial(check_recipe, name, given.videos)))
    if left:
        print("not run, for want of time:", ", ".join(left))
    return 0 if all(passed) and not left else 1


if __name__ == "__main__":
    sys.exit(main())
