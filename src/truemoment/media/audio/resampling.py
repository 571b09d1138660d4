"""Values of a sound between its samples."""

from __future__ import annotations

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.media.audio.reading import Samples

HALF_TAPS = 8
TABLE_STEPS = 512
"""Positions between two samples at which the interpolation is tabled; the nearest one is used."""


def _table() -> Samples:
    """Return the weights of windowed sinc interpolation, (2 HALF_TAPS, TABLE_STEPS + 1)."""
    share = np.arange(TABLE_STEPS + 1)[:, None] / TABLE_STEPS
    distance = share - np.arange(1 - HALF_TAPS, HALF_TAPS + 1)[None, :]
    weights = np.sinc(distance) * np.cos(np.pi * distance / (2 * HALF_TAPS + 2)) ** 2
    return np.ascontiguousarray((weights / weights.sum(axis=1, keepdims=True)).T, np.float32)


_WEIGHTS = _table()


def values_at(samples: Samples, positions: Floats) -> Samples:
    """Return the values of a sound at any positions, (M,), by windowed sinc of 16 samples.

    Parameters
    ----------
    samples : (N,)
        Values at positions 0 to N - 1; they are 0 outside.
    positions : (M,)
        In samples.
    """
    whole = np.floor(positions).astype(np.int64)
    step = np.rint((positions - whole) * TABLE_STEPS).astype(np.int64)
    low = int(whole.min(initial=0)) - HALF_TAPS
    high = int(whole.max(initial=0)) + HALF_TAPS + 1
    part = np.zeros(high - low + 1, np.float32)
    first, last = max(0, low), min(len(samples), high + 1)
    if last > first:
        part[first - low : last - low] = samples[first:last]
    values = np.zeros(len(positions), np.float32)
    whole -= low + HALF_TAPS
    if len(step) and step.min() == step.max() and (np.diff(whole) == 1).all():  # the same sampling rate
        for tap, weight in enumerate(_WEIGHTS[:, step[0]]):
            values += part[whole[0] + tap + 1 :][: len(values)] * weight
    else:
        for tap, weights in enumerate(_WEIGHTS):
            values += part[tap + 1 :].take(whole) * weights.take(step)
    return values
