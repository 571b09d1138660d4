"""The simulated described film: its files, and the truth about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from truemoment.audio.alignment import Piece
from truemoment.worlds.described.damage import CueDamage, Damage
from truemoment.worlds.described.script import Line

FILM, TRACK, SUBTITLES, TRUTH, TRUTH_LINES = "film.mp4", "described.m4a", "film.srt", "truth.json", "truth.jsonl"


@dataclass(frozen=True)
class DescribedSettings:
    """How a simulated film is made.

    Parameters
    ----------
    voices
        ``tones`` or ``espeak``.
    pictures
        Whether the film has a picture.
    fps
        Pictures per second.
    duck_db
        How much softer the film's sound is under the narrator.
    damage, cues
        What is wrong with the described track and with the subtitles.
    """

    voices: str = "tones"
    pictures: bool = True
    fps: int = 5
    duck_db: float = 8.0
    damage: Damage = field(default_factory=Damage)
    cues: CueDamage = field(default_factory=CueDamage)


@dataclass(frozen=True)
class Truth:
    """What is known about a simulated film; times are film seconds.

    Parameters
    ----------
    film, track, subtitles
        The files; `film` has its own sound.
    duration_s, track_duration_s
        Durations of the two.
    lines
        Everything that is spoken, in order: ``description``, ``dialogue`` or ``song``.
    pieces
        Where each part of the track lies in the film.
    """

    film: Path
    track: Path
    subtitles: Path
    duration_s: float
    track_duration_s: float
    lines: tuple[Line, ...]
    pieces: tuple[Piece, ...]
    damage: dict[str, Any]

    @property
    def descriptions(self) -> tuple[Line, ...]:
        """The narrator's sentences."""
        return tuple(line for line in self.lines if line.kind == "description")


def make_described(out: Path, minutes: float = 3.0, seed: int = 0, settings: DescribedSettings | None = None) -> Truth:
    """Write ``film.mp4``, ``described.m4a``, ``film.srt``, ``truth.jsonl`` and ``truth.json`` into a folder."""
    raise NotImplementedError
