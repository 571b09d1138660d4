"""truemoment collect align: where each part of a described track lies in the film."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from truemoment.base.errors import InputError
from truemoment.cli import EXIT_CHECK_FAILED
from truemoment.cli.command import Command
from truemoment.cli.delivery import deliver
from truemoment.cli.groups import Output, bound, output_options
from truemoment.cli.options import FILE, count_option, refuse_outputs, status_line

if TYPE_CHECKING:
    from truemoment.media.audio.aligning import AlignSettings, Method


@dataclass(frozen=True)
class Aligning:
    """How two sounds are aligned, as the options write it."""

    method: str
    rate_hz: int
    rates: tuple[str, ...]
    windows: int
    window_s: float
    search_s: float
    within_s: float

    def settings(self) -> AlignSettings:
        """Return the settings."""
        from truemoment.media.audio.aligning import AlignSettings
        from truemoment.media.audio.checking import PaperSettings
        from truemoment.media.audio.rates import RATES

        paper = PaperSettings(self.windows, self.window_s, self.search_s, within_s=self.within_s)
        return AlignSettings(cast("Method", self.method), self.rate_hz, self.rates or RATES, paper)


aligning_options = bound(
    "aligning",
    Aligning,
    click.option(
        "--method",
        type=click.Choice(["paper", "robust"]),
        default="robust",
        show_default=True,
        help="paper: one delay that 20 windows confirm; robust: also other speeds, cuts and insertions.",
    ),
    count_option("--rate-hz", 16_000, "Sampling rate of the comparison, in Hz.", least=14_000, most=48_000),
    click.option(
        "--rates",
        multiple=True,
        metavar="RATE",
        help="Speed to try, in film seconds per track second; can be repeated. [default: 1, 25/24, 24/25, 25/23.976, "
        "23.976/25]",
    ),
    count_option("--windows", 20, "Number of windows of the paper's check.", least=1, most=10_000),
    click.option(
        "--window-s", type=float, default=30.0, show_default=True, metavar="S", help="Duration of such a window."
    ),
    click.option(
        "--search-s",
        type=float,
        default=30.0,
        show_default=True,
        metavar="S",
        help="Largest distance of a window's delay from that of the whole track.",
    ),
    click.option(
        "--within-s",
        type=float,
        default=0.1,
        show_default=True,
        metavar="S",
        help="Largest distance of a window's delay from their median.",
    ),
    heading="Alignment",
)


@click.command("align", cls=Command)
@click.argument("film")
@click.argument("track")
@aligning_options
@click.option("-o", "--out", type=FILE, metavar="FILE", help="Write the alignment, as alignment.json.")
@output_options
def command(film: str, track: str, aligning: Aligning, out: Path | None, output: Output) -> None:
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
    film_source, track_source = parse_source(film), parse_source(track)
    refuse_outputs([film_source.path, track_source.path], [out, output.json_path])
    with status_line(show=output.progress) as on_status:
        found = align(film_source, track_source, settings, on_status=on_status)
    if found.verdict == "not this film":
        raise InputError(f"is not the sound of {film_source.path}: {found.why}", path=track_source.path)
    if out is not None:
        found.write(out)
    deliver(reports.report(found, settings.method), found.document, output)
    if settings.method == "paper" and not (found.paper and found.paper.passed):
        click.get_current_context().exit(EXIT_CHECK_FAILED)
