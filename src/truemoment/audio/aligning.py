"""Alignment of a described track with its film, by the paper's method and piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from truemoment.audio.alignment import Alignment, PaperCheck, Piece, Span, Unmatched, Verdict, gaps_between
from truemoment.audio.bands import coarse_bands, log_bands, stretched_bands
from truemoment.audio.checking import PaperSettings, check_paper
from truemoment.audio.cuts import Cut, place_cut, reach_of
from truemoment.audio.pieces import MatchedRun, find_runs, run_of, short_run
from truemoment.audio.rates import RATES, RateScore, parse_rate, score_rates
from truemoment.audio.reading import RATE_HZ
from truemoment.audio.recording import Recording, Sound, record, side_of
from truemoment.audio.refining import DelayLine, Pair, refine
from truemoment.audio.sources import Source
from truemoment.audio.windows import WINDOW_S as COARSE_WINDOW_S
from truemoment.audio.windows import FilmSearch

Method = Literal["paper", "robust"]

LEAST_COVERED = 0.8
"""Share of the shorter side below which a track is aligned partly."""

LEAST_GAP_S = 25.0
"""A part of the track without a piece that is at least this long is searched again."""

CUT_ERROR_S, UNSURE_CUT_ERROR_S = 0.1, 1.0
"""How far a placed cut may be off: by waveforms, and where these do not agree."""

SAME_RATE = 3e-4
"""A rate this close to a candidate is that candidate."""


@dataclass(frozen=True)
class AlignSettings:
    """Settings of an alignment.

    Parameters
    ----------
    method
        ``paper``: one delay, if the check by windows passes, and else no pieces; ``robust``: also speed, cuts and
        insertions. Both verdicts are computed in either case.
    rate_hz
        Samples per second.
    rates
        Speeds that are tried, as numbers or quotients.
    paper
        Settings of the paper's check.
    """

    method: Method = "robust"
    rate_hz: int = RATE_HZ
    rates: tuple[str, ...] = RATES
    paper: PaperSettings = field(default_factory=PaperSettings)

    def __post_init__(self) -> None:
        for rate in self.rates:
            parse_rate(rate)


def _quiet(_: str) -> None:
    """Report nothing."""


def align(
    film: Source,
    track: Source,
    settings: AlignSettings | None = None,
    *,
    on_status: Callable[[str], None] = _quiet,
) -> Alignment:
    """Align two files.

    Raises
    ------
    InputError
        If one of them has no sound, less than a minute, or silence; or several sounds and none is named.
    """
    of = settings or AlignSettings()
    on_status("reading both sounds")
    with ThreadPoolExecutor(2) as pool:
        film_sound, track_sound = pool.map(lambda source: record(source, of.rate_hz), (film, track))
    found = align_sounds(film_sound, track_sound, of, on_status=on_status)
    return Alignment(
        film=side_of(film, film_sound.duration_s),
        track=side_of(track, track_sound.duration_s),
        rate_candidate=found.rate_candidate,
        pieces=found.pieces,
        unmatched=found.unmatched,
        paper=found.paper,
        verdict=found.verdict,
        why=found.why,
    )


class FoundAlignment(NamedTuple):
    """An alignment of two sounds without their files; fields as in :class:`~truemoment.audio.alignment.Alignment`."""

    rate_candidate: str
    pieces: tuple[Piece, ...]
    unmatched: Unmatched
    paper: PaperCheck
    verdict: Verdict
    why: str


def align_sounds(
    film: Recording,
    track: Recording,
    settings: AlignSettings | None = None,
    *,
    on_status: Callable[[str], None] = _quiet,
) -> FoundAlignment:
    """Align two sounds of the same sampling rate."""
    of = settings or AlignSettings()
    on_status("delay by the paper's method")
    paper = check_paper(film, track, of.paper)
    on_status("speed of the track")
    with ThreadPoolExecutor(2) as pool:
        film_bands, track_bands = pool.map(log_bands, (film, track))
    search, coarse = FilmSearch(coarse_bands(film_bands)), coarse_bands(track_bands)
    scores = score_rates(search, coarse, of.rates)
    on_status("pieces of the track")
    best = scores[0] if scores[0].fits else RateScore("1", 1.0, 0.0, 0.0)
    stretched = stretched_bands(coarse, best.rate)
    runs, slope = find_runs(search, stretched) if scores[0].fits else ([], 0.0)
    if not runs and paper.passed:  # noise covers the bands, but not the waveform
        runs = [run_of(paper)]
    if not runs:
        return _not_found(film, track, paper, scores)
    on_status("exact delays and cuts")
    placing = _Placing(Pair(film, track, film_bands, track_bands), best.rate, slope)
    for run in runs:
        placing.add(run)
    for low_s, high_s in placing.gaps():
        found = short_run(search, stretched, (low_s * best.rate, high_s * best.rate))
        if found is not None:
            placing.add(found)
    pieces = placing.pieces()
    name = _named_rate(pieces, of.rates)
    verdict, why = _verdict(pieces, film, track, _Context(paper, of.method, name))
    if of.method == "paper":
        pieces = paper_pieces(paper, film, track)
    unmatched = Unmatched(
        gaps_between([piece.track_s for piece in pieces], track.duration_s),
        gaps_between([piece.film_s for piece in pieces], film.duration_s),
    )
    return FoundAlignment(name, pieces, unmatched, paper, verdict, why)


def paper_pieces(paper: PaperCheck, film: Sound, track: Sound) -> tuple[Piece, ...]:
    """Return the one piece of the paper's method, at the film's own speed; none where its check failed."""
    if not paper.passed:
        return ()
    delay_s = paper.median_s if paper.delay_s is None else paper.delay_s
    error_s = max(abs(window.delay_s - delay_s) for window in paper.windows)
    span_s = max(0.0, -delay_s), min(track.duration_s, film.duration_s - delay_s)
    return (Piece(span_s, 1.0, delay_s, error_s),)


def _not_found(film: Sound, track: Sound, paper: PaperCheck, scores: Sequence[RateScore]) -> FoundAlignment:
    listed = ", ".join(f"{of.name}: median {of.median:.2f}, {100 * of.share:.0f} % of windows" for of in scores)
    why = f"another film, or a speed that was not tried; windows of the track in the film, by speed: {listed}"
    unmatched = Unmatched(((0.0, track.duration_s),), ((0.0, film.duration_s),))
    return FoundAlignment("", (), unmatched, paper, "not this film", why)


class _Placing:
    """Runs with their exact lines, from which pieces are made.

    Parameters
    ----------
    pair
        The two sounds.
    rate, slope
        The speed at which the track was stretched, and what is left of it.
    """

    def __init__(self, pair: Pair, rate: float, slope: float) -> None:
        self.pair, self.rate, self.slope = pair, rate, slope
        self.runs: list[MatchedRun] = []
        self.lines: list[DelayLine] = []

    def add(self, run: MatchedRun) -> None:
        """Add a run, unless it contradicts the order of the others."""
        line = self._refined(run)
        at = sum(other.first_s < run.first_s for other in self.runs)
        film_s = [of.rate * r.first_s / self.rate + of.delay_s for r, of in zip(self.runs, self.lines, strict=True)]
        own_s = line.rate * run.first_s / self.rate + line.delay_s
        if line.n_agreeing and all(of < own_s for of in film_s[:at]) and all(of > own_s for of in film_s[at:]):
            self.runs.insert(at, run)
            self.lines.insert(at, line)

    def _refined(self, run: MatchedRun) -> DelayLine:
        line = DelayLine(self.rate * (1 + self.slope), run.offset_s(self.slope), np.inf)
        low, high = run.start_s[0] / self.rate, (run.start_s[-1] + COARSE_WINDOW_S) / self.rate
        inset = COARSE_WINDOW_S / 2 / self.rate if high - low > 2.5 * COARSE_WINDOW_S else 0.0
        return refine(self.pair, line, (max(0.0, low + inset), min(self.pair.track.duration_s, high - inset)))

    def gaps(self) -> tuple[Span, ...]:
        """Return the parts of the track without a piece that are long enough to be searched again."""
        spans = [piece.track_s for piece in self.pieces()]
        return gaps_between(spans, self.pair.track.duration_s, LEAST_GAP_S)

    def pieces(self) -> tuple[Piece, ...]:
        """Return the pieces: lines reach as far as the film can be heard along them, and meet at cuts."""
        n = len(self.runs)
        starts, ends, errors = [0.0] * n, [0.0] * n, [[0.0, 0.0] for _ in range(n)]
        if n:
            starts[0] = self._reach(0, max(0.0, -self.lines[0].delay_s / self.lines[0].rate))
            last = self.lines[-1]
            ends[-1] = self._reach(n - 1, min(self.track_s, (self.film_s - last.delay_s) / last.rate))
        for at in range(n - 1):
            cut = self._cut(at)
            ends[at], starts[at + 1] = (
                self._reach(at, cut.end_s),
                self._reach(at + 1, cut.start_s),
            )
            is_sure = self.lines[at].by_waveform and self.lines[at + 1].by_waveform
            errors[at][1] = errors[at + 1][0] = CUT_ERROR_S if is_sure else UNSURE_CUT_ERROR_S
        found = []
        for run, line, start, end, error in zip(self.runs, self.lines, starts, ends, errors, strict=True):
            if end > start:
                bridged = tuple((low / self.rate, high / self.rate) for low, high in run.bridged_s)
                found.append(Piece((start, end), line.rate, line.delay_s, line.error_s, bridged, (error[0], error[1])))
        return tuple(found)

    @property
    def film_s(self) -> float:
        """Duration of the film."""
        return self.pair.film.duration_s

    @property
    def track_s(self) -> float:
        """Duration of the track."""
        return self.pair.track.duration_s

    def _cut(self, at: int) -> Cut:
        """Place the cut behind a run."""
        low, high = self.runs[at].last_s / self.rate, self.runs[at + 1].first_s / self.rate
        if high - low < 2 * COARSE_WINDOW_S:  # windows over the cut may count to either side
            low, high = low - COARSE_WINDOW_S / 2, high + COARSE_WINDOW_S / 2
        low, high = max(0.0, low), min(self.track_s, high)
        return place_cut(self.pair.film, self.pair.track, self.lines[at], self.lines[at + 1], (low, high))

    def _reach(self, at: int, end_s: float) -> float:
        """Return how far the line of a run holds towards a time."""
        run = self.runs[at]
        first, last = run.first_s / self.rate, run.last_s / self.rate
        sure_s = min(max(end_s, first), last)
        return reach_of(self.pair.film, self.pair.track, self.lines[at], (sure_s, end_s))


def _named_rate(pieces: Sequence[Piece], rates: Sequence[str]) -> str:
    """Return the candidate next to the rate of the longest piece."""
    longest = max(pieces, key=lambda piece: piece.track_s[1] - piece.track_s[0])
    return min(rates, key=lambda name: abs(parse_rate(name) - longest.rate))


class _Context(NamedTuple):
    """What a verdict depends on beside the pieces."""

    paper: PaperCheck
    method: Method
    rate_name: str


def _verdict(pieces: Sequence[Piece], film: Sound, track: Sound, of: _Context) -> tuple[Verdict, str]:
    """Return the verdict and its reason."""
    covered_s = sum(piece.film_s[1] - piece.film_s[0] for piece in pieces)
    rate = max(pieces, key=lambda piece: piece.track_s[1] - piece.track_s[0]).rate
    drift = abs(rate - 1)
    speed = f"the track runs at {rate:.6f} film seconds per track second"
    if abs(rate / parse_rate(of.rate_name) - 1) <= SAME_RATE and of.rate_name != "1":
        speed += f" ({of.rate_name})"
    reasons = [speed] if drift > SAME_RATE else [f"drift of {1e6 * (rate - 1):.1f} ppm"] if drift > 5e-6 else []
    if len(pieces) > 1:
        reasons.append(f"{len(pieces)} pieces: the track leaves out or adds {len(pieces) - 1} part(s)")
    shorter_s = min(film.duration_s, track.duration_s * rate)
    if covered_s < LEAST_COVERED * shorter_s:
        reasons.append(f"{100 * covered_s / shorter_s:.0f} % of the shorter side is matched")
        return "partly", "; ".join(reasons)
    why = "; ".join(reasons)
    if of.method == "paper" and not of.paper.passed and drift > SAME_RATE:
        return "other speed", why
    return ("aligned in pieces" if len(pieces) > 1 else "aligned"), why
