"""truemoment datasets: list, describe, check or fetch datasets."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from truemoment.cli import EXIT_CHECK_FAILED
from truemoment.cli.options import STANDARD_OUTPUT, data_dir_option, refuse_outputs, source_file, write_json
from truemoment.datasets import DATASETS, data_folder, get_dataset, load_annotations, read_own_annotations
from truemoment.datasets.source import files_of
from truemoment.exceptions import UsageError
from truemoment.text import one_line, printable

SHOWN_IDS = 3


@click.group("datasets")
def command() -> None:
    """The field's datasets: where they come from, what is in them, what is wrong with them."""


@command.command("list")
def list_datasets() -> None:
    """List the datasets, a line each."""
    from truemoment.reports.render.tabular import render

    rows = [
        [
            dataset.name,
            dataset.access,
            ", ".join(
                split.name + ("" if split.n_queries is None else f" {split.n_queries:,}") for split in dataset.splits
            ),
        ]
        for dataset in DATASETS.values()
    ]
    click.echo(render(["dataset", "access", "splits and queries"], rows))


@command.command("info")
@click.argument("name")
def info(name: str) -> None:
    """Describe dataset NAME: citation, licence, files with checksums, splits, what to know."""
    from truemoment.reports.render.tabular import render

    dataset = get_dataset(name)
    lines = [
        ("cite", dataset.citation),
        ("home", dataset.homepage),
        ("licence", dataset.licence),
        ("access", dataset.access),
        *(("step", step) for step in dataset.steps),
        *(("note", note) for note in dataset.notes),
    ]
    click.echo(f"{one_line(dataset.title)} ({one_line(dataset.name)})\n")
    for label, text in lines:
        click.echo(textwrap.fill(one_line(text), 100, initial_indent=f"{label + ':':9}", subsequent_indent=" " * 9))
    splits = [
        [
            split.name,
            *("-" if count is None else f"{count:,}" for count in (split.n_queries, split.n_videos)),
            split.counted_in,
        ]
        for split in dataset.splits
    ]
    click.echo("\n" + render(["split", "queries", "videos", "counted in"], splits, numbers=[1, 2]))
    checksum = [file.sha256 or (f"git blob {file.git_blob}" if file.git_blob else "-") for file in dataset.files]
    click.echo("\n" + render(["file", "sha256"], [[f.name, c] for f, c in zip(dataset.files, checksum, strict=True)]))
    for file in dataset.files:
        if file.url:
            click.echo(f"\n{file.name}: {file.url}", nl=False)
    click.echo()


@command.command("check")
@click.argument("name")
@data_dir_option
@click.option(
    "--json",
    "json_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write JSON with every query named ('-': to standard output).",
)
@click.option("--quiet", is_flag=True, help="Only what is unexpected, and no progress.")
@click.pass_context
def check(ctx: click.Context, name: str, data_dir: Path | None, json_path: Path | None, quiet: bool) -> None:
    """Look for faults in dataset NAME, or in your own annotations FILE.jsonl.

    Exit status 0 when counts, checksums and faults are the published and recorded ones, else 1.
    """
    from truemoment.datasets.check import check_annotations, check_dataset
    from truemoment.reports.render.tabular import render

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
            click.echo("\n" + render(["split", "", "what", "how many", "which"], rows) + "\n")
            for f in report.findings:
                if f.detail:
                    click.echo(printable(f"{f.split}, {f.kind}: {f.detail}"))
            click.echo()
        for line in report.missing:
            click.echo(printable(f"not looked at: {line}"))
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
    """Download the annotation files of dataset NAME, each against its checksum.

    Where the owner asks for an agreement, the steps to it are printed instead.
    """
    from truemoment.datasets.fetch import fetch as fetch_dataset

    dataset = get_dataset(name)
    if dataset.access == "agreement":
        click.echo(f"{dataset.title} needs an agreement with its owner:")
        for number, step in enumerate(dataset.steps, start=1):
            click.echo(f"  {number}. {step}")
        raise UsageError(f"{name} cannot be fetched; the steps to it are printed above")
    tell = (lambda _: None) if quiet else click.echo
    fetch_dataset(dataset, data_folder(data_dir, must_exist=False), progress=not quiet, on_status=tell)
