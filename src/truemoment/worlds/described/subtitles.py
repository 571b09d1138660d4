"""Subtitles of a simulated film, and their differences from the speech."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.worlds.described.script import Line


@dataclass(frozen=True)
class CueDamage:
    """Differences of subtitles from the speech.

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


SOUNDS = ("[music]", "(applause)", "[thunder]", "LAUGHTER")


def write_cues(rng: np.random.Generator, lines: Sequence[Line], damage: CueDamage) -> str:
    """Return the subtitles of a film as SubRip text: cues of dialogue and songs, and captions of sounds."""
    cues: list[tuple[float, float, str]] = []
    for line in lines:
        if line.kind == "description":
            if rng.random() < damage.sounds:
                cues.append((line.start_s + 0.2, line.start_s + 2.2, SOUNDS[int(rng.integers(len(SOUNDS)))]))
        elif rng.random() >= damage.missing:
            start = line.start_s + float(rng.normal(*damage.start_s))
            end = line.end_s + abs(float(rng.normal(*damage.end_s)))
            text = f"\u266a {line.text} \u266a" if line.kind == "song" else line.text
            cues.append((start, end, f"{SPEAKERS[line.voice]}: {text}" if damage.speakers else text))
    moved = sorted((max(0.0, start + damage.delay_s), end + damage.delay_s, text) for start, end, text in cues)
    shown = [(start, end, text) for start, end, text in moved if end > start]
    blocks = [
        f"{number}\n{_clock(start)} --> {_clock(end)}\n{text}\n" for number, (start, end, text) in enumerate(shown, 1)
    ]
    return "\n".join(blocks)


SPEAKERS = ("NARRATOR", "MAN", "WOMAN", "GIRL", "OLD MAN")
"""Names of the voices in cues."""


def _clock(time_s: float) -> str:
    """Return a time as SubRip writes it."""
    milliseconds = round(time_s * 1000)
    seconds, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d},{milliseconds:03d}"
