"""Folders that TrueMoment writes: links, locks, and what a killed process leaves."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading

import pytest

from truemoment.base.boundary import folders
from truemoment.base.boundary.files import atomic_folder, atomic_write
from truemoment.base.boundary.folders import lock_file, lock_folder, remove_leftovers, temporary_file, temporary_folder
from truemoment.base.errors import InputError, UsageError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def in_a_process_that_is_killed(block, *, context):
    """Run `block` inside `context` in another process, which is killed there."""
    script = f"""
import os, signal
from pathlib import Path
from truemoment.base.boundary.files import *
from truemoment.base.boundary.folders import *
with {context} as it:
    {block}
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], check=False)
    assert done.returncode == -signal.SIGKILL


# ------------------------------------------------------------------------------------------------ locks


def test_one_command_at_a_time_writes_a_folder(tmp_path):
    with lock_folder(tmp_path / "run"):
        with pytest.raises(UsageError) as caught, lock_folder(tmp_path / "run"):
            pass
        assert str(caught.value) == f"{tmp_path / 'run'}: is being written by another command, wait for its end"
        with pytest.raises(UsageError), lock_folder(tmp_path / "run"):  # the refusal took nothing away
            pass
        (tmp_path / "run" / "made").touch()
    with lock_folder(tmp_path / "run"):
        pass
    assert names(tmp_path / "run") == ["made"]


def test_a_folder_that_is_there_is_not_made(tmp_path):
    (tmp_path / ".lock").mkdir()
    with pytest.raises(InputError, match="cannot be written"), lock_folder(tmp_path):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be made"), lock_folder(tmp_path / "file" / "run"):
        pass


def test_a_folder_in_which_nothing_is_written_goes_if_it_was_made_for_that(tmp_path):
    (tmp_path / "mine").mkdir()
    for name in ("mine", "new"):
        with lock_folder(tmp_path / name):
            pass
    assert names(tmp_path) == ["mine"]


def test_a_lock_ends_with_the_process_that_holds_it(tmp_path):
    in_a_process_that_is_killed("pass", context=f"lock_folder(Path({str(tmp_path)!r}))")
    assert names(tmp_path) == [".lock"]
    with lock_folder(tmp_path):
        pass
    assert names(tmp_path) == []


def test_a_file_of_that_name_that_holds_something_stays(tmp_path):
    (tmp_path / ".lock").write_text("mine")
    with lock_folder(tmp_path):
        pass
    assert (tmp_path / ".lock").read_text() == "mine"


def test_a_file_that_took_the_place_of_a_lock_stays(tmp_path):
    with lock_folder(tmp_path):
        (tmp_path / ".lock").unlink()
        (tmp_path / ".lock").touch()
    assert names(tmp_path) == [".lock"]


def test_a_linked_lock_is_refused(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "run" / ".lock").symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match="is a link"), lock_folder(tmp_path / "run"):
        pass
    assert (tmp_path / "mine").read_text() == "mine"


def test_those_who_change_a_file_take_turns(tmp_path):
    """Ten threads count in a file, five of them by a link to it: none of 200 steps is lost."""
    path, link = tmp_path / "count", tmp_path / "link"
    path.write_text("0")
    link.symlink_to(path)

    def count(name):
        for _ in range(20):
            with lock_file(name):
                before = int(path.read_text())
                with atomic_write(path) as stream:
                    stream.write(str(before + 1).encode())

    threads = [threading.Thread(target=count, args=(name,)) for name in (path, link) * 5]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() == "200"
    assert names(tmp_path) == ["count", "link"]


def test_where_files_cannot_be_locked_work_goes_on_and_nothing_is_removed(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def flock(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    (tmp_path / ".writing-in_use_1").touch()
    with lock_folder(tmp_path), lock_file(tmp_path / "a"), atomic_write(tmp_path / "a") as stream:
        stream.write(b"x")
    assert names(tmp_path) == [".writing-in_use_1", "a"]


# -------------------------------------------------------------------------------------------- leftovers


@pytest.mark.parametrize(
    ("context", "block"),
    [
        ("atomic_write(Path({!r}) / 'a')", "it.write(b'half')"),
        ("atomic_folder(Path({!r}) / 'a')", "(it / 'half').path.write_bytes(b'')"),
        ("temporary_folder(Path({!r}), FETCHING)", "(it / 'half').path.write_bytes(b'')"),
    ],
)
def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_there(tmp_path, context, block):
    in_a_process_that_is_killed(block, context=context.format(str(tmp_path)))
    assert len(names(tmp_path)) == 1
    with atomic_write(tmp_path / "b") as stream:
        stream.write(b"x")
    assert names(tmp_path) == ["b"]


def test_what_is_being_written_is_not_removed(tmp_path):
    with atomic_write(tmp_path / "a") as first, atomic_folder(tmp_path / "b") as second:
        first.write(b"x")
        (second / "c").path.write_bytes(b"")
        before = names(tmp_path)
        remove_leftovers(tmp_path)
        assert names(tmp_path) == before
        with atomic_write(tmp_path / "d") as third:
            third.write(b"y")
    assert names(tmp_path) == ["a", "b", "d"]


def test_names_of_others_are_not_removed(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder = tmp_path / "folder"
    folder.mkdir()
    (elsewhere / "mine").touch()
    mine = [".writing-notes", ".writing-of_a_novel", ".writing-HOMEWORK", "writing-homework", ".fetching-it", ".new-a"]
    for name in mine:
        (folder / name).mkdir()
    (folder / ".writing-k1ll3d_1").symlink_to(elsewhere)
    os.mkfifo(folder / ".writing-k1ll3d_2")  # opening it would wait for ever
    with atomic_write(folder / "a"):
        pass
    assert names(folder) == sorted([*mine, ".writing-k1ll3d_1", ".writing-k1ll3d_2", "a"])
    assert names(elsewhere) == ["mine"]


@pytest.mark.parametrize("make", [temporary_file, temporary_folder])
def test_one_that_is_removed_before_it_is_locked_is_made_again(tmp_path, make, monkeypatch):
    """Another process takes it for a leftover in the moment between making and locking it."""
    removed = []

    def hold(path, *arguments, original=folders._hold, **options):
        if not removed:
            removed.append(path)
            path.rmdir() if path.is_dir() else path.unlink()
        return original(path, *arguments, **options)

    monkeypatch.setattr(folders, "_hold", hold)
    with make(tmp_path) as made:
        assert made.exists()
        assert made != removed[0]
    assert names(tmp_path) == []


def _write_below(folder):
    (folder / "inner").mkdir()
    (folder / "inner" / "file").write_bytes(b"")


@pytest.mark.parametrize("to_open", [0, 1, 2, 5])
def test_nothing_is_left_where_no_more_files_may_be_opened(tmp_path, to_open):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.ExitStack() as opened:
        held = [os.open(os.devnull, os.O_RDONLY) for _ in range(30)]
        opened.callback(lambda: [os.close(number) for number in held])
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(held) + 1, hard))
        for _ in range(to_open):
            os.close(held.pop())
        with pytest.raises(OSError, match="Too many open files"), temporary_folder(tmp_path) as made:
            _write_below(made)
    assert names(tmp_path) == []
