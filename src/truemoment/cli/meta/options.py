"""Options that studies of measures share, and how a study ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.base.errors import UsageError
from truemoment.cli import options
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Output, PageOutput, bound, data_options
from truemoment.cli.options import MOST_RESAMPLES, count_option, refuse_outputs, status_line
from truemoment.studies.meta.loading import LoadedSystems, SystemSource

if TYPE_CHECKING:
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports.verdict import StudySummary

system_options = bound(
    "source",
    SystemSource,
    click.argument("systems", nargs=-1, metavar="[NAME=]SYSTEM..."),
    data_options,
    options.measuring_options,
    options.reading_options,
    click.option("--population", is_flag=True, help="Add the simulated systems, see 'meta population'."),
    click.option("--baselines", is_flag=True, help="Add every blind baseline."),
    options.fit_options,
    heading="Systems",
)
"""SYSTEM..., their annotations and measures, --population and --baselines, as ``source``."""


resamples_option = count_option(
    "--resamples", 1000, "Number of resamples of the videos, for intervals.", least=2, most=MOST_RESAMPLES
)
trials_option = count_option("--trials", 5000, "Stability: pairs of subsets of each size.", least=2, most=1_000_000)
sets_option = count_option("--sets", 100, "Label noise: noisy sets per level.", least=2, most=MOST_RESAMPLES)
repetitions_option = count_option("--repetitions", 50, "Power: subsets of each size.", least=2, most=100_000)
workers_option = count_option(
    "--workers", None, "Threads. Results are the same for any number. [default: all cores]", least=1, most=256
)


def sizes_option(text: str) -> Callable[[options.F], options.F]:
    """Return --sizes, queries of subsets."""
    return click.option("--sizes", metavar="N,N,...", callback=_numbers, help=text)


def _numbers(ctx: click.Context, param: click.Parameter, text: str | None) -> tuple[int, ...] | None:
    """Read whole numbers separated by commas."""
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    read = [int(word) if word.isascii() and word.isdigit() and len(word) <= 12 else 0 for word in words]
    if min(read) < 1:
        raise click.BadParameter(f"got {text!r}, expected whole numbers as in 50,100,200", ctx=ctx, param=param)
    return tuple(read)


def refuse(output: Output, page: PageOutput, inputs: Sequence[Path | None] = (), folders: Sequence[Path] = ()) -> None:
    """Refuse outputs that cannot be written, before any work.

    Parameters
    ----------
    output, page
        Where results go.
    inputs
        Files that are read.
    folders
        Folders whose files are all read: nothing is written into them.
    """
    page.refuse()
    refuse_outputs(inputs, [output.json_path, page.html])
    for path in (output.json_path, page.html, page.figures):
        if path is None or path == options.STANDARD_OUTPUT:
            continue
        if path != page.figures and path.is_dir():
            raise UsageError(f"{path}: is a folder, expected a file to write to")
        above = {os.path.realpath(one) for one in (path, *path.absolute().parents)}
        if inside := next((one for one in folders if os.path.realpath(one) in above), None):
            raise UsageError(f"{path}: lies in {inside}, where every file is read as a system; expected another place")


def load(
    source: SystemSource, seed: int, output: Output, page: PageOutput, *, need_predictions: bool = False
) -> LoadedSystems:
    """Load the systems, after outputs were checked."""
    refuse(output, page, source.inputs, source.folders)
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
