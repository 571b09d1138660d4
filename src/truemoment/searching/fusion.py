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
    of_video: dict[str, list[int]] = {}
    for at, moment in enumerate(seen):
        of_video.setdefault(moment.video_id, []).append(at)
    alone = []
    for rank, listed in enumerate(said, start=1):
        passage = listed._replace(score=1 / (K + rank))
        free = of_video.get(passage.video_id, [])
        at_best = next((at for at in free if not _are_apart(fused[at], passage)), None)
        if at_best is None:
            alone.append(passage)
            continue
        free.remove(at_best)
        moment = fused[at_best]
        better = passage if passage.score > moment.score else moment
        fused[at_best] = moment._replace(
            start_s=better.start_s,
            end_s=better.end_s,
            score=moment.score + passage.score,
            why="both",
            quote=passage.quote,
        )
    return sorted([*fused, *alone], key=lambda moment: -moment.score)


def without_near(moments: Iterable[FoundMoment], apart_s: float, top: int) -> list[FoundMoment]:
    """Return the first moments, so many at most, without those that overlap an earlier one or are too near it."""
    kept: list[FoundMoment] = []
    of_video: dict[str, list[FoundMoment]] = {}
    for moment in moments:
        others = of_video.setdefault(moment.video_id, [])
        if all(_are_apart(moment, better, apart_s) for better in others):
            others.append(moment)
            kept.append(moment)
        if len(kept) == top:
            break
    return kept


def _are_apart(moment: FoundMoment, other: FoundMoment, apart_s: float = 0.0) -> bool:
    """Whether two moments of a video do not overlap and have so many seconds between them."""
    return moment.end_s + apart_s <= other.start_s or other.end_s + apart_s <= moment.start_s
