"""truemoment meta axioms: INV-k and MON-k, checked on pairs of lists that differ at one rank."""

from __future__ import annotations

import click

from truemoment.cli.meta.options import Output, result_options, stream
from truemoment.cli.options import measuring_options, seed_option


@click.command("axioms")
@measuring_options
@click.option(
    "--pairs",
    type=click.IntRange(1, 1_000_000),
    default=2000,
    show_default=True,
    metavar="N",
    help="Pairs of lists tried of each measure and axiom.",
)
@click.option(
    "--length",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    metavar="K",
    help="Answers of the longest list, for measures that look at all of them.",
)
@click.option(
    "--references",
    type=click.IntRange(1, 20),
    default=1,
    show_default=True,
    metavar="R",
    help="Reference moments a query has.",
)
@seed_option("the pairs")
@result_options
def command(
    measures: str | None,
    protocol: str | None,
    pairs: int,
    length: int,
    references: int,
    seed: int,
    out: Output,
) -> None:
    """Check whether measures ignore redundant answers (INV) and reward better ones (MON).

    Needs no systems and no data. Each pair is two ranked lists for one query that differ at one
    rank; a counterexample is shrunk to the smallest one.

    \b
    truemoment meta axioms
    truemoment meta axioms --measures "R@5,IoU=0.5; SetIoU" --references 2
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.metaevaluation.axioms import MEASURES, check_axioms
    from truemoment.reports.metaevaluation.axioms import chapter

    out.check()
    found = check_axioms(
        measures or MEASURES,
        stream(seed, "axioms"),
        pairs=pairs,
        length=length,
        references=references,
        protocol=protocol,
    )
    out.deliver([chapter(found)], None, seed)
