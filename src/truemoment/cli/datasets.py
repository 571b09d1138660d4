"""truemoment datasets: list, describe, check or fetch datasets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.base.errors import UsageError
from truemoment.base.request import InDataset, Out, Request, argument, option
from truemoment.cli import EXIT_CHECK_FAILED, binder
from truemoment.cli.command import Group
from truemoment.cli.delivery import deliver, show, show_list
from truemoment.cli.outputs import say
from truemoment.cli.parts import Output, full
from truemoment.report.model import Block, Cell, Finding, Report, Section, Table
from truemoment.studies.request import data_dir

if TYPE_CHECKING:
    from truemoment.data.datasets import Split


@click.group("datasets", cls=Group)
def command() -> None:
    """Datasets of the field: sources, contents and known faults."""


@command.command("list")
def list_datasets() -> None:
    """List the datasets."""
    from truemoment.data.datasets import DATASETS

    rows = [(dataset.name, dataset.access, ", ".join(map(_size, dataset.splits))) for dataset in DATASETS.values()]
    show_list(("dataset", "access", "queries"), rows)


def _size(split: Split) -> str:
    return split.name if split.n_queries is None else f"{split.name} {split.n_queries:,}"


@dataclass(frozen=True, kw_only=True)
class InfoRequest(Request):
    """The dataset."""

    name: str = argument(complete="datasets")


@binder.command("info", command)
def info(request: InfoRequest) -> None:
    """Describe dataset NAME.

    With its citation, licence, files with checksums, splits and notes.
    """
    from truemoment.data.datasets import get_dataset

    dataset = get_dataset(request.name)
    facts = [
        ("dataset", f"{dataset.title} ({dataset.name})"),
        *(("cite", text) for text in dataset.references()),
        ("home", dataset.homepage),
        ("licence", dataset.licence),
        ("access", dataset.access),
        *(("step", step) for step in dataset.steps),
        *(("note", note) for note in dataset.notes),
    ]
    splits = [
        (
            split.name,
            *("-" if count is None else f"{count:,}" for count in (split.n_queries, split.n_videos)),
            split.counted_in,
        )
        for split in dataset.splits
    ]
    files = [
        (file.name, file.sha256 or (f"git blob {file.git_blob}" if file.git_blob else "-")) for file in dataset.files
    ]
    tables = [
        Table("", headings, (("", tuple(tuple(map(Cell, row)) for row in rows)),), text_columns=words)
        for headings, rows, words in (
            (("split", "queries", "videos", "counted in"), splits, (0, 3)),
            (("file", "sha256"), files, (0, 1)),
        )
    ]
    urls = Finding(tuple(f"{file.name}: {file.url}" for file in dataset.files if file.url), title="Downloads")
    blocks: list[Block] = [*tables, *([urls] if urls.sentences else [])]
    show(Report(title=dataset.title, facts=tuple(facts), sections=(Section("dataset", dataset.title, tuple(blocks)),)))


@dataclass(frozen=True, kw_only=True)
class CheckRequest(Request):
    """The dataset."""

    name: InDataset[str] = argument()
    data_dir: Path | None = data_dir()
    json_path: Out[Path | None] = option(
        "Write JSON with every query named ('-': to standard output).", name="--json", metavar="FILE"
    )
    full: bool = full()
    quiet: bool = option("Report only what is unexpected, without progress.", False)


@binder.command("check", command)
def check(request: CheckRequest) -> None:
    """Check dataset NAME, or your own annotations FILE.jsonl, for faults.

    Exit status 0 if counts and checksums are as published and faults as recorded, else 1.
    """
    from truemoment.data.datasets import DATASETS, data_folder, get_dataset, load_annotations
    from truemoment.data.datasets.check import check_annotations, check_dataset
    from truemoment.data.references import read_annotations
    from truemoment.studies.bias import report_dataset_check as reports

    if request.name not in DATASETS and Path(request.name).is_file():
        checked = check_annotations(read_annotations(Path(request.name)))
    else:
        dataset = get_dataset(request.name)
        folder = data_folder(request.data_dir) if request.name in DATASETS else Path(request.name).parent
        if request.name not in DATASETS:  # a folder made by resplit, whose queries lie elsewhere
            dataset = replace(
                dataset, read=lambda _, split: load_annotations(request.name, split, data_dir=request.data_dir)
            )
        checked = check_dataset(
            dataset, folder, on_status=lambda line: None if request.quiet else click.echo(line, err=True)
        )
    report = reports.problems(checked) if request.quiet else reports.report(checked)
    output = Output(json_path=request.json_path, full=request.full, quiet=request.quiet)
    deliver(report, lambda: reports.document(checked), output)
    click.get_current_context().exit(EXIT_CHECK_FAILED if checked.unexpected else 0)


@dataclass(frozen=True, kw_only=True)
class FetchRequest(Request):
    """The dataset."""

    name: str = argument()
    data_dir: Path | None = data_dir()
    quiet: bool = option("No progress.", False)


@binder.command("fetch", command)
def fetch(request: FetchRequest) -> None:
    """Download the annotation files of dataset NAME.

    Their checksums are verified. If they cannot be downloaded, the steps to obtain them are printed instead.
    """
    from truemoment.data.datasets import data_folder, get_dataset
    from truemoment.data.datasets.base import WHY_NOT_FETCHED
    from truemoment.data.datasets.fetch import fetch as fetch_dataset

    dataset = get_dataset(request.name)
    if dataset.access != "open":
        say(f"{dataset.title} {WHY_NOT_FETCHED[dataset.access]}:")
        for number, step in enumerate(dataset.steps, start=1):
            say(f"  {number}. {step}")
        raise UsageError(f"{request.name} cannot be downloaded; the steps are printed above")
    show_line = (lambda _: None) if request.quiet else click.echo
    fetch_dataset(
        dataset, data_folder(request.data_dir, must_exist=False), progress=not request.quiet, on_status=show_line
    )
