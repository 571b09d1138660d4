"""truemoment bias: what a dataset gives away before anybody looks at a video."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from truemoment.cli.options import (
    STANDARD_OUTPUT,
    data_dir_option,
    followed,
    open_page,
    output_options,
    refuse_files,
    refuse_outputs,
    seed_option,
    told_path,
    write_json,
    write_text,
)
from truemoment.datasets import get_dataset, load_annotations, own, read_own_annotations
from truemoment.datasets.source import files_of
from truemoment.exceptions import MissingFileError, UsageError
from truemoment.records import Annotations

NO_SPLIT = "no split"
"""What lines of a file are called that name no split, where others do."""


@click.command("bias")
@click.option("--dataset", "datasets", multiple=True, metavar="NAME", help="A dataset; may be given several times.")
@click.option(
    "--annotations",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Your own annotations as JSON Lines, a dataset of its own; may be given several times.",
)
@click.option("--split", "splits", multiple=True, metavar="NAME", help="Only this split; may be given several times.")
@data_dir_option
@click.option(
    "--engine", default="lexicon", show_default=True, metavar="NAME", help="What finds words and verbs: lexicon, spacy."
)
@click.option(
    "--top-verbs",
    type=click.IntRange(1, 200),
    default=30,
    show_default=True,
    metavar="N",
    help="Frequent verbs that are shown.",
)
@click.option(
    "--permutations",
    type=click.IntRange(1, 1_000_000),
    default=1000,
    show_default=True,
    metavar="N",
    help="Of the tests between splits.",
)
@click.option(
    "--draws",
    type=click.IntRange(1, 1_000_000),
    default=200,
    show_default=True,
    metavar="N",
    help="Of the tests within a split, and of verbs.",
)
@seed_option("all draws")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write the page.")
@click.option("--open", "open_it", is_flag=True, help="Open the page in a browser.")
@click.option("--figures", type=click.Path(path_type=Path), metavar="DIR", help="Save the figures as PNG, SVG, PDF.")
@output_options
def command(
    datasets: tuple[str, ...],
    files: tuple[Path, ...],
    splits: tuple[str, ...],
    data_dir: Path | None,
    engine: str,
    top_verbs: int,
    permutations: int,
    draws: int,
    seed: int,
    html: Path | None,
    open_it: bool,
    figures: Path | None,
    json_path: Path | None,
    style: Literal["md", "latex"] | None,
    quiet: bool,
) -> None:
    """Survey datasets: where moments lie, what verbs tell of it, how far splits lie apart, what words there are.

    \b
    truemoment bias --dataset charades-sta --dataset tacos --data-dir data --html bias.html --open
    truemoment bias --annotations mine.jsonl --json -
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    import numpy as np

    from truemoment.bias.surveys import Survey, survey
    from truemoment.files import sha256_of
    from truemoment.language import get_engine
    from truemoment.reports import bias as report
    from truemoment.reports.bias_figures import save_figures
    from truemoment.reports.bias_page import page

    # Mistakes in the options are told before files are read.
    if not datasets and not files:
        raise UsageError("which datasets? give --dataset NAME or --annotations FILE, each as often as you like")
    if (open_it and html is None) or html == STANDARD_OUTPUT:
        raise UsageError("--html: expected the name of a file, to write (and open) the page")
    if len(set(datasets)) < len(datasets):
        raise UsageError("got a dataset twice, expected each once")
    refuse_files({"--figures": figures})
    refuse_outputs([*files, *(file for name in datasets for file in files_of(name, data_dir))], [html, json_path])
    reader = get_engine(engine)
    read = [_of_dataset(name, splits, data_dir) for name in datasets] + [_of_file(path, splits) for path in files]
    sources = [None] * len(datasets) + [{"path": told_path(path), "sha256": sha256_of(path)} for path in files]

    surveys: list[Survey] = []
    with followed(show=not quiet and sys.stderr.isatty()) as tell:
        for (title, parts, notes), rng in zip(read, np.random.default_rng(seed).spawn(len(read)), strict=True):
            surveys.append(
                survey(
                    parts,
                    rng,
                    reader,
                    title=title,
                    permutations=permutations,
                    draws=draws,
                    top_verbs=top_verbs,
                    notes=notes,
                    tell=tell,
                )
            )
        if html is not None:
            tell("drawing the page")
            words = shlex.join(["truemoment", *sys.argv[1:]])
            write_text(html, page(surveys, seed=seed, top_verbs=top_verbs, sources=sources, command=words))
        if figures is not None:
            tell("drawing the figures")
            save_figures(surveys, figures, top_verbs=top_verbs)
    if json_path is not None:
        write_json(json_path, report.document(surveys, seed=seed, sources=sources))
    if json_path != STANDARD_OUTPUT:
        click.echo("\n".join(report.lines(surveys, seed=seed, style=style or "plain")))
    if html is not None:
        opened = open_it and open_page(html)
        if not quiet:
            click.echo(f"page: {told_path(html)}{' (opened)' if opened else ''}", err=json_path == STANDARD_OUTPUT)


Read = tuple[str, dict[str, Annotations], list[str]]
"""Title, splits by name, notes."""


def _of_dataset(name: str, asked: Sequence[str], data_dir: Path | None) -> Read:
    """Read the splits asked for, or every one at hand; of a split that is made of others, it alone."""
    dataset = get_dataset(name)
    merged = {part: split.name for split in dataset.splits for part in split.merges}
    if asked:
        for one in asked:
            dataset.split(one)
            if merged.get(one) in asked:
                raise UsageError(f"{name}: {merged[one]} is made of {one}, expected only one of them")
        return dataset.title, {one: load_annotations(name, one, data_dir=data_dir) for one in asked}, []
    parts, notes = {}, []
    for split in dataset.splits:
        if split.name in merged:
            continue
        try:
            parts[split.name] = load_annotations(name, split.name, data_dir=data_dir)
        except MissingFileError as error:
            missing = error
            notes.append(f"{split.name} is not at hand")
    if not parts:
        raise missing
    notes += [f"{split.name} holds {' and '.join(split.merges)}" for split in dataset.splits if split.merges]
    return dataset.title, parts, notes


def _of_file(path: Path, asked: Sequence[str]) -> Read:
    """Read a file's splits, the common ones in their usual order; lines that name none are a split of their own."""
    names = own.splits_of(path)
    every = read_own_annotations(path)
    if not names:
        if asked:
            raise UsageError(f"{told_path(path)}: its lines name no split, expected no --split")
        return path.name, {every.split: every}, []
    usual = ("train", "val", "test", "test-iid", "test-ood")
    ordered = [*(name for name in usual if name in names), *sorted(names - set(usual))]
    if unknown := next((name for name in asked if name not in names), None):
        raise UsageError(f"{told_path(path)} has no split {unknown!r}, expected one of {', '.join(ordered)}")
    parts = {name: read_own_annotations(path, name) for name in ordered}
    # Lines that name no split are read with each; with one split alone they are its own.
    shared = set.intersection(*(set(part.query_id) for part in parts.values())) if len(parts) > 1 else set()
    if shared:
        parts = {name: _select(part, shared, keep=False) for name, part in parts.items()}
        parts[NO_SPLIT] = _select(every, shared, keep=True)
    return path.name, {name: part for name, part in parts.items() if not asked or name in asked}, []


def _select(annotations: Annotations, ids: set[str], *, keep: bool) -> Annotations:
    """Keep the queries of some ids, or all others."""
    import numpy as np

    return annotations.select_queries(np.array([(q in ids) == keep for q in annotations.queries.query_id], dtype=bool))
