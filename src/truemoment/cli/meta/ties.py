"""truemoment meta ties: on how many queries a measure gives all systems the same value."""

from __future__ import annotations

from dataclasses import dataclass

from truemoment.base.request import seed
from truemoment.cli import binder
from truemoment.cli.meta.options import finish, load, resamples
from truemoment.cli.parts import Output, PageOutput
from truemoment.studies.meta.request import SystemSource


@dataclass(frozen=True, kw_only=True)
class TiesRequest(SystemSource):
    """The systems, and what is drawn."""

    resamples: int = resamples()
    seed: int = seed("the resamples and of simulated systems")


@binder.command("ties")
def command(request: TiesRequest, page: PageOutput, output: Output) -> None:
    """Report on how many queries each measure gives all systems the same value.

    \b
    truemoment meta ties runs/*.jsonl --dataset charades-sta --split test --figures figures
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import ties as reports
    from truemoment.studies.meta.ties import ties

    systems = load(request, request.seed, output, page)
    study = ties(systems.systems, stream(request.seed, "ties"), resamples=request.resamples)
    finish([StudyReport.of(reports, study)], output, page, seed=request.seed, systems=systems)
