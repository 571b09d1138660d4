"""Densities of moments in classes, as figures show them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from truemoment.base.density import Density
from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats

SCALE_MEANS = "times as dense as evenly spread moments"

DENSITY_BOUNDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Classes of density, times an even spread; densities below the first stay blank."""

CELLS = 64
"""Places an axis at which a density is computed."""


def density_on_grid(points: Floats, *, of_duration: bool = False, cells: int = CELLS) -> Floats | None:
    """Density of moments at the middles of square cells, times an even spread; None if they lie on one line.

    Parameters
    ----------
    points : (N, 2)
        Start and end of each as shares of the video.
    of_duration
        Lay them out by start and duration rather than by start and end. The density is the same: the one is the other
        sheared, which changes no area, and the kernels are sheared with it.
    cells
        How many an axis.

    Returns
    -------
    array, shape (cells, cells)
        By end or duration, and by start.
    """
    middles = (np.arange(cells) + 0.5) / cells
    upward, start = np.meshgrid(middles, middles, indexing="ij")
    places = np.stack([start.ravel(), (start + upward if of_duration else upward).ravel()], axis=1)
    try:
        return np.asarray(Density.fit(points).evaluate(places).reshape(start.shape) / 2)  # an even spread has density 2
    except InputError:
        return None


def histogram(points: Floats) -> Floats:
    """Density on a grid (start, end), times an even spread over the half of the square above the diagonal."""
    bounds = np.linspace(0, 1, CELLS + 1)
    counts = np.histogram2d(points[:, 0], points[:, 1], bins=(bounds, bounds))[0]
    return np.asarray(counts / len(points) * CELLS**2 / 2)


class MostFrequent(NamedTuple):
    """The place of more than half of the moments, and its share in words."""

    place: tuple[float, float]
    words: str


def most_frequent(points: Floats) -> MostFrequent | None:
    """Return the place, in hundredths of the video, where more than half of the moments lie; None for none."""
    if not len(points):
        return None
    values, counts = np.unique(np.rint(points * 100), axis=0, return_counts=True)
    if counts.max() <= 0.5 * len(points):
        return None
    start, end = (values[counts.argmax()] / 100).tolist()
    return MostFrequent((start, end), f"{100 * counts.max() / len(points):.0f} % at {start:.2f} to {end:.2f}")
