"""Connections to a page's server: how long a request may take to arrive, and how many are open at a time.

A client that sends half a request and waits, or that does not read its answer, costs an open file. So each request
must arrive whole within :data:`REQUEST_S`, and a client must read on within :data:`READ_S`. Above
:data:`MOST_CONNECTIONS`, the oldest idle connection is closed, or the one that has waited longest for its client.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

REQUEST_S = 10.0
"""Seconds from the opening of a connection, or the first byte of a later request, to the last byte of the request."""

READ_S = 30.0
"""Seconds in which a client reads nothing of an answer that is being sent; it is looked at three times in them."""

MOST_CONNECTIONS = 500
"""Connections that are open at a time."""


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 with these bounds."""

    _deadline: asyncio.TimerHandle | None = None
    _next_look: asyncio.TimerHandle | None = None
    _unread = 0
    """Bytes of the answer that waited for the client at the last look."""
    _since = 0.0
    """Time of the loop since which the connection waits for its client, as far as it does."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        """Begin to wait for a request, and close another connection if there are too many."""
        super().connection_made(transport)
        self._wait()
        self._look_later()
        if len(self.connections) > MOST_CONNECTIONS:
            connections = [
                connection
                for connection in self.connections
                if isinstance(connection, BoundedProtocol) and connection is not self
            ]
            ranks = {connection: rank for connection in connections if (rank := connection._rank()) is not None}
            worst = min(ranks, key=ranks.__getitem__, default=self)
            worst._stop_waiting()
            worst.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take bytes, and see whether a request is whole."""
        super().data_received(data)
        if self._is_arriving():
            self._wait()
        else:
            self._stop_waiting()

    def pause_writing(self) -> None:
        """Begin to wait for the client to read."""
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        """Resume writing, as the client has read."""
        super().resume_writing()
        self._look()

    def on_response_complete(self) -> None:
        """Begin to wait for the client to read the rest, and for the next request."""
        self._since = self.loop.time()
        super().on_response_complete()
        self._look()
        if not self.cycle.response_complete and self._is_arriving():  # half a request that came with the one before
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        if self._next_look is not None:
            self._next_look.cancel()
        super().connection_lost(exc)

    def _rank(self) -> tuple[bool, float] | None:
        """Return the place among those that may be closed, the least first; None while an answer is computed."""
        if self._look():
            return True, self._since
        if self.transport.is_closing():
            return None
        if self._deadline is not None:
            return True, self._since
        has_next, _ = self.conn.trailing_data  # requests before the answer to the last one, which browsers do not send
        return (False, self._since) if has_next or self._is_arriving() else None

    def _look(self) -> int:
        """Return how many bytes wait for the client; it has read some where they are not as many as before."""
        unread = self.transport.get_write_buffer_size()
        if unread and unread != self._unread:
            self._since = self.loop.time()
        self._unread = unread
        return unread

    def _look_later(self) -> None:
        self._next_look = self.loop.call_later(READ_S / 3, self._end_unread)

    def _end_unread(self) -> None:
        if self._look() and self.loop.time() - self._since >= READ_S:
            self.transport.abort()
        else:
            self._look_later()

    def _is_arriving(self) -> bool:
        """Whether bytes of a request are missing: of its head, or of its body."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body

    def _wait(self) -> None:
        if self._deadline is None:
            self._since = self.loop.time()
            self._deadline = self.loop.call_later(REQUEST_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
