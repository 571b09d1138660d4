"""Paths inside our folders: no link is followed at any depth, also one that is put there between check and use."""

import contextlib
import itertools
import os
import pickle
import re
import stat
import threading
from pathlib import Path

import pytest

from truemoment.base.boundary import own_path
from truemoment.base.boundary.files import atomic_write, read_bytes
from truemoment.base.boundary.own_path import OwnPath, any_path, in_its_folder, open_regular, path_of_opened
from truemoment.base.errors import InputError

IS_LINK = "is a link, expected a file or folder that TrueMoment has made"

SECRET = b"secret"

USES = {
    "read": lambda path: path.content(),
    "stat": lambda path: path.stat(),
    "is_file": lambda path: path.is_file(),
    "is_dir": lambda path: path.is_dir(),
    "exists": lambda path: path.exists(),
    "write": lambda path: open_regular(path, "wb").close(),
    "append": lambda path: path.open("ab").close(),
    "unlink": lambda path: path.unlink(),
    "chmod": lambda path: (path / "x").chmod(0o600),
    "list": lambda path: path.iterdir(),
    "make a folder in it": lambda path: (path / "inner").mkdir(),
    "remove the tree": lambda path: (path / "inner").remove_tree(),
    "rename from": lambda path: (path / "file").rename(OwnPath(path.root) / "elsewhere"),
    "rename into": lambda path: _made(OwnPath(path.root) / "mine").rename(path / "mine"),
    "write whole": lambda path: _written(path / "file"),
    "for a library": lambda path: path.checked(),
}


def _made(path):
    _written(path, b"mine")
    return path


def _written(path, data=b"new"):
    with atomic_write(path) as stream:
        stream.write(data)


@pytest.fixture(name="outside")
def outside_fixture(tmp_path):
    """A folder and a file outside, which nothing may change."""
    outside = tmp_path / "outside"
    (outside / "inner").mkdir(parents=True)
    (outside / "file").write_bytes(SECRET)
    (outside / "x").write_bytes(SECRET)
    return outside


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_link_is_refused_at_any_depth(tmp_path, outside, use, depth, kind):
    folder = tmp_path / "ours"
    above = folder.joinpath(*"abc"[: depth - 1])
    above.mkdir(parents=True)
    (above / "link").symlink_to(outside / "file" if kind == "file" else outside)
    path = OwnPath(folder)
    for part in (*"abc"[: depth - 1], "link"):
        path /= part
    before = contents(outside)
    # Behind a link to a file there is no file: that is refused, too, by whatever looks first.
    with pytest.raises((InputError, NotADirectoryError), match=IS_LINK):
        USES[use](path)
    assert contents(outside) == before


@pytest.mark.parametrize("use", USES)
def test_a_link_among_the_folders_above_is_refused(tmp_path, outside, use):
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "link").symlink_to(outside)
    before = contents(outside)
    with pytest.raises(InputError, match=IS_LINK):
        USES[use](OwnPath(tmp_path / "ours") / "link" / ("inner" if use in ("list", "remove the tree") else "file"))
    assert contents(outside) == before


def test_the_folder_itself_may_be_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    folder = OwnPath(tmp_path / "link")
    _written(folder / "file")
    assert (folder / "file").content() == b"new"
    assert (tmp_path / "disk" / "file").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()


def test_a_link_in_the_place_of_a_file_to_write_is_refused_before_any_work(tmp_path, outside):
    (tmp_path / "ours" / "a").mkdir(parents=True)
    (tmp_path / "ours" / "a" / "link").symlink_to(outside)
    with pytest.raises(InputError, match=IS_LINK):
        OwnPath(tmp_path / "ours").refuse_links()
    (tmp_path / "ours" / "a" / "link").unlink()
    (tmp_path / "ours" / "a" / "latest").symlink_to(".")  # as Weights & Biases makes: it leads nowhere outside
    OwnPath(tmp_path / "ours").refuse_links()
    OwnPath(tmp_path / "none").refuse_links()


@pytest.mark.parametrize("name", ["..", "../x", "/etc/passwd", "a/../../x", "", "a\0b"])
def test_no_name_leads_out(tmp_path, name):
    with pytest.raises(InputError, match="expected one of a file inside it"):
        OwnPath(tmp_path) / name


def test_a_file_with_another_name_is_not_written(tmp_path, outside):
    """A hard link: the content outside would change with the file inside."""
    (tmp_path / "ours").mkdir()
    os.link(outside / "file", tmp_path / "ours" / "file")
    path = OwnPath(tmp_path / "ours") / "file"
    for mode in ("wb", "ab", "a+b", "r+b"):
        with pytest.raises(InputError, match=r"has another name \(a hard link\)"):
            path.open(mode)
    _written(path)  # takes the place of the name, not of the content
    assert (outside / "file").read_bytes() == SECRET
    assert path.content() == b"new"


@pytest.mark.parametrize("of", [OwnPath, lambda folder: folder])
def test_what_is_no_file_is_refused_without_waiting(tmp_path, of):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="pipe: is a pipe, expected a file"):
        read_bytes(of(tmp_path) / "pipe")
    with pytest.raises(InputError, match="is a folder, expected a file"):
        read_bytes(of(tmp_path) / "folder")
    for mode in ("ab", "wb"):
        with pytest.raises((InputError, OSError)):  # no reader: ENXIO
            open_regular(of(tmp_path) / "pipe", mode)
    with pytest.raises(InputError, match="/dev/null: is a device, expected a file"):
        read_bytes(Path("/dev/null"))


def test_a_file_of_the_system_that_would_wait_is_refused(tmp_path, monkeypatch):
    """/proc/kmsg calls itself a regular file, and waits for messages: here, a pipe that is opened as one."""
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(own_path, "refuse_no_file", lambda *_: None)
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    try:
        with pytest.raises(InputError, match=r"cannot be read \(.*it has no content yet"):
            read_bytes(tmp_path / "pipe")
        os.write(writer, b"half")
        with pytest.raises(InputError, match=r"cannot be read \(.*it has no content yet"):
            read_bytes(OwnPath(tmp_path) / "pipe")
    finally:
        os.close(writer)


def test_it_travels_to_processes_and_sorts(tmp_path):
    path = OwnPath(tmp_path) / "a" / "b.npy"
    assert pickle.loads(pickle.dumps(path)) == path  # noqa: S301 - what was just made
    assert (path.name, path.stem, path.suffix, str(path.parent)) == ("b.npy", "b", ".npy", str(tmp_path / "a"))
    assert path.with_name("c").path == tmp_path / "a" / "c"
    assert sorted([OwnPath(tmp_path) / "b", OwnPath(tmp_path) / "a"])[0].name == "a"
    assert not isinstance(path, os.PathLike)


def test_listing(tmp_path, outside):
    folder = OwnPath(tmp_path / "ours")
    for name in ("b", "a"):
        (folder / name).mkdir(parents=True)
        (folder / name / "1.npy").path.write_bytes(b"")
    (folder / "c").path.write_bytes(b"")
    (tmp_path / "ours" / "link").symlink_to(outside)
    assert [path.name for path in folder.iterdir()] == ["a", "b", "c", "link"]
    assert [path.name for path in folder.folders()] == ["a", "b"]
    assert [path.name for path in folder.plain(re.compile("[acl].*"))] == ["a", "c"]
    assert [str(path) for path in folder.glob("[ab]/*.npy")] == [
        str(tmp_path / "ours" / name) for name in ("a/1.npy", "b/1.npy")
    ]
    assert (folder / "none").glob("*") == []


def test_names_of_what_the_user_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert in_its_folder(any_path("x/y")) == OwnPath(any_path("x"), ("y",))
    assert in_its_folder(any_path(".")).path == tmp_path
    assert in_its_folder(OwnPath(tmp_path)) == OwnPath(tmp_path.parent, (tmp_path.name,))


def test_an_opened_file_is_sent_whatever_takes_its_place(tmp_path, outside):
    (tmp_path / "ours").mkdir()
    path = OwnPath(tmp_path / "ours") / "file"
    _written(path, b"mine")
    with path.open() as stream:
        (tmp_path / "ours" / "file").unlink()
        (tmp_path / "ours" / "file").symlink_to(outside / "file")
        assert Path(path_of_opened(stream, path)).read_bytes() == b"mine"


def test_without_descriptors_each_part_is_checked(tmp_path, outside, monkeypatch):
    """Systems such as Windows open no file relative to a folder."""
    monkeypatch.setattr(own_path, "HAS_DESCRIPTORS", False)
    folder = OwnPath(tmp_path / "ours")
    (folder / "a").mkdir(parents=True)
    _written(folder / "a" / "file")
    assert (folder / "a" / "file").content() == b"new"
    assert [path.name for path in folder.iterdir()] == ["a"]
    (tmp_path / "ours" / "link").symlink_to(outside)
    before = contents(outside)
    for use in ("read", "write", "unlink", "list", "write whole", "rename into"):
        with pytest.raises(InputError, match=IS_LINK):
            USES[use](folder / "link")
    assert contents(outside) == before


@pytest.mark.parametrize("use", ["read", "write whole", "make a folder in it", "remove the tree"])
def test_a_link_that_appears_between_check_and_use_is_not_followed(tmp_path, outside, use):
    """Another thread swaps a folder and a link to a folder outside, as quickly as it can; now and then one stays."""
    ours = tmp_path / "ours"
    (ours / "a" / "inner").mkdir(parents=True)
    (ours / "a" / "file").write_bytes(b"mine")
    (ours / "b").symlink_to(outside)
    ended, before = threading.Event(), contents(outside)

    def swap():
        for number in itertools.count():
            if ended.is_set():
                return
            (ours / "a").rename(ours / "c")
            (ours / "b").rename(ours / "a")
            if number % 20 == 0:
                ended.wait(0.002)  # the link stays
            (ours / "a").rename(ours / "b")
            (ours / "c").rename(ours / "a")
            if number % 20 == 10:
                ended.wait(0.002)  # the folder stays

    swapping = threading.Thread(target=swap)
    swapping.start()
    done = refused = 0
    try:
        for _ in range(1000):
            path = OwnPath(ours) / "a" / "file" if use == "read" else OwnPath(ours) / "a"
            try:
                found = USES[use](path)
            except (InputError, OSError):
                refused += 1
            else:
                done += 1
                assert use != "read" or found in (b"mine", b"new")
            if use in ("make a folder in it", "remove the tree"):
                for name in ("a", "c"):
                    inner = OwnPath(ours) / name / "inner"
                    with contextlib.suppress(OSError, InputError):
                        inner.rmdir() if use == "make a folder in it" else inner.mkdir()
    finally:
        ended.set()
        swapping.join()
    assert contents(outside) == before
    assert done
    assert refused


def test_permissions_of_new_files_are_those_of_ordinary_ones(tmp_path):
    mask = os.umask(0o027)
    try:
        _written(OwnPath(tmp_path) / "file")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_a_folder_is_made_once_and_never_in_the_place_of_a_file(tmp_path):
    folder = OwnPath(tmp_path) / "folder"
    folder.mkdir()
    folder.mkdir(exist_ok=True)
    with pytest.raises(FileExistsError):
        folder.mkdir()
    (tmp_path / "file").write_bytes(SECRET)
    with pytest.raises(FileExistsError):
        (OwnPath(tmp_path) / "file").mkdir(exist_ok=True)
    assert (tmp_path / "file").read_bytes() == SECRET


def test_as_much_is_read_as_was_asked_for(tmp_path):
    (tmp_path / "file").write_bytes(SECRET)
    with open_regular(OwnPath(tmp_path) / "file") as stream:
        assert [stream.read(0), stream.read(3), stream.read(-1), stream.read(1)] == [b"", b"sec", b"ret", b""]
    with open_regular(OwnPath(tmp_path) / "file") as stream:
        assert stream.read(None) == SECRET
