"""What is done to a described track and to subtitles, as dials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Damage:
    """What is done to a described track, in this order.

    Parameters
    ----------
    cuts
        Parts of the film, (start, length) in film seconds, that the track leaves out.
    insertions
        Other sound put in, (place in film seconds, length).
    part_s
        Start and end of the part of the film that the track has at all; None for all of it.
    rate
        Film seconds per track second: 25/24 is a track that runs faster.
    stretched
        Whether the pitch is kept as the speed changes.
    offset_s
        Seconds by which the track starts late; below 0, seconds missing at its start.
    band_hz
        Only this band is left.
    compression
        Ratio of a compressor above -30 dBFS; 1 for none.
    noise_db
        Power of noise relative to the track; None for no noise.
    gain_db
        Change of the level.
    codec, bitrate
        ``aac``, ``mp3`` or ``wav``, and bits per second.
    """

    cuts: tuple[tuple[float, float], ...] = ()
    insertions: tuple[tuple[float, float], ...] = ()
    part_s: tuple[float, float] | None = None
    rate: float = 1.0
    stretched: bool = False
    offset_s: float = 3.0
    band_hz: tuple[float, float] | None = None
    compression: float = 1.0
    noise_db: float | None = None
    gain_db: float = 0.0
    codec: Literal["aac", "mp3", "wav"] = "aac"
    bitrate: int = 64_000


@dataclass(frozen=True)
class CueDamage:
    """How subtitles differ from what is spoken.

    Parameters
    ----------
    start_s, end_s
        Mean and standard deviation of a cue's start minus its line's start, and of the time it stays after the end
        (the absolute value counts).
    missing
        Share of the dialogue without a cue.
    sounds
        Share of the gaps with description that have a caption of a sound.
    delay_s
        Delay of all cues.
    speakers
        Whether cues name who speaks, as ``MAN:``.
    """

    start_s: tuple[float, float] = (-0.1, 0.1)
    end_s: tuple[float, float] = (0.4, 0.3)
    missing: float = 0.0
    sounds: float = 1 / 6
    delay_s: float = 0.0
    speakers: bool = False
