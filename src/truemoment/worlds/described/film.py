"""The simulated described film: its files, and the truth about them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from truemoment.base.boundary.documents import document_head, write_document
from truemoment.base.boundary.files import read_json, read_json_lines, write_json_lines, write_text
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import UsageError
from truemoment.media.audio.alignment import Piece
from truemoment.worlds.described.damage import Damage, damage_track
from truemoment.worlds.described.espeak import Espeak
from truemoment.worlds.described.mixing import NARRATOR_DB, mix_film, mix_track
from truemoment.worlds.described.script import Line, write_script
from truemoment.worlds.described.subtitles import CueDamage, write_cues
from truemoment.worlds.described.voices import Tones, Voices
from truemoment.worlds.described.writing import write_film, write_sound

FILM, SUBTITLES, TRUTH, TRUTH_LINES = "film.mp4", "film.srt", "truth.json", "truth.jsonl"
TRACKS = {"aac": "described.m4a", "mp3": "described.mp3", "wav": "described.wav"}

SCHEMA = "truemoment/described-truth/1"

CAUTION = "Measured on a simulated film, which shows that the steps work; it is no estimate for real films."


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
    rate_hz
        Samples per second of both sounds.
    duck_db
        How much softer the film's sound is under the narrator.
    narrator_db
        Level of the narrator in dBFS.
    damage, cues
        What is wrong with the described track and with the subtitles.
    """

    voices: str = "tones"
    pictures: bool = True
    fps: int = 5
    rate_hz: int = 16_000
    duck_db: float = 8.0
    narrator_db: float = NARRATOR_DB
    damage: Damage = field(default_factory=Damage)
    cues: CueDamage = field(default_factory=CueDamage)


@dataclass(frozen=True)
class Truth:
    """The truth about a simulated film.

    Parameters
    ----------
    film, track, subtitles
        The files; `film` has its own sound.
    duration_s, track_duration_s
        Durations of the film and of the track.
    lines
        Everything that is spoken, in order of its start, in film seconds: ``description``, ``dialogue`` or ``song``.
    pieces
        Where each part of the track lies in the film.
    settings
        How it was made, with its seed.
    """

    film: Path
    track: Path
    subtitles: Path
    duration_s: float
    track_duration_s: float
    lines: tuple[Line, ...]
    pieces: tuple[Piece, ...]
    settings: dict[str, Any]

    @property
    def descriptions(self) -> tuple[Line, ...]:
        """The narrator's sentences, also those that the track leaves out."""
        return tuple(line for line in self.lines if line.kind == "description")


def get_voices(name: str) -> Voices:
    """Return voices by name: ``tones`` or ``espeak``."""
    if name == "tones":
        return Tones()
    if name == "espeak":
        return Espeak()
    raise UsageError(f"got the voices {name!r}, expected tones or espeak")


def make_described(out: Path, minutes: float = 3.0, seed: int = 0, settings: DescribedSettings | None = None) -> Truth:
    """Write a film, its described track, its subtitles and the truth about them into a folder.

    The files are ``film.mp4``, ``described.m4a`` (or ``.mp3``, ``.wav``), ``film.srt``, ``truth.jsonl`` (a line per
    sentence) and ``truth.json`` (pieces and settings). The same arguments write the same sound.

    Parameters
    ----------
    out
        A folder, which is made if it is missing.
    minutes
        Duration of the film, 1 to 600.
    """
    settings = settings or DescribedSettings()
    scripted, mixed, damaged, cued = (np.random.default_rng([seed, stream]) for stream in range(4))
    voices = get_voices(settings.voices)
    script = write_script(scripted, minutes, voices, fps=settings.fps)
    film = mix_film(mixed, script, voices, settings.rate_hz)
    track = mix_track(
        film, script, voices, settings.rate_hz, duck_db=settings.duck_db, narrator_db=settings.narrator_db
    )
    result = damage_track(damaged, track, settings.damage, settings.rate_hz)
    folder = OwnPath(out)
    folder.mkdir(parents=True, exist_ok=True)
    write_film(folder / FILM, film, settings.rate_hz, script.videos if settings.pictures else ())
    track_path = folder / TRACKS[settings.damage.codec]
    write_sound(track_path, result.samples, settings.rate_hz, settings.damage.codec, settings.damage.bitrate)
    write_text(folder / SUBTITLES, write_cues(cued, script.lines, settings.cues))
    truth = Truth(
        out / FILM,
        track_path.path,
        out / SUBTITLES,
        script.duration_s,
        len(result.samples) / settings.rate_hz,
        script.lines,
        result.pieces,
        {"minutes": minutes, "seed": seed, **asdict(settings)},
    )
    write_json_lines(folder / TRUTH_LINES, map(asdict_line, truth.lines))
    write_document(folder / TRUTH, _document(truth))
    return truth


def asdict_line(line: Line) -> dict[str, Any]:
    """Return a line as ``truth.jsonl`` has it."""
    return {**asdict(line), "words": [list(word) for word in line.words]}


def _document(truth: Truth) -> dict[str, Any]:
    return {
        **document_head(SCHEMA),
        "film": truth.film.name,
        "track": truth.track.name,
        "subtitles": truth.subtitles.name,
        "duration_s": truth.duration_s,
        "track_duration_s": truth.track_duration_s,
        "pieces": msgspec.to_builtins(truth.pieces),
        "settings": truth.settings,
        "caution": CAUTION,
    }


class _TruthFile(msgspec.Struct):
    film: str
    track: str
    subtitles: str
    duration_s: float
    track_duration_s: float
    pieces: tuple[Piece, ...]
    settings: dict[str, Any]


def read_truth(folder: Path) -> Truth:
    """Read the truth about a film from the folder of :func:`make_described`."""
    truth = read_json(folder / TRUTH, _TruthFile)
    lines = tuple(line for _, line in read_json_lines(folder / TRUTH_LINES, Line))
    return Truth(
        folder / truth.film,
        folder / truth.track,
        folder / truth.subtitles,
        truth.duration_s,
        truth.track_duration_s,
        lines,
        truth.pieces,
        truth.settings,
    )
