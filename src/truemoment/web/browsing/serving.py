"""The thread that searches: one search at a time, and of each tab only its newest."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from starlette.responses import JSONResponse, Response

from truemoment.web.pages.errors import PageError

T = TypeVar("T")

MOST_WAITING = 20
"""Searches that wait; further ones are refused."""

MOST_TABS = 1000
"""Tabs whose newest number is remembered."""


class SupersededError(PageError):
    """A newer search of the same tab took the place of this one."""

    def __init__(self) -> None:
        super().__init__(409, "a newer search of this tab took its place")

    def response(self) -> Response:
        """Return the error as JSON, with ``"superseded": true``."""
        return JSONResponse({"error": self.problem, "superseded": True}, status_code=self.status)


class SearchThread(Generic[T]):
    """Does tasks one after another; a newer task of a tab takes the place of its older one that still waits."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, tuple[Callable[[], T], Future[T]]] = OrderedDict()
        self._newest: OrderedDict[str, int] = OrderedDict()
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="searching", daemon=True)
        self._thread.start()

    def submit(self, tab: str, number: int, task: Callable[[], T]) -> Future[T]:
        """Add a task; its future raises :class:`SupersededError` if a newer one of the tab comes first.

        Parameters
        ----------
        tab
            Name of the tab, made by the page.
        number
            Rises with each task of the tab: an older one that arrives late is superseded at once.
        """
        future: Future[T] = Future()
        with self._changed:
            if self._is_closed:
                raise PageError(503, "the server is ending")
            if number < self._newest.get(tab, number):
                future.set_exception(SupersededError())
                return future
            self._newest[tab] = number
            self._newest.move_to_end(tab)
            if len(self._newest) > MOST_TABS:
                self._newest.popitem(last=False)
            older = self._waiting.pop(tab, None)
            if older is not None:
                older[1].set_exception(SupersededError())
            if len(self._waiting) >= MOST_WAITING:
                raise PageError(429, "too many searches wait; try again in a moment")
            self._waiting[tab] = (task, future)
            self._changed.notify()
        return future

    def close(self) -> None:
        """Refuse what waits; the search under way is not waited for."""
        with self._changed:
            self._is_closed = True
            waiting = list(self._waiting.values())
            self._waiting.clear()
            self._changed.notify()
        for _, future in waiting:
            future.set_exception(PageError(503, "the server is ending"))

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._is_closed:
                    self._changed.wait()
                if self._is_closed:
                    return
                _, (task, future) = self._waiting.popitem(last=False)
            try:
                future.set_result(task())
            except Exception as error:  # it belongs to the request that waits for it
                future.set_exception(error)
