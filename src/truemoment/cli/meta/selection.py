"""truemoment meta selection: which validation measure selects variants that test well."""

from __future__ import annotations

from dataclasses import dataclass

from truemoment.base.request import seed
from truemoment.cli import binder
from truemoment.cli.meta.options import finish, refuse, resamples
from truemoment.cli.outputs import status_line
from truemoment.cli.parts import Output, PageOutput
from truemoment.studies.meta.request import VariantSource


@dataclass(frozen=True, kw_only=True)
class SelectionRequest(VariantSource):
    """The variants, and what is drawn."""

    resamples: int = resamples()
    seed: int = seed("the resamples")


@binder.command("selection")
def command(request: SelectionRequest, page: PageOutput, output: Output) -> None:
    """Report which validation measure selects variants that test well, and what each choice loses.

    A file of --validation and a file of --test with the same name are one variant. They are
    predictions of any format, or scores saved by 'truemoment evaluate --save-scores' (.npz),
    which need no annotations.

    \b
    truemoment meta selection --validation val/ --test test/ --dataset charades-cd \\
        --validation-split val --split test-ood
    truemoment meta selection --validation val-scores/ --test test-scores/
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import selection as reports
    from truemoment.studies.meta.selection import select

    refuse(output, page, request.folders)
    with status_line(show=output.progress) as on_status:
        validation, test = request.load(on_status)
    rng = stream(request.seed, "selection")
    study = select(validation, test.systems, rng, resamples=request.resamples, progress=output.progress)
    finish([StudyReport.of(reports, study)], output, page, seed=request.seed, systems=test)
