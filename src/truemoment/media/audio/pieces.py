"""Stretches of a track that follow the film: the path of delays through windows, by Viterbi."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.media.audio.alignment import PaperCheck, Span
from truemoment.media.audio.bands import COARSE_PER_S
from truemoment.media.audio.reading import Samples
from truemoment.media.audio.windows import WINDOW_S, Candidates, FilmSearch, window_starts

STEP_S = 15.0
NONE = -1
NONE_COST, JUMP_COST, NONE_CHANGE_COST = -0.25, 1.2, 0.6
SAME_S = 0.1
"""Delays of consecutive windows this close are one path, and lines that meet this closely are one piece."""

BRIDGE_S = 120.0
"""Longest part without a match, such as a long description or silence, over which pieces are joined."""

MOST_PAIRS_OF = 200
"""Windows of a piece of which slopes are computed."""


class MatchedRun(NamedTuple):
    """Consecutive windows on one line, on the clock of the stretched track.

    Parameters
    ----------
    start_s, delay_s : (W,)
        Starts of the windows and their delays.
    bridged_s
        Parts between its windows that no window matched.
    window_s
        Length of its windows.
    """

    start_s: Floats
    delay_s: Floats
    bridged_s: tuple[tuple[float, float], ...] = ()
    window_s: float = WINDOW_S

    @property
    def first_s(self) -> float:
        """Middle of its first window."""
        return float(self.start_s[0]) + self.window_s / 2

    @property
    def span_s(self) -> tuple[float, float]:
        """Start of its first window and end of its last."""
        return float(self.start_s[0]), float(self.start_s[-1]) + self.window_s

    def offset_s(self, slope: float) -> float:
        """Return the delay at time 0 of a line with a slope, in the median of the windows."""
        return float(np.median(self.delay_s - slope * (self.start_s + self.window_s / 2)))


def find_runs(search: FilmSearch, track: Samples) -> tuple[list[MatchedRun], float]:
    """Return the runs of a track and their common slope (film seconds gained per track second).

    Parameters
    ----------
    search
        The film.
    track : (N_BANDS, N)
        Coarse bands of the track at the film's speed.
    """
    starts = window_starts(track.shape[1], search.n_window, round(STEP_S * COARSE_PER_S))
    candidates = search.candidates(track, starts)
    path = best_path(candidates)
    runs = _runs_of(candidates, path)
    slope = common_slope(runs)
    return joined(runs, slope), slope


def best_path(candidates: Candidates) -> Ints:
    """Return the candidate of each window on the path of least cost, (W,); :data:`NONE` where none is right.

    A candidate costs -score, none costs -0.25. A change of the delay by more than 0.1 s costs 1.2, a change to or from
    none 0.6.
    """
    n_windows, n_candidates = candidates.score.shape
    own = np.concatenate([-candidates.score, np.full((n_windows, 1), NONE_COST)], axis=1)
    total, came_from = own[0].copy(), np.zeros(own.shape, np.int64)
    for window in range(1, n_windows):
        moved = np.abs(candidates.delay_s[window][None, :] - candidates.delay_s[window - 1][:, None]) > SAME_S
        change = np.full((n_candidates + 1, n_candidates + 1), NONE_CHANGE_COST)
        change[:-1, :-1] = np.where(moved, JUMP_COST, 0.0)
        change[-1, -1] = 0.0
        costs = total[:, None] + change
        came_from[window] = costs.argmin(axis=0)
        total = costs.min(axis=0) + own[window]
    path = np.empty(n_windows, np.int64)
    state = int(total.argmin())
    for window in range(n_windows - 1, -1, -1):
        path[window] = state
        state = int(came_from[window, state])
    return np.where(path == n_candidates, NONE, path)


def _runs_of(candidates: Candidates, path: Ints) -> list[MatchedRun]:
    """Cut a path where it jumps or matches nothing."""
    runs: list[list[int]] = []
    delay_s = candidates.delay_s[np.arange(len(path)), path]
    for window in np.flatnonzero(path != NONE).tolist():
        follows = runs and runs[-1][-1] == window - 1 and abs(delay_s[window] - delay_s[window - 1]) <= SAME_S
        if follows:
            runs[-1].append(window)
        else:
            runs.append([window])
    return [MatchedRun(candidates.start_s[run], delay_s[run]) for run in runs]


def common_slope(runs: Sequence[MatchedRun]) -> float:
    """Return the median slope over all pairs of windows of the same run (Theil-Sen); 0 where none has two."""
    slopes: list[float] = []
    for run in runs:
        some = np.unique(np.linspace(0, len(run.start_s) - 1, MOST_PAIRS_OF).astype(np.int64))
        times, delays = run.start_s[some], run.delay_s[some]
        # Far windows give the slope; neighbours are mostly noise.
        pairs = [(i, j) for i, j in combinations(range(len(some)), 2) if times[j] - times[i] >= 2 * WINDOW_S]
        slopes += [float((delays[j] - delays[i]) / (times[j] - times[i])) for i, j in pairs]
    return float(np.median(slopes)) if slopes else 0.0


def joined(runs: Sequence[MatchedRun], slope: float) -> list[MatchedRun]:
    """Join neighbours whose lines meet within 0.1 s over at most 120 s without a match."""
    result: list[MatchedRun] = []
    for run in runs:
        if result:
            before = result[-1]
            gap = (float(before.start_s[-1]) + WINDOW_S, float(run.start_s[0]))
            distance_s = abs(run.offset_s(slope) - before.offset_s(slope))
            if distance_s <= SAME_S and gap[1] - gap[0] <= BRIDGE_S:
                bridged = (gap,) if gap[1] > gap[0] else ()
                result[-1] = MatchedRun(
                    np.concatenate([before.start_s, run.start_s]),
                    np.concatenate([before.delay_s, run.delay_s]),
                    (*before.bridged_s, *bridged),
                )
                continue
        result.append(run)
    return result


def run_within(search: FilmSearch, track: Samples, track_s: Span, film_s: Span, slope: float) -> MatchedRun | None:
    """Return the best run in a part of the track, by windows of at most a third of it; None where no window matches.

    Parameters
    ----------
    track_s, film_s
        The part, on the clock of the stretched track, and the part of the film in which it can lie.
    slope
        The common slope of all runs.
    """
    low, high, *film = (round(edge_s * COARSE_PER_S) for edge_s in (*track_s, *film_s))
    high = min(high, track.shape[1])
    n_window = min(search.n_window, (high - low) // 3)
    starts = low + window_starts(high - low, n_window, n_window // 2)
    candidates = search.candidates(track, starts, n_window=n_window, film=(film[0], film[1]))
    window_s = n_window / COARSE_PER_S
    level_s = candidates.delay_s - slope * (candidates.start_s[:, None] + window_s / 2)
    groups = [_windows_at(candidates, level_s, float(at_s)) for at_s in level_s.ravel()]
    best = max(groups, key=lambda group: sum(candidates.score[window, k] + NONE_COST for window, k in group))
    if not best:
        return None
    windows, columns = np.array(best).T
    return MatchedRun(candidates.start_s[windows], candidates.delay_s[windows, columns], window_s=window_s)


def _windows_at(candidates: Candidates, level_s: Floats, at_s: float) -> list[tuple[int, int]]:
    """Return the longest row of windows with a good candidate at a delay, (window, candidate), no wide gaps in it."""
    near = (np.abs(level_s - at_s) <= SAME_S) & (candidates.score > -NONE_COST)
    rows: list[list[tuple[int, int]]] = [[]]
    for window in np.flatnonzero(near.any(axis=1)).tolist():
        if rows[-1] and candidates.start_s[window] - candidates.start_s[rows[-1][-1][0]] > BRIDGE_S:
            rows.append([])
        rows[-1].append((window, int(np.argmax(near[window]))))
    return max(rows, key=len)


def run_of(paper: PaperCheck) -> MatchedRun:
    """Return the windows of the paper's check as a run, at the film's own speed."""
    delays = np.array([window.delay_s for window in paper.windows])
    starts = np.array([window.film_s for window in paper.windows]) - delays - WINDOW_S / 2
    return MatchedRun(starts, delays)
