"""Tasks that two processes share: this one does them from the start of a list and another one from its end."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait


class SharedTasks:
    """Names of tasks, quick ones first; iterating yields each when this process should do it or the other one has.

    What the other process computes comes back through a cache. An error there happens here again, and is reported then.

    Parameters
    ----------
    names
        Tasks that can be done at once.
    pool
        The other process; None if there is none.
    work
        Does a task, by its name, in the other process.
    """

    def __init__(self, names: Iterable[str], pool: ProcessPoolExecutor | None, work: Callable[[str], object]) -> None:
        self._pool, self._work = pool, work
        self._todo = collections.deque(names)
        self._there: dict[str, Future[object]] = {}
        self._after: dict[str, Future[object]] = {}
        self._lock = threading.Lock()

    def add(self, name: str, *, after: Callable[[], object]) -> None:
        """Do something in the other process now, and the task `name` here once that is done."""
        if self._pool is None:
            self._todo.append(name)
            return
        self._after[name] = self._pool.submit(after)
        self._after[name].add_done_callback(self._take_last)

    def add_last(self, name: str) -> None:
        """Add the task that the other process does next."""
        self._todo.append(name)
        self._take_last()

    def _take_last(self, _: object = None) -> None:
        """Start the last task in the other process, if that has nothing to do."""
        with self._lock:
            futures = [*self._there.values(), *self._after.values()]
            if self._pool is None or not self._todo or not all(future.done() for future in futures):
                return
            try:
                future = self._pool.submit(self._work, self._todo[-1])
            except RuntimeError:  # it has ended: all is done here
                return
            self._there[self._todo.pop()] = future
        future.add_done_callback(self._take_last)

    def __iter__(self) -> Iterator[str]:
        while (name := self._next()) is not None:
            yield name
        for name, future in self._there.items():
            wait([future])
            yield name

    def _next(self) -> str | None:
        """Return the next task of this process; None if there are only those that the other one has begun."""
        while True:
            with self._lock:
                ready = [name for name, future in self._after.items() if future.done()]
                if ready:
                    del self._after[ready[0]]
                    return ready[0]
                if self._todo:
                    return self._todo.popleft()
            if not self._after:
                return None
            wait(self._after.values(), return_when=FIRST_COMPLETED)
