"""What all pages share: who may send requests, sign-in, media in ranges, and the start of a server."""

import asyncio
import errno
import logging
import socket
import types
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

pytest.importorskip("starlette")
from starlette.testclient import TestClient

from truemoment.base.errors import UsageError
from truemoment.media.video.files import identity_of
from truemoment.web.pages import launch
from truemoment.web.pages.app import Site, make_app, page_route, route
from truemoment.web.pages.errors import PageError
from truemoment.web.pages.launch import Listening, bind
from truemoment.web.pages.media import Identities, Streams, VideoResponse
from truemoment.web.pages.security import CONTENT_SECURITY_POLICY, Address
from truemoment.web.pages.sessions import Tries, Visitor, new_token, sha256_of_token

OWN = {"Origin": "http://localhost"}


class Note(msgspec.Struct, forbid_unknown_fields=True):
    text: str


@pytest.fixture
def video(tmp_path):
    path = tmp_path / "v.mp4"
    path.write_bytes(bytes(range(100)))
    return path


@pytest.fixture
def page(video):
    """A page with one owner: the application, its token, and what its handlers noted."""
    token, notes = new_token(), []
    identities, streams, identity = Identities(), Streams(2), identity_of(video)

    def find(digest):
        return Visitor("owner") if digest == sha256_of_token(token) else None

    def note(visit):
        notes.append(visit.body.text)
        return {"count": len(notes)}

    def broken(_):
        raise ValueError("a secret path")

    app = make_app(
        Site("A <page>", "tm_test", Address(("study.example",)), find),
        [
            page_route("/", "sign_in.html.j2", roles=("owner",)),
            route("PUT", "/api/note", note, roles=("owner",), body=Note),
            route("GET", "/api/none", lambda _: None, roles=("owner",)),
            route("GET", "/api/other", lambda _: {}, roles=("person",)),
            route("GET", "/api/broken", broken, roles=("owner",)),
            route(
                "GET",
                "/media/{video:number}",
                lambda _: VideoResponse(video, identities.open_video(video, identity), streams),
                roles=("owner",),
            ),
        ],
    )
    return app, token, notes


@pytest.fixture
def client(page):
    app, token, _ = page
    return TestClient(app, base_url="http://localhost", cookies={"tm_test": token}, raise_server_exceptions=False)


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1@evil", "", "[::1", "127.0.0.2"])
def test_an_unknown_host_is_refused_before_all_else(client, host):
    found = client.get("/static/base.css", headers={"Host": host})
    assert found.status_code == 400
    assert "--name" in found.json()["error"]


@pytest.mark.parametrize("n_digits", [101, 5000])  # Python reads at most 4,300
def test_a_number_of_too_many_digits_is_no_path(client, n_digits):
    assert client.get(f"/media/{'9' * n_digits}").status_code == 404


@pytest.mark.parametrize("host", ["localhost:81", "127.0.0.1", "[::1]:9", "STUDY.example:443"])
def test_known_hosts_pass(client, host):
    assert client.get("/api/none", headers={"Host": host}).status_code == 204


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),  # no origin, as from a program
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://localhost"}, 403),
        ({"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        (OWN, 200),
        (OWN | {"Content-Type": "text/plain"}, 415),
        (OWN | {"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_changes_come_from_the_page_itself_as_json(page, client, headers, status):
    found = client.put("/api/note", content=b'{"text": "a"}', headers={"Content-Type": "application/json"} | headers)
    assert found.status_code == status
    assert len(page[2]) == (status == 200)


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        (b'{"text": 1}', 400, "text"),
        (b'{"text": "a", "more": 1}', 400, ""),
        (b"[", 400, ""),
        (b"\xff", 400, ""),
        (b"[" * 20_000, 400, ""),
        (b'{"text": "' + b"a" * 70_000 + b'"}', 413, ""),
    ],
)
def test_bodies_are_checked(client, body, status, field):
    found = client.put("/api/note", content=body, headers=OWN | {"Content-Type": "application/json"})
    assert (found.status_code, found.json().get("field", "")) == (status, field)


def test_a_body_without_a_length_is_cut_off(client):
    parts = (b"a" * 1000 for _ in range(100))
    found = client.put("/api/note", content=parts, headers=OWN | {"Content-Type": "application/json"})
    assert found.status_code == 413


def test_every_answer_has_the_headers(client):
    for path in ("/", "/in", "/api/none", "/nothing", "/api/broken", "/static/base.css", "/media/1"):
        headers = client.get(path, follow_redirects=False).headers
        assert headers["Content-Security-Policy"] == CONTENT_SECURITY_POLICY
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"].startswith(("no-store", "private"))


def test_roles_and_errors(page, client):
    stranger = TestClient(page[0], base_url="http://localhost")
    assert stranger.get("/api/none").status_code == 401
    assert stranger.get("/", follow_redirects=False).headers["Location"] == "/in"
    assert client.get("/api/other").status_code == 403
    assert client.get("/nothing").status_code == 404
    assert client.delete("/api/none", headers=OWN | {"Content-Type": "application/json"}).status_code == 405
    broken = client.get("/api/broken")
    assert broken.status_code == 500
    assert "secret" not in broken.text
    assert "A &lt;page&gt;" in client.get("/").text


@pytest.mark.parametrize("name", ["..%2fapp.py", "%2e%2e/app.py", "app.py", "base.css%00", "."])
def test_static_files_are_those_of_the_folder(client, name):
    assert client.get(f"/static/{name}").status_code == 404


def test_static_files_are_not_sent_twice(client):
    found = client.get("/static/base.css")
    again = client.get("/static/base.css", headers={"If-None-Match": found.headers["ETag"]})
    assert (found.status_code, again.status_code, again.content) == (200, 304, b"")


def test_sign_in_sets_a_cookie(page):
    app, token, _ = page
    stranger = TestClient(app, base_url="http://localhost")
    wrong = stranger.post("/in", json={"token": new_token()}, headers=OWN)
    assert wrong.status_code == 401
    right = stranger.post("/in", json={"token": token}, headers=OWN, follow_redirects=False)
    assert (right.status_code, right.headers["Location"]) == (303, "/")
    cookie = right.headers["Set-Cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/"))
    assert stranger.get("/api/none").status_code == 204


def test_wrong_links_are_counted():
    now = [0.0]
    tries = Tries(lambda: now[0])
    for _ in range(10):
        tries.check()
        tries.add_wrong()
    with pytest.raises(PageError):
        tries.check()
    now[0] = 61.0
    tries.check()


@pytest.mark.parametrize(
    ("value", "status", "content"),
    [
        (None, 200, bytes(range(100))),
        ("bytes=10-19", 206, bytes(range(10, 20))),
        ("bytes=90-", 206, bytes(range(90, 100))),
        ("bytes=-5", 206, bytes(range(95, 100))),
        ("bytes=90-500", 206, bytes(range(90, 100))),
        ("bytes=100-", 416, None),
        ("chapters=1", 400, None),
    ],
)
def test_ranges(client, value, status, content):
    found = client.get("/media/1", headers={} if value is None else {"Range": value})
    assert found.status_code == status
    if content is not None:
        assert found.content == content
        assert found.headers["Content-Length"] == str(len(content))


def test_a_range_of_another_version_is_the_whole_file(client):
    found = client.get("/media/1", headers={"Range": "bytes=0-1", "If-Range": '"other"'})
    assert found.status_code == 200
    etag = found.headers["ETag"]
    assert client.get("/media/1", headers={"Range": "bytes=0-1", "If-Range": etag}).status_code == 206
    several = client.get("/media/1", headers={"Range": "bytes=0-1,50-51"})
    assert several.status_code == 206
    assert several.headers["Content-Type"].startswith("multipart/byteranges")
    assert client.head("/media/1").headers["Content-Length"] == "100"
    assert client.get("/media/99999999999999999999").status_code == 200  # this handler ignores the number


def test_an_exchanged_video_is_not_sent(client, video):
    assert client.get("/media/1").status_code == 200
    video.write_bytes(b"another file")
    assert client.get("/media/1").status_code == 404
    video.unlink()
    assert client.get("/media/1").status_code == 404
    video.mkdir()
    assert client.get("/media/1").status_code == 404


def test_a_port_in_use_is_one_line():
    with bind(Listening()) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"--port {port}: is in use"):
            bind(Listening(port=port))


def test_a_host_that_cannot_be_a_name_is_one_line():
    with pytest.raises(UsageError, match="is no host name and no IP address"):
        bind(Listening(host="é" * 100 + ".example"))


def test_the_limit_of_open_files_is_logged_once(monkeypatch):
    """asyncio calls for each connection that it cannot accept, some thousand times a second."""
    logged, others = [], []
    monkeypatch.setattr(logging.getLogger("uvicorn.error"), "error", logged.append)
    loop = types.SimpleNamespace(default_exception_handler=others.append)
    handle = launch.loop_error_handler()
    for number in (errno.EMFILE, errno.ENFILE, errno.EMFILE):
        handle(loop, {"exception": OSError(number, "")})
    assert logged == ["limit of open files reached: new connections wait (ulimit -n)"]
    handle(loop, {"exception": OSError(errno.EIO, "")})
    handle(loop, {"message": "another"})
    assert len(others) == 2


def test_small_answers_are_sent_at_once():
    """Without TCP_NODELAY, the second part of an answer waits for the acknowledgement of the first, 40 ms on Linux."""

    async def option() -> int:
        found = asyncio.get_running_loop().create_future()

        def accepted(reader, writer):
            del reader
            found.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        async with await asyncio.start_server(accepted, sock=bind(Listening())) as server:
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.close()
            return await found

    with ThreadPoolExecutor(1) as pool:  # the thread of the browser tests has a loop already
        assert pool.submit(asyncio.run, option()).result() == 1


@pytest.mark.parametrize(
    ("listening", "problem"),
    [
        (Listening(host="192.0.2.1"), "--name"),
        (Listening(host="192.0.2.1", name="lab.example"), "--plain-http"),
        (Listening(behind_proxy=True), "--name"),
    ],
)
def test_what_others_could_read_is_refused(listening, problem):
    with pytest.raises(UsageError, match=problem):
        listening.check()


@pytest.mark.parametrize(
    ("listening", "base"),
    [
        (Listening(), "http://127.0.0.1:8000"),
        (Listening(name="lab.example", behind_proxy=True), "https://lab.example"),
        (Listening(host="192.0.2.1", name="lab.example", plain_http=True), "http://lab.example:8000"),
    ],
)
def test_links(listening, base):
    listening.check()
    assert listening.base(8000) == base
