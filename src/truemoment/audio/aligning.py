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
from truemoment.audio.cuts import place_cut
from truemoment.audio.pieces import Run, find_runs
from truemoment.audio.rates import RATES, RateScore, parse_rate, score_rates
from truemoment.audio.reading import RATE_HZ, Samples
from truemoment.audio.recording import Recording, Sound, record, side_of
from truemoment.audio.refining import Line, refine
from truemoment.audio.sources import Source
from truemoment.audio.windows import WINDOW_S as COARSE_WINDOW_S
from truemoment.audio.windows import FilmSearch

Method = Literal["paper", "robust"]

LEAST_COVERED = 0.8
"""Share of the shorter side below which a track is aligned partly."""

ENDS_S = 45.0
"""A piece reaches to the end of a side if that is no farther from its last sure window."""

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
        ``paper``: one delay and the check by windows; ``robust``: also speed, cuts and insertions.
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


class Found(NamedTuple):
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
) -> Found:
    """Align two sounds of the same sampling rate."""
    of = settings or AlignSettings()
    on_status("delay by the paper's method")
    paper = check_paper(film, track, of.paper)
    on_status("speed of the track")
    with ThreadPoolExecutor(2) as pool:
        film_bands, track_bands = pool.map(log_bands, (film, track))
    search, coarse = FilmSearch(coarse_bands(film_bands)), coarse_bands(track_bands)
    scores = score_rates(search, coarse, of.rates)
    if not scores[0].fits:
        return _not_found(film, track, paper, scores)
    on_status("pieces of the track")
    best = scores[0]
    runs, slope = find_runs(search, stretched_bands(coarse, best.rate))
    if not runs:
        return _not_found(film, track, paper, scores)
    lines = [_refined(film, track, film_bands, track_bands, run, slope, best.rate) for run in runs]
    on_status("cuts")
    pieces = _pieces(film, track, runs, lines, best.rate)
    unmatched = Unmatched(
        gaps_between([piece.track_s for piece in pieces], track.duration_s),
        gaps_between([piece.film_s for piece in pieces], film.duration_s),
    )
    name = _named_rate(pieces, of.rates)
    verdict, why = _verdict(pieces, film, track, paper, of.method, name)
    return Found(name, pieces, unmatched, paper, verdict, why)


def _not_found(film: Sound, track: Sound, paper: PaperCheck, scores: Sequence[RateScore]) -> Found:
    listed = ", ".join(f"{of.name}: median {of.median:.2f}, {100 * of.share:.0f} % of windows" for of in scores)
    why = f"another film, or a speed that was not tried; windows of the track in the film, by speed: {listed}"
    unmatched = Unmatched(((0.0, track.duration_s),), ((0.0, film.duration_s),))
    return Found("", (), unmatched, paper, "not this film", why)


def _refined(
    film: Sound, track: Sound, film_bands: Samples, track_bands: Samples, run: Run, slope: float, rate: float
) -> Line:
    """Return the exact line of a run, from its windows' line on the stretched track."""
    line = Line(rate * (1 + slope), run.offset_s(slope), np.inf)
    edges = run.start_s[0] / rate, (run.start_s[-1] + COARSE_WINDOW_S) / rate
    inset = COARSE_WINDOW_S / 2 / rate if edges[1] - edges[0] > 2.5 * COARSE_WINDOW_S else 0.0
    span_s = max(0.0, edges[0] + inset), min(track.duration_s, edges[1] - inset)
    return refine(film, track, film_bands, track_bands, line, span_s)


def _pieces(film: Sound, track: Sound, runs: Sequence[Run], lines: Sequence[Line], rate: float) -> tuple[Piece, ...]:
    """Return runs as pieces: cuts between them are placed, and the outer ones reach to the ends."""
    n = len(runs)
    starts, ends = [0.0] * n, [0.0] * n
    errors = [[0.0, 0.0] for _ in runs]
    starts[0], errors[0][0] = _outer(runs[0].start_s[0] / rate, _first_s(lines[0]), -1)
    last_s = min(track.duration_s, (film.duration_s - lines[-1].delay_s) / lines[-1].rate)
    ends[-1], errors[-1][1] = _outer((runs[-1].start_s[-1] + COARSE_WINDOW_S) / rate, last_s, 1)
    for at in range(n - 1):
        before, after = lines[at], lines[at + 1]
        between_s = runs[at].last_s / rate, runs[at + 1].first_s / rate
        if between_s[1] - between_s[0] < 2 * COARSE_WINDOW_S:
            between_s = between_s[0] - COARSE_WINDOW_S / 2, between_s[1] + COARSE_WINDOW_S / 2
        ends[at], starts[at + 1] = place_cut(film, track, before, after, between_s)
        is_sure = before.by_waveform and after.by_waveform
        errors[at][1] = errors[at + 1][0] = CUT_ERROR_S if is_sure else UNSURE_CUT_ERROR_S
    found = []
    for run, line, start, end, error in zip(runs, lines, starts, ends, errors, strict=True):
        if end > start:
            bridged = tuple((low / rate, high / rate) for low, high in run.bridged_s)
            found.append(Piece((start, end), line.rate, line.delay_s, line.error_s, bridged, (error[0], error[1])))
    return tuple(found)


def _first_s(line: Line) -> float:
    """Return the first time of the track that lies in the film by a line."""
    return max(0.0, -line.delay_s / line.rate)


def _outer(sure_s: float, end_s: float, sign: int) -> Span:
    """Return where an outer piece ends, and how far that may be off: at the end of a side unless that is far."""
    is_near = sign * (end_s - sure_s) <= ENDS_S
    return (end_s, 0.0) if is_near else (sure_s, COARSE_WINDOW_S)


def _named_rate(pieces: Sequence[Piece], rates: Sequence[str]) -> str:
    """Return the candidate next to the rate of the longest piece."""
    longest = max(pieces, key=lambda piece: piece.track_s[1] - piece.track_s[0])
    return min(rates, key=lambda name: abs(parse_rate(name) - longest.rate))


def _verdict(
    pieces: Sequence[Piece], film: Sound, track: Sound, paper: PaperCheck, method: Method, rate_name: str
) -> tuple[Verdict, str]:
    """Return the verdict and its reason."""
    covered_s = sum(piece.film_s[1] - piece.film_s[0] for piece in pieces)
    rate = max(pieces, key=lambda piece: piece.track_s[1] - piece.track_s[0]).rate
    drift = abs(rate - 1)
    speed = f"the track runs at {rate:.6f} film seconds per track second"
    if abs(rate / parse_rate(rate_name) - 1) <= SAME_RATE and rate_name != "1":
        speed += f" ({rate_name})"
    reasons = [speed] if drift > SAME_RATE else [f"drift of {1e6 * (rate - 1):.1f} ppm"] if drift > 5e-6 else []
    if len(pieces) > 1:
        reasons.append(f"{len(pieces)} pieces: the track leaves out or adds {len(pieces) - 1} part(s)")
    shorter_s = min(film.duration_s, track.duration_s * rate)
    if covered_s < LEAST_COVERED * shorter_s:
        reasons.append(f"{100 * covered_s / shorter_s:.0f} % of the shorter side is matched")
        return "partly", "; ".join(reasons)
    why = "; ".join(reasons)
    if method == "paper" and not paper.passed and drift > SAME_RATE:
        return "other speed", why
    return ("aligned in pieces" if len(pieces) > 1 else "aligned"), why
