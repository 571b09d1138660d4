"""truemoment meta axioms: INV-k and MON-k, checked on pairs of lists that differ at one rank."""

from __future__ import annotations

from dataclasses import dataclass

from truemoment.base.request import number, seed
from truemoment.cli import binder
from truemoment.cli.meta.options import finish, refuse
from truemoment.cli.parts import Output, PageOutput
from truemoment.studies.request import Measuring


@dataclass(frozen=True, kw_only=True)
class AxiomsRequest(Measuring):
    """The measures, and the pairs of lists."""

    pairs: int = number("Number of pairs of lists for each measure and axiom.", 2000, 1, 1_000_000)
    length: int = number("Length of the lists, for measures that use all predictions.", 5, 1, 100, metavar="K")
    references: int = number("Number of reference moments per query.", 1, 1, 20, metavar="R")
    seed: int = seed("the pairs")


@binder.command("axioms")
def command(request: AxiomsRequest, page: PageOutput, output: Output) -> None:
    """Check whether measures ignore redundant predictions (INV) and reward better ones (MON).

    Needs no systems and no data. Each pair is two ranked lists for one query that differ at one
    rank; a counterexample is shrunk to the smallest one.

    \b
    truemoment meta axioms
    truemoment meta axioms --measures "R@5,IoU=0.5; SetIoU" --references 2
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.axioms import MEASURES, check_axioms
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import axioms as reports

    refuse(output, page)
    study = check_axioms(
        request.measures or MEASURES,
        stream(request.seed, "axioms"),
        pairs=request.pairs,
        length=request.length,
        references=request.references,
        protocol=request.protocol,
    )
    finish([StudyReport.of(reports, study)], output, page, seed=request.seed)
