"""The sound of simulated scenes without people: ambience, music and effects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truemoment.media.audio.reading import Samples
from truemoment.worlds.described.script import Span

AMBIENCE_DB = (-50.0, -32.0)
MUSIC_DB = (-40.0, -30.0)
EFFECT_DB = (-32.0, -18.0)
WITH_MUSIC = 0.5
EFFECT_EVERY_S = 8.0
EDGE_S = 0.3


def draw_bed(rng: np.random.Generator, scenes: Sequence[Span], rate_hz: int) -> Samples:
    """Return the sound of scenes that follow each other, (N,): each has an ambience, half have music, all effects."""
    n = round(scenes[-1][1] * rate_hz)
    bed = np.zeros(n, np.float32)
    for low, high in scenes:
        first, last = round(low * rate_hz), min(n, round(high * rate_hz))
        part = ambience(rng, last - first, rate_hz)
        if rng.random() < WITH_MUSIC:
            part += music(rng, last - first, rate_hz)
        add_effects(rng, part, rate_hz)
        edge = min(round(EDGE_S * rate_hz), len(part) // 2)
        ramp = np.linspace(0, 1, edge, dtype=np.float32)
        part[:edge] *= ramp
        part[len(part) - edge :] *= ramp[::-1]
        bed[first:last] = part
    return bed


def amplitude(decibels: float) -> float:
    """Return the amplitude of a level in dB."""
    return float(10 ** (decibels / 20))


def ambience(rng: np.random.Generator, n: int, rate_hz: int) -> Samples:
    """Return noise in a random band at a random level, which swells slowly, (N,)."""
    low = float(rng.uniform(60, 600))
    high = min(low * float(rng.uniform(3, 20)), 0.45 * rate_hz)
    level = amplitude(float(rng.uniform(*AMBIENCE_DB)))
    swell = 1 + 0.3 * np.sin(2 * np.pi * np.arange(n, dtype=np.float32) / (rate_hz * float(rng.uniform(3, 9))))
    return np.asarray(noise(rng, n, rate_hz, low, high) * swell * np.float32(level), dtype=np.float32)


def noise(rng: np.random.Generator, n: int, rate_hz: int, low_hz: float, high_hz: float) -> Samples:
    """Return noise of power 1 in a band, whose density falls as 1 / frequency, (N,)."""
    spectrum = np.fft.rfft(rng.standard_normal(n, np.float32))
    hz = np.fft.rfftfreq(n, 1 / rate_hz).astype(np.float32)
    spectrum *= np.where((hz >= low_hz) & (hz <= high_hz), 1 / np.sqrt(np.maximum(hz, 1)), 0).astype(np.float32)
    samples = np.fft.irfft(spectrum, n)
    return np.asarray(samples / max(float(np.sqrt(np.mean(samples**2))), 1e-9), np.float32)


def music(rng: np.random.Generator, n: int, rate_hz: int) -> Samples:
    """Return random chords of decaying notes, (N,)."""
    samples = np.zeros(n, np.float32)
    level = amplitude(float(rng.uniform(*MUSIC_DB)))
    beat_s = float(rng.uniform(0.4, 1.2))
    length = round(2.0 * rate_hz)
    times = np.arange(length, dtype=np.float32) / rate_hz
    for at in np.arange(0, n / rate_hz, beat_s):
        first = round((at + float(rng.uniform(0, 0.03))) * rate_hz)
        room = min(length, n - first)
        if room <= 0:
            continue
        chord = np.zeros(room, np.float32)
        for _ in range(int(rng.integers(1, 4))):
            hz = 110 * 2 ** (int(rng.integers(0, 37)) / 12)
            decay = np.exp(-times[:room] * np.float32(rng.uniform(1.5, 5)))
            for harmonic in (1, 2, 3):
                chord += decay / harmonic * np.sin(np.float32(2 * np.pi * hz * harmonic) * times[:room])
        samples[first : first + room] += chord
    return np.asarray(samples * np.float32(level / max(float(np.sqrt(np.mean(samples**2))), 1e-9)), np.float32)


def add_effects(rng: np.random.Generator, samples: Samples, rate_hz: int) -> None:
    """Add short noises to a sound, one in :data:`EFFECT_EVERY_S` on average."""
    for _ in range(int(rng.poisson(len(samples) / rate_hz / EFFECT_EVERY_S))):
        length = min(round(float(rng.uniform(0.1, 0.8)) * rate_hz), len(samples))
        first = int(rng.integers(0, len(samples) - length + 1))
        low = float(rng.uniform(100, 2000))
        fall = np.exp(-np.arange(length, dtype=np.float32) / (0.3 * length))
        burst = noise(rng, length, rate_hz, low, min(low * 4, 0.45 * rate_hz)) * fall
        samples[first : first + length] += burst * np.float32(amplitude(float(rng.uniform(*EFFECT_DB))))
