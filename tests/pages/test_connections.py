"""Connections of a real server: half a request is not waited for, and others take the place of silent ones."""

import contextlib
import socket
import threading
import time
from contextlib import closing

import pytest

pytest.importorskip("uvicorn")

from starlette.responses import Response
from starlette.routing import Route

from truemoment.web.pages import connections, launch
from truemoment.web.pages.app import Site, make_app
from truemoment.web.pages.launch import Listening, bind
from truemoment.web.pages.security import Address

HEAD = b"Host: localhost\r\nOrigin: http://localhost\r\nContent-Type: application/json\r\n"
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
GET_LONG = b"GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n"
LONG = 1 << 23  # more than the buffers of the system take


@pytest.fixture(name="port")
def port_fixture(monkeypatch):
    """The port of a server that gives a request half a second, and holds 20 connections."""
    monkeypatch.setattr(connections, "REQUEST_S", 0.5)
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 20)

    async def long(_):
        return Response(b"x" * LONG)

    app = make_app(Site("A page", "tm_test", Address(), lambda _: None), [lambda _: Route("/long", long)])
    listening, servers, started = Listening(port=0), [], threading.Event()
    import uvicorn

    run = uvicorn.Server.run

    def keep(server, sockets=None):
        servers.append(server)
        server.capture_signals = uvicorn.Server.capture_signals.__get__(server)  # signals belong to the main thread
        return run(server, sockets)

    monkeypatch.setattr(uvicorn.Server, "run", keep)
    sock = bind(listening)
    thread = threading.Thread(target=launch.serve, args=(app, sock, listening), kwargs={"on_start": started.set})
    thread.start()
    assert started.wait(10)
    yield sock.getsockname()[1]
    servers[0].should_exit = True
    thread.join()


def opened(port, data=b""):
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    connection.settimeout(5)
    connection.connect(("127.0.0.1", port))
    connection.sendall(data)
    return connection


def is_open(connection):
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


HALVES = {
    "nothing": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: localhost\r\nX-",
    "half a body": b"POST /in HTTP/1.1\r\n" + HEAD + b"Content-Length: 100\r\n\r\n{",
    "half a second request": GET,
    "half a body after a request": GET + b"POST /in HTTP/1.1\r\n" + HEAD + b"Content-Length: 100\r\n\r\n{",
}


@pytest.mark.parametrize("half", HALVES)
def test_half_a_request_is_not_waited_for(port, half):
    with closing(opened(port, HALVES[half])) as connection:
        time.sleep(0.2)
        if HALVES[half].startswith(GET):
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 404 Not Found")
        if half == "half a second request":
            connection.sendall(b"GET /")
        assert is_open(connection)
        time.sleep(0.8)
        assert not is_open(connection)


def test_a_request_that_drips_in_time_is_answered(port):
    with closing(opened(port)) as connection:
        for part in (b"GET / HTTP", b"/1.1\r\nHost: loc", b"alhost\r\n\r\n"):
            connection.sendall(part)
            time.sleep(0.1)
        assert connection.recv(100).startswith(b"HTTP/1.1 404 Not Found")


def test_others_take_the_place_of_those_that_wait_longest(port):
    waiting = [opened(port) for _ in range(60)]
    try:
        time.sleep(0.2)
        with closing(opened(port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")) as connection:
            assert connection.recv(100).startswith(b"HTTP/1.1 404 Not Found")
        assert sum(map(is_open, waiting)) <= 20
    finally:
        for connection in waiting:
            connection.close()


def is_answered(port):
    with closing(opened(port, GET)) as connection:
        return connection.recv(100).startswith(b"HTTP/1.1 404 Not Found")


def test_others_take_the_place_of_an_idle_one_first(port):
    with closing(opened(port, GET_LONG)) as unread:
        idle = [opened(port, GET) for _ in range(19)]
        time.sleep(0.1)
        for connection in idle:
            assert connection.recv(1 << 16)
        assert is_answered(port)
        assert [is_open(connection) for connection in idle] == [False] + [True] * 18
        assert is_open(unread)
        for connection in idle:
            connection.close()


def read(connection, most=LONG):
    """Return how many bytes come until the end, at most so many."""
    length = 0
    with contextlib.suppress(ConnectionError, TimeoutError):
        while length < most and (part := connection.recv(1 << 16)):
            length += len(part)
    return length


def test_others_take_the_place_of_those_that_do_not_read(port):
    """One that reads stays, although it has begun first."""
    with closing(opened(port, GET_LONG)) as reading, contextlib.ExitStack() as stack:
        unread = [stack.enter_context(closing(opened(port, GET_LONG * (k % 2 + 1)))) for k in range(19)]
        time.sleep(0.5)
        length = 0
        for _ in range(4):
            length += read(reading, LONG // 5)
            time.sleep(0.2)
            assert is_answered(port)
        assert length + read(reading, LONG - length) >= LONG
        assert min(map(read, unread)) < LONG


def test_others_take_the_place_of_those_that_ask_on_and_on(port):
    """While the server works on many requests that came at once, none of its connections is idle."""
    many = [opened(port, GET * 1000) for _ in range(20)]
    time.sleep(0.5)
    try:
        assert is_answered(port)
    finally:
        for connection in many:
            connection.close()


def test_an_answer_that_nobody_reads_ends(port, monkeypatch):
    monkeypatch.setattr(connections, "READ_S", 0.6)
    with closing(opened(port, GET_LONG)) as unread, closing(opened(port, GET_LONG)) as reading:
        length = 0
        for _ in range(8):  # longer than that in all
            time.sleep(0.2)
            length += read(reading, LONG // 10)
        assert length + read(reading, LONG - length) >= LONG
        assert read(unread) < LONG


def test_two_lengths_are_refused_and_nothing_after_them_is_read(port):
    """A server in front may take the other length: what follows would be a request of somebody else."""
    smuggled = b"0\r\n\r\nGET /static/base.css HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /in HTTP/1.1\r\n" + HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    with closing(opened(port, head + smuggled)) as connection:
        answer = b""
        while part := connection.recv(1 << 16):
            answer += part
    assert answer.startswith(b"HTTP/1.1 400 Bad Request")
    assert b"connection: close" in answer
    assert answer.count(b"HTTP/1.1 ") == 1
