"""atomic_write: a file appears complete or not at all."""

import contextlib
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from truemoment.base.boundary.files import atomic_folder, atomic_write, write_bytes
from truemoment.base.errors import InputError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_writes_a_new_file(tmp_path):
    path = tmp_path / "a.json"
    with atomic_write(path) as stream:
        stream.write(b"new")
        assert names(tmp_path) != ["a.json"]  # it stands under its name only afterwards
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a.json"]


def test_replaces_an_old_file(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"old, and longer")
    with atomic_write(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_bytes() == b"old, and longer"
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["a.json"]


def test_takes_a_name_as_text(tmp_path):
    with atomic_write(str(tmp_path / "a")) as stream:
        stream.write(b"x")
    assert (tmp_path / "a").read_bytes() == b"x"


@pytest.mark.parametrize("wrong", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
@pytest.mark.parametrize("old", [None, b"old"])
def test_whatever_goes_wrong_the_old_file_stays_and_nothing_else(tmp_path, wrong, old):
    path = tmp_path / "a.json"
    if old is not None:
        path.write_bytes(old)
    with pytest.raises(wrong), atomic_write(path) as stream:  # noqa: PT012 - the block is what is tested
        stream.write(b"half")
        stream.flush()
        raise wrong
    assert names(tmp_path) == ([] if old is None else ["a.json"])
    if old is not None:
        assert path.read_bytes() == old


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_files_are_ordinary_ones(tmp_path, mask, mode):
    # 0o666 less the mask: what open(path, "w") gives (POSIX umask).
    before = os.umask(mask)
    try:
        with atomic_write(tmp_path / "a") as stream:
            stream.write(b"x")
        assert os.umask(mask) == mask  # and the mask stays as it was
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


def test_no_folder_to_write_to(tmp_path):
    path = tmp_path / "none" / "a.json"
    with pytest.raises(InputError) as caught, atomic_write(path):
        pass
    assert str(caught.value) == f"{path}: cannot be written (No such file or directory)"


def test_a_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "file").write_bytes(b"x")
    path = tmp_path / "file" / "a.json"
    with pytest.raises(InputError) as caught, atomic_write(path):
        pass
    assert str(caught.value) == f"{path}: cannot be written (Not a directory)"


def test_a_folder_of_that_name_is_refused(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(InputError) as caught, atomic_write(path) as stream:
        stream.write(b"x")
    assert str(caught.value) == f"{path}: cannot be written (Is a directory)"
    assert names(tmp_path) == ["folder"]
    assert names(path) == []


def test_a_device_or_pipe_is_never_replaced_by_a_file(tmp_path):
    # "--json /dev/null" as root would otherwise put an ordinary file in the place of the device.
    path = tmp_path / "pipe"
    os.mkfifo(path)
    keep_open = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        try:
            with atomic_write(path) as stream:
                stream.write(b"x")
        except InputError:
            pass  # refusing it is as good as writing into it
        assert stat.S_ISFIFO(path.stat().st_mode)
    finally:
        os.close(keep_open)


def test_a_pipe_that_nothing_reads_is_refused(tmp_path):
    """To open it waits for a reader, for ever if there is none."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(InputError, match=r"pipe: cannot be written \(is a pipe that no program reads"):
        write_bytes(path, b"x")
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_bytes(path, b"x")
    assert os.read(reader, 9) == b"x"
    os.close(reader)


def test_a_long_text_waits_for_the_reader_of_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    keep_open = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    with ThreadPoolExecutor() as pool:
        writing = pool.submit(write_bytes, path, bytes(1_000_000))
        read = 0
        while read < 1_000_000 and not (writing.done() and writing.exception()):
            with contextlib.suppress(BlockingIOError):
                read += len(os.read(keep_open, 1 << 16))
    os.close(keep_open)
    assert (writing.exception(), read) == (None, 1_000_000)


def test_behind_a_link_the_file_it_leads_to_is_written(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with atomic_write(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


def test_a_file_that_was_there_keeps_its_permissions(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o640)
    with atomic_write(tmp_path / "a") as stream:
        stream.write(b"new")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_folder_may_be_made_behind_a_link_to_an_empty_one(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    with atomic_folder(tmp_path / "link") as folder:
        (folder / "a").path.write_bytes(b"")
    assert names(tmp_path / "disk") == ["a"]
    assert (tmp_path / "link").is_symlink()


def test_another_command_may_remove_the_file_at_any_time(tmp_path):
    path, ended = tmp_path / "a", threading.Event()

    def remove():
        while not ended.is_set():
            path.unlink(missing_ok=True)

    with ThreadPoolExecutor(1) as other:
        removing = other.submit(remove)
        try:
            for _ in range(200):
                with atomic_write(path) as stream:
                    stream.write(b"whole")
        finally:
            ended.set()
    removing.result()
    assert names(tmp_path) in ([], ["a"])  # nothing is left over


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_gets_its_name_is_on_the_disk(tmp_path, monkeypatch, kind):
    """After a power cut a name has all of its content: each file is on the disk before the renaming."""
    done = []

    def fsync(number, original=os.fsync):
        done.append(("on the disk", os.fstat(number).st_ino))
        original(number)

    def replace(name, to, original=os.replace, **options):
        done.append(("named", to))
        original(name, to, **options)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    if kind == "file":
        with atomic_write(tmp_path / "a") as stream:
            stream.write(b"x" * 100_000)
        files = [tmp_path / "a"]
    else:
        with atomic_folder(tmp_path / "a") as folder:
            (folder / "inner").mkdir()
            (folder / "inner" / "b").path.write_bytes(b"x")
            (folder / "c").path.write_bytes(b"y")
        files = [tmp_path / "a" / "inner" / "b", tmp_path / "a" / "c", tmp_path / "a" / "inner"]
    named = done.index(("named", "a"))
    assert {("on the disk", path.stat().st_ino) for path in files} <= set(done[:named])


def test_a_report_comes_before_the_name(tmp_path):
    """Where it cannot be printed, there is no folder that the same command would refuse."""

    def fail():
        raise OSError(28, "No space left on device", "standard output")

    with pytest.raises(OSError, match="standard output"), atomic_folder(tmp_path / "a", fail) as folder:
        (folder / "b").path.write_bytes(b"")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "theirs").touch()
    told = []
    with (
        pytest.raises(InputError, match=r"cannot be made \(Directory not empty\)"),
        atomic_folder(tmp_path / "a", lambda: told.append(1)),
    ):
        pass
    assert told == []
