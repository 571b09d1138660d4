"""The database of a study in one process: connections do not add up, and nothing is read after the end."""

import contextlib
import os
import sys
import threading
from pathlib import Path

import pytest

from truemoment.web.annotating.store import Store, create_database


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "study.sqlite"
    create_database(path)
    with contextlib.closing(Store(path)) as opened:
        yield opened


def opened(path):
    """How often a file is open in this process."""
    return sum(os.path.realpath(link) == str(path) for link in Path("/proc/self/fd").iterdir())


def count_events(connection):
    return connection.execute("SELECT count(*) FROM events").fetchone()[0]


@pytest.mark.skipif(sys.platform != "linux", reason="open files are counted in /proc")
def test_threads_that_come_and_go_leave_no_connection(store):
    for _ in range(20):
        thread = threading.Thread(target=store.read, args=(count_events,))
        thread.start()
        thread.join()
    assert opened(store.path) == 2  # one that writes, one that reads


def test_reads_at_once_have_a_connection_each(store):
    both, seen = threading.Barrier(2, timeout=10), []

    def read(connection):
        both.wait()
        seen.append(connection)

    threads = [threading.Thread(target=store.read, args=(read,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(connection) for connection in seen}) == 2
    assert store.read(count_events) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="open files are counted in /proc")
def test_the_end_closes_what_is_still_read(tmp_path):
    path = tmp_path / "study.sqlite"
    create_database(path)
    store, begun, ended = Store(path), threading.Event(), threading.Event()

    def read(connection):
        begun.set()
        ended.wait(10)
        return count_events(connection)

    thread = threading.Thread(target=store.read, args=(read,))
    thread.start()
    begun.wait(10)
    store.close()
    ended.set()
    thread.join()
    assert opened(path) == 0
