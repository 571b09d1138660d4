r"""Regions of equal size in which locations are counted, and the shares of even spreads in them.

The regions are those of :func:`truemoment.base.cells.region_of`. Moments that are even over all (start, end) have equal
shares in them. Moments that are even on a grid of n steps (all pairs of a start and a later end equally likely) do not;
this module counts their shares.
"""

from __future__ import annotations

import numpy as np

from truemoment.base.cells import region_of
from truemoment.base.intervals import TIE, Floats, Ints
from truemoment.studies.bias.chance import entropy_bits

N_STEPS = 16
"""Bands of length, and steps of start in each: 256 regions of equal size, so unevenness is at most 8 bits.

The number is the same for all datasets, so that values can be compared. With fewer regions less is visible; with more,
the correction for chance, about 255 / (2 N ln 2) bits, dominates: it is 0.6 bits for 300 moments, 0.003 for 72,000.
"""

EVEN = np.full(N_STEPS**2, 1 / N_STEPS**2)
"""Share of each region if moments are even over all (start, end), (256,)."""
EVEN.flags.writeable = False


def below_even_bits(counts: Ints | Floats, even: Floats) -> float:
    r"""Return the Kullback-Leibler divergence of counts p, (K,), from an even spread q, (K,), in bits.

    .. math:: D = \sum_k p_k \log_2 \frac{p_k}{q_k} = - \sum_k p_k \log_2 q_k - H(p)

    Examples
    --------
    >>> import numpy as np
    >>> even = np.array([0.25, 0.25, 0.5, 0.0])
    >>> below_even_bits(np.array([1, 1, 2, 0]), even), below_even_bits(np.array([1, 0, 0, 0]), even)
    (0.0, 2.0)
    """
    numbers = np.asarray(counts, dtype=np.float64)
    to_name = -np.log2(np.where(even > 0, even, 1))
    return float(numbers @ to_name / numbers.sum() - entropy_bits(numbers))


def even_on_steps(n_steps: Ints, fewest: Ints, shortest_norm: float) -> Floats:
    """Return the share of each region, (256,), if moments are even on the steps of their videos.

    `n_steps` and `fewest`, (N,), are the number of steps of the video of each moment, and the smallest number of steps
    of a moment. `shortest_norm` is the shortest length of the regions, as a share of the video.
    """
    kinds, counts = np.unique(np.stack([n_steps, fewest], axis=1), axis=0, return_counts=True)
    of_kinds = [_of_one_video(n, least, shortest_norm) for n, least in kinds.tolist()]
    return np.asarray(counts @ np.stack(of_kinds) / len(n_steps))


def _of_one_video(n_steps: int, fewest: int, shortest_norm: float) -> Floats:
    """Return the share of each region in a video, (256,); by length, because there are too many moments to list."""
    length = np.arange(fewest, n_steps + 1)
    room = n_steps - length
    region = region_of(np.stack([0 * length, length], axis=1) / n_steps, shortest_norm, N_STEPS)
    edges = np.arange(N_STEPS) / N_STEPS - TIE
    starts_before = np.clip(np.ceil(room[:, None] * edges), 0, None)
    n_starts = np.diff(starts_before, axis=1, append=room[:, None] + 1.0)
    n_starts[-1] = 0  # the whole video has one start, with its own region
    counts = np.zeros((N_STEPS, N_STEPS))
    np.add.at(counts, region // N_STEPS, n_starts)
    counts.ravel()[region[-1]] += 1
    return np.asarray(counts.ravel() / counts.sum())
