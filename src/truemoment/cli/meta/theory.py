"""truemoment meta theory: what noise in the IoU does to measures, in closed form and simulated."""

from __future__ import annotations

import click

from truemoment.base.errors import UsageError
from truemoment.cli.command import Command
from truemoment.cli.groups import Output, PageOutput, output_options, page_options
from truemoment.cli.meta.options import finish, refuse
from truemoment.cli.options import count_option, seed_option


@click.command("theory", cls=Command)
@click.option("--iou", type=float, default=0.5, show_default=True, metavar="R", help="True IoU of the prediction.")
@click.option(
    "--noise",
    default="0.05 0.1 0.2",
    show_default=True,
    metavar="'A B'",
    help="Standard deviations of the noise in the IoU.",
)
@count_option("--ranks", None, "Length of the list. [default: 10]", least=1, most=100, metavar="K")
@click.option(
    "--ious", metavar="'A B'", help="True IoUs of the list by rank. [default: falling evenly from --iou to --iou / K]"
)
@click.option(
    "--length",
    type=float,
    default=0.3,
    show_default=True,
    metavar="L",
    help="Length of the moment as a fraction of the video, for dR@1.",
)
@count_option("--draws", 20_000, "Number of draws of each simulation.", least=2, most=1_000_000)
@seed_option("the simulation")
@page_options
@output_options
def command(
    iou: float,
    noise: str,
    ranks: int | None,
    ious: str | None,
    length: float,
    draws: int,
    seed: int,
    page: PageOutput,
    output: Output,
) -> None:
    """Compute what noise in the IoU does to measures.

    No systems are needed. After AxIoU, Fig. 10, and beyond: lists, noise that
    stays within [0, 1], and discounted recall.

    \b
    truemoment meta theory --figures figures/
    truemoment meta theory --iou 0.6 --noise "0.02 0.1" --ious "0.6 0.5 0.2"
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.evaluation.uncertainty import stream
    from truemoment.studies.meta.reports import StudyReport
    from truemoment.studies.meta.reports import theory as reports
    from truemoment.studies.meta.theory import theory

    if ranks is not None and ious is not None:
        raise UsageError("got --ranks and --ious, expected one of them")
    refuse(output, page)
    found = theory(
        stream(seed, "theory"),
        iou=iou,
        gammas=_numbers("--noise", noise),
        ious=(10 if ranks is None else ranks) if ious is None else _numbers("--ious", ious),
        length_norm=length,
        draws=draws,
    )
    finish([StudyReport.of(reports, found)], output, page, seed=seed)


def _numbers(option: str, text: str) -> list[float]:
    """Read numbers separated by blanks or commas."""
    found = []
    for word in text.replace(",", " ").split():
        try:
            found.append(float(word))
        except ValueError:
            raise UsageError(f"{option}: got {word!r}, expected numbers separated by blanks") from None
    return found
