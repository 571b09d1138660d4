"""truemoment meta selection: which validation measure selects variants that test well."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.cli.meta.options import (
    SAVED,
    Chosen,
    Output,
    folders_of,
    measured_files,
    named_files,
    paired_systems,
    resamples_option,
    result_options,
    stream,
)
from truemoment.cli.options import (
    NamedFile,
    PredictionOptions,
    data_dir_option,
    followed,
    reading_options,
    seed_option,
    told_path,
)
from truemoment.datasets.source import AnnotationSource, files_of
from truemoment.exceptions import UsageError

if TYPE_CHECKING:
    from truemoment.measures import Measure
    from truemoment.metaevaluation.systems import Systems
    from truemoment.records import Annotations


@click.command("selection")
@click.option(
    "--validation",
    "validation_words",
    multiple=True,
    required=True,
    metavar="DIR|FILE",
    help="Variants on the validation split: a folder, or files one by one.",
)
@click.option(
    "--test",
    "test_words",
    multiple=True,
    required=True,
    metavar="DIR|FILE",
    help="The same variants on the test split, equally named.",
)
@click.option("--dataset", metavar="NAME", help="A dataset; 'truemoment datasets list' shows them.")
@click.option("--validation-split", metavar="NAME", help="Split of the dataset the validation files are of, e.g. val.")
@click.option("--split", metavar="NAME", help="Split of the dataset the test files are of, e.g. test.")
@click.option(
    "--validation-annotations",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Your own annotations for validation, in place of --dataset.",
)
@click.option(
    "--annotations", type=click.Path(path_type=Path), metavar="FILE", help="Your own annotations for the test."
)
@data_dir_option
@click.option(
    "--measures", metavar="'A; B'", help="Measures that select. [default: those of all studies, or all saved]"
)
@click.option("--test-measures", metavar="'A; B'", help="Measures that judge. [default: the same without R@10,IoU=0.3]")
@click.option("--protocol", metavar="NAME[,FIELD=VALUE...]", help="Evaluation convention. [default: the dataset's]")
@reading_options
@resamples_option
@seed_option("the resamples")
@result_options
def command(
    validation_words: tuple[str, ...],
    test_words: tuple[str, ...],
    dataset: str | None,
    validation_split: str | None,
    split: str | None,
    validation_annotations: Path | None,
    annotations: Path | None,
    data_dir: Path | None,
    measures: str | None,
    test_measures: str | None,
    protocol: str | None,
    how: PredictionOptions,
    resamples: int,
    seed: int,
    out: Output,
) -> None:
    """Tell which validation measure selects variants that test well, and what each choice loses.

    Variants are called as their files are: a file of --validation and one of --test of the same
    name are one variant. They are predictions of any format, or scores saved by 'truemoment
    evaluate --save-scores' (.npz), which need no annotations.

    \b
    truemoment meta selection --validation val/ --test test/ --dataset charades-cd \\
        --validation-split val --split test-ood
    truemoment meta selection --validation val-scores/ --test test-scores/
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.metaevaluation.selection import select, without_saturated
    from truemoment.protocols import get_protocol
    from truemoment.reports.metaevaluation.selection import chapter

    asked_protocol = None if protocol is None else get_protocol(protocol)
    validation_files, test_files = named_files(validation_words), named_files(test_words)
    _check_names(validation_files, test_files)
    inputs = [file.path for file in (*validation_files, *test_files)]
    out.check(
        [*inputs, validation_annotations, annotations, *files_of(dataset, data_dir)],
        folders_of([*validation_words, *test_words]),
    )

    def read_side(
        option: str, files: Sequence[NamedFile], own: Path | None, split: str | None, asked: tuple[Measure, ...] | None
    ) -> tuple[Systems, Annotations | None]:
        reference = None
        if any(file.path.suffix.lower() != SAVED for file in files):
            reference = _annotations(option, dataset, own, split, data_dir)
        with followed(show=out.show) as tell:
            scores = measured_files(files, reference, how, asked, asked_protocol, tell)
            systems = paired_systems({name: scores[name] for name in sorted(scores)}, files)
        return systems, reference

    asked, asked_test = _asked(measures), _asked(test_measures)
    validation, _ = read_side("validation-", validation_files, validation_annotations, validation_split, asked)
    test, reference = read_side("", test_files, annotations, split, asked if asked_test is None else asked_test)
    if asked_test is None:
        test = without_saturated(test)
    found = select(validation, test, stream(seed, "selection"), resamples=resamples, progress=out.show)
    sources = [*_sources("validation", validation_files), *_sources("test", test_files)]
    read = Chosen(test, {}, reference, None, sources)
    out.deliver([chapter(found)], read, seed)


def _asked(measures: str | None) -> tuple[Measure, ...] | None:
    from truemoment.measures import parse_measures

    return None if measures is None else parse_measures(measures)


def _check_names(validation: Sequence[NamedFile], test: Sequence[NamedFile]) -> None:
    """Refuse variants that stand on one side only, before any file is read."""
    for option, ours, theirs in (("--validation", validation, test), ("--test", test, validation)):
        known = {file.name for file in theirs}
        if alone := [file.name for file in ours if file.name not in known]:
            more = f" and {len(alone) - 3} more" if len(alone) > 3 else ""
            raise UsageError(
                f"{option}: {', '.join(alone[:3])}{more} stand{'s' if len(alone) == 1 else ''} on this side only, "
                "expected files of the same names on both"
            )


def _annotations(
    option: str, dataset: str | None, own: Path | None, split: str | None, data_dir: Path | None
) -> Annotations:
    """Read the annotations of one side."""
    if own is None and (dataset is None or split is None):
        raise UsageError(
            f"which annotations? prediction files need --dataset NAME with --{option}split NAME, or "
            f"--{option}annotations FILE"
        )
    return AnnotationSource(None if own is not None else dataset, own, split, data_dir).read()


def _sources(side: str, files: Sequence[NamedFile]) -> list[dict[str, str]]:
    from truemoment.files import sha256_of

    return [
        {"name": file.name, "side": side, "path": told_path(file.path), "sha256": sha256_of(file.path)}
        for file in files
    ]
