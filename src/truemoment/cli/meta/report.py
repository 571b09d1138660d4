"""truemoment meta report: all studies of some systems, on one page with a verdict."""

from __future__ import annotations

from truemoment.cli import binder
from truemoment.cli.meta.options import finish, load, refuse
from truemoment.cli.outputs import status_line
from truemoment.cli.parts import Output, PageOutput
from truemoment.studies.meta.request import Effort, NoiseSource, SystemSource


@binder.command("report")
def command(request: SystemSource, effort: Effort, noise: NoiseSource, page: PageOutput, output: Output) -> None:
    """Make all studies of measures on some systems, with a verdict.

    Which measures agree, which are stable, which to select by, which differences can be
    trusted; and which findings of the AxIoU paper hold here. Label noise needs predictions, so
    it is left out where all systems are saved scores.

    \b
    truemoment meta report runs/ --dataset charades-sta --split test --html measures.html
    truemoment meta report --population --baselines --dataset charades-cd --split test-ood \\
        --validation-split val --annotators human-charades --html measures.html --open
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.studies.meta.all_studies import all_studies
    from truemoment.studies.meta.reports import study_reports
    from truemoment.studies.meta.reports.verdict import verdict

    refuse(output, page)
    models = noise.models(request.source.data_dir)
    split = effort.validation_split
    validation = None if split is None else request.source.read(split)
    systems = load(request, effort.seed, output, page)
    with status_line(show=output.progress) as on_status:
        studies = all_studies(request, systems, models, validation=validation, effort=effort, on_status=on_status)
    finish(study_reports(studies), output, page, seed=effort.seed, systems=systems, verdict=verdict(studies))
