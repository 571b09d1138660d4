"""Where the narrator speaks: sound of a described track that the film's own sound has not (ours, not the paper's).

Both sounds are compared in bands on the film's clock, after the gain of each band and the track's noise are taken into
account. It needs an alignment better than 20 ms; otherwise the result states that the speech is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from truemoment.base.boundary.documents import document_head, write_document
from truemoment.base.boundary.files import read_json
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.intervals import Bools, Floats
from truemoment.media.audio.alignment import Piece, Span
from truemoment.media.audio.bands import running_mean
from truemoment.media.audio.reading import Samples
from truemoment.media.audio.recording import Sound
from truemoment.media.audio.refining import DelayLine, film_along

SCHEMA = "truemoment/speech/1"

N_BANDS = 16
LOWEST_HZ, HIGHEST_HZ = 200.0, 4000.0
WINDOW_S, FRAMES_PER_S = 0.032, 100
LOUD_QUANTILE = 0.7
NOISE_QUANTILE, NOISE_STRETCH_S, NOISE_FACTOR = 0.05, 30.0, 1.5
LEAST_DB, MOST_DB = -10.0, 20.0
GAIN_QUANTILE, GAIN_S = 0.4, 40.0
LEAST_GAIN_DB, MOST_GAIN_DB = -6.0, 2.0
"""Limits of the slow gain. A narrator who speaks for most of 40 s raises it too. Measured with 2 in place of 6 dB at
most: recall of frames 0.85 in place of 0.62 on such a film, 0.98 in place of 0.91 in a compressed track, and precision
as before; with 1 dB the precision in a compressed track falls to 0.75."""

SMOOTH_S = 0.3
ON_DB = 2.5
SHORTEST_GAP_S, SHORTEST_RUN_S = 0.35, 0.3
MOST_ERROR_S = 0.02
CHUNK_S = 60.0
TINY = 1e-12


class Narration(msgspec.Struct, frozen=True):
    """Where the narrator speaks.

    Parameters
    ----------
    runs
        Start and end of each run, in film seconds.
    can_tell
        Whether the alignment is good enough; without it there are no runs.
    why
        Reason why the speech is unknown; "" if it is known.
    gain_db, noise_db
        Gain of the track against the film, and level of its noise, by band.
    histogram
        Number of frames with an excess of -10 to -9 dB, ... 19 to 20 dB.
    """

    runs: tuple[Span, ...]
    can_tell: bool
    why: str = ""
    gain_db: tuple[float, ...] = ()
    noise_db: tuple[float, ...] = ()
    histogram: tuple[int, ...] = ()

    def write(self, path: AnyPath) -> None:
        """Write ``speech.json``."""
        document = {**document_head(SCHEMA), **msgspec.to_builtins(self)}
        write_document(path, document)


def read_narration(path: AnyPath) -> Narration:
    """Read a file of :meth:`Narration.write`."""
    return read_json(path, Narration)


def find_narrator(film: Sound, track: Sound, pieces: Sequence[Piece]) -> Narration:
    """Return where the narrator speaks on the parts of the film that pieces cover."""
    error_s = max((piece.error_s for piece in pieces), default=np.inf)
    if not error_s <= MOST_ERROR_S:
        why = f"the alignment is right to {1000 * error_s:.0f} ms, expected {1000 * MOST_ERROR_S:.0f} ms or better"
        return Narration((), False, why if pieces else "the track is not aligned with the film")
    powers = _powers(film, track, pieces)
    excess, gain, noise = _excess(powers)
    runs = runs_of(excess > ON_DB, FRAMES_PER_S)
    finite = excess[np.isfinite(excess)]
    histogram = np.histogram(finite, np.arange(LEAST_DB, MOST_DB + 1))[0]
    return Narration(
        tuple((low, high) for low, high in runs),
        True,
        "",
        tuple(gain.tolist()),
        tuple((10 * np.log10(noise + TINY)).tolist()),
        tuple(histogram.tolist()),
    )


class _Powers(NamedTuple):
    """Powers of both sounds on the film's clock, (frames, N_BANDS), and which frames a piece covers, (frames,)."""

    film: Samples
    track: Samples
    covered: Bools


def _powers(film: Sound, track: Sound, pieces: Sequence[Piece]) -> _Powers:
    n_frames = int(film.duration_s * FRAMES_PER_S)
    nothing = np.zeros((n_frames, N_BANDS), np.float32)
    powers = _Powers(nothing, nothing.copy(), np.zeros(n_frames, np.bool_))
    hop, chunk = round(film.rate_hz / FRAMES_PER_S), round(CHUNK_S * FRAMES_PER_S)
    n_window = round(WINDOW_S * film.rate_hz)
    weights = _band_weights(n_window, film.rate_hz)
    for piece in pieces:
        line = DelayLine(1 / piece.rate, -piece.delay_s / piece.rate, piece.error_s)
        first, last = (int(np.clip(np.ceil(edge * FRAMES_PER_S), 0, n_frames)) for edge in piece.film_s)
        for low in range(first, last, chunk):
            n = min(chunk, last - low)
            start, length = low * hop - n_window // 2, (n - 1) * hop + n_window
            powers.film[low : low + n] = _band_powers(film.between(start, start + length), hop, weights)
            powers.track[low : low + n] = _band_powers(film_along(track, line, start, length), hop, weights)
            powers.covered[low : low + n] = True
    return powers


def _band_weights(n_window: int, rate_hz: int) -> Samples:
    """Return which bins of a spectrum belong to each of 16 bands of equal ratio, (bins, N_BANDS)."""
    edges = np.geomspace(LOWEST_HZ, HIGHEST_HZ, N_BANDS + 1)
    hz = np.fft.rfftfreq(n_window, 1 / rate_hz)
    half = hz[1] / 2
    # A bin counts to a band by how much of its width lies in it, so that narrow bands have one too.
    low, high = np.maximum(hz[:, None] - half, edges[:-1]), np.minimum(hz[:, None] + half, edges[1:])
    return np.asarray(np.clip(high - low, 0, None) / hz[1], np.float32)


def _band_powers(samples: Samples, hop: int, weights: Samples) -> Samples:
    """Return the power of each frame in each band, (frames, N_BANDS)."""
    n_window = 2 * (len(weights) - 1)
    frames = np.lib.stride_tricks.sliding_window_view(samples, n_window)[::hop]
    spectrum = np.fft.rfft(frames * np.hanning(n_window + 1)[:-1].astype(np.float32), axis=1)
    power = np.square(spectrum.real) + np.square(spectrum.imag)
    return np.asarray(power @ weights / n_window**2, np.float32)


def _excess(powers: _Powers) -> tuple[Floats, Floats, Floats]:
    """Return the excess of the track in dB, (frames,), NaN where it is unknown; gain in dB and noise power by band."""
    film, track = powers.film[powers.covered], powers.track[powers.covered]
    loud = film > np.quantile(film, LOUD_QUANTILE, axis=0)
    ratio = 10 * np.log10((track + TINY) / (film + TINY))
    gain = np.array([np.median(ratio[loud[:, band], band]) for band in range(N_BANDS)])
    stretch = round(NOISE_STRETCH_S * FRAMES_PER_S)
    starts = range(0, max(1, len(track) - stretch // 2), stretch)
    levels = [np.quantile(track[low : low + stretch], NOISE_QUANTILE, axis=0) for low in starts]
    noise = NOISE_FACTOR * np.min(levels, axis=0)
    by_band = 10 * np.log10((track + TINY) / (film * 10 ** (gain / 10) + noise + TINY))
    excess = np.clip(by_band, LEAST_DB, MOST_DB).mean(axis=1)
    excess -= _slow_gain(excess)
    whole = np.full(len(powers.covered), np.nan)
    whole[powers.covered] = running_mean(excess, round(SMOOTH_S * FRAMES_PER_S))
    return whole, gain, noise


def _slow_gain(excess: Floats) -> Floats:
    """Return the 40th percentile over 40 s about each frame, from -6 to 2 dB, (frames,)."""
    half, step = round(GAIN_S / 2 * FRAMES_PER_S), FRAMES_PER_S
    middles = np.arange(0, len(excess), step)
    values = [np.quantile(excess[max(0, at - half) : at + half], GAIN_QUANTILE) for at in middles.tolist()]
    return np.clip(np.interp(np.arange(len(excess)), middles, values), LEAST_GAIN_DB, MOST_GAIN_DB)


def runs_of(on: Bools, per_s: float) -> list[Span]:
    """Return start and end in seconds of runs of frames that are on: short gaps are closed, short runs dropped.

    Examples
    --------
    >>> runs_of(np.array([0, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0], bool), 10.0)
    [(0.1, 0.8)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(on, np.int8), [0]])))
    runs: list[Span] = []
    for low, high in zip((edges[::2] / per_s).tolist(), (edges[1::2] / per_s).tolist(), strict=True):
        if runs and low - runs[-1][1] < SHORTEST_GAP_S:
            runs[-1] = (runs[-1][0], high)
        else:
            runs.append((low, high))
    return [(low, high) for low, high in runs if high - low >= SHORTEST_RUN_S]
