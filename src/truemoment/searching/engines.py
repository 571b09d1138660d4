"""Who looks at videos: this process, several, or many machines.

An engine only distributes shards and takes rows back, in any order; each shard comes back exactly once.

==========  ========================================================================================================
``local``   this process for 1 worker, else a pool of processes
``ray``     a Ray cluster: the one of the variable ``RAY_ADDRESS``, or one that is started here, see
            :mod:`truemoment.searching.cluster`
==========  ========================================================================================================
"""

from __future__ import annotations

import os
import signal
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Literal, Protocol

from truemoment.exceptions import InputError
from truemoment.processes import end_with_parent, processes
from truemoment.searching.cluster import ray_cluster
from truemoment.searching.extraction import EmbeddedShard, FailedShard, Loader, Shard, attempt

Engine = Literal["local", "ray"]

TRIES = 2
"""How often a shard that runs alone may end its worker before its video is given up."""


class Distribute(Protocol):
    """An engine: distributes shards, and returns the result of each, in any order."""

    def __call__(
        self, shards: Iterator[Shard], loader: Loader, workers: int | None
    ) -> Iterator[EmbeddedShard | FailedShard]:
        """Do shards; each comes back exactly once."""
        ...


def by_local(shards: Iterator[Shard], loader: Loader, workers: int | None) -> Iterator[EmbeddedShard | FailedShard]:
    """Do shards on this machine: here for one worker, else in a pool of processes.

    When a worker dies, the shards that were under way are done again one by one, so that the blame is clear: one that
    ends its worker :data:`TRIES` times alone is given up.
    """
    if workers is None or workers == 1:
        for shard in shards:
            yield attempt(shard, loader)
        return
    threads = max(1, (os.cpu_count() or 1) // workers)
    retries: deque[Shard] = deque()
    deaths: Counter[tuple[str, int]] = Counter()
    while True:
        running: dict[Future[EmbeddedShard | FailedShard], Shard] = {}
        with processes(workers, _begin, threads) as pool:
            try:
                yield from _in_pool(pool, shards, loader, retries=retries, running=running, most=2 * workers)
            except BrokenProcessPool:
                pass
            else:
                return
        alone = len(running) == 1
        for future, shard in running.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                yield future.result()
                continue
            deaths[_key(shard)] += alone
            if deaths[_key(shard)] == TRIES:
                yield FailedShard(shard, f"{shard.video.path}: a worker died of it, {TRIES} times")
            else:
                retries.append(shard)


def _in_pool(
    pool: ProcessPoolExecutor,
    shards: Iterator[Shard],
    loader: Loader,
    *,
    retries: deque[Shard],
    running: dict[Future[EmbeddedShard | FailedShard], Shard],
    most: int,
) -> Iterator[EmbeddedShard | FailedShard]:
    """Keep a pool busy until all is done; those that are done again run alone, and first."""
    suspect = False
    while True:
        while len(running) < (1 if retries or suspect else most):
            suspect = bool(retries)
            shard = retries.popleft() if retries else next(shards, None)
            if shard is None:
                break
            try:
                running[pool.submit(attempt, shard, loader)] = shard
            except BrokenProcessPool:
                retries.append(shard)
                raise
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            result = future.result()
            del running[future]
            suspect = False
            yield result


def _key(shard: Shard) -> tuple[str, int]:
    return shard.video.video_id, shard.number


def _begin(threads: int) -> None:
    """Begin a worker: Ctrl-C is for who started it, and it ends with that process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = str(threads)  # read when PyTorch is imported, with the model
    end_with_parent()


def by_ray(shards: Iterator[Shard], loader: Loader, workers: int | None) -> Iterator[EmbeddedShard | FailedShard]:
    """Do shards on a Ray cluster: that of the variable ``RAY_ADDRESS``, or one that is started on this machine.

    Without a number of workers, all cores of the cluster work, or all its GPUs where the loader names ``cuda``.

    A worker or machine that dies is made up for by Ray; only rows travel back. Every machine needs TrueMoment, the
    videos under the same paths, and the model.
    """
    with ray_cluster(workers) as ray:
        n_gpus = 1 if (loader.device or "").startswith("cuda") else 0
        task = ray.remote(num_cpus=1, num_gpus=n_gpus, max_retries=TRIES + 1)(attempt)
        resources: dict[str, float] = ray.cluster_resources()
        most = 2 * (workers or max(1, int(resources.get("GPU" if n_gpus else "CPU", 1))))
        running: dict[Any, Shard] = {}
        try:
            while True:
                while len(running) < most and (shard := next(shards, None)) is not None:
                    running[task.remote(shard, loader)] = shard
                if not running:
                    return
                done, _ = ray.wait(list(running), num_returns=1, timeout=1.0)
                for reference in done:
                    yield _came(ray, reference, running.pop(reference))
        finally:
            for reference in running:
                ray.cancel(reference, force=True)


def _came(ray: Any, reference: Any, shard: Shard) -> EmbeddedShard | FailedShard:  # noqa: ANN401 - an optional package
    """Return what came of a shard."""
    try:
        result: EmbeddedShard | FailedShard = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        reason = str(error).strip().rpartition("\n")[2]
        hint = "every machine needs TrueMoment, the videos under the same paths, and the model"
        raise InputError(f"a worker of the cluster failed: {reason}", hint=hint) from None
    except ray.exceptions.RayError:
        return FailedShard(shard, f"{shard.video.path}: its workers died, {TRIES + 2} in a row")
    return result


ENGINES: dict[Engine, Distribute] = {"local": by_local, "ray": by_ray}
