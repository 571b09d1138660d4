"""Jobs on two engines: a pool of processes on this machine, or a Ray cluster.

An engine only distributes jobs and takes results back, in any order; each job comes back exactly once.

==========  ========================================================================================================
``local``   this process for 1 worker, else a pool of processes
``ray``     a Ray cluster: the one of the variable ``RAY_ADDRESS``, or one that is started here, see
            :mod:`truemoment.base.boundary.distribution.cluster`
==========  ========================================================================================================
"""

from __future__ import annotations

import os
import signal
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, get_args

from truemoment.base.boundary.distribution.cluster import failed_worker, ray_cluster
from truemoment.base.boundary.processes import end_with_parent, processes
from truemoment.base.errors import InputError

Engine = Literal["local", "ray"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

J = TypeVar("J")
R = TypeVar("R")

TRIES = 2
"""How often a job that runs alone may end its worker before it is given up."""


@dataclass(frozen=True)
class JobRunner(Generic[J, R]):
    """How a job is done, and what it needs.

    Parameters
    ----------
    do
        Function that does a job; it is sent to the workers.
    begin
        Begins a worker process of a pool, given its number of threads.
    given_up
        Returns the result of a job whose workers died :data:`TRIES` times.
    needs
        What every machine of a cluster needs besides TrueMoment.
    threads
        Number of threads of a worker process; None for its share of the cores.
    on_gpu
        Whether a job needs a GPU of a cluster.
    memory_mb
        Megabytes that a job needs. On this machine fewer processes work if they do not fit; a machine of a cluster
        gets as many jobs as fit.
    isolated
        Whether a single worker is a process of its own, too, as a job may end its process.
    seconds
        Estimates how long a job takes, in any unit. Long jobs are then done first, so that none is left over at the
        end; all jobs are listed before the first begins.
    """

    do: Callable[[J], R]
    begin: Callable[[int], None]
    given_up: Callable[[J, int], R]
    needs: str
    threads: int | None = None
    on_gpu: bool = False
    memory_mb: int | None = None
    isolated: bool = False
    seconds: Callable[[J], float] | None = None


def begin_worker(threads: int) -> None:
    """Begin a worker of a pool: it ignores Ctrl-C, and ends with the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = str(threads)  # read when PyTorch is imported, with a model
    end_with_parent()


def distribute(
    engine: Engine, jobs: Iterator[J], work: JobRunner[J, R], workers: int | None
) -> Generator[R, None, None]:
    """Do jobs by an engine, and yield the result of each as it comes.

    Parameters
    ----------
    engine
        Name of the engine.
    jobs
        Any number of jobs; a worker gets the next one when it is free.
    work
        How a job is done.
    workers
        Number of processes. None for 1; on a cluster, for all its cores.
    """
    if work.seconds is not None:
        jobs = iter(sorted(jobs, key=work.seconds, reverse=True))
    return by_ray(jobs, work, workers) if engine == "ray" else by_local(jobs, work, workers)


def by_local(jobs: Iterator[J], work: JobRunner[J, R], workers: int | None) -> Generator[R, None, None]:
    """Do jobs on this machine: for one worker in this process unless jobs are isolated, else in a pool of processes.

    When a worker dies, the jobs that were under way are done again one by one, so that the blame is clear: one that
    ends its worker :data:`TRIES` times alone is given up.
    """
    workers = workers_that_fit(workers or 1, work.memory_mb, free_memory_mb())
    if workers == 1 and not work.isolated:
        yield from map(work.do, jobs)
        return
    threads = work.threads or max(1, (os.cpu_count() or 1) // workers)
    numbered = enumerate(jobs)
    retries: deque[tuple[int, J]] = deque()
    deaths: Counter[int] = Counter()
    while True:
        running: dict[Future[R], tuple[int, J]] = {}
        with processes(workers, work.begin, threads) as pool:
            try:
                yield from _in_pool(pool, numbered, work, retries=retries, running=running, most=2 * workers)
            except BrokenProcessPool:
                pass
            else:
                return
        alone = len(running) == 1
        for future, (number, job) in running.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                yield future.result()
                continue
            deaths[number] += alone
            if deaths[number] == TRIES:
                yield work.given_up(job, TRIES)
            else:
                retries.append((number, job))


def workers_that_fit(workers: int, memory_mb: int | None, free_mb: int | None) -> int:
    """Return how many processes work at once, 1 at least, given the memory of a job and the free memory.

    Examples
    --------
    >>> workers_that_fit(8, 1000, 3500), workers_that_fit(8, None, 3500), workers_that_fit(8, 9000, 3500)
    (3, 8, 1)
    """
    if memory_mb is None or free_mb is None:
        return workers
    return max(1, min(workers, free_mb // memory_mb))


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_memory_mb() -> int | None:
    """Return the memory that processes can get on this machine, MB; None where that is not known."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _in_pool(
    pool: ProcessPoolExecutor,
    numbered: Iterator[tuple[int, J]],
    work: JobRunner[J, R],
    *,
    retries: deque[tuple[int, J]],
    running: dict[Future[R], tuple[int, J]],
    most: int,
) -> Iterator[R]:
    """Keep a pool busy until all jobs are done; jobs that are done again run alone, and first."""
    suspect = False
    while True:
        while len(running) < (1 if retries or suspect else most):
            suspect = bool(retries)
            job = retries.popleft() if retries else next(numbered, None)
            if job is None:
                break
            try:
                running[pool.submit(work.do, job[1])] = job
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


def by_ray(jobs: Iterator[J], work: JobRunner[J, R], workers: int | None) -> Generator[R, None, None]:
    """Do jobs on a Ray cluster: that of the variable ``RAY_ADDRESS``, or one that is started on this machine.

    Without a number of workers, all cores of the cluster work, or all its GPUs where a job needs one.

    Ray replaces a worker or machine that dies; only results travel back.
    """
    with ray_cluster(workers) as ray:
        n_gpus = 1 if work.on_gpu else 0
        resources: dict[str, float] = ray.cluster_resources()
        memory = _memory_of(work.memory_mb, resources)
        options = {"num_cpus": 1, "num_gpus": n_gpus, "memory": memory, "max_retries": TRIES + 1}
        task = ray.remote(**options)(lambda do, job: do(job))  # Ray takes functions alone, and no other callables
        most = 2 * (workers or max(1, int(resources.get("GPU" if n_gpus else "CPU", 1))))
        running: dict[Any, J] = {}
        try:
            while True:
                while len(running) < most and (job := next(jobs, None)) is not None:
                    running[task.remote(work.do, job)] = job
                if not running:
                    return
                done, _ = ray.wait(list(running), num_returns=1, timeout=1.0)
                for reference in done:
                    yield _came(ray, reference, running.pop(reference), work)
        finally:
            for reference in running:
                ray.cancel(reference, force=True)


def _memory_of(memory_mb: int | None, resources: Mapping[str, float]) -> int | None:
    """Return the bytes that a job needs of a cluster, which waits forever for more than it has."""
    if memory_mb is None:
        return None
    there_mb = resources.get("memory", 0.0) / 1e6
    if memory_mb > there_mb:
        raise InputError(f"a job needs {memory_mb:,} MB of memory, the cluster has {there_mb:,.0f} MB")
    return memory_mb * 1_000_000


def _came(ray: Any, reference: Any, job: J, work: JobRunner[J, R]) -> R:  # noqa: ANN401 - an optional package
    """Return the result of a job."""
    try:
        result: R = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise failed_worker(error, work.needs) from None
    except ray.exceptions.RayError:
        return work.given_up(job, TRIES + 2)
    return result
