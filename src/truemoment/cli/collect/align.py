"""truemoment collect align: where each part of a described track lies in the film."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from truemoment.base.errors import InputError
from truemoment.base.request import Out, Request, argument, number, option
from truemoment.cli import EXIT_CHECK_FAILED, binder
from truemoment.cli.delivery import deliver
from truemoment.cli.outputs import status_line
from truemoment.cli.parts import Output

if TYPE_CHECKING:
    from truemoment.media.audio.aligning import AlignSettings


@dataclass(frozen=True, kw_only=True)
class AlignmentOptions(Request):
    """How two sounds are aligned, as the options write it."""

    HEADING = "Alignment"

    method: Literal["paper", "robust"] = option(
        "paper: one delay that 20 windows confirm; robust: also other speeds, cuts and insertions.", "robust"
    )
    rate_hz: int = number("Sampling rate of the comparison, in Hz.", 16000, 14000, 48000)
    rates: tuple[str, ...] = option(
        "Speed to try, in film seconds per track second; can be repeated. [default: 1, 25/24, 24/25, 25/23.976, "
        "23.976/25]",
        (),
        metavar="RATE",
    )
    windows: int = number("Number of windows of the paper's check.", 20, 1, 10000)
    window_s: float = option("Duration of a window of the check, in seconds.", 30.0, metavar="S")
    search_s: float = option(
        "Largest difference of a window's delay from that of the track, in seconds.", 30.0, metavar="S"
    )
    within_s: float = option("Largest difference of a window's delay from their median, in seconds.", 0.1, metavar="S")

    def settings(self) -> AlignSettings:
        """Return the settings."""
        from truemoment.media.audio.aligning import AlignSettings
        from truemoment.media.audio.checking import PaperSettings
        from truemoment.media.audio.rates import RATES

        paper = PaperSettings(self.windows, self.window_s, self.search_s, within_s=self.within_s)
        return AlignSettings(self.method, self.rate_hz, self.rates or RATES, paper)


@dataclass(frozen=True, kw_only=True)
class AlignRequest(Request):
    """The two sounds."""

    film: str = argument()
    track: str = argument()
    out: Out[Path | None] = option("Write the alignment, as alignment.json.", name="-o --out", metavar="FILE")

    def inputs(self) -> list[Path]:
        """Return the files of the sounds."""
        from truemoment.media.audio.sources import parse_source

        return [parse_source(self.film).path, parse_source(self.track).path]


@binder.command("align")
def command(request: AlignRequest, aligning: AlignmentOptions, output: Output) -> None:
    """Align TRACK, a film's sound with audio description, with the film's own sound in FILM.

    FILE#2 names a stream of a file by its number, FILE#eng-ad by its language and audio description.

    Exit status 1 if the check of --method paper fails.

    \b
    truemoment collect align film.mp4 ad.mp3
    truemoment collect align film.mkv#1 film.mkv#2 --method paper --json -
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.collection import report_alignment as reports
    from truemoment.media.audio.aligning import align
    from truemoment.media.audio.sources import parse_source

    settings = aligning.settings()
    film_source, track_source = parse_source(request.film), parse_source(request.track)
    with status_line(show=output.progress) as on_status:
        alignment = align(film_source, track_source, settings, on_status=on_status)
    if alignment.verdict == "not this film":
        raise InputError(f"is not the sound of {film_source.path}: {alignment.why}", path=track_source.path)
    if request.out is not None:
        alignment.write(request.out)
    deliver(reports.report(alignment, settings.method), alignment.document, output)
    if settings.method == "paper" and not (alignment.paper and alignment.paper.passed):
        click.get_current_context().exit(EXIT_CHECK_FAILED)
