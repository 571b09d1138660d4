"""Parts of requests that only commands have: where results go, the page, threads."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from truemoment.base.errors import UsageError
from truemoment.base.request import Out, OutFolder, Request, number, option
from truemoment.cli.outputs import STANDARD_OUTPUT, refuse_page
from truemoment.cli.threads import limited_threads
from truemoment.report.venues import Venue


def full() -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return the option --full."""
    return option("The whole report in the terminal, in place of its main part in 25 lines.", False)


@dataclass(frozen=True, kw_only=True)
class Output(Request):
    """Where results go, in which format, and whether notes and progress are left out."""

    HEADING = "Output"

    json_path: Out[Path | None] = option(
        "Write JSON ('-': to standard output, and nothing else goes there).", name="--json", metavar="FILE"
    )
    style: Literal["md", "latex"] | None = option("The table as Markdown or LaTeX.", name="--table")
    full: bool = full()
    quiet: bool = option("No notes, and no progress on standard error.", False)

    @property
    def json_only(self) -> bool:
        """Whether standard output has nothing but JSON."""
        return self.json_path == STANDARD_OUTPUT

    @property
    def progress(self) -> bool:
        """Whether progress is shown: as a bar on a terminal, else as a line every ten seconds."""
        return not self.quiet


@dataclass(frozen=True, kw_only=True)
class PageOutput(Request):
    """The page of a report, whether it is opened in a browser, and the folder of its figures."""

    HEADING = "Page and figures"

    html: Out[Path | None] = option("Write the report as a page.", metavar="FILE")
    open_it: bool = option("Open the page in a browser.", False, name="--open")
    figures: OutFolder[Path | None] = option("Save the figures as PNG, SVG and PDF.", metavar="DIR")
    figure_width: Venue | None = option(
        "Width of the saved figures and size of their text: a column or page of a venue (cvpr, icml, acl, aaai, acm, "
        "ieee, with -column or -page; eccv-page, neurips-page, iclr-page). [default: 4 in, 9 pt]",
        metavar="VENUE",
        rare=True,
    )

    def check(self) -> None:
        """Refuse a page without a file to write it to, and a width without figures."""
        refuse_page(self.html, open_it=self.open_it)
        if self.figure_width is not None and self.figures is None:
            raise UsageError("--figure-width needs --figures DIR, the folder to save them in")


@dataclass(frozen=True, kw_only=True)
class Threads(Request):
    """Number of threads of this process: those of the libraries where none is given."""

    HEADING = "Workers"
    DEFAULT: ClassVar[int | None] = None

    threads: int | None = number(
        "Number of threads of this process. [default: OMP_NUM_THREADS, or all cores]", None, 1, 1024, rare=True
    )

    def limit(self) -> AbstractContextManager[None]:
        """Return a block inside which libraries use so many threads."""
        return limited_threads(self.threads, self.DEFAULT)


@dataclass(frozen=True, kw_only=True)
class ModelThreads(Threads):
    """The same where a model is trained or asked: the threads of small models mostly wait for each other.

    A user measured an epoch of blind-tan on a busy machine: 86 s with one thread, over 500 s with PyTorch's own number.
    """

    HEADING = "Workers"
    DEFAULT = 1

    threads: int | None = number(
        "Number of threads of this process. [default: OMP_NUM_THREADS, or 1]", None, 1, 1024, rare=True
    )
