"""truemoment datasets: list, describe, check or fetch datasets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from truemoment.cli import EXIT_CHECK_FAILED
from truemoment.cli.options import (
    STANDARD_OUTPUT,
    data_dir_option,
    json_option,
    refuse_outputs,
    source_file,
    write_json,
)
from truemoment.datasets import DATASETS, data_folder, get_dataset, load_annotations, read_own_annotations
from truemoment.datasets.base import Split
from truemoment.datasets.source import files_of
from truemoment.exceptions import UsageError
from truemoment.text import printable

SHOWN_IDS = 3


@click.group("datasets")
def command() -> None:
    """Datasets of the field: sources, contents and known faults."""


@command.command("list")
def list_datasets() -> None:
    """List the datasets."""
    from truemoment.cli.delivery import show_list

    rows = [(dataset.name, dataset.access, ", ".join(map(_size, dataset.splits))) for dataset in DATASETS.values()]
    show_list(("dataset", "access", "splits and queries"), rows)


def _size(split: Split) -> str:
    return split.name if split.n_queries is None else f"{split.name} {split.n_queries:,}"


@command.command("info")
@click.argument("name")
def info(name: str) -> None:
    """Describe dataset NAME: citation, licence, files with checksums, splits, notes."""
    from truemoment.cli.delivery import show
    from truemoment.reports.model import Block, Cell, Finding, Report, Section, Table

    dataset = get_dataset(name)
    facts = [
        ("dataset", f"{dataset.title} ({dataset.name})"),
        ("cite", dataset.citation),
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
    files = [(of.name, of.sha256 or (f"git blob {of.git_blob}" if of.git_blob else "-")) for of in dataset.files]
    tables = [
        Table("", headings, (("", tuple(tuple(map(Cell, row)) for row in rows)),), text_columns=words)
        for headings, rows, words in (
            (("split", "queries", "videos", "counted in"), splits, (0, 3)),
            (("file", "sha256"), files, (0, 1)),
        )
    ]
    urls = Finding(tuple(f"{of.name}: {of.url}" for of in dataset.files if of.url), title="Downloads")
    blocks: list[Block] = [*tables, *([urls] if urls.sentences else [])]
    show(Report(title=dataset.title, facts=tuple(facts), sections=(Section("dataset", dataset.title, tuple(blocks)),)))


@command.command("check")
@click.argument("name")
@data_dir_option
@json_option("Write JSON with every query named ('-': to standard output).")
@click.option("--quiet", is_flag=True, help="Report only what is unexpected, without progress.")
@click.pass_context
def check(ctx: click.Context, name: str, data_dir: Path | None, json_path: Path | None, quiet: bool) -> None:
    """Check dataset NAME, or your own annotations FILE.jsonl, for faults.

    Exit status 0 if counts and checksums are as published and faults as recorded, else 1.
    """
    from truemoment.cli.delivery import show_list
    from truemoment.datasets.check import check_annotations, check_dataset

    refuse_outputs([source_file(name), *files_of(name, data_dir)], [json_path])
    if name not in DATASETS and Path(name).is_file():
        report = check_annotations(read_own_annotations(Path(name)))
    else:
        dataset = get_dataset(name)
        folder = data_folder(data_dir) if name in DATASETS else Path(name).parent
        if name not in DATASETS:  # a folder made by resplit, whose queries lie elsewhere
            dataset = replace(dataset, read=lambda _, split: load_annotations(name, split, data_dir=data_dir))
        report = check_dataset(dataset, folder, on_status=lambda line: None if quiet else click.echo(line, err=True))
    if json_path is not None:
        write_json(json_path, _document(report))
    if json_path != STANDARD_OUTPUT:
        if not quiet:
            for split, (n_queries, n_videos) in report.counts.items():
                click.echo(printable(f"{report.dataset}/{split}: {n_queries:,} queries, {n_videos:,} videos"))
            rows = [
                [f.split, "fault" if f.fault else "remark", f.kind, f"{f.count:,} {f.counted}", _some(f.query_ids)]
                for f in report.findings
            ]
            click.echo()
            show_list(("split", "level", "finding", "count", "queries"), rows)
            click.echo()
            for f in report.findings:
                if f.detail:
                    click.echo(printable(f"{f.split}, {f.kind}: {f.detail}"))
            click.echo()
        for line in report.missing:
            click.echo(printable(f"not checked: {line}"))
        for line in report.unexpected:
            click.echo(printable(f"unexpected: {line}"))
        if not report.unexpected:
            click.echo("as published and recorded: nothing unexpected")
    ctx.exit(EXIT_CHECK_FAILED if report.unexpected else 0)


def _some(ids: tuple[str, ...]) -> str:
    """Name the first few; --json names all."""
    return ", ".join(ids[:SHOWN_IDS]) + (", ..." if len(ids) > SHOWN_IDS else "")


def _document(report: Any) -> dict[str, Any]:  # noqa: ANN401 - truemoment.datasets.check.Report, imported when used
    from truemoment.version import __version__

    return {
        "schema": "truemoment/dataset-check/1",
        "truemoment": __version__,
        "dataset": report.dataset,
        "annotations_sha256": report.sha256,
        "seed": None,
        "counts": {split: {"n_queries": q, "n_videos": v} for split, (q, v) in report.counts.items()},
        "findings": [
            {
                "split": f.split,
                "kind": f.kind,
                "fault": f.fault,
                "count": f.count,
                "counted": f.counted,
                "detail": f.detail,
                "ids": list(f.query_ids),
            }
            for f in report.findings
        ],
        "missing": list(report.missing),
        "unexpected": list(report.unexpected),
    }


@command.command("fetch")
@click.argument("name")
@data_dir_option
@click.option("--quiet", is_flag=True, help="No progress.")
def fetch(name: str, data_dir: Path | None, quiet: bool) -> None:
    """Download the annotation files of dataset NAME, and verify their checksums.

    If the owner requires an agreement, the steps to it are printed instead.
    """
    from truemoment.datasets.fetch import fetch as fetch_dataset

    dataset = get_dataset(name)
    if dataset.access == "agreement":
        click.echo(f"{dataset.title} needs an agreement with its owner:")
        for number, step in enumerate(dataset.steps, start=1):
            click.echo(f"  {number}. {step}")
        raise UsageError(f"{name} cannot be downloaded; the steps are printed above")
    show_line = (lambda _: None) if quiet else click.echo
    fetch_dataset(dataset, data_folder(data_dir, must_exist=False), progress=not quiet, on_status=show_line)
