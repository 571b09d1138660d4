"""Options that studies of measures share, and how a study ends."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truemoment.base.errors import UsageError
from truemoment.base.request import MOST_RESAMPLES, number, option
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import STANDARD_OUTPUT, status_line
from truemoment.cli.parts import Output, PageOutput

if TYPE_CHECKING:
    from truemoment.studies.meta.loading import LoadedSystems
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports.verdict import StudySummary
    from truemoment.studies.meta.request import SystemSource


def resamples() -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return the option --resamples."""
    return number("Number of resamples of the videos, for intervals.", 1000, 2, MOST_RESAMPLES)


def workers() -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return the option --workers."""
    return number("Number of threads. Results do not depend on it. [default: all cores]", None, 1, 256)


def sizes(text: str) -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return the option --sizes, queries of subsets."""
    return option(text, metavar="N,N,...", words=str, read=_numbers)


def _numbers(text: str) -> tuple[int, ...]:
    """Read whole numbers separated by commas."""
    words = [word.strip() for word in text.split(",")]
    read = [int(word) if word.isascii() and word.isdigit() and len(word) <= 12 else 0 for word in words]
    if min(read) < 1:
        raise ValueError(f"got {text!r}, expected whole numbers as in 50,100,200")
    return tuple(read)


def refuse(output: Output, page: PageOutput, folders: Sequence[Path] = ()) -> None:
    """Refuse outputs that are folders, or lie in folders whose files are all read, before any work."""
    for path in (output.json_path, page.html, page.figures):
        if path is None or path == STANDARD_OUTPUT:
            continue
        if path != page.figures and path.is_dir():
            raise UsageError(f"{path}: is a folder, expected a file to write to")
        above = {os.path.realpath(folder) for folder in (path, *path.absolute().parents)}
        if inside := next((folder for folder in folders if os.path.realpath(folder) in above), None):
            raise UsageError(f"{path}: lies in {inside}, where every file is read as a system; expected another place")


def load(
    source: SystemSource, seed: int, output: Output, page: PageOutput, *, need_predictions: bool = False
) -> LoadedSystems:
    """Load the systems, after outputs were checked."""
    refuse(output, page, source.folders)
    with status_line(show=output.progress) as on_status:
        return source.load(seed, on_status=on_status, need_predictions=need_predictions)


def finish(
    studies: Sequence[StudyReport],
    output: Output,
    page: PageOutput,
    *,
    seed: int,
    systems: LoadedSystems | None = None,
    verdict: StudySummary | None = None,
) -> None:
    """Deliver the report of some studies."""
    from truemoment.studies.meta.reports import document, report

    deliver(
        report(studies, systems, seed=seed, verdict=verdict),
        lambda: document(studies, systems, seed=seed, verdict=verdict),
        output,
        page,
    )
