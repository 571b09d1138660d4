"""truemoment meta axioms: INV-k and MON-k, checked on pairs of lists that differ at one rank."""

from __future__ import annotations

import click

from truemoment.cli.command import Command
from truemoment.cli.groups import Measuring, Output, PageOutput, measuring_options, output_options, page_options
from truemoment.cli.meta.options import finish, refuse
from truemoment.cli.options import count_option, seed_option


@click.command("axioms", cls=Command)
@measuring_options
@count_option("--pairs", 2000, "Number of pairs of lists for each measure and axiom.", least=1, most=1_000_000)
@count_option(
    "--length", 5, "Length of the lists, for measures that use all predictions.", least=1, most=100, metavar="K"
)
@count_option("--references", 1, "Number of reference moments per query.", least=1, most=20, metavar="R")
@seed_option("the pairs")
@page_options
@output_options
def command(
    measuring: Measuring,
    pairs: int,
    length: int,
    references: int,
    seed: int,
    page: PageOutput,
    output: Output,
) -> None:
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
    found = check_axioms(
        measuring.measures or MEASURES,
        stream(seed, "axioms"),
        pairs=pairs,
        length=length,
        references=references,
        protocol=measuring.protocol,
    )
    finish([StudyReport.of(reports, found)], output, page, seed=seed)
