"""The alignment of a described track with its film: pieces of one rate and delay, and the file that stores them.

On a piece, ``film_s = rate x track_s + delay_s``. A track that starts 3 s late has a delay of -3 s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from truemoment.base.boundary.documents import document_head, write_document
from truemoment.base.boundary.files import read_json
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats

SCHEMA = "truemoment/alignment/1"

Span = tuple[float, float]  # start and end in seconds

Verdict = Literal["aligned", "aligned in pieces", "partly", "other speed", "not this film"]


class Side(msgspec.Struct, frozen=True):
    """One of the two sounds: the file, its identity, the number of its stream, and its duration in seconds."""

    path: str
    identity: str
    stream: int
    duration_s: float


class Piece(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stretch of the track that follows the film at one rate and delay.

    Parameters
    ----------
    track_s
        Its start and end on the track.
    rate, delay_s
        ``film_s = rate x track_s + delay_s``.
    error_s
        Typical deviation of windows from the line.
    bridged_s
        Parts of the track inside it that no window matched.
    edge_error_s
        How far its start and its end may be off, with a probability of 99 %; 0 where the film or the track ends. At
        least 0.1 s, and 1 s for time-stretched tracks.
    """

    track_s: Span
    rate: float
    delay_s: float
    error_s: float
    bridged_s: tuple[Span, ...] = ()
    edge_error_s: tuple[float, float] = (0.0, 0.0)

    @property
    def film_s(self) -> Span:
        """Its start and end in the film."""
        start, end = self.track_s
        return self.rate * start + self.delay_s, self.rate * end + self.delay_s


class Unmatched(msgspec.Struct, frozen=True):
    """Parts of either side that belong to no piece."""

    track_s: tuple[Span, ...] = ()
    film_s: tuple[Span, ...] = ()


class WindowDelay(msgspec.Struct, frozen=True):
    """The delay of one window: the middle of the window in the film, its delay, and how clear its peak is."""

    film_s: float
    delay_s: float
    peak_ratio: float


class PaperCheck(msgspec.Struct, frozen=True):
    """The check of MAD (Soldan et al. 2022, section 3): one delay, and windows that must agree with their median.

    Parameters
    ----------
    delay_s
        Position of the largest cross-correlation of the two sounds; None if no peak is clear.
    peak_ratio
        That peak divided by the next largest one at least 20 ms away.
    windows
        The delay of each window.
    median_s
        Median of the windows' delays.
    within
        Number of windows whose delay lies within 0.1 s of the median.
    passed
        Whether all of them do.
    """

    delay_s: float | None
    peak_ratio: float
    windows: tuple[WindowDelay, ...]
    median_s: float
    within: int
    passed: bool


class Alignment(msgspec.Struct, frozen=True, kw_only=True):
    """Where each part of a described track lies in its film.

    Parameters
    ----------
    film, track
        The two sounds.
    rate_candidate
        The speed, of those tried, that fits best: ``1``, ``25/24``; "" if none fits.
    pieces
        Disjoint and rising on both sides.
    unmatched
        The rest of both sides.
    paper
        The verdict of the paper's method; None if it was not computed.
    verdict
        ``aligned``: one piece. ``aligned in pieces``: several. ``partly``: pieces cover less than 80 % of the shorter
        side. ``other speed``: only the paper's method was requested, and the rate is not 1. ``not this film``: none.
    why
        The reason of the verdict, in words; "" if there is nothing to add.
    """

    film: Side
    track: Side
    rate_candidate: str
    pieces: tuple[Piece, ...]
    unmatched: Unmatched
    paper: PaperCheck | None
    verdict: Verdict
    why: str = ""

    @property
    def error_s(self) -> float:
        """Largest error of a piece; infinite without pieces."""
        return max((piece.error_s for piece in self.pieces), default=float("inf"))

    def to_film(self, track_s: float | Floats | Sequence[float]) -> Floats:
        """Return times of the track in film time, of the same shape; NaN where no piece is."""
        times = np.asarray(track_s, np.float64)
        film = np.full(times.shape, np.nan)
        for piece in reversed(self.pieces):  # where one ends as another starts, the first one counts
            inside = (times >= piece.track_s[0]) & (times <= piece.track_s[1])
            film[inside] = piece.rate * times[inside] + piece.delay_s
        return film

    def to_track(self, film_s: float | Floats | Sequence[float]) -> Floats:
        """Return film times in the track's time, of the same shape; NaN where no piece is."""
        times = np.asarray(film_s, np.float64)
        track = np.full(times.shape, np.nan)
        for piece in reversed(self.pieces):
            track_s = (times - piece.delay_s) / piece.rate
            low, high = piece.track_s
            inside = (track_s >= low - ROUNDING_S) & (track_s <= high + ROUNDING_S)
            track[inside] = np.clip(track_s[inside], low, high)
        return track

    def document(self) -> dict[str, object]:
        """Return the content of ``alignment.json``."""
        return {**document_head(SCHEMA), **msgspec.to_builtins(self)}

    def write(self, path: AnyPath) -> None:
        """Write ``alignment.json``."""
        write_document(path, self.document())


ROUNDING_S = 1e-9
"""How far a time that was mapped there and back may lie outside a piece."""


def read_alignment(path: AnyPath) -> Alignment:
    """Read and check a file of :meth:`Alignment.write`.

    Raises
    ------
    InputError
        If it is of another schema, or its pieces overlap or fall.
    """
    schema = read_json(path, _Schema).schema
    if schema != SCHEMA:
        raise InputError(f"got {schema!r}, expected {SCHEMA!r}", path=path, field="schema")
    alignment = read_json(path, Alignment)
    fault = faults_of(alignment.pieces)
    if fault:
        raise InputError(fault, path=path, field="pieces")
    return alignment


class _Schema(msgspec.Struct):
    schema: str


def faults_of(pieces: Sequence[Piece]) -> str:
    """Return the fault of pieces, which must be disjoint and rise on both sides; "" if there is none."""
    for number, piece in enumerate(pieces):
        low, high = piece.track_s
        if not (np.isfinite([low, high, piece.rate, piece.delay_s]).all() and low < high and piece.rate > 0):
            return (
                f"piece {number} lies from {low:g} to {high:g} s at rate {piece.rate:g}, expected start < end, rate > 0"
            )
        if number and (low < pieces[number - 1].track_s[1] or piece.film_s[0] < pieces[number - 1].film_s[1] - 1e-6):
            return f"piece {number} starts before piece {number - 1} ends"
    return ""


def gaps_between(spans: Sequence[Span], duration_s: float, least_s: float = 0.05) -> tuple[Span, ...]:
    """Return the parts of 0 to `duration_s` that no span covers; spans rise, and shorter parts are left out.

    Examples
    --------
    >>> gaps_between([(1.0, 4.0)], 10.0)
    ((0.0, 1.0), (4.0, 10.0))
    """
    edges = [0.0, *(edge for span in spans for edge in span), duration_s]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return tuple((low, high) for low, high in pairs if high - low >= least_s)
