"""truemoment meta agreement: rank systems by every measure, and compare the rankings."""

from __future__ import annotations

from dataclasses import dataclass

from truemoment.base.request import seed
from truemoment.cli import binder
from truemoment.cli.meta.options import finish, load, resamples
from truemoment.cli.parts import Output, PageOutput
from truemoment.studies.meta.request import SystemSource


@dataclass(frozen=True, kw_only=True)
class AgreementRequest(SystemSource):
    """The systems, and what is drawn."""

    resamples: int = resamples()
    seed: int = seed("the resamples and of simulated systems")


@binder.command("agreement")
def command(request: AgreementRequest, page: PageOutput, output: Output) -> None:
    """Rank systems by every measure, and compare the rankings (Kendall's tau-b).

    \b
    truemoment meta agreement runs/*.jsonl --dataset charades-sta --split test --html agreement.html
    truemoment meta agreement a.npz b.npz c.npz --figures figures/
    truemoment meta agreement --population --baselines --dataset charades-sta --split test
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.agreement import agreement
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import agreement as reports

    systems = load(request, request.seed, output, page)
    study = agreement(
        systems.systems, stream(request.seed, "agreement"), resamples=request.resamples, progress=output.progress
    )
    finish([StudyReport.of(reports, study)], output, page, seed=request.seed, systems=systems)
