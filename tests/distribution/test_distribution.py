"""Jobs on engines: each comes back once, and what a job raises ends the work."""

from __future__ import annotations

import operator

import pytest

from truemoment.distribution import JobRunner, distribute
from truemoment.training.trials import _begin


def work_of(do):
    """Return work that can be sent to processes."""
    return JobRunner(do=do, begin=_begin, given_up=lambda job, times: (job, times), needs="nothing", threads=1)


@pytest.mark.parametrize("workers", [None, 1, 2])
def test_each_job_comes_back_once(workers):
    found = list(distribute("local", iter(range(7)), work_of(operator.neg), workers))
    assert sorted(found) == [-6, -5, -4, -3, -2, -1, 0]  # negated by hand


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_job_raises_ends_the_work(workers):
    with pytest.raises(TypeError):
        list(distribute("local", iter([1, "a", 2]), work_of(operator.neg), workers))


def test_no_jobs_are_no_work():
    assert list(distribute("local", iter(()), work_of(operator.neg), 2)) == []
