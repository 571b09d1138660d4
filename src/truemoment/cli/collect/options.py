"""Options of ``truemoment collect run``, by what they are about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.base.boundary.keyed import print_number
from truemoment.base.errors import UsageError
from truemoment.cli.collect.align import Aligning, aligning_options
from truemoment.cli.groups import F, bound
from truemoment.cli.options import FILE, together

if TYPE_CHECKING:
    from truemoment.collection.layout import CollectSettings
    from truemoment.collection.tasks import FilmTask

MODES = ("both", "paper", "difference", "subtitles", "speaker")


def seconds_option(name: str, default: float | None, text: str) -> Callable[[F], F]:
    """An option with seconds."""
    shown = "" if default is None else f" [default: {print_number(default)}]"
    return click.option(name, type=float, default=default, metavar="S", help=text + shown)


@dataclass(frozen=True)
class Films:
    """Which films are collected: one, or a list."""

    film: str | None
    described: str | None
    subtitles: Path | None
    name: str
    group: str
    films_list: Path | None
    delay_s: float | None

    def tasks(self, transcript: Path | None) -> list[FilmTask]:
        """Return the films; `transcript` has the words of a single one."""
        from truemoment.collection.tasks import make_task, read_tasks

        if self.films_list is not None:
            if self.film is not None or self.described is not None or self.subtitles is not None:
                raise UsageError("got a film and --list, expected one of them")
            if transcript is not None:
                raise UsageError("--speech transcript:FILE is for one film; name the transcripts in the list")
            return read_tasks(self.films_list)
        if self.film is None or self.described is None:
            raise UsageError("which film? give FILM --described TRACK, or --list FILE")
        return [
            make_task(
                self.film, self.described, self.subtitles, name=self.name, group=self.group, transcript=transcript
            )
        ]


films_options = bound(
    "films",
    Films,
    click.argument("film", metavar="[FILM]", required=False),
    click.option("--described", metavar="TRACK", help="Described track: FILE, or FILE#STREAM."),
    click.option("--subtitles", type=FILE, metavar="FILE", help="Subtitles: SRT, WebVTT, ASS, MicroDVD, FILM#sub:N."),
    click.option("--name", default="", metavar="NAME", help="Name of the film. [default: that of its file]"),
    click.option("--group", default="", metavar="NAME", help="Films of one group lie in one split."),
    click.option(
        "--list", "films_list", type=FILE, metavar="FILE", help="Films as JSON Lines: film, described, subtitles ..."
    ),
    seconds_option("--delay-s", None, "Delay of a track that is the narrator alone."),
    heading="Films",
)


@dataclass(frozen=True)
class Hearing:
    """What hears the words."""

    speech: str | None
    language: str
    hear: str
    transcript_times: str
    punctuation: Path | None
    pause_s: float

    @property
    def transcript(self) -> Path | None:
        """The transcript of a single film; None where a recogniser hears words."""
        kind, _, rest = (self.speech or "").partition(":")
        return Path(rest) if kind == "transcript" and rest else None

    @property
    def engine(self) -> str:
        """The recogniser; "" where there are transcripts."""
        return "" if self.speech is None or self.transcript is not None else self.speech


hearing_options = bound(
    "hearing",
    Hearing,
    click.option(
        "--speech",
        metavar="ENGINE",
        help="whisper:FOLDER[,beam=5,compute=int8], vosk:FOLDER, transcript:FILE or tones.",
    ),
    click.option("--language", default="en", show_default=True, metavar="CODE", help="Language that is spoken."),
    click.option(
        "--hear",
        type=click.Choice(["narrator", "track"]),
        default="narrator",
        show_default=True,
        help="Hear only where the narrator speaks, or all of the track.",
    ),
    click.option(
        "--transcript-times",
        type=click.Choice(["track", "film"]),
        default="track",
        show_default=True,
        help="What the times of a transcript count on.",
    ),
    click.option("--punctuation", type=FILE, metavar="FOLDER", help="Token classifier that adds punctuation."),
    seconds_option("--pause-s", 0.8, "Pause that ends a sentence."),
    heading="Speech",
)


@dataclass(frozen=True)
class Judging:
    """Which sentences are kept, and how they are written."""

    dialogue: str
    overlap_s: float
    subtitle_fps: float | None
    fit_subtitles: bool
    keep_all: bool
    names: str
    cast: Path | None
    skip_opening_s: float
    skip_credits_s: float


judging_options = bound(
    "judging",
    Judging,
    click.option(
        "--dialogue", type=click.Choice(MODES), default="both", show_default=True, help="Rules that drop dialogue."
    ),
    seconds_option("--overlap-s", 0.0, "Seconds that a sentence may share with a cue of speech."),
    click.option("--subtitle-fps", type=float, metavar="F", help="Frames per second of MicroDVD subtitles."),
    click.option("--fit-subtitles", is_flag=True, help="Move subtitles to where they fit the voices of the film."),
    click.option("--keep-all", is_flag=True, help="Keep all sentences where nothing separates them from dialogue."),
    click.option(
        "--names",
        type=click.Choice(["keep", "someone", "both"]),
        default="both",
        show_default=True,
        help="Keep names, write SOMEONE, or store both.",
    ),
    click.option("--cast", type=FILE, metavar="FILE", help="Cast list: a name a line."),
    seconds_option("--skip-opening-s", 0.0, "Seconds at the start of the film that are left out."),
    seconds_option("--skip-credits-s", 0.0, "Seconds at the end of the film that are left out."),
    heading="Dialogue and sentences",
)


def settings_of(hearing: Hearing, judging: Judging, aligning: Aligning, *, delay_s: float | None) -> CollectSettings:
    """Return the settings of a collection; `delay_s` is that of a track that is the narrator alone."""
    import math

    import msgspec

    from truemoment.collection.layout import CollectSettings
    from truemoment.collection.names import read_cast

    aligning.settings()  # refuses what is no rate, no window
    values = {
        **{name: getattr(hearing, name) for name in ("language", "hear", "transcript_times", "pause_s")},
        **{
            name: getattr(judging, name)
            for name in (
                "dialogue",
                "overlap_s",
                "subtitle_fps",
                "fit_subtitles",
                "keep_all",
                "names",
                "skip_opening_s",
                "skip_credits_s",
            )
        },
        **{
            name: getattr(aligning, name)
            for name in ("method", "rate_hz", "rates", "windows", "window_s", "search_s", "within_s")
        },
        "delay_s": delay_s,
        "cast": () if judging.cast is None else read_cast(judging.cast),
    }
    for name, value in values.items():
        least = -math.inf if name == "delay_s" else 0.0
        if isinstance(value, float) and not (math.isfinite(value) and value >= least):
            raise UsageError(f"--{name.replace('_', '-')}: got {value:g}, expected seconds or a number of at least 0")
    return msgspec.convert(values, CollectSettings)


all_options = together(films_options, hearing_options, judging_options, aligning_options)
"""The options of all groups."""
