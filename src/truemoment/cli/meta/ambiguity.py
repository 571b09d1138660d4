"""truemoment meta ambiguity: figures and rankings under label noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.cli.meta.options import (
    Output,
    SystemOptions,
    result_options,
    sets_option,
    stream,
    system_options,
    workers_option,
)
from truemoment.cli.options import seed_option
from truemoment.datasets.source import files_of
from truemoment.exceptions import UsageError

if TYPE_CHECKING:
    import numpy as np

    from truemoment.cli.meta.options import Chosen
    from truemoment.io.matching import OnUnknown
    from truemoment.metaevaluation.ambiguity import Ambiguity
    from truemoment.metaevaluation.noise import NoiseModel

NOISE = ("published", "shift", "annotators")


noise_option = click.option(
    "--noise",
    "kinds",
    type=click.Choice(NOISE),
    multiple=True,
    default=("published", "shift"),
    show_default=True,
    help="Model of label noise; may be given several times.",
)
annotators_option = click.option(
    "--annotators",
    "marked_by",
    metavar="NAME|FILE",
    help="Learn noise from a dataset that several people marked, e.g. human-charades, or from your own annotations.",
)


@click.command("ambiguity")
@system_options
@noise_option
@annotators_option
@sets_option
@seed_option("the noise, and of what is simulated")
@workers_option
@result_options
def command(
    chosen: SystemOptions,
    kinds: tuple[str, ...],
    marked_by: str | None,
    sets: int,
    seed: int,
    workers: int | None,
    out: Output,
) -> None:
    """Hold systems against noisy labels: how far figures move, and which systems change places.

    \b
    truemoment meta ambiguity runs/ --dataset charades-sta --split test
    truemoment meta ambiguity runs/ --dataset charades-sta --split test --annotators human-charades
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.reports.metaevaluation.ambiguity import chapter

    if marked_by is not None and "annotators" not in kinds:
        kinds = (*kinds, "annotators")
    out.check([*chosen.inputs, *marked_files(marked_by, chosen.data.data_dir)], chosen.folders)
    models = {kind: levels_of(kind, marked_by, chosen.data.data_dir) for kind in kinds}
    read = chosen.read(seed, show=out.show, need_answers=True)
    found = under_noise(
        read, models, stream(seed, "ambiguity"), chosen.how.on_unknown, sets=sets, workers=workers, show=out.show
    )
    out.deliver([chapter(one, read.systems.first.dataset) for one in found], read, seed)


def marked_files(marked_by: str | None, data_dir: Path | None) -> list[Path]:
    """The files that noise is learned from, which must not be written over."""
    from truemoment.datasets import DATASETS

    if marked_by is None:
        return []
    return files_of(marked_by, data_dir) if marked_by in DATASETS else [Path(marked_by)]


def levels_of(kind: str, marked_by: str | None, data_dir: Path | None) -> Sequence[NoiseModel]:
    """The levels of one model of noise."""
    from truemoment.datasets import DATASETS, load_annotations, read_own_annotations
    from truemoment.diagnosis.agreement import Annotators
    from truemoment.metaevaluation.noise import (
        ANNOTATOR_LEVELS,
        VARIANCES_S2,
        AnnotatorNoise,
        PublishedNoise,
        ShiftNoise,
    )

    if kind != "annotators":
        model = PublishedNoise if kind == "published" else ShiftNoise
        return [model(variance) for variance in VARIANCES_S2]
    if marked_by is None:
        raise UsageError("--noise annotators: from whom? give --annotators NAME, e.g. human-charades, or FILE")
    if marked_by in DATASETS:
        marked = load_annotations(marked_by, "test", data_dir=data_dir)
    else:
        marked = read_own_annotations(Path(marked_by), None)
    annotators = Annotators.of(marked)
    learned = AnnotatorNoise.learn(annotators)
    return [replace(learned, n_raters=n_raters) for n_raters in ANNOTATOR_LEVELS]


def under_noise(
    read: Chosen,
    models: Mapping[str, Sequence[NoiseModel]],
    rng: np.random.Generator,
    on_unknown: OnUnknown,
    *,
    sets: int,
    workers: int | None,
    show: bool,
) -> list[Ambiguity]:
    """Hold the systems of which there are answers against each model's noisy labels.

    Every model has a generator of its own, whichever others are asked for.
    """
    from truemoment.metaevaluation.ambiguity import ambiguity

    if read.annotations is None:
        raise UsageError("noisy labels need annotations: give --dataset NAME with --split NAME, or --annotations FILE")
    return [
        ambiguity(
            read.annotations,
            read.answers,
            models[kind],
            child,
            measures=read.systems.measures,
            protocol=read.systems.first.protocol,
            on_unknown=on_unknown,
            sets=sets,
            workers=workers,
            progress=show,
        )
        for kind, child in zip(NOISE, rng.spawn(len(NOISE)), strict=True)
        if kind in models
    ]
