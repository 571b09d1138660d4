"""Who looks at videos: this process, several, or many machines, see :mod:`truemoment.distribution`."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import partial

from truemoment.distribution import Engine, Work, distribute
from truemoment.processes import end_with_parent
from truemoment.searching.extraction import EmbeddedShard, FailedShard, Loader, Shard, attempt


def embed_shards(
    engine: Engine, shards: Iterator[Shard], loader: Loader, workers: int | None
) -> Iterator[EmbeddedShard | FailedShard]:
    """Do shards by an engine, and return the result of each, in any order; each comes back exactly once."""
    work: Work[Shard, EmbeddedShard | FailedShard] = Work(
        do=partial(attempt, loader=loader),
        begin=_begin,
        given_up=_given_up,
        needs="the videos under the same paths, and the model",
        on_gpu=(loader.device or "").startswith("cuda"),
    )
    return distribute(engine, shards, work, workers)


def _given_up(shard: Shard, times: int) -> FailedShard:
    return FailedShard(shard, f"{shard.video.path}: a worker died of it, {times} times")


def _begin(threads: int) -> None:
    """Begin a worker: Ctrl-C is for who started it, and it ends with that process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = str(threads)  # read when PyTorch is imported, with the model
    end_with_parent()
