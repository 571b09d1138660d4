"""Damage of a described track and of subtitles, as dials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from truemoment.media.audio.alignment import Piece
from truemoment.media.audio.reading import Samples
from truemoment.media.audio.resampling import values_at
from truemoment.worlds.described.bed import draw_bed

HOP_S = 0.02
TOLERANCE_S = 0.005
"""How far a window may move so that it continues the one before it: the error of the times of the result."""


@dataclass(frozen=True)
class Damage:
    """Damage of a described track, in this order.

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


class Damaged(NamedTuple):
    """A damaged track: its sound, (N,), and where each part of it lies in the film."""

    samples: Samples
    pieces: tuple[Piece, ...]


def damage_track(rng: np.random.Generator, track: Samples, damage: Damage, rate_hz: int) -> Damaged:
    """Apply all damage but the codec's to a track that is on the film's clock.

    Parameters
    ----------
    track : (N,)
        The described track.
    """
    parts, spans = _edited(rng, track, damage, rate_hz)
    samples = np.concatenate(parts)
    if damage.rate != 1:
        samples = stretched(samples, damage.rate, rate_hz) if damage.stretched else _faster(samples, damage.rate)
    late = round(damage.offset_s * rate_hz)
    offset_s = late / rate_hz
    samples = np.concatenate([np.zeros(late, np.float32), samples]) if late > 0 else samples[-late:]
    end_s = len(samples) / rate_hz
    pieces = []
    for program_s, film_s, length_s in spans:
        low = max(0.0, offset_s + program_s / damage.rate)
        high = min(end_s, offset_s + (program_s + length_s) / damage.rate)
        if high > low:
            pieces.append(Piece((low, high), damage.rate, film_s - program_s - damage.rate * offset_s, 0.0))
    return Damaged(_coloured(rng, samples, damage, rate_hz), tuple(pieces))


def _edited(
    rng: np.random.Generator, track: Samples, damage: Damage, rate_hz: int
) -> tuple[list[Samples], list[tuple[float, float, float]]]:
    """Cut and insert; return the parts in order, and (start in the result, start in the film, length) of the film's."""
    low_s, high_s = damage.part_s or (0.0, len(track) / rate_hz)
    edits = sorted(
        [(at, "cut", length) for at, length in damage.cuts] + [(at, "put", n) for at, n in damage.insertions]
    )
    parts: list[Samples] = []
    spans: list[tuple[float, float, float]] = []
    first, last, n = round(low_s * rate_hz), round(high_s * rate_hz), 0
    for at_s, kind, length_s in [*edits, (high_s, "end", 0.0)]:
        until = min(last, max(first, round(at_s * rate_hz)))
        if until > first:
            parts.append(track[first:until])
            spans.append((n / rate_hz, first / rate_hz, (until - first) / rate_hz))
            n += until - first
            first = until
        if kind == "cut":
            first += round(length_s * rate_hz)
        elif kind == "put":
            parts.append(draw_bed(rng, [(0.0, length_s)], rate_hz))
            n += len(parts[-1])
    return parts, spans


def _faster(samples: Samples, rate: float) -> Samples:
    """Return a sound at another speed, with its pitch."""
    n = int((len(samples) - 1) / rate) + 1
    blocks = (np.arange(low, min(n, low + SPEED_BLOCK)) * rate for low in range(0, n, SPEED_BLOCK))
    return np.concatenate([values_at(samples, at) for at in blocks])


SPEED_BLOCK = 1 << 18


def _coloured(rng: np.random.Generator, samples: Samples, damage: Damage, rate_hz: int) -> Samples:
    """Apply band, compression, noise and gain."""
    if damage.band_hz is not None:
        samples = _filtered(samples, *damage.band_hz, rate_hz)
    if damage.compression != 1:
        samples = samples * _compression(samples, damage.compression, rate_hz)
    if damage.noise_db is not None:
        level = np.sqrt(np.mean(samples**2)) * 10 ** (damage.noise_db / 20)
        samples = samples + rng.standard_normal(len(samples), np.float32) * np.float32(level)
    return np.asarray(samples * np.float32(10 ** (damage.gain_db / 20)), np.float32)


def _filtered(samples: Samples, low_hz: float, high_hz: float, rate_hz: int) -> Samples:
    """Return the part of a sound in a band, with soft edges."""
    spectrum = np.fft.rfft(samples)
    hz = np.fft.rfftfreq(len(samples), 1 / rate_hz)
    soft = 1 / (1 + (low_hz / np.maximum(hz, 1)) ** 8) / (1 + (hz / high_hz) ** 8)
    return np.asarray(np.fft.irfft(spectrum * soft, len(samples)), np.float32)


COMPRESSED_ABOVE_DB = -30.0


def _compression(samples: Samples, ratio: float, rate_hz: int) -> Samples:
    """Return the gain of a compressor, (N,), from the power over 20 ms."""
    step = round(0.02 * rate_hz)
    padded = np.pad(samples, (0, -len(samples) % step)).reshape(-1, step)
    level_db = 10 * np.log10(np.mean(padded**2, axis=1) + 1e-10)
    gain_db = -np.maximum(level_db - COMPRESSED_ABOVE_DB, 0) * (1 - 1 / ratio)
    middles = (np.arange(len(gain_db)) + 0.5) * step
    return np.asarray(10 ** (np.interp(np.arange(len(samples)), middles, gain_db) / 20), np.float32)


def stretched(samples: Samples, rate: float, rate_hz: int) -> Samples:
    """Return a sound that lasts 1 / rate as long, (M,): time t of it is time t x rate of the original, within 5 ms.

    The pitch is kept, by overlapping windows (WSOLA, Verhelst and Roelands 1993).

    Each window of 40 ms is taken within 5 ms of its place, where it correlates best with what followed the window
    before it.
    """
    hop, reach = round(HOP_S * rate_hz), round(TOLERANCE_S * rate_hz)
    size = 2 * hop
    hann = np.hanning(size + 1)[:-1].astype(np.float32)
    n = int(len(samples) / rate)
    edge = size + reach
    source = np.pad(samples, (edge, 2 * edge))
    total = np.zeros(n + 2 * size, np.float32)
    at = -1
    for start in range(-hop, n, hop):
        place = round(rate * (start + hop)) - hop + edge  # middles of windows lie where the speed has them
        if at >= 0:
            wanted = source[at + hop : at + hop + size]
            place += int(np.argmax(np.correlate(source[place - reach : place + reach + size], wanted, "valid"))) - reach
        at = min(max(place, reach), len(source) - size - hop - reach)
        total[start + hop : start + hop + size] += hann * source[at : at + size]
    return total[hop : hop + n]
