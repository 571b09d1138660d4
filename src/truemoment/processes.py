"""Worker processes that end with this process: on success, on Ctrl-C, and when it is killed."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

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
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")  # threads of PyTorch and of decoders do not survive a fork
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=begin, initargs=settings)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        ours = set(multiprocessing.active_children()) - others
        for child in ours:
            child.terminate()
        for child in ours:
            child.join()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


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
