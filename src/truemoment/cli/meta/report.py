"""truemoment meta report: all studies of some systems, on one page with a verdict."""

from __future__ import annotations

import click

from truemoment.cli.command import Command
from truemoment.cli.groups import Output, PageOutput, bound, output_options, page_options
from truemoment.cli.meta.noise import noise_options
from truemoment.cli.meta.options import (
    finish,
    load,
    refuse,
    repetitions_option,
    resamples_option,
    sets_option,
    system_options,
    trials_option,
    workers_option,
)
from truemoment.cli.options import count_option, seed_option, status_line
from truemoment.studies.meta.all_studies import Effort, all_studies
from truemoment.studies.meta.label_noise import NoiseSource
from truemoment.studies.meta.loading import SystemSource


@click.command("report", cls=Command)
@system_options
@bound(
    "effort",
    Effort,
    trials_option,
    sets_option,
    noise_options,
    repetitions_option,
    resamples_option,
    click.option(
        "--validation-split",
        metavar="NAME",
        help="Also study selection: simulated variants, selected on this split and tested on --split.",
    ),
    count_option("--variants", 64, "Selection: number of simulated variants.", least=2, most=10_000),
    seed_option("all draws"),
    workers_option,
)
@page_options
@output_options
def command(
    source: SystemSource,
    effort: Effort,
    noise: NoiseSource,
    validation_split: str | None,
    seed: int,
    page: PageOutput,
    output: Output,
) -> None:
    """Make all studies of measures on some systems, with a verdict.

    Which measures agree, which are stable, which to select by, which differences can be
    trusted; and which findings of the AxIoU paper hold here. Label noise needs predictions, so
    it is left out where all systems are saved scores.

    \b
    truemoment meta report runs/ --dataset charades-sta --split test --html measures.html
    truemoment meta report --population --baselines --dataset charades-cd --split test-ood \\
        --validation-split val --annotators human-charades --html measures.html --open
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.studies.meta.reports import study_reports
    from truemoment.studies.meta.reports.verdict import verdict

    data_dir = source.data.data_dir
    refuse(output, page, noise.files(data_dir))
    models = noise.models(data_dir)
    validation = None if validation_split is None else source.data.read(validation_split)
    systems = load(source, seed, output, page)
    with status_line(show=output.progress) as on_status:
        studies = all_studies(
            source, systems, models, validation=validation, seed=seed, effort=effort, on_status=on_status
        )
    finish(study_reports(studies), output, page, seed=seed, systems=systems, verdict=verdict(studies))
