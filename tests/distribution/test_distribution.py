"""Jobs on engines: each comes back once, and what a job raises ends the work."""

from __future__ import annotations

import dataclasses
import operator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from truemoment.base.boundary import distribution
from truemoment.base.boundary.distribution import JobRunner, begin_worker, distribute
from truemoment.base.errors import InputError


def work_of(do):
    """Return work that can be sent to processes."""
    return JobRunner(do=do, begin=begin_worker, given_up=lambda job, times: (job, times), needs="nothing", threads=1)


@pytest.mark.parametrize("workers", [None, 1, 2])
def test_each_job_comes_back_once(workers):
    found = list(distribute("local", iter(range(7)), work_of(operator.neg), workers))
    assert sorted(found) == [-6, -5, -4, -3, -2, -1, 0]  # negated by hand


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_job_raises_ends_the_work(workers):
    with pytest.raises(TypeError):
        list(distribute("local", iter([1, "a", 2]), work_of(operator.neg), workers))


@pytest.mark.parametrize("workers", [1, 2])
def test_long_jobs_are_done_first(workers):
    work = dataclasses.replace(work_of(operator.neg), seconds=float)
    found = list(distribute("local", iter([3, 9, 1, 5]), work, workers))
    assert sorted(found) == [-9, -5, -3, -1]
    if workers == 1:
        assert found == [-9, -5, -3, -1]


def test_fewer_processes_where_memory_is_short(monkeypatch):
    """A machine with 2,500 MB free does two jobs of 1,000 MB at once, of 8 that are asked for."""
    asked = []
    monkeypatch.setattr(distribution, "free_memory_mb", lambda: 2500)
    monkeypatch.setattr(distribution, "processes", lambda workers, *_: asked.append(workers) or pool())
    work = dataclasses.replace(work_of(operator.neg), memory_mb=1000)
    assert sorted(distribute("local", iter([1, 2, 3]), work, 8)) == [-3, -2, -1]
    assert asked == [2]
    monkeypatch.setattr(distribution, "free_memory_mb", lambda: 900)
    assert list(distribute("local", iter([1, 2, 3]), work, 8)) == [-1, -2, -3]  # here, one after the other
    assert asked == [2]


def pool():
    """A pool of threads in place of processes."""
    return ThreadPoolExecutor(2)


def test_a_cluster_has_the_memory_of_a_job_or_says_so():
    assert distribution._memory_of(None, {}) is None
    assert distribution._memory_of(500, {"memory": 6e8}) == 500_000_000
    with pytest.raises(InputError, match="a job needs 700 MB of memory, the cluster has 600 MB"):
        distribution._memory_of(700, {"memory": 6e8})


def test_free_memory_is_known_here():
    free = distribution.free_memory_mb()
    assert free is None or 0 < free < 10**8


def test_no_jobs_are_no_work():
    assert list(distribute("local", iter(()), work_of(operator.neg), 2)) == []


def test_what_a_job_on_a_cluster_ends_in():
    class TaskError(Exception):
        pass

    class ClusterError(Exception):
        pass

    def cluster(outcome):
        def get(_):
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        errors = SimpleNamespace(RayTaskError=TaskError, RayError=ClusterError)
        return SimpleNamespace(get=get, exceptions=errors)

    work = work_of(operator.neg)
    assert distribution._came(cluster(-7), None, 7, work) == -7
    # Ray starts a job TRIES + 1 times again after its first time.
    assert distribution._came(cluster(ClusterError()), None, 7, work) == (7, distribution.TRIES + 2)
    with pytest.raises(InputError):
        distribution._came(cluster(TaskError("no")), None, 7, work)
