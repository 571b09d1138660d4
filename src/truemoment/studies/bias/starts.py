"""Moments of the same lengths at even starts, for the best constant by chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.studies.bias.grids import ROUNDED, GridMoments, draw_distinct
from truemoment.studies.bias.locations import Locations

_N_LENGTHS, _N_STARTS = 250, 100  # of the placements that are drawn
_MOST_ROWS = 50_000  # of the placements on a grid, or one group per number of steps


@dataclass(frozen=True, eq=False)
class Starts:
    """Moments of the same lengths as M distinct moments, at even starts."""

    placed: Floats  # (P, 2), all possible moments of a sample
    draw: Callable[[np.random.Generator], Ints]  # of a row of `placed` for each distinct moment, (M,)
    multiplicity: Ints  # (M,), number of locations of each


def starts_anywhere(locations: Locations) -> Starts:
    """Return moments with even starts, from 0 to the last start that fits into the video."""
    multiplicity = locations.multiplicity
    length = np.empty(len(multiplicity))
    length[locations.moment] = np.diff(locations.start_end_norm, axis=1)[:, 0]
    group, placed = placements(length)
    return Starts(placed, lambda rng: group * _N_STARTS + rng.integers(_N_STARTS, size=len(group)), multiplicity)


def starts_on_grid(locations: Locations, at: GridMoments) -> Starts:
    """Return moments with even starts over the steps of the grid that fit into the video."""
    one, multiplicity = at.distinct(locations.video)
    length = (at.last - at.first + 1)[one]
    n_starts = at.n_steps[one] - length + 1
    _, owner = np.unique(np.stack([locations.video[one], length]), axis=1, return_inverse=True)
    off_step = locations.start_end_norm[one] * at.steps_of_video[one, None]
    off_step -= np.stack([at.first, at.last + 1], axis=1)[one]
    first_row, placed = grid_placements(at.n_steps[one], length, at.steps_of_video[one], off_step)

    def draw(rng: np.random.Generator) -> Ints:
        start = draw_distinct(owner.reshape(-1), n_starts, rng)
        return np.asarray(first_row + start * np.minimum(n_starts, _N_STARTS) // n_starts)

    return Starts(placed, draw, multiplicity)


def placements(length_norm: Floats) -> tuple[Ints, Floats]:
    """Return possible moments of given lengths, (M,), at even starts: `group` and `start_end_norm`.

    `group`, (M,), is the group of each length, from 0 to G - 1, G = min(250, M). `start_end_norm`, (100 G, 2), has for
    each group 100 moments of its mean length at evenly spaced starts. Groups start at different fractions of a step
    (multiples of the golden ratio), so that groups do not share edges.
    """
    n_groups = min(len(length_norm), _N_LENGTHS)
    group = np.empty(len(length_norm), dtype=np.int64)
    group[np.argsort(length_norm, kind="stable")] = np.arange(len(length_norm)) * n_groups // len(length_norm)
    length = (np.bincount(group, weights=length_norm) / np.bincount(group))[:, None]
    offset = ((np.arange(n_groups) + 0.5) * (5**0.5 - 1) / 2 % 1)[:, None]
    start = (np.arange(_N_STARTS) + offset) / _N_STARTS * (1 - length)
    return group, np.stack([start.ravel(), (start + length).ravel()], axis=1)


def grid_placements(n_steps: Ints, length: Ints, steps_of_video: Floats, off_step: Floats) -> tuple[Ints, Floats]:
    """Return possible moments of given numbers of steps at even starts of a grid: `first_row` and `start_end_norm`.

    Moments with the same number of steps in videos with the same number can still differ, by the duration of the video
    and by rounding. They are in groups of equal numbers, each represented by its middle moment, moved by whole steps.

    `off_step`, (M, 2), is the distance of start and end from their steps, in steps. `first_row`, (M,), is the first row
    of the placements of each moment. `start_end_norm`, (P, 2), has every start, or 100 evenly selected ones if there
    are more.
    """
    off_step = np.where(np.abs(off_step) <= ROUNDED, off_step, 0)  # not where the video ends between two steps
    table = np.column_stack([n_steps, length, steps_of_video, off_step]).round(6)
    members, member = np.unique(table, axis=0, return_inverse=True)
    n_rows = np.minimum(members[:, 0] - members[:, 1] + 1, _N_STARTS).astype(np.int64)
    _, first, kind, size = np.unique(members[:, :2], axis=0, return_index=True, return_inverse=True, return_counts=True)
    kind = kind.reshape(-1)
    n_groups = np.minimum(size, max(1, _MOST_ROWS // int(n_rows[first].sum())))[kind]
    group = (np.arange(len(members)) - first[kind]) * n_groups // size[kind]
    middle = first[kind] + (2 * group + 1) * size[kind] // (2 * n_groups)
    middles, at = np.unique(middle, return_inverse=True)
    first_row = np.cumsum(n_rows[middles]) - n_rows[middles]
    of = np.repeat(np.arange(len(middles)), n_rows[middles])
    n, covered, duration, *off = members[middles[of]].T
    start = (2 * (np.arange(len(of)) - first_row[of]) + 1) * (n - covered + 1) // (2 * n_rows[middles[of]])
    ends = np.stack([start + off[0], start + covered + off[1]], axis=1) / duration[:, None]
    return first_row[at.reshape(-1)[member.reshape(-1)]], np.clip(ends, 0, 1)
