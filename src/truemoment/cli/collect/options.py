"""Options of ``truemoment collect run``, by what they are about."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from truemoment.base.errors import UsageError
from truemoment.base.request import In, Request, argument, option
from truemoment.cli.collect.align import AlignmentOptions

if TYPE_CHECKING:
    from truemoment.collection.layout import CollectSettings
    from truemoment.collection.tasks import FilmTask

MODES = ("both", "paper", "difference", "subtitles", "speaker")


@dataclass(frozen=True, kw_only=True)
class Films(Request):
    """Which films are collected: one, or a list."""

    HEADING = "Films"

    film: str | None = argument(metavar="[FILM]", required=False)
    described: str | None = option("Described track: FILE, or FILE#STREAM.", metavar="TRACK")
    subtitles: In[Path | None] = option("Subtitles: SRT, WebVTT, ASS, MicroDVD, FILM#sub:N.", metavar="FILE")
    name: str = option("Name of the film. [default: that of its file]", "", metavar="NAME", show=False)
    group: str = option("Group of the film; films of one group lie in one split.", "", metavar="NAME", show=False)
    films_list: In[Path | None] = option(
        "Films as JSON Lines: film, described, subtitles ...", name="--list", metavar="FILE"
    )
    delay_s: float | None = option("Delay of a track that has only the narrator, in seconds.", metavar="S")

    def inputs(self) -> list[Path]:
        """Return the files of the films."""
        from truemoment.collection.tasks import files_of_tasks

        return list(files_of_tasks(self.tasks(None)))

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


@dataclass(frozen=True, kw_only=True)
class SpeechOptions(Request):
    """How words are recognised."""

    HEADING = "Speech"

    speech: str | None = option(
        "whisper:FOLDER[,beam=5,compute=int8], vosk:FOLDER, transcript:FILE or tones.", metavar="ENGINE"
    )
    language: str = option("Language that is spoken.", "en", metavar="CODE")
    hear: Literal["narrator", "track"] = option(
        "Recognise speech only where the narrator speaks, or in all of the track.", "narrator"
    )
    transcript_times: Literal["track", "film"] = option(
        "Time axis of a transcript: that of the track, or of the film.", "track"
    )
    punctuation: In[Path | None] = option("Token classifier that adds punctuation.", metavar="FOLDER")
    pause_s: float = option("Pause that ends a sentence. [default: 0.8]", 0.8, metavar="S", show=False)

    def inputs(self) -> list[Path]:
        """Return the transcript of a single film."""
        return [] if self.transcript is None else [self.transcript]

    @property
    def transcript(self) -> Path | None:
        """The transcript of a single film; None where a recogniser hears words."""
        kind, _, rest = (self.speech or "").partition(":")
        return Path(rest) if kind == "transcript" and rest else None

    @property
    def engine(self) -> str:
        """The recogniser; "" where there are transcripts."""
        return "" if self.speech is None or self.transcript is not None else self.speech


@dataclass(frozen=True, kw_only=True)
class SentenceRules(Request):
    """Which sentences are kept, and how they are written."""

    HEADING = "Dialogue and sentences"

    dialogue: Literal["both", "paper", "difference", "subtitles", "speaker"] = option(
        "Rules that drop dialogue.", "both"
    )
    overlap_s: float = option(
        "Seconds that a sentence may share with a cue of speech. [default: 0]", 0.0, metavar="S", show=False
    )
    subtitle_fps: float | None = option("Frames per second of MicroDVD subtitles.", metavar="F")
    fit_subtitles: bool = option("Shift subtitles to fit the voices of the film.", False)
    keep_all: bool = option("Keep all sentences if no rule can separate them from dialogue.", False)
    names: Literal["keep", "someone", "both"] = option("Keep names, write SOMEONE, or store both.", "both")
    cast: In[Path | None] = option("Cast list: a name a line.", metavar="FILE")
    skip_opening_s: float = option(
        "Seconds at the start of the film that are left out. [default: 0]", 0.0, metavar="S", show=False
    )
    skip_credits_s: float = option(
        "Seconds at the end of the film that are left out. [default: 0]", 0.0, metavar="S", show=False
    )


def settings_of(
    hearing: SpeechOptions, judging: SentenceRules, aligning: AlignmentOptions, *, delay_s: float | None
) -> CollectSettings:
    """Return the settings of a collection; `delay_s` is that of a track that is the narrator alone."""
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
