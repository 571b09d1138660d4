"""Fetching against a small server on this machine: whole files of the published content, or nothing."""

import dataclasses
import gc
import hashlib
import http.server
import itertools
import socket
import threading
import time
import zlib
from pathlib import Path

import pytest
import requests

from truemoment.base.boundary.folders import FETCHING, temporary_folder
from truemoment.base.boundary.text import short_line
from truemoment.base.errors import DownloadError, UsageError
from truemoment.data.datasets import DATASETS, fetch, get_dataset
from truemoment.data.datasets.base import SourceFile

MOST_SENT = 200 << 20
"""Bytes after which a server without an end gives up all the same."""

CONTENT = b'{"v": {}}\n' * 2000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
BLOB = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT, usedforsecurity=False).hexdigest()  # git hash-object


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers by path, and notes what it was asked for."""

    def do_GET(self):
        self.server.asked.append(self.path)
        name = self.path.removeprefix("/")
        if name == "missing":
            self.send_error(404)
            return
        if name == "broken":
            self.send_error(500)
            return
        self.send_response(200)
        if name in ("endless", "packed"):  # of no stated length, until the client goes away
            if name == "packed":
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            whole = zlib.compressobj(wbits=31)
            while self.server.sent < MOST_SENT:
                data = whole.compress(bytes(1 << 20)) if name == "packed" else b"[" * (1 << 16)
                self.wfile.write(data)
                self.server.sent += len(data) if name == "endless" else 1 << 20
            return
        if name == "long":
            self.send_header("Content-Length", str(10**12))
            self.end_headers()
            return
        content = b"<html>moved</html>" if name == "page" else CONTENT
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if name == "truncated":
            self.wfile.write(content[:1000])  # and the connection is closed
        elif name == "stalled":
            self.wfile.write(content[:1000])
            self.wfile.flush()
            time.sleep(3)  # longer than the time that a test allows
        elif name == "once-broken" and self.server.asked.count("/once-broken") == 1:
            self.wfile.write(content[:1000])
        else:
            self.wfile.write(content)

    def log_message(self, *_):
        """Say nothing."""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that goes away is no news."""


@pytest.fixture(scope="module")
def running():
    server = Server(("127.0.0.1", 0), Handler)
    server.asked, server.sent = [], 0
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def server(running, monkeypatch):
    """The server, with its notes empty; nothing is asked of a proxy, and nobody waits long."""
    running.asked.clear()
    running.sent = 0
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.setattr(fetch, "TIMEOUT_S", 0.5)
    monkeypatch.setattr(fetch, "RETRIES", 0)
    return running


@pytest.fixture
def dataset(server):
    """TACoS with its files here: dataset("good", ...) names them by what the server does with them."""

    def make(*names, sha256=SHA256, git_blob="", n_bytes=0):
        address = f"http://127.0.0.1:{server.server_port}"
        files = tuple(
            SourceFile(f"{name}.json", sha256, f"{address}/{name}", git_blob, n_bytes=n_bytes) for name in names
        )
        return dataclasses.replace(get_dataset("tacos"), files=files)

    return make


def names(folder):
    """Everything below a folder but folders."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def said_of(dataset, folder):
    with pytest.raises(DownloadError) as caught:
        fetch.fetch(dataset, folder)
    said = str(caught.value)
    assert len(said.splitlines()) == 1
    return said


def test_good_files(dataset, server, tmp_path):
    told = []
    there = fetch.fetch(dataset("a", "b"), tmp_path, on_status=told.append)
    folder = tmp_path / "tacos"
    assert there == [folder / "a.json", folder / "b.json"]
    assert [path.read_bytes() for path in there] == [CONTENT, CONTENT]
    assert names(tmp_path) == ["tacos/a.json", "tacos/b.json"]
    assert server.asked == ["/a", "/b"]
    address = f"http://127.0.0.1:{server.server_port}"
    assert told == [f"{there[0]}: fetched from {address}/a", f"{there[1]}: fetched from {address}/b"]


def test_a_file_in_a_folder_of_its_own(server, tmp_path):
    file = SourceFile("below/a.json", SHA256, f"http://127.0.0.1:{server.server_port}/a")
    fetch.fetch(dataclasses.replace(get_dataset("tacos"), files=(file,)), tmp_path)
    assert names(tmp_path) == ["tacos/below/a.json"]


def test_a_good_file_that_is_there_is_not_asked_for(dataset, server, tmp_path):
    path = tmp_path / "tacos" / "a.json"
    path.parent.mkdir()
    path.write_bytes(CONTENT)
    before = path.stat().st_mtime_ns
    told = []
    assert fetch.fetch(dataset("a"), tmp_path, on_status=told.append) == [path]
    assert told == [f"{path}: there already"]
    assert server.asked == []
    assert path.stat().st_mtime_ns == before


def test_what_is_missing_is_added(dataset, server, tmp_path):
    fetch.fetch(dataset("a"), tmp_path)
    fetch.fetch(dataset("a", "b"), tmp_path)
    assert server.asked == ["/a", "/b"]


def test_another_file_of_that_name_is_never_overwritten(dataset, server, tmp_path):
    path = tmp_path / "tacos" / "a.json"
    path.parent.mkdir()
    path.write_bytes(b"mine")
    assert said_of(dataset("a"), tmp_path) == (
        f"{path}: is there, and its content is not the published one (checksum); move it away to have it fetched"
    )
    assert path.read_bytes() == b"mine"
    assert server.asked == []


def test_a_wrong_checksum_keeps_nothing(dataset, server, tmp_path):
    path = tmp_path / "tacos" / "page.json"
    assert said_of(dataset("page"), tmp_path) == (
        f"{path}: the download from http://127.0.0.1:{server.server_port}/page is not the published file (checksum); "
        "nothing was kept"
    )
    assert names(tmp_path) == []


def test_a_wrong_checksum_keeps_the_files_before(dataset, tmp_path):
    said_of(dataset("a", "page", "b"), tmp_path)
    assert names(tmp_path) == ["tacos/a.json"]


@pytest.mark.parametrize(("name", "status"), [("missing", "404"), ("broken", "500")])
def test_an_answer_that_is_an_error(dataset, server, tmp_path, name, status):
    said = said_of(dataset(name), tmp_path)
    address = f"http://127.0.0.1:{server.server_port}/{name}"
    assert said.startswith(f"{tmp_path / 'tacos' / name}.json: cannot be fetched from {address} (HTTPError: {status} ")
    assert names(tmp_path) == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the downloader's own socket
@pytest.mark.parametrize("name", ["truncated", "stalled"])
@pytest.mark.slow
def test_a_body_that_ends_early_or_stalls(dataset, server, tmp_path, name):
    before = time.perf_counter()
    said = said_of(dataset(name), tmp_path)
    assert f"{name}.json: " in said
    assert f"http://127.0.0.1:{server.server_port}/{name}" in said
    assert names(tmp_path) == []
    assert time.perf_counter() - before < 2.5  # less than the server stalls: the time-out was heeded
    gc.collect()


@pytest.mark.parametrize("case", list(itertools.product(["long", "endless", "packed"], [0, len(CONTENT)])))
def test_a_file_without_end_is_refused(dataset, server, tmp_path, monkeypatch, case):
    """By its header, or while it is read: of a length that is not published, or longer than the published one."""
    name, n_bytes = case
    monkeypatch.setattr(fetch, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(fetch, "RETRIES", 1)  # another try would bring the same
    expected = "20,000 bytes" if n_bytes else "1,048,576 bytes at most"
    assert said_of(dataset(name, n_bytes=n_bytes), tmp_path) == (
        f"{tmp_path}/tacos/{name}.json: the download from http://127.0.0.1:{server.server_port}/{name} is longer than "
        f"the file, expected {expected}; nothing was kept"
    )
    assert names(tmp_path) == []
    assert server.asked == [f"/{name}"]
    assert server.sent < MOST_SENT


def test_a_file_of_its_published_length(dataset, tmp_path):
    fetch.fetch(dataset("a", n_bytes=len(CONTENT)), tmp_path)
    assert (tmp_path / "tacos" / "a.json").read_bytes() == CONTENT


def test_a_file_that_cannot_be_written_is_named(server, tmp_path):
    file = SourceFile("below/a.json", SHA256, f"http://127.0.0.1:{server.server_port}/a")
    (tmp_path / "tacos").mkdir()
    (tmp_path / "tacos" / "below").write_text("a file")
    said = said_of(dataclasses.replace(get_dataset("tacos"), files=(file,)), tmp_path)
    assert said.startswith(f"{tmp_path}/tacos/below/a.json: cannot be written (")


def test_nobody_there(tmp_path, server):
    with socket.socket() as listener:  # a port that is taken by nobody once it is closed
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    file = SourceFile("a.json", SHA256, f"http://127.0.0.1:{port}/a")
    said = said_of(dataclasses.replace(get_dataset("tacos"), files=(file,)), tmp_path)
    assert said == (
        f"{tmp_path}/tacos/a.json: cannot be fetched, there is no connection to 127.0.0.1:{port}; 'truemoment datasets "
        "info tacos' shows the addresses, to fetch the files elsewhere"
    )
    assert names(tmp_path) == []
    assert server.asked == []


@pytest.mark.parametrize("name", [name for name in DATASETS if get_dataset(name).files[0].url])
def test_what_to_do_without_a_connection_is_not_cut(tmp_path, monkeypatch, name):
    """The text of requests made the line too long: its middle was cut, with the address to fetch from."""

    def unconnected(*_, **__):
        raise requests.ConnectionError(f"HTTPSConnectionPool: Max retries exceeded {'x' * 200}")

    monkeypatch.setattr(requests, "get", unconnected)
    monkeypatch.setattr(fetch, "RETRIES", 0)
    monkeypatch.chdir(tmp_path)
    said = said_of(get_dataset(name), Path("data"))
    assert short_line(said) == said


def test_it_tries_again(dataset, server, tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "RETRIES", 1)
    monkeypatch.setattr("time.sleep", lambda _: None)  # the pause between two tries
    fetch.fetch(dataset("once-broken"), tmp_path)
    assert server.asked == ["/once-broken", "/once-broken"]
    assert names(tmp_path) == ["tacos/once-broken.json"]


def test_an_interrupted_fetch_is_simply_repeated(dataset, server, tmp_path, monkeypatch):
    import pooch

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(pooch.HTTPDownloader, "__call__", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fetch.fetch(dataset("a"), tmp_path)
    assert names(tmp_path) == []
    fetch.fetch(dataset("a"), tmp_path)
    assert names(tmp_path) == ["tacos/a.json"]
    assert server.asked == ["/a"]


def test_what_a_killed_fetch_left_is_removed_by_the_next_one(dataset, tmp_path):
    """Point 25. What another process is just fetching is locked, and stays."""
    folder = tmp_path / "tacos"
    (folder / ".fetching-k1ll3d_1").mkdir(parents=True)
    (folder / ".fetching-k1ll3d_1" / "half").write_bytes(CONTENT[:100])
    (folder / ".fetching-notes").mkdir()
    with temporary_folder(folder, FETCHING) as of_another:
        (folder / ".fetching-k1ll3d_2").mkdir()
        fetch.fetch(dataset("a"), tmp_path)
        assert sorted(path.name for path in folder.iterdir()) == sorted([".fetching-notes", of_another.name, "a.json"])


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_what_is_there_and_is_no_file_is_not_replaced(dataset, server, tmp_path, kind):
    path = tmp_path / "tacos" / "a.json"
    path.parent.mkdir()
    path.mkdir() if kind == "folder" else path.symlink_to(tmp_path / "disk-that-is-not-mounted")
    assert said_of(dataset("a"), tmp_path) == (
        f"{path}: is a folder or a broken link; move it away to have the file fetched"
    )
    assert path.is_dir() or path.is_symlink()
    assert server.asked == []


class TestKnownByGitOnly:
    def test_good(self, dataset, tmp_path):
        fetch.fetch(dataset("a", sha256="", git_blob=BLOB), tmp_path)
        assert names(tmp_path) == ["tacos/a.json"]

    def test_wrong(self, dataset, server, tmp_path):
        said = said_of(dataset("page", sha256="", git_blob=BLOB), tmp_path)
        assert said == (
            f"{tmp_path}/tacos/page.json: the download from http://127.0.0.1:{server.server_port}/page is not the "
            "published file (checksum); nothing was kept"
        )
        assert names(tmp_path) == []

    def test_there_and_wrong(self, dataset, server, tmp_path):
        path = tmp_path / "tacos" / "a.json"
        path.parent.mkdir()
        path.write_bytes(b"mine")
        assert "move it away" in said_of(dataset("a", sha256="", git_blob=BLOB), tmp_path)
        assert path.read_bytes() == b"mine"
        assert server.asked == []

    def test_an_interruption_leaves_no_unchecked_file(self, dataset, tmp_path, monkeypatch):
        # Between the download, which cannot check git's name, and the check.
        def interrupt(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(SourceFile, "agrees", interrupt)
            with pytest.raises(KeyboardInterrupt):
                fetch.fetch(dataset("page", sha256="", git_blob=BLOB), tmp_path)
        assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("mad", "needs an agreement with its owner"),
        ("charades-timelens", "is public, but has no recorded checksum to verify a download"),
    ],
)
def test_nothing_is_fetched_without_leave_or_checksum(tmp_path, server, name, why):
    with pytest.raises(UsageError) as caught:
        fetch.fetch(get_dataset(name), tmp_path)
    steps = "; ".join(get_dataset(name).steps)
    assert str(caught.value) == f"{name} {why} and cannot be fetched: {steps}"
    assert names(tmp_path) == []
    assert list(tmp_path.iterdir()) == []
    assert server.asked == []


def test_a_folder_that_cannot_be_made(dataset, tmp_path):
    (tmp_path / "tacos").write_text("a file")
    said = said_of(dataset("a"), tmp_path)
    assert str(tmp_path / "tacos") in said


def test_nothing_but_open_datasets_has_addresses():
    assert {name for name, dataset in DATASETS.items() if dataset.access == "agreement"} == {
        "mad",
        "lsmdc16",
        "ego4d-nlq-v1",
        "ego4d-nlq-v2",
    }
