r"""One list of several: reciprocal rank fusion (Cormack, Clarke & Büttcher 2009).

The lists are those of the models of an index, and of what is said. The score of a moment is the sum of 1 / (60 + rank)
over the lists that have it. Moments of different lists are one moment if they overlap: list by list, each moment, best
first, joins the best moment of the earlier lists that it overlaps and that no moment of its list has joined. The joined
moment has the times of the list that ranks it highest; of equal ranks, those of the earlier list. Its match is the
highest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from truemoment.searching.retrieval import FoundMoment

K = 60

DEPTH = 100
"""Moments of each list that are fused."""


def fuse(lists: Mapping[str, Sequence[FoundMoment]]) -> list[FoundMoment]:
    """Return the moments of lists, by the names of these, best first; of equal scores those of the earlier list."""
    fused: list[FoundMoment] = []
    for name, listed in lists.items():
        free: dict[str, list[int]] = {}
        for at in sorted(range(len(fused)), key=lambda at: -fused[at].score):
            free.setdefault(fused[at].video_id, []).append(at)
        for rank, moment in enumerate(listed, start=1):
            ranked = moment._replace(score=1 / (K + rank), ranks=((name, rank),))
            others = free.get(moment.video_id, [])
            at_best = next((at for at in others if not _are_apart(fused[at], ranked)), None)
            if at_best is None:
                fused.append(ranked)
            else:
                others.remove(at_best)
                fused[at_best] = _joined(fused[at_best], ranked)
    return sorted(fused, key=lambda moment: -moment.score)


def _joined(first: FoundMoment, other: FoundMoment) -> FoundMoment:
    better = min(first, other, key=lambda moment: min(rank for _, rank in moment.ranks))
    return first._replace(
        start_s=better.start_s,
        end_s=better.end_s,
        score=first.score + other.score,
        match=max((moment.match for moment in (first, other) if moment.match is not None), default=None),
        why=first.why if first.why == other.why else "both",
        quote=first.quote or other.quote,
        ranks=(*first.ranks, *other.ranks),
    )


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
