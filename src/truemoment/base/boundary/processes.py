"""Worker processes that end with this process: on success, on Ctrl-C, and when it is killed.

None of them imports from the current folder: Python starts them by ``python -c``, for which that folder comes first on
``sys.path`` unless the variable ``PYTHONSAFEPATH`` is set (https://docs.python.org/3/using/cmdline.html#cmdoption-P).
Nor do they import the program that uses TrueMoment, which would run a script without ``if __name__ == "__main__"``
again (https://docs.python.org/3/library/multiprocessing.html#the-spawn-and-forkserver-start-methods). So what they are
sent is defined in modules.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from truemoment.base.errors import TrueMomentError

T = TypeVar("T")

SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable with which Python leaves the current folder out of ``sys.path``."""

NAMED_BY = ("__spec__", "__file__")
"""Attributes of ``__main__`` from which :mod:`multiprocessing` takes the program that a new process imports."""

ENDED = 130
"""Exit status of a process that got a signal to end."""

GRACE_S = 30.0
"""How long a process whose parent is gone may take to remove what is half written."""


@contextlib.contextmanager
def processes(workers: int, begin: Callable[..., None], *settings: Any) -> Iterator[ProcessPoolExecutor]:  # noqa: ANN401 - whatever `begin` takes
    """Start worker processes that end when the block is left.

    Parameters
    ----------
    workers
        Number of processes.
    begin
        Called in each of them first, with `settings`; it should call :func:`end_with_parent`.
    *settings
        Values that can be sent to a process.

    Examples
    --------
    >>> import math
    >>> with processes(2, end_with_parent) as pool:
    ...     list(pool.map(math.sqrt, [4.0, 9.0]))
    [2.0, 3.0]
    """
    children = set(multiprocessing.active_children())
    pool = _new_pool(workers, begin, settings)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        ours = set(multiprocessing.active_children()) - children
        for child in ours:
            child.terminate()
        for child in ours:
            child.join()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


_starting = threading.RLock()
"""Lock of the environment, while it is changed for a process that is about to start."""


@contextlib.contextmanager
def own_imports_only() -> Iterator[None]:
    """Let Python processes that start inside this block import neither from the current folder nor the main program.

    The environment and ``__main__`` are as before afterwards, so that a program that uses TrueMoment starts its own
    processes as it did.
    """
    with _starting:
        folder, main = os.environ.get(SAFE_PATH), vars(sys.modules["__main__"])
        named = {name: main.pop(name) for name in NAMED_BY if name in main}
        os.environ[SAFE_PATH], main["__spec__"] = "1", None  # as where Python reads a program from standard input
        try:
            yield
        finally:
            del main["__spec__"]
            main.update(named)
            if folder is None:
                del os.environ[SAFE_PATH]
            else:
                os.environ[SAFE_PATH] = folder


class _Pool(ProcessPoolExecutor):
    """Pool of processes that import only what they are sent; a task may start one."""

    def submit(self, function: Callable[..., T], /, *arguments: Any, **named: Any) -> Future[T]:  # noqa: ANN401 - as in the base class
        with own_imports_only():
            return super().submit(function, *arguments, **named)


def _new_pool(workers: int, begin: Callable[..., None], settings: tuple[Any, ...]) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")  # threads of PyTorch and of decoders do not survive a fork
    with own_imports_only():  # the tracker of shared resources starts here
        return _Pool(workers, mp_context=context, initializer=begin, initargs=settings)


def end_with_parent() -> None:
    """End this process when its parent has ended: first gently, as SIGTERM does."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE_S)
        os._exit(ENDED)

    threading.Thread(target=wait, daemon=True).start()


class RestartingPool:
    """Worker processes for a server: one that dies costs its task, and the next task gets fresh ones.

    Parameters
    ----------
    workers
        Number of processes, started with the first task.
    begin
        Called in each of them first, with `settings`; it should call :func:`end_with_parent`.
    *settings
        Values that can be sent to a process.
    """

    def __init__(self, workers: int, begin: Callable[..., None], *settings: Any) -> None:  # noqa: ANN401 - whatever `begin` takes
        self._workers, self._begin, self._settings = workers, begin, settings
        self._pool: ProcessPoolExecutor | None = None
        self._lock = threading.Lock()
        self._is_closed = False

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:  # noqa: ANN401 - whatever `function` takes
        """Start a task in a process; its future raises ``BrokenProcessPool`` if the process dies."""
        with self._lock:
            if self._is_closed:
                raise BrokenProcessPool("the server is ending")
            for _ in range(2):
                if self._pool is None:
                    self._pool = _new_pool(self._workers, self._begin, self._settings)
                try:
                    return self._pool.submit(function, *arguments)
                except BrokenProcessPool:
                    self._pool = None
            raise BrokenProcessPool("processes die as soon as they start")

    def close(self) -> None:
        """End the processes at once, and refuse further tasks; what they write appears whole or not at all."""
        self._is_closed = True
        self.restart()

    def restart(self) -> None:
        """End the processes at once; the next task gets fresh ones."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is None:
            return
        own = list((pool._processes or {}).values())  # the executor has no way to end a running task
        pool.shutdown(wait=False, cancel_futures=True)
        for process in own:
            process.kill()  # what is half written lies under a temporary name, and is removed later


def begin_quietly() -> None:
    """Begin a worker of a server: it ignores Ctrl-C, and ends with the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def run_apart(
    work: Callable[..., T], *arguments: object, on_status: Callable[[str], None], check: Callable[[], None]
) -> T:
    """Run work in a process of its own, and return its result.

    Parameters
    ----------
    work
        Called there with `arguments` and a function that takes what is being done, in words.
    on_status
        Called here with these words.
    check
        Called several times a second; what it raises ends the process.

    Raises
    ------
    TrueMomentError
        If the work was refused by one of the package's own errors, failed, or its process was killed.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work_apart, args=(sender, work, arguments))
    with own_imports_only():
        process.start()
    sender.close()
    try:
        while True:
            check()
            if not receiver.poll(0.1):
                continue
            kind, value = receiver.recv()
            if kind == "done":
                result: T = value
                return result
            if kind == "failed":
                raise TrueMomentError(value)
            on_status(value)
    except EOFError:
        raise TrueMomentError("its process was ended") from None
    finally:
        receiver.close()
        process.kill()  # what is half written lies under a temporary name, and is removed later
        process.join()


def _work_apart(sender: Connection, work: Callable[..., object], arguments: tuple[object, ...]) -> None:
    """Do the work of :func:`run_apart` in its process."""
    begin_quietly()
    try:
        result = work(*arguments, lambda words: sender.send(("status", words)))
    except TrueMomentError as error:
        sender.send(("failed", str(error)))
    except Exception as error:
        sender.send(("failed", f"a bug of ours: {type(error).__name__}: {error}"))
    else:
        sender.send(("done", result))
