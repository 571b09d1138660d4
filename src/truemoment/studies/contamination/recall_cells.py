"""Cells of the difference of answers and official times, and how often each could be filled.

The test in :mod:`truemoment.studies.contamination.exact_recall` is made of these counts; the formulas are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import numbers_of

OneSide = Literal["start", "end"]
Side = Literal["start", "end", "both"]
ONE_SIDE: tuple[OneSide, ...] = get_args(OneSide)
SIDES: tuple[Side, ...] = get_args(Side)

CELL_S = 0.1
"""Width of a cell, the resolution of most official times; an answer is exact within half of it."""

REACH = 10
"""Cells to either side of 0 that predict the count at 0."""

EDGE_S = (REACH + 1) * CELL_S
"""Official times closer to an end of the video are left out."""

PERIOD_S = 5.0
"""The longest grid of answers that is known, see :mod:`truemoment.studies.evaluate.first_answers`."""

COARSE_S = 0.5
"""Official times on such a grid, or a coarser one, are not tested: a method on the same grid is often exact."""

EVEN = 0.05
"""Share of an even spread in the opportunities, so that none is 0 by chance."""

MOST_COARSE, ROUNDING_S = 0.9, 1e-6
_WIDTH, _PERIOD = 2 * REACH + 1, round(PERIOD_S / CELL_S)


@dataclass(frozen=True, eq=False)
class MomentPairs:
    """N answers and the official moments of their queries; all arrays (N,), seconds.

    Parameters
    ----------
    video_id
        Video of each.
    duration_s
        Duration of the video; NaN where it is not known.
    """

    video_id: Sequence[str]
    duration_s: Floats
    answer_start_s: Floats
    answer_end_s: Floats
    official_start_s: Floats
    official_end_s: Floats

    @property
    def answers_s(self) -> tuple[Floats, Floats]:
        """Starts and ends of the answers."""
        return self.answer_start_s, self.answer_end_s

    @property
    def differences_s(self) -> tuple[Floats, Floats]:
        """Absolute differences of starts and of ends."""
        return np.abs(self.answer_start_s - self.official_start_s), np.abs(self.answer_end_s - self.official_end_s)

    def times_s(self, side: OneSide) -> tuple[Floats, Floats]:
        """Return answers and official times of one side."""
        if side == "start":
            return self.answer_start_s, self.official_start_s
        return self.answer_end_s, self.official_end_s

    def inside(self, sides: Sequence[OneSide]) -> Bools:
        """Which answers lie within the video, not at its ends, on the given sides."""
        answers = [self.times_s(side)[0] for side in sides]
        half = CELL_S / 2
        return np.asarray(np.all([(time_s > half) & ~(time_s > self.duration_s - half) for time_s in answers], axis=0))

    def counted(self, side: Side) -> Bools:
        """Which rows count: official times away from the ends of the video, each once per video."""
        ends = {"start": (self.official_start_s,), "end": (self.official_end_s,)}
        times = ends.get(side, (self.official_start_s, self.official_end_s))
        away = np.all([(time_s > EDGE_S) & ~(time_s > self.duration_s - EDGE_S) for time_s in times], axis=0)
        rows = np.nonzero(away & ~np.isnan(self.answer_start_s))[0]
        table = np.column_stack([numbers_of(self.video_id)[rows], *(_cells(time_s[rows]) for time_s in times)])
        counted = np.zeros(len(away), dtype=bool)
        counted[rows[np.unique(table, axis=0, return_index=True)[1]]] = True
        return counted


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of C cells by video, with the official times of each video last, (V, C + 1); opportunities (C,)."""

    cells: Ints
    features: Floats
    opportunities: Floats
    by_video: Floats
    is_coarse: bool


def tally_of(pairs: MomentPairs, counted: Bools, side: Side) -> Tally:
    """Count the differences of the rows that count, on one side or on both."""
    sides = ONE_SIDE if side == "both" else (side,)
    cells, features = _cells_of(len(sides))
    answers, official = (
        np.stack([_cells(pairs.times_s(of)[which][counted]) for of in sides], axis=1) for which in (0, 1)
    )
    differences = np.stack([_cells(np.subtract(*pairs.times_s(of))[counted]) for of in sides], axis=1)
    near = np.all(np.abs(differences) <= REACH, axis=1)
    video = numbers_of(np.asarray(pairs.video_id, dtype=object)[counted])
    by_video = np.zeros((int(video.max(initial=-1)) + 1, len(cells) + 1))
    np.add.at(by_video, (video[near], np.ravel_multi_index((differences[near] + REACH).T, (_WIDTH,) * len(sides))), 1.0)
    np.add.at(by_video[:, -1], video, 1.0)
    return Tally(
        cells,
        features,
        _opportunities(answers, official, pairs.inside(sides)[counted], cells),
        by_video,
        any(_is_coarse(pairs.times_s(of)[1][counted]) for of in sides),
    )


def _is_coarse(official_s: Floats) -> bool:
    steps = official_s / COARSE_S
    return len(steps) > 0 and bool(np.mean(np.abs(steps - np.rint(steps)) < ROUNDING_S) > MOST_COARSE)


def _cells(time_s: Floats) -> Ints:
    return np.asarray(np.rint(time_s / CELL_S), dtype=np.int64)


def _cells_of(n_sides: int) -> tuple[Ints, Floats]:
    """Return the cells (C, n_sides) and the features of the fit (C, F), a column of ones first."""
    steps = np.arange(-REACH, REACH + 1)
    cells = np.stack(np.meshgrid(*[steps] * n_sides, indexing="ij"), axis=-1).reshape(-1, n_sides)
    columns = [np.ones(len(cells)), np.abs(cells).sum(axis=1) / REACH, *(cells.T / REACH)]
    if n_sides == 2:
        columns.append(np.abs(cells[:, 0] - cells[:, 1]) / REACH)
    return cells, np.column_stack(columns)


def _opportunities(answers: Ints, official: Ints, inside: Bools, cells: Ints) -> Floats:
    """Return how well official times (N, S), moved by each cell, fit the answers of other queries (N, S): (C,).

    Answers that are not `inside` (N,) are left out.
    """
    shape = (_PERIOD,) * cells.shape[1]
    given, wanted, own = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    np.add.at(given, tuple(np.mod(answers[inside], _PERIOD).T), 1.0)
    np.add.at(wanted, tuple(np.mod(official, _PERIOD).T), 1.0)
    np.add.at(own, tuple(np.mod((answers - official)[inside], _PERIOD).T), 1.0)
    moved = [float((wanted * _moved(given, cell)).sum() - own[tuple(np.mod(cell, _PERIOD))]) for cell in cells]
    fits = np.maximum(moved, 0.0) * given.size / max(int(inside.sum()) - 1, 1)
    return (1 - EVEN) * fits + EVEN * len(official)


def _moved(table: Floats, cell: Ints) -> Floats:
    return np.asarray(np.roll(table, tuple(-cell), axis=tuple(range(table.ndim))))
