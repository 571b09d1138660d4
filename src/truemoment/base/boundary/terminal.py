"""What the command line prints: nothing that steers a terminal reaches it, and no character ends the program."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import time
from collections.abc import Iterator
from typing import TextIO, cast

from truemoment.base.boundary.text import printable, printable_lines

EVERY_S = 10.0
"""Seconds between two lines of progress where standard error is no terminal, and before the first."""

_CURSOR_OF_BARS = re.compile(r"(\x1b\[A)*")


class CleanStream(io.TextIOBase):
    """A text stream that writes what :func:`~truemoment.base.boundary.text.printable_lines` returns.

    Characters that the encoding of the stream does not have are written as escapes. A progress bar may go back to the
    start of its line, and to the line above.

    Parameters
    ----------
    stream
        Where the text goes.
    title
        What an error calls it.
    """

    def __init__(self, stream: TextIO, title: str) -> None:
        self.stream, self.title = stream, title
        self._next_line_at = time.monotonic() + EVERY_S
        self._at_start, self._held = True, ""

    @property
    def encoding(self) -> str:  # type: ignore[override]  # an attribute in the base class
        """Encoding of the stream below."""
        return getattr(self.stream, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        """Write a text."""
        if not self.isatty():
            shown = self._in_file(text)
        elif text.startswith("\r"):  # a progress bar, which is one line
            shown = f"\r{printable(text[1:])}"
        else:
            shown = text if _CURSOR_OF_BARS.fullmatch(text) else printable_lines(text)
        with self._named():
            self.stream.write(shown.encode(self.encoding, "backslashreplace").decode(self.encoding))
        return len(text)

    def _in_file(self, text: str) -> str:
        """Return a text without what moves progress bars: the line ends before them, and the codes behind them."""
        if text.startswith("\r"):
            self._held = ""
            return self._line_of_progress(text)
        if _CURSOR_OF_BARS.fullmatch(text):
            return ""
        if text == "\n" and self._at_start:
            self._held += text
            return ""
        shown, self._held = self._held + printable_lines(text), ""
        self._at_start = shown.endswith("\n")
        return shown

    def _line_of_progress(self, text: str) -> str:
        """Return a progress bar as a line of its own, at most one in :data:`EVERY_S` seconds: nobody sees it move."""
        line, time_s = text.strip(), time.monotonic()
        if not line or time_s < self._next_line_at:
            return ""
        self._next_line_at = time_s + EVERY_S
        return f"{printable(line)}\n"

    def flush(self) -> None:
        """Write what is waiting."""
        with self._named():
            self.stream.flush()

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            error.filename = self.title
            raise

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self.stream.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the stream below."""
        return self.stream.fileno()

    def writable(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Leave the stream below open, since it belongs to the process."""


@contextlib.contextmanager
def clean_streams() -> Iterator[None]:
    """Pass everything that is printed inside this block through :class:`CleanStream`, warnings of libraries too."""
    with contextlib.ExitStack() as stack:
        if sys.stdout is not None:
            stack.enter_context(contextlib.redirect_stdout(cast(TextIO, CleanStream(sys.stdout, "standard output"))))
        if sys.stderr is not None:
            stack.enter_context(contextlib.redirect_stderr(cast(TextIO, CleanStream(sys.stderr, "standard error"))))
        yield
