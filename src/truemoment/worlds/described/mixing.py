"""The two sounds of a simulated film: its own, and the same with a narrator over it."""

from __future__ import annotations

import numpy as np

from truemoment.media.audio.reading import Samples
from truemoment.worlds.described.bed import amplitude, draw_bed
from truemoment.worlds.described.script import Script
from truemoment.worlds.described.voices import Voices

DIALOGUE_DB = (-26.0, -20.0)
NARRATOR_DB = -20.0
DUCKED_S = 0.3
"""How long the film's sound takes to become softer before the narrator, and louder behind."""


def mix_film(rng: np.random.Generator, script: Script, voices: Voices, rate_hz: int) -> Samples:
    """Return the film's own sound, (N,): its bed and the speech and songs of actors."""
    samples = draw_bed(rng, script.scenes, rate_hz)
    for line in script.lines:
        if line.kind != "description":
            level = amplitude(float(rng.uniform(*DIALOGUE_DB)))
            _add(samples, voices.say(line.text, line.voice, rate_hz).samples, line.start_s, level, rate_hz)
    return samples


def mix_track(
    film: Samples,
    script: Script,
    voices: Voices,
    rate_hz: int,
    *,
    duck_db: float = 8.0,
    narrator_db: float = NARRATOR_DB,
) -> Samples:
    """Return the described track on the film's clock, (N,): the film's sound, softer under the narrator.

    Parameters
    ----------
    film : (N,)
        The film's own sound.
    duck_db
        How much softer it is under the narrator.
    narrator_db
        The narrator's level in dBFS.
    """
    samples = film * _ducking(script, len(film), rate_hz, duck_db)
    for line in script.lines:
        if line.kind == "description":
            spoken = voices.say(line.text, line.voice, rate_hz).samples
            _add(samples, spoken, line.start_s, amplitude(narrator_db), rate_hz)
    return samples


def _add(samples: Samples, spoken: Samples, start_s: float, level: float, rate_hz: int) -> None:
    first = round(start_s * rate_hz)
    part = samples[first : first + len(spoken)]
    part += spoken[: len(part)] * np.float32(level)


def _ducking(script: Script, n: int, rate_hz: int, duck_db: float) -> Samples:
    """Return the gain of the film's sound under the narrator, (N,)."""
    decibels = np.zeros(n, np.float32)
    edge = round(DUCKED_S * rate_hz)
    ramp = np.linspace(0, -duck_db, edge, dtype=np.float32)
    for line in script.lines:
        if line.kind == "description":
            first, last = max(edge, round(line.start_s * rate_hz)), min(n - edge, round(line.end_s * rate_hz))
            shape = np.concatenate([ramp, np.full(last - first, -duck_db, np.float32), ramp[::-1]])
            part = decibels[first - edge : last + edge]
            np.minimum(part, shape, out=part)
    return np.asarray(10 ** (decibels / 20), np.float32)
