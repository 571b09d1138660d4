r"""Grids of times: starts and ends are multiples of a step, in seconds or as a share of the video.

On a grid only some moments are possible (DiDeMo: 21 in a video of six segments of 5 s), so even moments are far from
even over all (start, end). *Even* then means even on the grid: all pairs of a start and a later end are equally likely
within a video.

Every file with rounded times has a grid. Only grids that change a value count: even moments on the grid are at least
:data:`LEAST_BITS` below an even spread over all (start, end), in the regions of equal size of
:func:`truemoment.base.cells.region_of`. These are grids of up to about 150 steps per video. (Charades-STA, in tenths of
a second, has 300 steps: 0.0006 bits.)

Of several grids, the coarsest counts. Times may be off by :data:`ROUNDED` of a step, because files round them. If the
duration of the video is not a multiple of the step, moments may also end with the video.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from truemoment.base.cells import region_of
from truemoment.base.errors import InputError
from truemoment.base.intervals import TIE, Bools, Floats, Ints
from truemoment.studies.bias.chance import entropy_bits
from truemoment.studies.bias.locations import Locations

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
    bits = -np.log2(np.where(even > 0, even, 1))
    return float(numbers @ bits / numbers.sum() - entropy_bits(numbers))


def even_on_steps(n_steps: Ints, fewest: Ints, shortest_norm: float) -> Floats:
    """Return the share of each region, (256,), if moments are even on the steps of their videos.

    `n_steps` and `fewest`, (N,), are the number of steps of the video of each moment, and the smallest number of steps
    of a moment. `shortest_norm` is the shortest length of the regions, as a share of the video.
    """
    kinds, counts = np.unique(np.stack([n_steps, fewest], axis=1), axis=0, return_counts=True)
    of_kinds = [_shares_in_video(n, least, shortest_norm) for n, least in kinds.tolist()]
    return np.asarray(counts @ np.stack(of_kinds) / len(n_steps))


def _shares_in_video(n_steps: int, fewest: int, shortest_norm: float) -> Floats:
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


LEAST_BITS = 0.005
"""Grids below this are ignored, because no table shows their effect."""

MOST_STEPS = 200
"""Largest number of steps of a median video: finer grids are below :data:`LEAST_BITS`."""

ROUNDED = 0.01
"""Tolerance of times, as a share of a step."""

NEARLY = 0.95
"""If at least this share of the moments is on a grid, but not all, no spread is even for all of them."""

FEWEST_TIMES = 3
"""Least number of starts and ends inside the video; fewer are on a grid by accident."""

_SAMPLE = 200


@dataclass(frozen=True)
class Grid:
    """A grid of times, with a step in seconds or as a share of the video.

    With `to_the_end`, moments also end with the video, between two steps.

    Examples
    --------
    >>> Grid(5.0, "seconds").name, Grid(0.05, "share").name
    ('5 s', '1/20 of the video')
    """

    step: float
    unit: Literal["seconds", "share"]
    to_the_end: bool = False

    @property
    def name(self) -> str:
        """The step with its unit."""
        return f"{self.step:g} s" if self.unit == "seconds" else f"1/{round(1 / self.step)} of the video"


@dataclass(frozen=True, eq=False)
class GridMoments:
    """N locations as steps of a grid: first and last step of each, from 0."""

    grid: Grid
    first: Ints
    last: Ints
    n_steps: Ints  # of the video
    steps_of_video: Floats  # duration of the video in steps; may be fractional

    def distinct(self, video: Ints) -> tuple[Ints, Ints]:
        """Return the index of one location of each distinct moment, and its number of locations; (M,) each.

        `video`, (N,), is the number of the video of each location.
        """
        moments = np.stack([video, self.first, self.last])
        _, index, counts = np.unique(moments, axis=1, return_index=True, return_counts=True)
        return index, counts


def grid_moments(locations: Locations) -> GridMoments | None:
    """Return locations as steps of the coarsest grid that contains all of them; None if there is none.

    Examples
    --------
    >>> from truemoment import Annotations
    >>> moments = [(0.0, 5.0), (5.0, 20.0), (10.0, 15.0), (15.0, 30.0)]
    >>> rows = [(f"v{k}#0", f"v{k}", 30.0, "a door opens", *moment) for k, moment in enumerate(moments)]
    >>> on_grid = grid_moments(Locations.of(Annotations.from_rows(rows)))
    >>> on_grid.grid.name, on_grid.first.tolist(), on_grid.last.tolist(), on_grid.n_steps.tolist()
    ('5 s', [0, 1, 2, 3], [0, 3, 2, 5], [6, 6, 6, 6])
    """
    inside = (locations.start_end_norm > TIE) & (locations.start_end_norm < 1 - TIE)
    rows = np.unique(locations.moment, return_index=True)[1]  # a location of each distinct moment
    rows = rows[inside[rows].any(axis=1)]
    if inside[rows].sum() < FEWEST_TIMES or len(np.unique(locations.start_end_norm[rows].round(9), axis=0)) < 2:
        return None
    for unit, step, steps_of_video in _candidates(locations, rows, inside):
        sample = rows[:: max(1, len(rows) // _SAMPLE)]
        if 2 * np.count_nonzero(_fits(locations.start_end_norm[sample], steps_of_video[sample])) < len(sample):
            continue
        fits = _fits(locations.start_end_norm, steps_of_video)
        share = float(fits[rows].mean())
        if share < NEARLY:
            continue
        moments = _steps(Grid(step, unit), locations.start_end_norm, steps_of_video, fits)
        if grid_bits(moments.n_steps[fits]) < LEAST_BITS:
            return None
        if fits.all():
            return moments
        n_off = int(np.count_nonzero(~fits))
        raise InputError(
            f"{100 * share:.1f} % of the moments are on a grid of {moments.grid.name} and {n_off:,} "
            f"{'is' if n_off == 1 else 'are'} not, so no spread is even for all of them; expected all or few of them "
            "on a grid"
        )
    return None


def _candidates(
    locations: Locations, rows: Ints, inside: Bools
) -> Iterator[tuple[Literal["seconds", "share"], float, Floats]]:
    """Return units, steps and durations of videos in steps, (N,), the coarsest first; of equal ones, seconds first."""
    candidates: list[tuple[float, Literal["seconds", "share"], float]] = []
    candidates += [(float(n), "share", 1 / n) for n in range(2, MOST_STEPS + 1)]
    duration_s = locations.duration_s
    if duration_s is not None:
        times = (locations.start_end_norm * duration_s[:, None])[rows][inside[rows]]
        values, counts = np.unique(times.round(6), return_counts=True)
        frequent = float(values[np.argmax(counts)])  # all times are multiples of a step, this one too
        median_s, mean_s = float(np.median(duration_s)), float(duration_s.mean())
        n_parts = int(MOST_STEPS * frequent / median_s)
        steps_s = [round(frequent / k, 9) for k in range(1, n_parts + 1)]
        candidates += [(round(mean_s / step_s, 6), "seconds", step_s) for step_s in steps_s]
    for _, unit, step in sorted(candidates):
        length = np.ones(len(locations)) if unit == "share" or duration_s is None else duration_s
        yield unit, step, length / step


def _fits(start_end_norm: Floats, steps_of_video: Floats) -> Bools:
    """Return which moments are on a grid, (N,)."""
    times = start_end_norm * steps_of_video[:, None]
    on_grid = np.abs(times - np.rint(times)) <= ROUNDED
    at_end = steps_of_video - times[:, 1] <= ROUNDED
    stop = np.where(on_grid[:, 1], np.rint(times[:, 1]), np.ceil(times[:, 1]))
    return np.asarray(on_grid[:, 0] & (on_grid[:, 1] | at_end) & (stop > np.rint(times[:, 0])))


def _steps(grid: Grid, start_end_norm: Floats, steps_of_video: Floats, fits: Bools) -> GridMoments:
    """Return the steps of moments; the nearest ones for moments that are not on the grid."""
    start, end = (start_end_norm * steps_of_video[:, None]).T
    whole = np.abs(end - np.rint(end)) <= ROUNDED
    to_the_end = bool(np.any(fits & ~whole))
    n_steps = np.ceil(steps_of_video - ROUNDED) if to_the_end else np.floor(steps_of_video + ROUNDED)
    last = np.where(whole, np.rint(end), n_steps) - 1
    first, last, n_steps = (column.astype(np.int64) for column in (np.rint(start), last, n_steps))
    return GridMoments(Grid(grid.step, grid.unit, to_the_end), first, last, n_steps, steps_of_video)


def grid_bits(n_steps: Ints) -> float:
    """Return how far even moments on a grid are below an even spread over all (start, end), in bits; `n_steps` is (N,).

    Examples
    --------
    >>> import numpy as np
    >>> round(grid_bits(np.full(10, 6)), 3), round(float(np.log2(256 / 21)), 3)  # 21 moments, in as many of 256 regions
    (3.608, 3.608)
    """
    return below_even_bits(even_on_steps(n_steps, np.ones_like(n_steps), 1 / int(n_steps.max())), EVEN)


def draw_distinct(owner: Ints, n_places: Ints, rng: np.random.Generator) -> Ints:
    """Draw a place from 0 to `n_places` - 1 for each item, evenly, (M,); items of one owner get different places.

    `n_places` is the same for all items of an owner, and at least their number.
    """
    place = rng.integers(n_places)
    items = np.arange(len(place))
    while len(items):
        _, first = np.unique(owner[items] * int(n_places.max()) + place[items], return_index=True)
        repeated = np.delete(items, first)
        place[repeated] = rng.integers(n_places[repeated])
        items = items[np.isin(owner[items], owner[repeated])]
    return np.asarray(place)
