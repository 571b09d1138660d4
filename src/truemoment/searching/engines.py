"""Who looks at videos: this process, several, or many machines, see :mod:`truemoment.base.boundary.distribution`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from truemoment.base.boundary.distribution import Engine, JobRunner, begin_worker, distribute
from truemoment.searching.extraction import EmbeddedShard, FailedShard, Loader, Shard, attempt


def embed_shards(
    engine: Engine, shards: Iterator[Shard], loader: Loader, workers: int | None
) -> Iterator[EmbeddedShard | FailedShard]:
    """Do shards by an engine, and return the result of each, in any order; each comes back exactly once."""
    work: JobRunner[Shard, EmbeddedShard | FailedShard] = JobRunner(
        do=partial(attempt, loader=loader),
        begin=begin_worker,
        given_up=_given_up,
        needs="the videos under the same paths, and the model",
        on_gpu=(loader.device or "").startswith("cuda"),
    )
    return distribute(engine, shards, work, workers)


def _given_up(shard: Shard, times: int) -> FailedShard:
    return FailedShard(shard, f"{shard.video.path}: a worker died of it, {times} times")
