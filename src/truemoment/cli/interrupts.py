"""Ctrl-C (SIGINT), whenever it comes: one line, and exit status 130.

Python raises :class:`KeyboardInterrupt` wherever the program is. While a module is imported, parts of it that are
written in C turn it into another error, or crash (PyTorch's do). So an interrupt of an import ends the process at once
where no file was written yet, and else waits until the import is done.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
from types import FrameType

from truemoment.cli import EXIT_INTERRUPTED, report_interrupted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sys import UnraisableHookArgs

WAIT_S = 0.001
"""Seconds after which an interrupt that waits is tried again."""

_IMPORTING = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
"""Where frames of an import lie."""


class _Process:
    """Whether this process was interrupted, and the status that it ends with then."""

    interrupted = False
    status = EXIT_INTERRUPTED


def handle_interrupts() -> None:
    """From now on, end the process, or raise :class:`KeyboardInterrupt` as soon as nothing is being imported.

    Where interrupts are ignored, as in the background of a shell, they stay ignored.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler and hasattr(signal, "setitimer"):  # POSIX
        atexit.register(_keep_status)
        sys.unraisablehook = _reraise
        signal.signal(signal.SIGALRM, _interrupt)
        signal.signal(signal.SIGINT, _interrupt)


def is_interrupted() -> bool:
    """Whether an interrupt came: then an error is no other one."""
    return _Process.interrupted


def end_at_once(status: int) -> None:
    """From now on, an interrupt ends the process with the status that it has already, since its work is done.

    What fails in the end of the interpreter, as callbacks of PyTorch do without memory, is not shown behind the result.
    """
    _Process.status = status
    sys.unraisablehook = lambda _: None
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, lambda *_: os._exit(status))
        signal.setitimer(signal.ITIMER_REAL, 0)


def _interrupt(number: int, frame: FrameType | None) -> None:
    _Process.interrupted = True
    files = sys.modules.get("truemoment.base.boundary.inputs")  # where whatever writes a file asks first
    if not _is_importing(frame):
        signal.default_int_handler(number, frame)
    elif files is not None and hasattr(files, "has_written") and files.has_written():
        signal.setitimer(signal.ITIMER_REAL, WAIT_S)
    else:
        report_interrupted()
        os._exit(EXIT_INTERRUPTED)


def _reraise(ignored: UnraisableHookArgs) -> None:
    """Try an interrupt again that came where Python can only ignore it, as in the end of an object."""
    if issubclass(ignored.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, WAIT_S)
    else:
        sys.__unraisablehook__(ignored)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename in _IMPORTING:
            return True
        frame = frame.f_back
    return False


def _keep_status() -> None:
    """Keep the status through the end of the interpreter, in which a signal would end the process instead."""
    if _Process.interrupted:  # Python 3.11 ends some of these by the signal again
        with contextlib.suppress(AttributeError, OSError, ValueError):  # no stream, without a reader, or closed
            sys.stdout.flush()  # what was printed before the interrupt
        os._exit(_Process.status)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
