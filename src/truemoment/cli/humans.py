"""truemoment humans: several annotators, how far they agree, what they score, which conclusions survive them."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from truemoment.cli.options import (
    STANDARD_OUTPUT,
    NamedFile,
    PredictionOptions,
    data_options,
    measuring_options,
    output_options,
    reading_options,
    refuse_outputs,
    seed_option,
    testing_options,
    write_json,
)
from truemoment.datasets.source import AnnotationSource, files_of
from truemoment.exceptions import UsageError
from truemoment.records import Annotations
from truemoment.text import printable


@click.command("humans")
@click.argument("predictions", nargs=-1, metavar="[[NAME=]PREDICTIONS]...")
@data_options
@click.option(
    "--official",
    metavar="DATASET/SPLIT",
    help="The dataset's own references of these queries, or none. [default: those of what was re-annotated]",
)
@click.option(
    "--official-annotations",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The same as JSON Lines, in place of --official.",
)
@measuring_options
@click.option(
    "--duplicates",
    type=click.Choice(["published", "out", "kept"]),
    default="published",
    show_default=True,
    help="Moments identical to a person's own, when people are held against each other.",
)
@click.option(
    "--draws",
    type=click.IntRange(1, 10_000),
    default=100,
    show_default=True,
    metavar="N",
    help="Draws of a random annotator.",
)
@reading_options
@testing_options
@seed_option("draws, resamples and permutations")
@output_options
def command(
    predictions: tuple[str, ...],
    dataset: str | None,
    annotations: Path | None,
    split: str | None,
    data_dir: Path | None,
    official: str | None,
    official_annotations: Path | None,
    protocol: str | None,
    measures: str | None,
    duplicates: Literal["published", "out", "kept"],
    draws: int,
    how: PredictionOptions,
    resamples: int,
    permutations: int,
    seed: int,
    json_path: Path | None,
    style: Literal["md", "latex"] | None,
    quiet: bool,
) -> None:
    """Hold annotators against references and each other, and PREDICTIONS beside them.

    Of two or more systems it says which differences survive when annotators mark the moments.

    \b
    truemoment humans --dataset human-charades --split test --data-dir data
    truemoment humans ours=a.jsonl base=b.jsonl --dataset human-charades --split test --data-dir data
    truemoment humans --annotations marked.jsonl --official-annotations mine.jsonl
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    import numpy as np

    from truemoment.diagnosis.agreement import Annotators, boundary_alpha, moment_alpha, pairwise_iou
    from truemoment.diagnosis.human_study import study_humans
    from truemoment.diagnosis.humans import measures_of_one_answer, same_queries
    from truemoment.evaluation import chosen_protocol
    from truemoment.files import source_of
    from truemoment.protocols import get_protocol
    from truemoment.reports import humans as report

    # Mistakes in the options are told before files are read.
    files = file_by_system(predictions)
    of_official = (official or "").partition("/")[0] or None
    of_datasets = [*files_of(dataset, data_dir), *files_of(of_official, data_dir)]
    inputs = [annotations, official_annotations, *of_datasets, *files.values()]
    refuse_outputs(inputs, [json_path])
    if official is not None and official_annotations is not None:
        raise UsageError("got --official and --official-annotations, expected one of them")
    asked_protocol = None if protocol is None else get_protocol(protocol)
    if measures is not None:
        measures_of_one_answer(measures, asked_protocol or get_protocol("default"))
    options = AnnotationSource(dataset, annotations, split, data_dir)
    reference = options.read()
    annotators = Annotators.of(reference)
    references = _official(options, official, official_annotations)
    show = not quiet and sys.stderr.isatty()

    # Answers belong to the queries of the official references, of which annotators may have marked only some.
    read = {name: how.read(path, references or reference, progress=show) for name, path in files.items()}
    n_queries = len(annotators)
    if references is not None:
        annotators, references = same_queries(annotators, references)
    rng = np.random.default_rng(seed)
    for_overlap, for_moments, for_ends, for_study = rng.spawn(4)
    known = bool(np.all(annotators.duration_s > 0))
    starts, ends = boundary_alpha(annotators, for_ends, resamples=resamples) if known else (None, None)
    study = study_humans(
        annotators,
        for_study,
        measures=measures,
        protocol=chosen_protocol(asked_protocol, reference),
        official=references,
        systems={name: dataclasses.replace(answers, name=name) for name, (answers, _) in read.items()},
        duplicates=duplicates,
        draws=draws,
        resamples=resamples,
        permutations=permutations,
    )
    humans = report.Humans(
        study=study,
        agreement=report.Agreement(
            pairwise_iou(annotators, for_overlap, resamples=resamples),
            moment_alpha(annotators, for_moments, resamples=resamples) if known else None,
            starts,
            ends,
        ),
        predictions={name: (source_of(files[name]), match) for name, (_, match) in read.items()},
        n_without_official=n_queries - len(annotators),
        draws=draws,
        resamples=resamples,
        permutations=permutations,
        seed=seed,
    )
    if json_path is not None:
        write_json(json_path, report.document(humans))
    table_only = style is not None
    if json_path != STANDARD_OUTPUT:
        if not table_only:
            click.echo("\n".join(map(printable, report.preamble(humans))) + "\n")
        makers = (report.agreement_table, report.table, *([report.conclusions_table] if study.conclusions else []))
        click.echo("\n\n".join(make(humans, style=style or "plain") for make in makers))
    if not quiet:
        to_error = table_only or json_path == STANDARD_OUTPUT
        said = [printable(f"note: {line}") for line in report.notes(humans)]
        said += map(printable, report.closing(humans))
        click.echo("\n".join(said if to_error else ["", *said]), err=to_error)


def file_by_system(words: Sequence[str]) -> dict[str, Path]:
    """Read the arguments, FILE or NAME=FILE: the file of each system."""
    files: dict[str, Path] = {}
    for named in map(NamedFile.read, words):
        if named.name in files:
            raise UsageError(
                f"{files[named.name]} and {named.path} would both be called {named.name!r}; give NAME=FILE, a name each"
            )
        files[named.name] = named.path
    return files


def _official(options: AnnotationSource, named: str | None, file: Path | None) -> Annotations | None:
    """Read the official references: those asked for, else those of the dataset that was marked anew."""
    from truemoment.datasets import load_annotations, read_own_annotations
    from truemoment.datasets.reannotation import REANNOTATES

    if file is not None:
        return read_own_annotations(file, None)
    if named == "none":
        return None
    if named is None:
        original = REANNOTATES.get(options.dataset or "")
        return None if original is None else load_annotations(original, options.split or "", data_dir=options.data_dir)
    dataset, slash, split = named.partition("/")
    if not slash or not dataset or not split:
        raise UsageError(f"--official: got {named!r}, expected DATASET/SPLIT, e.g. charades-sta/test, or none")
    return load_annotations(dataset, split, data_dir=options.data_dir)
