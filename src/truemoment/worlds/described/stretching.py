"""A sound at another speed with its pitch kept, by overlapping windows (WSOLA, Verhelst and Roelands 1993)."""

from __future__ import annotations

import numpy as np

from truemoment.media.audio.reading import Samples

HOP_S = 0.02
TOLERANCE_S = 0.005
"""How far a window may move so that it continues the one before it: the error of the times of the result."""


def stretched(samples: Samples, rate: float, rate_hz: int) -> Samples:
    """Return a sound that lasts 1 / rate as long, (M,): time t of it is time t x rate of the original, within 5 ms.

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
