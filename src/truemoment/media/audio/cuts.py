"""Cuts: where a track leaves one line and follows the next, and where a line ends, each with its error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.media.audio.explained import EXACT, WOBBLING, Explained, FrameForm
from truemoment.media.audio.recording import Sound
from truemoment.media.audio.refining import DelayLine

UNLIKELY = 0.005
"""Probability of the places on either side that the error of an edge leaves out."""

TRANSFER_S = 30.0
"""Longest part of a line, next to an edge, from which its transfer is estimated."""


class Edge(NamedTuple):
    """A start or an end of a piece on the track, and how far it may be off."""

    at_s: float
    error_s: float


class SureLine(NamedTuple):
    """A line, and a part of the track in which it is certain."""

    line: DelayLine
    span_s: tuple[float, float]

    def near(self, time_s: float) -> tuple[float, float]:
        """Return at most 30 s of the sure part, next to a time."""
        low, high = self.span_s
        return (max(low, high - TRANSFER_S), high) if time_s >= high else (low, min(high, low + TRANSFER_S))


def form_of(*lines: DelayLine) -> FrameForm:
    """Return how tracks along some lines are compared with the film."""
    return EXACT if all(line.by_waveform for line in lines) else WOBBLING


def place_cut(
    film: Sound, track: Sound, before: SureLine, after: SureLine, between_s: tuple[float, float]
) -> tuple[Edge, Edge]:
    """Return where a track leaves one line, and where it follows the next one.

    In a cut the film jumps and the track does not; in an insertion it is the other way round. Both edges move together:
    the evidence of the first line before them and of the second line behind them is largest. Where parts of both sides
    are missing, which needs decisive evidence, each edge moves by itself. The second edge never lies before the first,
    neither on the track nor in the film.

    Parameters
    ----------
    between_s
        Part of the track in which the first line is certain at the start, and the second at the end.
    """
    low_s, high_s = between_s
    jump_s = _film_s(after.line, (low_s + high_s) / 2) - _film_s(before.line, (low_s + high_s) / 2)
    inserted_s = max(0.0, -jump_s / before.line.rate)
    form = form_of(before.line, after.line)
    n = int((high_s - low_s - inserted_s) / form.hop_s)
    if n < 1:  # the second piece would start before the first
        middle_s = max(low_s, (low_s + high_s - inserted_s) / 2)
        return Edge(middle_s, form.least_error_s), Edge(_start(before, after, middle_s), form.least_error_s)
    start_s = low_s + inserted_s
    first = Explained(film, track, before.line, form, before.near(high_s)).evidence_up_to(low_s, n)
    second = Explained(film, track, after.line, form, after.near(low_s)).evidence_up_to(start_s + n * form.hop_s, -n)[
        ::-1
    ]
    together = first + second
    at_first = at_second = int(np.argmax(together))
    separate = np.maximum.accumulate(first) + second
    if separate.max() > together[at_first] + form.decisive:
        at_second = int(np.argmax(separate))
        at_first = int(np.argmax(first[: at_second + 1]))
        likely = first[: at_second + 1], np.concatenate([np.full(at_first, -np.inf), second[at_first:]])
    else:
        likely = together, together
    errors = [
        max(form.least_error_s, form.hop_s * _spread(evidence / form.excess, at))
        for evidence, at in zip(likely, (at_first, at_second), strict=True)
    ]
    end_s = low_s + at_first * form.hop_s
    # Lines of slightly different rates are not apart by the same time everywhere.
    second_s = max(start_s + at_second * form.hop_s, _start(before, after, end_s))
    return Edge(end_s, errors[0]), Edge(second_s, errors[1])


def reach_of(film: Sound, track: Sound, sure_line: SureLine, end_s: float) -> Edge:
    """Return the end of a line from its certain part towards a time, before or after it."""
    sure_s = sure_line.span_s[1] if end_s > sure_line.span_s[1] else sure_line.span_s[0]
    form = form_of(sure_line.line)
    n = int(abs(end_s - sure_s) / form.hop_s)
    if not n:
        return Edge(end_s, 0.0)
    way = 1 if end_s > sure_s else -1
    total = Explained(film, track, sure_line.line, form, sure_line.near(end_s)).evidence_up_to(sure_s, way * n)
    at = int(np.argmax(total))
    if total[-1] >= total[at] - form.decisive:
        return Edge(end_s, 0.0)
    return Edge(sure_s + way * at * form.hop_s, max(form.least_error_s, form.hop_s * _spread(total / form.excess, at)))


def is_heard(film: Sound, track: Sound, sure_line: SureLine) -> bool:
    """Whether a track has the sound of the film along a line, in its certain part: evidence decides, 30 s at a time."""
    form = form_of(sure_line.line)
    low, high = sure_line.span_s
    evidence = 0.0
    for start_s in np.arange(low, high, TRANSFER_S).tolist():
        part_s = start_s, min(high, start_s + TRANSFER_S)
        n = int((part_s[1] - start_s) / form.hop_s)
        evidence += Explained(film, track, sure_line.line, form, part_s).evidence(start_s, n).sum() if n else 0.0
        if evidence >= form.decisive:
            return True
    return False


def _film_s(line: DelayLine, track_s: float) -> float:
    return line.rate * track_s + line.delay_s


def _start(before: SureLine, after: SureLine, end_s: float) -> float:
    """Return the first time of the track at which the second line may follow the first one, which ends at a time."""
    return max(end_s, (_film_s(before.line, end_s) - after.line.delay_s) / after.line.rate)


def _spread(log_likelihood: Floats, at: int) -> int:
    """Return how many places away from one another may be, unless it is unlikely."""
    share = np.cumsum(np.exp(log_likelihood - log_likelihood.max()))
    low, high = np.searchsorted(share, np.array([UNLIKELY, 1 - UNLIKELY]) * share[-1])
    return max(abs(at - int(low)), abs(int(high) - at))
