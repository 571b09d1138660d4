"""Alignment of a described track with its film, by the paper's method and piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from truemoment.base.request import ignore
from truemoment.media.audio.alignment import Alignment, PaperCheck, Piece, Unmatched, Verdict, gaps_between
from truemoment.media.audio.bands import coarse_bands, log_bands, stretched_bands
from truemoment.media.audio.checking import PaperSettings, check_paper
from truemoment.media.audio.pieces import find_runs, run_of
from truemoment.media.audio.placing import Placing
from truemoment.media.audio.rates import RATES, RateScore, parse_rate, score_rates
from truemoment.media.audio.reading import RATE_HZ
from truemoment.media.audio.recording import Recording, Sound, record, side_of
from truemoment.media.audio.refining import Pair
from truemoment.media.audio.sources import Source
from truemoment.media.audio.windows import FilmSearch

Method = Literal["paper", "robust"]

LEAST_COVERED = 0.8
"""Share of the shorter side below which a track is aligned partly."""

LEAST_FOUND_S = 5.0
"""Seconds of a track that all pieces together have at least: bands of two films are alike for less, by chance."""

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


def align(
    film: Source, track: Source, settings: AlignSettings | None = None, *, on_status: Callable[[str], None] = ignore
) -> Alignment:
    """Align two files.

    Raises
    ------
    InputError
        If one of them has no sound, less than a minute, or silence; or several sounds and none is named.
    """
    settings = settings or AlignSettings()
    on_status("reading both sounds")
    with ThreadPoolExecutor(2) as pool:
        film_sound, track_sound = pool.map(lambda source: record(source, settings.rate_hz), (film, track))
    alignment = align_sounds(film_sound, track_sound, settings, on_status=on_status)
    return Alignment(
        film=side_of(film, film_sound.duration_s),
        track=side_of(track, track_sound.duration_s),
        rate_candidate=alignment.rate_candidate,
        pieces=alignment.pieces,
        unmatched=alignment.unmatched,
        paper=alignment.paper,
        verdict=alignment.verdict,
        why=alignment.why,
    )


class FoundAlignment(NamedTuple):
    """An alignment of two sounds without their files; fields as in :class:`.Alignment`."""

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
    on_status: Callable[[str], None] = ignore,
) -> FoundAlignment:
    """Align two sounds of the same sampling rate."""
    settings = settings or AlignSettings()
    on_status("delay by the paper's method")
    paper = check_paper(film, track, settings.paper)
    on_status("speed of the track")
    with ThreadPoolExecutor(2) as pool:
        film_bands, track_bands = pool.map(log_bands, (film, track))
    search, coarse = FilmSearch(coarse_bands(film_bands)), coarse_bands(track_bands)
    scores = score_rates(search, coarse, settings.rates)
    on_status("pieces of the track")
    pair = Pair(film, track, film_bands, track_bands)
    rate = scores[0].rate
    runs, slope = find_runs(search, stretched_bands(coarse, rate))
    on_status("exact delays and cuts")
    placing = Placing(pair, rate, slope, runs)
    if not placing.runs and paper.passed:  # noise covers the bands, but not the waveform
        placing = Placing(pair, 1.0, 0.0, [run_of(paper)])
    placing.fill(search, stretched_bands(coarse, placing.rate))
    pieces = placing.pieces()
    if sum(piece.track_s[1] - piece.track_s[0] for piece in pieces) < LEAST_FOUND_S:
        return _not_found(film, track, paper, scores)
    longest = max(pieces, key=lambda piece: piece.track_s[1] - piece.track_s[0])
    name = min(settings.rates, key=lambda name: abs(parse_rate(name) - longest.rate))
    verdict, why = _verdict(pieces, film, track, _Context(paper, settings.method, name))
    if settings.method == "paper":
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
    listed = ", ".join(
        f"{score.name}: median {score.median:.2f}, {100 * score.share:.0f} % of windows" for score in scores
    )
    why = f"another film, or a speed that was not tried; windows of the track in the film, by speed: {listed}"
    unmatched = Unmatched(((0.0, track.duration_s),), ((0.0, film.duration_s),))
    return FoundAlignment("", (), unmatched, paper, "not this film", why)


class _Context(NamedTuple):
    """Further values that a verdict depends on."""

    paper: PaperCheck
    method: Method
    rate_name: str


def _verdict(pieces: Sequence[Piece], film: Sound, track: Sound, context: _Context) -> tuple[Verdict, str]:
    """Return the verdict and its reason."""
    covered_s = sum(piece.film_s[1] - piece.film_s[0] for piece in pieces)
    rate = max(pieces, key=lambda piece: piece.track_s[1] - piece.track_s[0]).rate
    drift = abs(rate - 1)
    speed = f"the track runs at {rate:.6f} film seconds per track second"
    if abs(rate / parse_rate(context.rate_name) - 1) <= SAME_RATE and context.rate_name != "1":
        speed += f" ({context.rate_name})"
    reasons = [speed] if drift > SAME_RATE else [f"drift of {1e6 * (rate - 1):.1f} ppm"] if drift > 5e-6 else []
    if len(pieces) > 1:
        reasons.append(f"{len(pieces)} pieces: the track leaves out or adds {len(pieces) - 1} part(s)")
    shorter_s = min(film.duration_s, track.duration_s * rate)
    if covered_s < LEAST_COVERED * shorter_s:
        reasons.append(f"{100 * covered_s / shorter_s:.0f} % of the shorter side is matched")
        return "partly", "; ".join(reasons)
    why = "; ".join(reasons)
    if context.method == "paper" and not context.paper.passed and drift > SAME_RATE:
        return "other speed", why
    return ("aligned in pieces" if len(pieces) > 1 else "aligned"), why
