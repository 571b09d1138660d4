"""truemoment meta theory: what noise in the IoU does to measures, in closed form and simulated."""

from __future__ import annotations

from dataclasses import dataclass

from truemoment.base.errors import UsageError
from truemoment.base.request import Request, number, option, seed
from truemoment.cli import binder
from truemoment.cli.meta.options import finish, refuse
from truemoment.cli.parts import Output, PageOutput


@dataclass(frozen=True, kw_only=True)
class TheoryRequest(Request):
    """The noise, and the list."""

    iou: float = option("True IoU of the prediction.", 0.5, metavar="R")
    noise: str = option("Standard deviations of the noise in the IoU.", "0.05 0.1 0.2", metavar="'A B'")
    ranks: int | None = number("Length of the list. [default: 10]", None, 1, 100, metavar="K")
    ious: str | None = option(
        "True IoUs of the list by rank. [default: falling evenly from --iou to --iou / K]", metavar="'A B'"
    )
    length: float = option("Length of the moment as a fraction of the video, for dR@1.", 0.3, metavar="L")
    draws: int = number("Number of draws of each simulation.", 20_000, 2, 1_000_000)
    seed: int = seed("the simulation")

    def check(self) -> None:
        """Refuse a length and a list."""
        if self.ranks is not None and self.ious is not None:
            raise UsageError("got --ranks and --ious, expected one of them")


@binder.command("theory")
def command(request: TheoryRequest, page: PageOutput, output: Output) -> None:
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

    refuse(output, page)
    ranks, ious = request.ranks, request.ious
    study = theory(
        stream(request.seed, "theory"),
        iou=request.iou,
        gammas=_numbers("--noise", request.noise),
        ious=(10 if ranks is None else ranks) if ious is None else _numbers("--ious", ious),
        length_norm=request.length,
        draws=request.draws,
    )
    finish([StudyReport.of(reports, study)], output, page, seed=request.seed)


def _numbers(option: str, text: str) -> list[float]:
    """Read numbers separated by blanks or commas."""
    numbers = []
    for word in text.replace(",", " ").split():
        try:
            numbers.append(float(word))
        except ValueError:
            raise UsageError(f"{option}: got {word!r}, expected numbers separated by blanks") from None
    return numbers
