"""Connections of a real server: half a request is not waited for, and others take the place of silent ones."""

import socket
import threading
import time
from contextlib import closing

import pytest

pytest.importorskip("uvicorn")

from truemoment.pages import connections, launch
from truemoment.pages.app import Site, make_app
from truemoment.pages.launch import Listening, bind
from truemoment.pages.security import Address

HEAD = b"Host: localhost\r\nOrigin: http://localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(name="port")
def port_fixture(monkeypatch):
    """The port of a server that gives a request half a second, and holds 20 connections."""
    monkeypatch.setattr(connections, "REQUEST_S", 0.5)
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 20)
    app = make_app(Site("A page", "tm_test", Address(), lambda _: None), [])
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
    connection = socket.create_connection(("127.0.0.1", port), timeout=5)
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
    "half a second request": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


@pytest.mark.parametrize("half", HALVES)
def test_half_a_request_is_not_waited_for(port, half):
    with closing(opened(port, HALVES[half])) as connection:
        time.sleep(0.2)
        if half == "half a second request":
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 404 Not Found")
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
