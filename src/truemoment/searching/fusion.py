r"""One list of what is seen and what is said: reciprocal rank fusion (Cormack, Clarke & Büttcher 2009).

The score of a moment is the sum of 1 / (60 + rank) over the lists that have it. A passage of speech and a moment that
is seen are one moment if they overlap: each passage, best first, joins the best moment that it overlaps and that no
passage has joined. The moment has the times of the list that ranks it higher; of equal ranks, those of what is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from truemoment.searching.retrieval import FoundMoment

K = 60

DEPTH = 100
"""Moments of each list that are fused."""


def fuse(seen: Sequence[FoundMoment], said: Sequence[FoundMoment]) -> list[FoundMoment]:
    """Return the moments of two lists, best first; of equal scores those that are seen."""
    fused = [moment._replace(score=1 / (K + rank)) for rank, moment in enumerate(seen, start=1)]
    alone = []
    for rank, passage in enumerate(said, start=1):
        passage = passage._replace(score=1 / (K + rank))  # noqa: PLW2901 - the passage with its new score
        free = (at for at, moment in enumerate(fused) if moment.why == "seen" and not _are_apart(moment, passage))
        at = next(free, None)
        if at is None:
            alone.append(passage)
        else:
            better = passage if passage.score > fused[at].score else fused[at]
            fused[at] = fused[at]._replace(
                start_s=better.start_s,
                end_s=better.end_s,
                score=fused[at].score + passage.score,
                why="both",
                quote=passage.quote,
            )
    return sorted([*fused, *alone], key=lambda moment: -moment.score)


def apart(moments: Iterable[FoundMoment], apart_s: float, top: int) -> list[FoundMoment]:
    """Return the first moments, so many at most, without those that overlap an earlier one or are too near it."""
    kept: list[FoundMoment] = []
    for moment in moments:
        if all(_are_apart(moment, better, apart_s) for better in kept):
            kept.append(moment)
        if len(kept) == top:
            break
    return kept


def _are_apart(one: FoundMoment, other: FoundMoment, apart_s: float = 0.0) -> bool:
    """Whether two moments are of different videos, or do not overlap and have so many seconds between them."""
    if one.video_id != other.video_id:
        return True
    return one.end_s + apart_s <= other.start_s or other.end_s + apart_s <= one.start_s
