"""truemoment meta ambiguity: figures and rankings under label noise."""

from __future__ import annotations

import click

from truemoment.cli.command import Command
from truemoment.cli.groups import Output, PageOutput, output_options, page_options
from truemoment.cli.meta.noise import noise_options
from truemoment.cli.meta.options import (
    finish,
    load,
    refuse,
    sets_option,
    system_options,
    workers_option,
)
from truemoment.cli.options import seed_option
from truemoment.studies.meta.label_noise import NoiseSource, under_noise
from truemoment.studies.meta.loading import SystemSource


@click.command("ambiguity", cls=Command)
@system_options
@noise_options
@sets_option
@seed_option("the noise and of simulated systems")
@workers_option
@page_options
@output_options
def command(
    source: SystemSource,
    noise: NoiseSource,
    sets: int,
    seed: int,
    workers: int | None,
    page: PageOutput,
    output: Output,
) -> None:
    """Measure systems with noisy labels: how far figures move, and which systems change places.

    \b
    truemoment meta ambiguity runs/ --dataset charades-sta --split test
    truemoment meta ambiguity runs/ --dataset charades-sta --split test --annotators human-charades
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import ambiguity as reports

    refuse(output, page, noise.files(source.data.data_dir))
    models = noise.models(source.data.data_dir)
    systems = load(source, seed, output, page, need_predictions=True)
    found = under_noise(
        systems,
        models,
        stream(seed, "ambiguity"),
        on_unknown=source.how.on_unknown,
        sets=sets,
        workers=workers,
        progress=output.progress,
    )
    finish([StudyReport.of(reports, one) for one in found], output, page, seed=seed, systems=systems)
