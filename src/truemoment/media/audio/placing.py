"""From runs of windows to pieces: exact lines, cuts between them, and runs that were missed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from truemoment.media.audio.alignment import Piece, Span, gaps_between
from truemoment.media.audio.cuts import Edge, SureLine, place_cut, reach_of
from truemoment.media.audio.pieces import MatchedRun
from truemoment.media.audio.refining import DelayLine, Pair, refine
from truemoment.media.audio.windows import WINDOW_S as COARSE_WINDOW_S

LEAST_GAP_S = 25.0
"""A part of the track without a piece that is at least this long is searched again."""


class Placing:
    """Runs with their exact lines, from which pieces are made.

    Parameters
    ----------
    pair
        The two sounds.
    rate, slope
        The speed at which the track was stretched, and the remaining slope.
    """

    def __init__(self, pair: Pair, rate: float, slope: float) -> None:
        self.pair, self.rate, self.slope = pair, rate, slope
        self.runs: list[MatchedRun] = []
        self.lines: list[DelayLine] = []
        self.cuts: dict[tuple[SureLine, SureLine], tuple[Edge, Edge]] = {}

    def add(self, run: MatchedRun) -> None:
        """Add a run, unless it contradicts the order of the others."""
        line = self._refined(run)
        at = sum(other.first_s < run.first_s for other in self.runs)
        film_s = [
            line.rate * other.first_s / self.rate + line.delay_s
            for other, line in zip(self.runs, self.lines, strict=True)
        ]
        own_s = line.rate * run.first_s / self.rate + line.delay_s
        if (
            line.n_agreeing
            and all(time_s < own_s for time_s in film_s[:at])
            and all(time_s > own_s for time_s in film_s[at:])
        ):
            self.runs.insert(at, run)
            self.lines.insert(at, line)

    def _refined(self, run: MatchedRun) -> DelayLine:
        line = DelayLine(self.rate * (1 + self.slope), run.offset_s(self.slope), np.inf)
        low, high = run.start_s[0] / self.rate, (run.start_s[-1] + COARSE_WINDOW_S) / self.rate
        inset = COARSE_WINDOW_S / 2 / self.rate if high - low > 2.5 * COARSE_WINDOW_S else 0.0
        return refine(self.pair, line, (max(0.0, low + inset), min(self.pair.track.duration_s, high - inset)))

    def fill(self, search: Callable[[float, float], MatchedRun | None]) -> None:
        """Search runs in parts of the track without a piece, each once, until no such part is new."""
        tried: set[Span] = set()
        while True:
            spans = [piece.track_s for piece in self.pieces()]
            gaps = set(gaps_between(spans, self.pair.track.duration_s, LEAST_GAP_S)) - tried
            if not gaps:
                return
            tried |= gaps
            for run in (search(low_s, high_s) for low_s, high_s in sorted(gaps)):
                if run is not None:
                    self.add(run)

    def pieces(self) -> tuple[Piece, ...]:
        """Return the pieces, in order on both sides: lines reach as far as the film can be heard along them.

        They meet at cuts. A run that its neighbours leave no part is left out, and they meet at a cut of their own.
        """
        numbers = list(range(len(self.runs)))
        while numbers:
            spans = self._spans(numbers)
            empty = [at for at, (start, end) in zip(numbers, spans, strict=True) if end.at_s <= start.at_s]
            if not empty:
                return tuple(self._piece(at, *span) for at, span in zip(numbers, spans, strict=True))
            numbers.remove(min(empty, key=lambda at: len(self.runs[at].start_s)))
        return ()

    def _spans(self, numbers: Sequence[int]) -> list[tuple[Edge, Edge]]:
        """Return the start and the end of some of the runs, which are placed as if there were no others."""
        cuts = [self._cut(*sides) for sides in pairwise(numbers)]
        first, last = self.lines[numbers[0]], self.lines[numbers[-1]]
        starts = [self._reach(numbers[0], max(0.0, -first.delay_s / first.rate)), *(start for _, start in cuts)]
        ends = [
            *(end for end, _ in cuts),
            self._reach(numbers[-1], min(self.track_s, (self.film_s - last.delay_s) / last.rate)),
        ]
        return list(zip(starts, ends, strict=True))

    def _piece(self, at: int, start: Edge, end: Edge) -> Piece:
        line = self.lines[at]
        bridged = tuple((low / self.rate, high / self.rate) for low, high in self.runs[at].bridged_s)
        span_s, error_s = (start.at_s, end.at_s), (start.error_s, end.error_s)
        return Piece(span_s, line.rate, line.delay_s, line.error_s, bridged, error_s)

    @property
    def film_s(self) -> float:
        """Duration of the film."""
        return self.pair.film.duration_s

    @property
    def track_s(self) -> float:
        """Duration of the track."""
        return self.pair.track.duration_s

    def _sure(self, at: int) -> SureLine:
        """Return the line of a run, and the part of the track over which its windows surely agree."""
        run, inset_s = self.runs[at], self._inset_s(at)
        return SureLine(self.lines[at], ((run.first_s + inset_s) / self.rate, (run.last_s - inset_s) / self.rate))

    def _inset_s(self, at: int) -> float:
        """Return how far the sure part of a run begins behind the middle of its first window; below 0, before it.

        The first and the last windows of a long run may agree by chance.
        """
        length_s = self.runs[at].last_s - self.runs[at].first_s
        return min(COARSE_WINDOW_S, length_s / 4) if length_s > 2 * COARSE_WINDOW_S else -COARSE_WINDOW_S / 4

    def _cut(self, at: int, after: int) -> tuple[Edge, Edge]:
        """Place the cut between two runs."""
        insets = [max(self._inset_s(side), COARSE_WINDOW_S / 2) for side in (at, after)]
        low_s = max(0.0, (self.runs[at].last_s - insets[0]) / self.rate)
        high_s = min(self.track_s, (self.runs[after].first_s + insets[1]) / self.rate)
        sides = self._sure(at), self._sure(after)
        if sides not in self.cuts:
            self.cuts[sides] = place_cut(self.pair.film, self.pair.track, *sides, (low_s, high_s))
        return self.cuts[sides]

    def _reach(self, at: int, end_s: float) -> Edge:
        """Return the end of the line of a run towards a time."""
        return reach_of(self.pair.film, self.pair.track, self._sure(at), end_s)
