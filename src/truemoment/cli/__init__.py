"""The command line: a file a verb.

Exit status: 0 done; 1 a requested check failed; 2 bad input or usage, or the machine is missing something, with one
line on standard error; 3 a bug of ours (``--debug`` shows the traceback); 130 interrupted.

This file imports only what Python itself has loaded: whatever else is imported, an interrupt can be handled by then.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_CHECK_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_BUG = 3
EXIT_INTERRUPTED = 130

INTERRUPTED = "interrupted; nothing half-written remains"


closed: set[str] = set()
"""Names of the standard streams that were closed when the program started."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    os.environ["PYTHONSAFEPATH"] = "1"  # no process that a command starts imports from the current folder
    _keep_temporary_folder_empty()
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    try:
        _open_missing_streams()
        from truemoment.cli.interrupts import end_at_once, handle_interrupts

        handle_interrupts()
        status = run(words, debug=debug)
        end_at_once(status)  # what follows is the interpreter's own end
    except KeyboardInterrupt:  # before it is handled, or while another error is reported
        status = EXIT_INTERRUPTED
        report_interrupted()
    sys.exit(status)


def _keep_temporary_folder_empty() -> None:
    """Name a folder that exists for what PyTorch compiles: it would make one when it is imported, and leave it."""
    folder = os.environ.get("TMPDIR", "/tmp")  # noqa: S108 - nothing is written there, since nothing is compiled
    if os.path.isdir(folder):  # noqa: PTH112 - pathlib is not loaded yet
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", folder)


def run(words: list[str], *, debug: bool = False) -> int:
    """Run the command line and return its exit status; errors become one line on standard error."""
    from truemoment.cli.running import status_of

    return status_of(words, debug=debug)


def _open_missing_streams() -> None:
    """Open standard streams that were closed (``2>&-``), so that no other file gets their place."""
    for number, mode, name in ((0, "r", "stdin"), (1, "w", "stdout"), (2, "w", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one
            closed.add(name)
            os.set_inheritable(opened, True)
            setattr(sys, name, os.fdopen(opened, mode, encoding="utf-8", closefd=False))


def report_interrupted() -> None:
    """Report on standard error that the program was interrupted, without an import."""
    try:  # noqa: SIM105 - contextlib would have to be imported
        os.write(2, f"truemoment: {INTERRUPTED}\n".encode())
    except OSError:  # standard error is full, or its reader has gone
        pass
