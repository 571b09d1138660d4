"""Start and end of a sentence: those of a narrator run near its words, or the times of the words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from truemoment.collection.spans import Span

NEAR_S = 0.6
"""Maximum seconds between the end of a run and that of the words, for the run's end to be the sentence's."""


def bounded(words_s: Sequence[Span], runs: Sequence[Span] | None) -> list[Span]:
    """Return start and end of each sentence in film time.

    Sentences next to each other in one run part in the middle of their pause.

    Parameters
    ----------
    words_s
        Start of the first word and end of the last of each sentence, rising.
    runs
        Narrator runs, disjoint and rising; None for the words' times alone.

    Examples
    --------
    >>> bounded([(1.2, 2.0), (2.2, 3.1)], [(1.0, 3.2)])
    [(1.0, 2.1), (2.1, 3.2)]
    """
    if not runs:
        return list(words_s)
    starts = [_nearest(start, [low for low, _ in runs]) for start, _ in words_s]
    ends = [_nearest(end, [high for _, high in runs]) for _, end in words_s]
    for k, ((_, end), (start, _)) in enumerate(pairwise(words_s)):
        if end <= start and any(low <= end and start <= high for low, high in runs):
            ends[k] = starts[k + 1] = (end + start) / 2
    return [
        (low, high) if low < high else (float(word[0]), float(word[1]))
        for low, high, word in zip(starts, ends, words_s, strict=True)
    ]


def _nearest(time_s: float, edges: Sequence[float]) -> float:
    """Return the nearest edge within :data:`NEAR_S`, or the time itself."""
    edge = min(edges, key=lambda edge: abs(edge - time_s))
    return edge if abs(edge - time_s) <= NEAR_S else time_s
