"""A small server on loopback that answers as a served model does, or badly, as a script says."""

import hashlib
import json
import sys
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FAST_S = 0.001
"""Wait before the first retry in tests."""


@dataclass
class Reply:
    """What the server sends; `stall_s` before it, and `hang_up` in place of it."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    stall_s: float = 0.0
    hang_up: bool = False
    drip_s: float = 0.0


def said(text: Any, *, finish_reason="stop", usage=(100, 7), **message) -> Reply:
    """A well-formed answer."""
    document = {
        "id": "x",
        "object": "chat.completion",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish_reason}
        ],
    }
    if usage:
        document["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Reply(body=json.dumps(document).encode())


def error(status, message="no", **headers) -> Reply:
    """An answer that says what is wrong."""
    body = json.dumps({"error": {"message": message, "type": "x"}}).encode()
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def text_of(request):
    """All text of a request's last message."""
    content = request["messages"][-1]["content"]
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content if "text" in part)


def images_of(request):
    """Addresses of the pictures of a request's last message."""
    content = request["messages"][-1]["content"]
    return [] if isinstance(content, str) else [part["image_url"]["url"] for part in content if "image_url" in part]


def guess(request, nth):
    """Answer with a moment that hangs on what was asked, and on nothing else."""
    del nth
    number = int(hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:6], 16)
    start = number % 40 / 10
    return said(f"{start:.1f} - {start + 1:.1f}")


class Stub:
    """The server: `reply(request, nth)` says what the nth request (from 0) gets."""

    def __init__(self, reply: Callable[[dict, int], Reply] = guess) -> None:
        self.reply = reply
        self.requests: list[dict] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.clients: list[tuple[str, int]] = []
        self.now = self.most_at_once = 0
        self.lock = threading.Lock()
        self.done = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def take(self, handler):
        length = int(handler.headers["Content-Length"])
        request = json.loads(handler.rfile.read(length))
        with self.lock:
            nth = len(self.requests)
            self.requests.append(request)
            self.headers.append(dict(handler.headers))
            self.paths.append(handler.path)
            self.clients.append(handler.client_address)
            self.now += 1
            self.most_at_once = max(self.most_at_once, self.now)
        try:
            reply = self.reply(request, nth)
            self.done.wait(reply.stall_s)
        finally:
            with self.lock:
                self.now -= 1
        if reply.hang_up:
            handler.close_connection = True
            return
        handler.send_response(reply.status)
        for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        step = 1 if reply.drip_s else max(1, len(reply.body))
        for at in range(0, len(reply.body), step):
            handler.wfile.write(reply.body[at : at + step])
            handler.wfile.flush()
            if reply.drip_s:
                time.sleep(reply.drip_s)


@contextmanager
def serving(reply=guess):
    """Serve on a free port of loopback."""
    stub = Stub(reply)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            try:
                stub.take(self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client has gone, as in tests of stalls

        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request, client_address):
            if not isinstance(sys.exception(), ConnectionError):  # else the client has gone
                super().handle_error(request, client_address)

    stub.server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=lambda: stub.server.serve_forever(poll_interval=0.01))
    thread.start()
    try:
        yield stub
    finally:
        stub.done.set()
        stub.server.shutdown()
        thread.join()
        stub.server.server_close()
