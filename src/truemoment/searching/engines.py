"""Who looks at videos: this process, several, or many machines.

An engine only distributes jobs (parts of videos, films) and takes results back, in any order; each job comes back
exactly once.

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
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from truemoment.exceptions import InputError
from truemoment.processes import end_with_parent, processes
from truemoment.searching.cluster import ray_cluster
from truemoment.searching.extraction import EmbeddedShard, FailedShard, Loader, Shard, attempt

Engine = Literal["local", "ray"]

TRIES = 2
"""How often a job that runs alone may end its worker before it is given up."""

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True)
class JobKind(Generic[Job, Result]):
    """What is done with each job, in any process.

    Parameters
    ----------
    run
        Called with a job and `settings`; its result comes back.
    settings
        The same for all jobs.
    failed
        Result of a job that ends its workers, with the reason.
    key, name
        What tells jobs apart, and what a reason calls the job.
    on_gpu
        Whether a job takes a GPU.
    """

    run: Callable[[Job, Any], Result]
    settings: Any
    failed: Callable[[Job, str], Result]
    key: Callable[[Job], Hashable]
    name: Callable[[Job], str]
    on_gpu: bool = False


class Distribute(Protocol):
    """An engine: distributes shards, and returns the result of each, in any order."""

    def __call__(
        self, shards: Iterator[Shard], loader: Loader, workers: int | None
    ) -> Iterator[EmbeddedShard | FailedShard]:
        """Do shards; each comes back exactly once."""
        ...


def by_local(shards: Iterator[Shard], loader: Loader, workers: int | None) -> Iterator[EmbeddedShard | FailedShard]:
    """Do shards on this machine, see :func:`run_local`."""
    return run_local(_embedding(loader), shards, workers)


def by_ray(shards: Iterator[Shard], loader: Loader, workers: int | None) -> Iterator[EmbeddedShard | FailedShard]:
    """Do shards on a Ray cluster, see :func:`run_ray`."""
    return run_ray(_embedding(loader), shards, workers)


def _embedding(loader: Loader) -> JobKind[Shard, EmbeddedShard | FailedShard]:
    """Return what is done with each shard of a video."""
    return JobKind(
        attempt,
        loader,
        FailedShard,
        key=lambda shard: (shard.video.video_id, shard.number),
        name=lambda shard: str(shard.video.path),
        on_gpu=(loader.device or "").startswith("cuda"),
    )


def run_local(kind: JobKind[Job, Result], jobs: Iterator[Job], workers: int | None) -> Iterator[Result]:
    """Do jobs on this machine: here for one worker, else in a pool of processes.

    When a worker dies, the jobs that were under way are done again one by one, so that the blame is clear: one that
    ends its worker :data:`TRIES` times alone is given up.
    """
    if workers is None or workers == 1:
        for job in jobs:
            yield kind.run(job, kind.settings)
        return
    threads = max(1, (os.cpu_count() or 1) // workers)
    retries: deque[Job] = deque()
    deaths: Counter[Hashable] = Counter()
    while True:
        running: dict[Future[Result], Job] = {}
        with processes(workers, _begin, threads) as pool:
            try:
                yield from _in_pool(pool, kind, jobs, retries=retries, running=running, most=2 * workers)
            except BrokenProcessPool:
                pass
            else:
                return
        alone = len(running) == 1
        for future, job in running.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                yield future.result()
                continue
            deaths[kind.key(job)] += alone
            if deaths[kind.key(job)] == TRIES:
                yield kind.failed(job, f"{kind.name(job)}: a worker died of it, {TRIES} times")
            else:
                retries.append(job)


def _in_pool(
    pool: ProcessPoolExecutor,
    kind: JobKind[Job, Result],
    jobs: Iterator[Job],
    *,
    retries: deque[Job],
    running: dict[Future[Result], Job],
    most: int,
) -> Iterator[Result]:
    """Keep a pool busy until all is done; those that are done again run alone, and first."""
    suspect = False
    while True:
        while len(running) < (1 if retries or suspect else most):
            suspect = bool(retries)
            job = retries.popleft() if retries else next(jobs, None)
            if job is None:
                break
            try:
                running[pool.submit(kind.run, job, kind.settings)] = job
            except BrokenProcessPool:
                retries.append(job)
                raise
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            result = future.result()
            del running[future]
            suspect = False
            yield result


def _begin(threads: int) -> None:
    """Begin a worker: Ctrl-C is for who started it, and it ends with that process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = str(threads)  # read when PyTorch is imported, with the model
    end_with_parent()


def run_ray(kind: JobKind[Job, Result], jobs: Iterator[Job], workers: int | None) -> Iterator[Result]:
    """Do jobs on a Ray cluster: that of the variable ``RAY_ADDRESS``, or one that is started on this machine.

    Without a number of workers, all cores of the cluster work, or all its GPUs where jobs take one.

    A worker or machine that dies is made up for by Ray; only results travel back. Every machine needs TrueMoment, the
    files under the same paths, and the model.
    """
    with ray_cluster(workers) as ray:
        n_gpus = 1 if kind.on_gpu else 0
        task = ray.remote(num_cpus=1, num_gpus=n_gpus, max_retries=TRIES + 1)(kind.run)
        resources: dict[str, float] = ray.cluster_resources()
        most = 2 * (workers or max(1, int(resources.get("GPU" if n_gpus else "CPU", 1))))
        running: dict[Any, Job] = {}
        try:
            while True:
                while len(running) < most and (job := next(jobs, None)) is not None:
                    running[task.remote(job, kind.settings)] = job
                if not running:
                    return
                done, _ = ray.wait(list(running), num_returns=1, timeout=1.0)
                for reference in done:
                    yield _came(ray, kind, reference, running.pop(reference))
        finally:
            for reference in running:
                ray.cancel(reference, force=True)


def _came(ray: Any, kind: JobKind[Job, Result], reference: Any, job: Job) -> Result:  # noqa: ANN401 - an optional package
    """Return what came of a job."""
    try:
        result: Result = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        reason = str(error).strip().rpartition("\n")[2]
        hint = "every machine needs TrueMoment, the videos under the same paths, and the model"
        raise InputError(f"a worker of the cluster failed: {reason}", hint=hint) from None
    except ray.exceptions.RayError:
        return kind.failed(job, f"{kind.name(job)}: its workers died, {TRIES + 2} in a row")
    return result


ENGINES: dict[Engine, Distribute] = {"local": by_local, "ray": by_ray}


class RunJobs(Protocol):
    """An engine for any jobs."""

    def __call__(self, kind: JobKind[Job, Result], jobs: Iterator[Job], workers: int | None) -> Iterator[Result]:
        """Do jobs; each comes back exactly once."""
        ...


RUNS: dict[Engine, RunJobs] = {"local": run_local, "ray": run_ray}
