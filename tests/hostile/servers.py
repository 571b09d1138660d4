"""Hostile requests to the servers: each starts in a fork, is asked many things, and must still answer at the end."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tests.hostile.place import CANARY, MINE
from tests.hostile.requests import Route, draw_request

START_S, ANSWER_S, WAIT_S = 60.0, 10.0, 1.0


@dataclass(frozen=True)
class Server:
    """A server: the command that starts it, its routes, and a path that answers 200 to whoever is signed in."""

    name: str
    words: tuple[str, ...]
    routes: tuple[Route, ...]
    well: str


def _routes(text: str, bodies: dict[str, object]) -> tuple[Route, ...]:
    """Return routes from lines "METHOD PATH"; whole bodies by path."""
    pairs = [line.split() for line in text.splitlines() if line]
    return tuple(Route(method, path, bodies.get(path)) for method, path in pairs)


SHARED = """
GET /
GET /in
POST /in
GET /static/{name}
GET /media/{video}
GET /media/{video}/frames.json
GET /media/{video}/strip.jpg
GET /media/{video}/peaks.bin
"""
STUDY = """
GET /owner
GET /owner/query/{query}
GET /api/owner/summary
GET /api/owner/queries
GET /api/owner/queries/{query}
POST /api/owner/people
POST /api/owner/people/{name}/set-aside
POST /api/owner/tasks/{task}/set-aside
GET /api/jobs/{job}
GET /api/jobs/{job}/file
GET /task/{task}
GET /api/me
POST /api/next
PUT /api/tasks/{task}/answer
POST /api/tasks/{task}/alive
"""
ANSWERS = """
GET /queries
GET /query/{n}
GET /api/about
GET /api/queries
GET /api/query/{n}
GET /api/query/{n}/strip
PUT /api/notes/{n}
POST /api/export
"""
INDEX = """
GET /film/{v}
GET /api/index
GET /api/search
POST /api/search/picture
GET /api/like
GET /api/score
GET /api/strip/{search}/{v}
GET /picture/{v}/{ms}.jpg
GET /preview/{v}/{start}-{end}.jpg
GET /api/videos/{v}
GET /collection/{name}
GET /api/collections
GET /api/collections/{name}
PUT /api/collections/{name}
DELETE /api/collections/{name}
"""
FOLDER = """
GET /item/{key}
GET /report/{key}
GET /page/{key}
GET /picture/{key}
GET /run/{key}/{name}
GET /api/cards
GET /api/data/{key}
GET /api/jobs
POST /api/audit
POST /api/compare
POST /api/jobs/{job}/cancel
GET /browse/{key}/queries
GET /browse/{key}/api/queries
GET /search/{key}/api/index
"""
RED_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
BODIES: dict[str, object] = {
    "/in": {"token": "AAAAAAAAAAAAAAAAAAAAAA"},
    "/api/owner/people": {"count": 1},
    "/api/next": {"after": None},
    "/api/tasks/{task}/answer": {"key": "a", "moments": [[1.0, 2.0]], "verdict": None},
    "/api/notes/{n}": {"text": "look again", "tags": ["door"]},
    "/api/search/picture": {"name": "red.png", "data": RED_PNG},
    "/api/export": {"form": "csv", "moments": []},
    "/api/collections/{name}": {"version": 0, "moments": []},
    "/api/audit": {"predictions": ["0123456789abcdef"], "data": ""},
    "/api/compare": {"predictions": ["0123456789abcdef", "0123456789abcdee"], "data": ""},
}
SERVERS = (
    Server("annotate", ("annotate", "serve", "study", "--port", "0"), _routes(SHARED + STUDY, BODIES), "/owner"),
    Server(
        "browse",
        ("browse", "a.jsonl", *MINE, "--fit-split", "none", "--videos", "videos", "--port", "0", "--no-open"),
        _routes(SHARED + ANSWERS, BODIES),
        "/queries",
    ),
    Server(
        "search",
        ("search", "page", "red.index", "--port", "0", "--no-open"),
        _routes(SHARED + INDEX, BODIES),
        "/api/index",
    ),
    Server("open", ("open", ".", "--port", "0", "--no-open"), _routes(SHARED + FOLDER, BODIES), "/api/cards"),
)

LINK = re.compile(r"http://(127\.0\.0\.1:\d+)/in#(\S+)")


@dataclass
class Running:
    """A server that runs: its process, where it listens, the cookie of whoever is signed in, and its output."""

    process: int
    host: str
    cookie: str
    output: Path


def start(server: Server, place: Path) -> Running:
    """Start a server in a fork, and sign in."""
    output = place.parent / f"{server.name}.output"
    process = os.fork()
    if process == 0:
        try:
            os.setpgid(0, 0)
            os.chdir(place)
            opened = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(opened, 1)
            os.dup2(opened, 2)
            from truemoment.cli import main

            main(list(server.words))
        finally:
            os._exit(70)
    began = time.monotonic()
    while not (link := LINK.search(output.read_text(errors="replace") if output.exists() else "")):
        if time.monotonic() - began > START_S or os.waitpid(process, os.WNOHANG)[0]:
            raise SystemExit(f"{server.name} does not start: {output.read_text() if output.exists() else ''}")
        time.sleep(0.05)
    host, token = link.groups()
    running = Running(process, host, "", output)
    body = json.dumps({"token": token}).encode()
    head = f"POST /in HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: close\r\n"
    answer = ask(
        running, f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    )
    cookies = re.findall(rb"(?i)set-cookie: ([^;\r]+)", answer)
    if not cookies:
        raise SystemExit(f"{server.name}: the sign-in failed: {answer[:300]!r}")
    running.cookie = cookies[0].decode()
    return running


def ask(running: Running, data: bytes, seconds: float = ANSWER_S) -> bytes:
    """Send bytes and return what comes back until the connection ends or falls silent: a server may wait for more."""
    got = b""
    with _opened(running) as connection:
        connection.settimeout(seconds)
        try:
            connection.sendall(data)
            while part := connection.recv(1 << 16):
                got += part
        except (ConnectionError, TimeoutError):
            pass
    return got


def is_well(server: Server, running: Running) -> bool:
    """Whether the server answers an ordinary request."""
    request = (
        f"GET {server.well} HTTP/1.1\r\nHost: {running.host}\r\nCookie: {running.cookie}\r\nConnection: close\r\n\r\n"
    )
    return ask(running, request.encode()).startswith((b"HTTP/1.1 200", b"HTTP/1.0 200"))


def broken_answer(data: bytes) -> str | None:
    """Return what is wrong with an answer; none is right for bytes that are no request."""
    if not data:
        return None
    head, _, body = data.partition(b"\r\n\r\n")
    status = re.match(rb"HTTP/1\.[01] (\d\d\d)", head)
    if not status:
        return None if data.startswith(b"<!DOCTYPE") or b"\r\n\r\n" not in data else f"no status line: {data[:60]!r}"
    if status[1] in (b"500", b"502"):
        return f"status {status[1].decode()}: {body[:200]!r}"
    if CANARY.encode() in data or b"root:x:0" in data:
        return "a secret is in the answer"
    if b"Traceback" in body or b'File "/' in body:
        return f"a traceback is in the answer: {body[:200]!r}"
    if b"evil.example" in head:
        return f"the answer leads elsewhere: {head[:200]!r}"
    if b"\nset-cookie: a=b" in head.lower():
        return "a header was forged"
    return None


def _ask_one(server: Server, running: Running, seed: int, number: int) -> str | None:
    """Send the request of a number; return what was wrong with the answer."""
    rng = np.random.default_rng([seed, len(server.name), number])
    route = server.routes[int(rng.integers(len(server.routes)))]
    data = draw_request(route, running.host, running.cookie, rng)
    try:
        wrong = broken_answer(ask(running, data, WAIT_S))
    except OSError as error:
        wrong = f"no connection: {error}"
    return f"{server.name}, request {number}: {wrong}: {data[:160]!r}" if wrong else None


def _opened(running: Running) -> socket.socket:
    address, _, port = running.host.rpartition(":")
    return socket.create_connection((address, int(port)), timeout=ANSWER_S)


def press(server: Server, running: Running, n_connections: int) -> list[str]:
    """Hold so many silent connections, and before a fifth that drip; return what the server did badly."""
    found = []
    before = _use(running.process)
    for name, count in (("slow", n_connections // 5), ("silent", n_connections)):
        with contextlib.ExitStack() as stack:
            connections: list[socket.socket] = []
            for _ in range(count):
                with contextlib.suppress(OSError):  # a server may refuse more than it can hold
                    connections.append(stack.enter_context(_opened(running)))
            for byte in b"GET / HT" if name == "slow" else b"":
                for connection in connections:
                    with contextlib.suppress(OSError):
                        connection.sendall(bytes([byte]))
            began = time.monotonic()
            if not is_well(server, running):
                found.append(f"{server.name}: does not answer beside {count} {name} connections")
            elif time.monotonic() - began > ANSWER_S / 2:
                found.append(f"{server.name}: takes {time.monotonic() - began:.1f} s beside {count} {name} connections")
        began = time.monotonic()
        while not is_well(server, running):
            if time.monotonic() - began > ANSWER_S:
                return [*found, f"{server.name}: does not answer after {count} {name} connections"]
    time.sleep(1.0)
    after = _use(running.process)
    if after[0] > before[0] + 20 or after[1] > before[1] + 200_000_000:
        found.append(
            f"{server.name}: {before[0]} files and {before[1]:,} bytes before, {after[0]} and {after[1]:,} after"
        )
    return found


def _use(process: int) -> tuple[int, int]:
    """Return how many files a process has open, and the bytes that it holds."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return len(list(Path(f"/proc/{process}/fd").iterdir())), pages * os.sysconf("SC_PAGE_SIZE")


def hunt_server(server: Server, place: Path, seed: int, n_requests: int, n_connections: int) -> list[str]:
    """Ask a server so many things, and hold connections to it; return what it did badly."""
    running, found = start(server, place), []
    try:
        if not is_well(server, running):
            return [f"{server.name}: does not answer {server.well}"]
        with ThreadPoolExecutor(16) as threads:  # most only wait
            asked = threads.map(lambda number: _ask_one(server, running, seed, number), range(n_requests))
            found += [wrong for wrong in asked if wrong]
        if n_connections:
            found += press(server, running, n_connections)
        if not is_well(server, running):
            found.append(f"{server.name}: no longer answers after {n_requests} requests")
    finally:
        found += stop(server, running)
    if "Traceback" in (printed := running.output.read_text(errors="replace")):
        found.append(f"{server.name}: printed a traceback: {printed[-3500:]}")
    return found


def stop(server: Server, running: Running) -> list[str]:
    """Send Ctrl-C to a server; return what is wrong with how it ends."""
    os.kill(running.process, signal.SIGINT)
    began = time.monotonic()
    while not os.waitpid(running.process, os.WNOHANG)[0]:
        if time.monotonic() - began > ANSWER_S:
            os.killpg(running.process, signal.SIGKILL)
            os.waitpid(running.process, 0)
            return [f"{server.name}: does not end after Ctrl-C"]
        time.sleep(0.01)
    return []


def watch_servers(place: Path, seed: int, minutes: float, every_s: float = 300.0) -> list[str]:
    """Ask all servers for so many minutes, and print what each holds, and how many requests it has answered."""
    found: list[str] = []
    running = [(server, start(server, place)) for server in SERVERS]
    ends_at, number = time.monotonic() + 60 * minutes, 0
    next_at = time.monotonic()
    try:
        with ThreadPoolExecutor(8) as threads:
            while time.monotonic() < ends_at:
                if time.monotonic() >= next_at:
                    for server, of in running:
                        files, held = _use(of.process)
                        print(f"{server.name}: {number:,} requests, {held / 1e6:.1f} MB, {files} files", flush=True)
                    next_at += every_s
                asked = [
                    threads.submit(_ask_one, server, of, seed, number + at) for server, of in running for at in range(4)
                ]
                found += [wrong for one in asked if (wrong := one.result())]
                number += 4
        found += [f"{server.name}: no longer answers" for server, of in running if not is_well(server, of)]
    finally:
        for server, of in running:
            found += stop(server, of)
    return found
