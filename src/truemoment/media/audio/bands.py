"""Log energies of mel bands, in which sounds are found in each other whatever their level, noise and small drift."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.media.audio.reading import Samples
from truemoment.media.audio.recording import Sound

N_BANDS = 8
LOWEST_HZ, HIGHEST_HZ = 80.0, 7000.0
WINDOW_S, HOP_S = 0.032, 0.01
FRAMES_PER_S = 100
COARSE_PER_S = 25
MEAN_S = 3.0
CLIP = 3.0
LEAST = 1e-7

CHUNK_FRAMES = 6000


def log_bands(sound: Sound) -> Samples:
    """Return log10 of the energy in mel bands, (N_BANDS, frames), at 100 frames a second (Hann window of 32 ms)."""
    n_window, hop = round(WINDOW_S * sound.rate_hz), round(HOP_S * sound.rate_hz)
    n_frames = int(sound.duration_s * FRAMES_PER_S)
    hann = np.hanning(n_window + 1)[:-1].astype(np.float32)
    weights = _mel_weights(n_window, sound.rate_hz)

    def part(low: int) -> Samples:
        n = min(CHUNK_FRAMES, n_frames - low)
        first = low * hop - n_window // 2
        samples = sound.between(first, first + (n - 1) * hop + n_window)
        frames = np.lib.stride_tricks.sliding_window_view(samples, n_window)[::hop] * hann
        spectrum = np.fft.rfft(frames, axis=1)
        power = np.square(spectrum.real) + np.square(spectrum.imag)
        return np.asarray(np.log10(weights @ power.T / n_window + LEAST), np.float32)

    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(part, range(0, n_frames, CHUNK_FRAMES)))
    return np.concatenate(parts, axis=1)


def _mel_weights(n_window: int, rate_hz: int) -> Samples:
    """Return triangles over the bins of a spectrum, (N_BANDS, bins), evenly spaced on the mel scale."""
    lowest, highest = (2595 * math.log10(1 + hz / 700) for hz in (LOWEST_HZ, HIGHEST_HZ))
    mel = np.linspace(lowest, highest, N_BANDS + 2)
    edges = 700 * (10 ** (mel / 2595) - 1)
    hz = np.fft.rfftfreq(n_window, 1 / rate_hz)
    rising = (hz - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - hz) / np.diff(edges)[1:, None]
    return np.asarray(np.clip(np.minimum(rising, falling), 0, None), dtype=np.float32)


def coarse_bands(bands: Samples) -> Samples:
    """Return bands at 25 frames a second, comparable between sounds: (N_BANDS, frames / 4).

    Frames are averaged by four. A running mean of 3 s is subtracted; the rest is divided by its standard deviation,
    clipped to -3 to 3, and has a mean of 0.
    """
    step = FRAMES_PER_S // COARSE_PER_S
    n = bands.shape[1] // step
    coarse = bands[:, : n * step].reshape(len(bands), n, step).mean(axis=2)
    return comparable(coarse, COARSE_PER_S)


def comparable(bands: Samples, per_s: int) -> Samples:
    """Return bands less a running mean of 3 s, over their standard deviation, clipped, with a mean of 0."""
    rest = bands - running_mean(bands, round(MEAN_S * per_s))
    rest /= np.maximum(rest.std(axis=1, keepdims=True), 1e-6)
    rest = np.clip(rest, -CLIP, CLIP)
    return np.asarray(rest - rest.mean(axis=1, keepdims=True), np.float32)


def running_mean(values: Samples | Floats, n: int) -> Floats:
    """Return the mean of `n` neighbours of each value along the last axis, fewer at the ends; same shape."""
    total = np.cumsum(values, axis=-1, dtype=np.float64)
    total = np.concatenate([np.zeros_like(total[..., :1]), total], axis=-1)
    at = np.arange(values.shape[-1])
    low, high = np.maximum(0, at - n // 2), np.minimum(len(at), at + n // 2 + 1)
    return np.asarray((total[..., high] - total[..., low]) / (high - low))


def stretched_bands(bands: Samples, rate: float) -> Samples:
    """Return the bands of a track as they are if it runs at the film's speed, (N_BANDS, frames x rate)."""
    if rate == 1:
        return bands
    at = np.arange(int(bands.shape[1] * rate)) / rate
    return np.stack([np.interp(at, np.arange(bands.shape[1]), row) for row in bands]).astype(np.float32)
