"""From runs of windows to pieces: exact lines, cuts between them, and runs that were missed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from truemoment.media.audio.alignment import Piece, Span
from truemoment.media.audio.cuts import Edge, SureLine, is_heard, place_cut, reach_of
from truemoment.media.audio.pieces import MatchedRun, run_within
from truemoment.media.audio.reading import Samples
from truemoment.media.audio.refining import DelayLine, Pair, refine
from truemoment.media.audio.windows import WINDOW_S as COARSE_WINDOW_S
from truemoment.media.audio.windows import FilmSearch

LEAST_GAP_S = 5.0
"""A part of the track without a piece is searched again if it, and the part of the film beside it, is this long."""

MOST_INSET_S = 45.0
"""Most of a run at either end that is not sure, because windows match in part or by chance; else a third of it."""


class Placing:
    """Runs with their exact lines, from which pieces are made.

    Parameters
    ----------
    pair
        The two sounds.
    rate, slope
        The speed at which the track was stretched, and the remaining slope.
    runs
        Those found so far, in the order of the track.
    """

    def __init__(self, pair: Pair, rate: float, slope: float, runs: Sequence[MatchedRun]) -> None:
        self.pair, self.rate, self.slope = pair, rate, slope
        self.runs: list[MatchedRun] = []
        self.lines: list[DelayLine] = []
        self.cuts: dict[tuple[SureLine, SureLine], tuple[Edge, Edge]] = {}
        for run in runs:
            self.add(run)

    def add(self, run: MatchedRun) -> None:
        """Add a run, unless the film cannot be heard along its line, or it contradicts the order of the others."""
        low, high = (edge_s / self.rate for edge_s in run.span_s)
        inset = COARSE_WINDOW_S / 2 / self.rate if high - low > 2.5 * COARSE_WINDOW_S else 0.0
        inside_s = max(0.0, low + inset), min(self.pair.track.duration_s, high - inset)
        coarse = DelayLine(self.rate * (1 + self.slope), run.offset_s(self.slope), np.inf)
        line = refine(self.pair, coarse, inside_s)
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
            and is_heard(self.pair.film, self.pair.track, self._sure(run, line))
        ):
            self.runs.insert(at, run)
            self.lines.insert(at, line)

    def fill(self, search: FilmSearch, track: Samples) -> None:
        """Search runs in parts of the track without a piece, each once, until no such part is new.

        Parameters
        ----------
        search
            The film.
        track : (N_BANDS, N)
            Coarse bands of the track, stretched by `rate`.
        """
        tried: set[tuple[Span, Span]] = set()
        while gaps := set(self._gaps()) - tried:
            tried |= gaps
            for (low_s, high_s), film_s in sorted(gaps):
                run = run_within(search, track, (low_s * self.rate, high_s * self.rate), film_s, self.slope)
                if run is not None:
                    self.add(run)

    def _gaps(self) -> list[tuple[Span, Span]]:
        """Return the parts of the track without a piece, and the parts of the film beside them."""
        pieces = self.pieces()
        ends = [(0.0, 0.0), *((piece.track_s[1], piece.film_s[1]) for piece in pieces)]
        starts = [*((piece.track_s[0], piece.film_s[0]) for piece in pieces), (self.track_s, self.film_s)]
        gaps = [((end[0], start[0]), (end[1], start[1])) for end, start in zip(ends, starts, strict=True)]
        return [gap for gap in gaps if all(high_s - low_s >= LEAST_GAP_S for low_s, high_s in gap)]

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

    def _sure(self, run: MatchedRun, line: DelayLine) -> SureLine:
        """Return the line of a run, and the part of the track over which its windows surely agree."""
        low, high = run.span_s
        inset_s = min(MOST_INSET_S, (high - low) / 3)
        return SureLine(line, ((low + inset_s) / self.rate, (high - inset_s) / self.rate))

    def _cut(self, first: int, second: int) -> tuple[Edge, Edge]:
        """Place the cut between two runs."""
        before, after = (self._sure(self.runs[at], self.lines[at]) for at in (first, second))
        sides = before, after
        if sides not in self.cuts:
            between_s = before.span_s[1], after.span_s[0]
            self.cuts[sides] = place_cut(self.pair.film, self.pair.track, before, after, between_s)
        return self.cuts[sides]

    def _reach(self, at: int, end_s: float) -> Edge:
        """Return the end of the line of a run towards a time."""
        return reach_of(self.pair.film, self.pair.track, self._sure(self.runs[at], self.lines[at]), end_s)
