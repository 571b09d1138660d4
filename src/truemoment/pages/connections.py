"""Connections to a page's server: how long a request may take to arrive, and how many are open at a time.

A client that sends half a request and waits costs an open file. So each request must arrive whole within
:data:`REQUEST_S`, and above :data:`MOST_CONNECTIONS` the one that has waited longest without a request is closed.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

REQUEST_S = 10.0
"""Seconds from the opening of a connection, or the first byte of a later request, to the last byte of the request."""

MOST_CONNECTIONS = 500
"""Connections that are open at a time."""


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 with these bounds."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base class
        """Begin to wait for a request, and close another connection if there are too many."""
        super().connection_made(transport)
        self._wait()
        waiting = [of for of in self.connections if isinstance(of, BoundedProtocol) and of.deadline_s is not None]
        if len(self.connections) > MOST_CONNECTIONS and waiting:
            oldest = min(waiting, key=lambda of: of.deadline_s or 0.0)
            oldest._stop_waiting()
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take bytes, and see whether a request is whole."""
        super().data_received(data)
        if self._is_arriving():
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_waiting()
        super().connection_lost(exc)

    @property
    def deadline_s(self) -> float | None:
        """Time of the loop by which a request must be whole; None while none is awaited."""
        return None if self._deadline is None else self._deadline.when()

    def _is_arriving(self) -> bool:
        """Whether bytes of a request are missing: of its head, or of its body."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
