"""Options that several verbs share, and how their output leaves the program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from truemoment.datasets import load_annotations, read_own_annotations
from truemoment.exceptions import UsageError
from truemoment.files import atomic_write
from truemoment.records import Annotations

F = TypeVar("F", bound=Callable[..., Any])

STANDARD_OUTPUT = Path("-")


data_dir_option = click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder that holds one folder a dataset. [default: the variable TRUEMOMENT_DATA]",
)


def data_options(function: F) -> F:
    """Which annotations: --dataset or --annotations, --split, --data-dir."""
    for option in (
        data_dir_option,
        click.option("--split", metavar="NAME", help="Split of the dataset, e.g. test-ood."),
        click.option(
            "--annotations",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Your own annotations as JSON Lines, in place of --dataset.",
        ),
        click.option("--dataset", metavar="NAME", help="A dataset; 'truemoment datasets list' shows them."),
    ):
        function = option(function)
    return function


def output_options(function: F) -> F:
    """Where results go: --json, --table, --quiet."""
    for option in (
        click.option("--quiet", is_flag=True, help="No notes, and no progress on standard error."),
        click.option("--table", "style", type=click.Choice(["md", "latex"]), help="The table as Markdown or LaTeX."),
        click.option(
            "--json",
            "json_path",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Write JSON ('-': to standard output, and nothing else goes there).",
        ),
    ):
        function = option(function)
    return function


def chosen_annotations(
    dataset: str | None, annotations: Path | None, split: str | None, data_dir: Path | None
) -> Annotations:
    """Read the annotations that the options name.

    Raises
    ------
    UsageError
        If they name none, or two.
    """
    if dataset is not None and annotations is not None:
        raise UsageError("got --dataset and --annotations, expected one of them")
    if dataset is None and annotations is None:
        raise UsageError("which annotations? give --dataset NAME with --split NAME, or --annotations FILE")
    if annotations is not None:
        return read_own_annotations(annotations, split)
    if split is None or dataset is None:
        raise UsageError("which split? give --split NAME, e.g. --split test")
    return load_annotations(dataset, split, data_dir=data_dir)


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a JSON document to a file, complete or not at all, or to standard output."""
    text = json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    if path == STANDARD_OUTPUT:
        click.echo(text, nl=False)
        return
    with atomic_write(path) as stream:
        stream.write(text.encode("utf-8"))
