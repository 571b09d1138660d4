"""Two processes share tasks: each is done once, in an order that lets neither wait."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from truemoment.baselines.shared_tasks import SharedTasks


@pytest.fixture
def pool():
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_this_process_begins_at_the_start_and_the_other_one_at_the_end(pool):
    begin, finish, done_there = threading.Event(), threading.Event(), []

    def work(name):
        done_there.append(name)
        finish.wait(10)

    tasks = SharedTasks(["quick", "middle"], pool, work)
    tasks.add("needs training", after=lambda: begin.wait(10))
    tasks.add_last("slow")
    begin.set()
    while not done_there:  # the other process has trained, and then begun the last task
        pass
    here = iter(tasks)
    assert [next(here), next(here), next(here)] == ["needs training", "quick", "middle"]
    finish.set()
    assert list(here) == ["slow"]
    assert done_there == ["slow"]


def test_alone():
    tasks = SharedTasks(["quick"], None, pytest.fail)
    tasks.add("network", after=pytest.fail)
    tasks.add_last("slow")
    assert list(tasks) == ["quick", "network", "slow"]


def test_an_error_there_loses_no_task(pool):
    def fail(*_):
        raise RuntimeError

    tasks = SharedTasks(["quick", "middle", "slow"], pool, fail)
    tasks.add("network", after=fail)
    pool.shutdown()  # it takes nothing more
    tasks.add_last("slowest")
    assert sorted(tasks) == ["middle", "network", "quick", "slow", "slowest"]
