"""A shard of an index that answers searches over HTTP: JSON in, JSON out, sizes bounded, no pickle.

``GET /about`` has what the shard is made of, :class:`ShardAbout`. ``POST /search`` takes vectors of sentences and how
moments are ranked, :class:`ShardRequest`, and returns the best moments of the shard, :class:`ShardAnswers`.

It listens on the loopback interface or a private address only, has no password and no encryption: everybody who
reaches it can search. Requests of web pages are refused: those with an Origin, and those whose Host is a name, which a
page could have made to point here.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from truemoment.base.boundary.text import one_line
from truemoment.base.errors import TrueMomentError, UsageError
from truemoment.base.version import __version__
from truemoment.searching.index import Index
from truemoment.searching.outstanding import Background
from truemoment.searching.retrieval import FoundMoment
from truemoment.searching.searcher import IndexSearcher, RankingOptions
from truemoment.searching.sharding import IndexShard
from truemoment.searching.stopping import Reason, RetrievedMoments

MOST_SENTENCES, MOST_TOP, MOST_NUMBERS = 64, 1000, 1 << 16
"""Sentences of a request, moments of a sentence, and numbers of a vector."""

MOST_BYTES = 4 << 20
"""Of a request: 64 vectors of 2,048 numbers."""

MOST_CONNECTIONS = 64
"""At the same time; others are closed."""

TIMEOUT_S = 30.0
"""How long a connection may be silent, and a request may take to arrive."""

JSON_TYPE = "application/json"

Request = socket.socket | tuple[bytes, socket.socket]
Vector = Annotated[list[float], Meta(min_length=1, max_length=MOST_NUMBERS)]


class ShardAbout(msgspec.Struct, frozen=True, kw_only=True):
    """What a shard is made of."""

    shard: str
    fingerprint: str
    n_dimensions: int
    fps: float
    proposals: str
    delta: float | None
    n_videos: int
    schema: str = "truemoment/shard/1"
    truemoment: str = __version__


class ShardRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sentences with their backgrounds in the whole index, and how moments are ranked.

    See :class:`~truemoment.searching.outstanding.Background` and
    :class:`~truemoment.searching.searcher.RankingOptions`.
    """

    vectors: Annotated[list[Vector], Meta(min_length=1, max_length=MOST_SENTENCES)]
    backgrounds: Annotated[list[Background], Meta(min_length=1, max_length=MOST_SENTENCES)]
    top: Annotated[int, Meta(ge=1, le=MOST_TOP)]
    apart_s: Annotated[float, Meta(ge=0, le=1e6)]
    exact: bool = False
    candidates: Annotated[int, Meta(ge=1)] | None = None
    per_video: Annotated[int, Meta(ge=1)] | None = None

    @property
    def ranking(self) -> RankingOptions:
        """How moments are ranked."""
        return RankingOptions(self.top, self.apart_s, self.exact, self.candidates, self.per_video)


class ShardAnswer(msgspec.Struct, frozen=True):
    """Moments of a sentence (video, start and end in seconds, score, z), videos scored, and what ended the search."""

    moments: Annotated[list[FoundMoment], Meta(max_length=MOST_TOP)]
    n_videos: int
    ended_by: Reason


class ShardAnswers(msgspec.Struct, frozen=True):
    """An answer a sentence."""

    answers: Annotated[list[ShardAnswer], Meta(max_length=MOST_SENTENCES)]


class ShardServer:
    """Answers searches of a shard; one at a time, so that memory is bounded.

    Parameters
    ----------
    index
        The index.
    shard
        Which share of its videos.
    """

    def __init__(self, index: Index, shard: IndexShard) -> None:
        self.index, self.shard = index, shard
        self.videos = shard.videos_of(index)  # perhaps none: a small index has shards without videos
        self._searcher: IndexSearcher | None = None
        self._lock = threading.Lock()

    def about(self) -> ShardAbout:
        """Return what it is made of."""
        of = self.index.settings
        return ShardAbout(
            shard=str(self.shard),
            fingerprint=of.fingerprint,
            n_dimensions=of.n_dimensions,
            fps=of.fps,
            proposals=of.proposals,
            delta=of.calibration.delta if of.calibration else None,
            n_videos=len(self.videos),
        )

    def search(self, request: ShardRequest) -> list[RetrievedMoments]:
        """Return the best moments of each sentence."""
        if {len(vector) for vector in request.vectors} != {self.index.n_dimensions}:
            raise UsageError(f"expected vectors of {self.index.n_dimensions} numbers")
        if len(request.backgrounds) != len(request.vectors):
            raise UsageError(f"got {len(request.backgrounds)} backgrounds of {len(request.vectors)} sentences")
        with np.errstate(over="ignore"):  # infinite ones are refused with those that are not finite
            vectors = np.array(request.vectors, dtype=np.float32)
        with self._lock:
            searcher = self._searcher
            if searcher is None or searcher.ranking.per_video != request.per_video:
                searcher = IndexSearcher(self.index, request.ranking, self.videos)
            searcher.ranking = request.ranking
            self._searcher = searcher
            return searcher.find(vectors, request.backgrounds)


@contextlib.contextmanager
def serving(server: ShardServer, host: str, port: int) -> Iterator[ThreadingHTTPServer]:
    """Listen for searches of a shard; ``serve_forever`` of what is yielded answers them.

    Parameters
    ----------
    server
        Of the shard.
    host, port
        Where to listen: a loopback or private address; port 0 for any that is free.
    """
    refuse_public(host)

    class Handler(_ShardHandler):
        shard_server = server

    try:
        listening = _ShardHTTPServer(host, port, Handler)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen on {host}:{port} ({error})") from None
    with listening:
        yield listening


def refuse_public(host: str) -> None:
    """Refuse an address that others than this machine and a private network could reach."""
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise UsageError(f"--host: got {host!r}, expected an address in numbers: 127.0.0.1 or 10.0.0.3") from None
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or address
    if address.is_unspecified or not (address.is_loopback or address.is_private):
        raise UsageError(f"--host: {host} is no loopback or private address; whoever reaches a shard can search it")


class _ShardHTTPServer(ThreadingHTTPServer):
    """Bounds the number of connections, and reports what went wrong with one in a line."""

    daemon_threads = True
    request_queue_size = MOST_CONNECTIONS

    def __init__(self, host: str, port: int, handler: type[_ShardHandler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__((host, port), handler)

    def process_request(self, request: Request, client_address: object) -> None:
        """Answer in a thread, or close the connection if there are too many."""
        if self.free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Request, client_address: object) -> None:
        """Answer, and make room for another connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.free.release()

    def handle_error(self, request: Request, client_address: object) -> None:  # noqa: ARG002 - of the base class
        """Print one line; nothing where the other side closed the connection."""
        error = sys.exception()
        if not isinstance(error, ConnectionError):
            sys.stderr.write(f"warning: a connection failed: {type(error).__name__}: {one_line(str(error))}\n")


class _ShardHandler(BaseHTTPRequestHandler):
    """Answers the two requests."""

    shard_server: ShardServer
    protocol_version = "HTTP/1.0"
    server_version, sys_version = "TrueMoment", ""
    timeout = TIMEOUT_S
    error_content_type, error_message_format = JSON_TYPE, '{"error": "HTTP %(code)d"}'

    def setup(self) -> None:
        """Begin, and end a connection whose request is not there in time."""
        super().setup()
        self.late = threading.Timer(TIMEOUT_S, self._end_late)
        self.late.daemon = True
        self.late.start()

    def finish(self) -> None:
        """End."""
        self.late.cancel()
        super().finish()

    def _end_late(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def parse_request(self) -> bool:
        """Read the head of the request; refuse a Host that is a name."""
        if not super().parse_request():
            return False
        host = self.headers.get("Host", "localhost")
        if not _is_in_numbers(host):
            self._send(403, {"error": "expected a Host in numbers, or localhost"})
            return False
        return True

    def do_GET(self) -> None:
        """Answer ``/about``."""
        if self.path != "/about":
            self._send(404, {"error": "expected /about or /search"})
            return
        self._send(200, self.shard_server.about())

    def do_POST(self) -> None:
        """Answer ``/search``."""
        if self.path != "/search":
            self._send(404, {"error": "expected /about or /search"})
            return
        if self.headers.get("Transfer-Encoding") is not None:
            self._send(400, {"error": "expected Content-Length, got Transfer-Encoding"})
            return
        if self.headers.get("Origin") is not None or self.headers.get("Content-Type") != JSON_TYPE:
            self._send(403, {"error": f"expected {JSON_TYPE} of a program, not of a web page"})
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > 12 or int(length) > MOST_BYTES:
            self._send(413, {"error": f"expected a request of {MOST_BYTES:,} bytes at most, with its length"})
            return
        try:
            body = self.rfile.read(int(length))
            self.late.cancel()
            request = msgspec.json.decode(body, type=ShardRequest)
            found = self.shard_server.search(request)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, UsageError) as error:
            self._send(400, {"error": str(error)})
            return
        except (TrueMomentError, OSError, ValueError, MemoryError) as error:  # such as an index that changed meanwhile
            self._send(500, {"error": str(error)})
            return
        answers = [ShardAnswer(list(one.moments), one.n_videos, one.ended_by) for one in found]
        self._send(200, ShardAnswers(answers))

    def _send(self, status: int, content: object) -> None:
        body = msgspec.json.encode(content)
        self.send_response(status)
        self.send_header("Content-Type", JSON_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Log nothing: sentences are nobody's business."""


def _is_in_numbers(host: str) -> bool:
    """Whether the Host of a request is an address, with or without a port, and not a name."""
    name = host.partition("]")[0].removeprefix("[") if host.startswith("[") else host.partition(":")[0]
    if name == "localhost":
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
