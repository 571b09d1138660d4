"""How queries are dealt to people, and in which order each person gets them.

*Deal*: each query, in seeded order, goes to k different people: first to those who have the fewest queries of its
video, then to those whose load is not 2 above the least (4 at most), then to those who have met the people chosen for
it least often, then to the smallest load, then by lot. Exchanges afterwards remove repeats of a video that arithmetic
does not force. Even pairs matter: then agreement of two people has the same weight for all people.

*Order*: seeded, and two queries of one video are at least 20 tasks apart where that is possible. Sentences of one video
explain each other, which would be context that other people do not have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Ints

MOST_ABOVE = 4
"""Largest difference between the loads of two people."""

HIGH = 2
"""Difference of loads from which on a person waits, so that the largest one is hardly reached: it forces repeats."""

APART = 20
"""Tasks between two queries of one video."""


def deal(
    video: Sequence[int] | Ints, n_people: int, per_query: int, rng: np.random.Generator, load: Ints | None = None
) -> Ints:
    """Return who gets each query, (Q, k), numbers of people from 0, rising.

    Parameters
    ----------
    video : (Q,)
        Number of each query's video, from 0.
    n_people
        Number of people, at least `per_query`.
    per_query
        Number k of different people per query.
    load : (P,)
        Queries that people have already; None for none.
    """
    if not 1 <= per_query <= n_people:
        raise UsageError(f"got {per_query} answers per query from {n_people} people, expected 1 to {n_people}")
    video = np.asarray(video, dtype=np.int64)
    n_videos = int(video.max()) + 1 if len(video) else 0
    of_video = np.zeros((n_videos, n_people), dtype=np.int64)
    met = np.zeros((n_people, n_people), dtype=np.int64)
    load = np.zeros(n_people, dtype=np.int64) if load is None else load.astype(np.int64).copy()
    dealt = np.empty((len(video), per_query), dtype=np.int64)
    for query in rng.permutation(len(video)):
        lot = rng.permutation(n_people)
        times = of_video[video[query]]
        meetings = np.zeros(n_people, dtype=np.int64)
        free = np.ones(n_people, dtype=bool)
        for k in range(per_query):
            may = free & (load < load.min() + MOST_ABOVE)
            if not may.any():
                may = free
            # One number that sorts by all four: each part is below the factor of the next.
            high = load >= load.min() + HIGH
            key = (((times * 2 + high) * (1 << 20) + meetings) * (1 << 20) + load) * (1 << 10) + lot
            person = int(np.where(may, key, np.iinfo(np.int64).max).argmin())
            dealt[query, k] = person
            free[person] = False
            load[person] += 1
            meetings = meetings + met[person]
        people = dealt[query]
        times[people] += 1
        met[np.ix_(people, people)] += 1
    _exchange_repeats(dealt, video, of_video)
    dealt.sort(axis=1)
    return dealt


def _exchange_repeats(dealt: Ints, video: Ints, of_video: Ints) -> None:
    """Exchange people who meet a video again while others never meet it; loads stay as they are.

    Parameters
    ----------
    dealt : (Q, k)
        Who gets each query; changed in place.
    of_video : (V, P)
        Number of queries of each video that people have; changed in place.
    """
    for video_number in np.flatnonzero((of_video.max(axis=1) > 1) & (of_video.min(axis=1) == 0)).tolist():
        for query in np.flatnonzero(video == video_number).tolist():
            for place, person in enumerate(dealt[query].tolist()):
                fresh = np.flatnonzero(of_video[video_number] == 0)
                if of_video[video_number, person] > 1 and len(fresh):
                    _exchange(dealt, video, of_video, (query, place), fresh.tolist())


def _exchange(dealt: Ints, video: Ints, of_video: Ints, at: tuple[int, int], fresh: list[int]) -> None:
    """Give one place to a person who has not met its video, in exchange for one where that costs nothing."""
    person, video_number = int(dealt[at]), int(video[at[0]])
    for other in fresh:
        for query, place in np.argwhere(dealt == other).tolist():
            theirs = int(video[query])
            if of_video[theirs, person] == 0:
                dealt[at], dealt[query, place] = other, person
                of_video[video_number, person] -= 1
                of_video[video_number, other] += 1
                of_video[theirs, other] -= 1
                of_video[theirs, person] += 1
                return


def forced_repeats(video: Sequence[int] | Ints, n_people: int, per_query: int) -> int:
    """Return how often people must meet a video again, whoever gets which query.

    Examples
    --------
    >>> forced_repeats([0, 0, 0, 1], n_people=4, per_query=2)
    2
    """
    answers = np.bincount(np.asarray(video, dtype=np.int64)) * per_query
    return int(np.maximum(0, answers - n_people).sum())


def order(video: Sequence[int] | Ints, rng: np.random.Generator, *, spread: bool) -> Ints:
    """Return the order in which a person gets queries, positions (Q,).

    Parameters
    ----------
    video : (Q,)
        Number of each query's video.
    spread
        Whether queries of one video are at least :data:`APART` tasks apart, where that is possible.
    """
    shuffled = rng.permutation(len(video))
    if not spread:
        return shuffled
    waiting: defaultdict[int, list[int]] = defaultdict(list)
    for query in shuffled.tolist():
        waiting[int(video[query])].append(query)
    single = [query for query in shuffled.tolist() if len(waiting[int(video[query])]) == 1]
    several = {name: queries for name, queries in waiting.items() if len(queries) > 1}
    return np.array(_spread(several, single, len(shuffled), rng), dtype=np.int64)


def _spread(several: dict[int, list[int]], single: list[int], n_queries: int, rng: np.random.Generator) -> list[int]:
    """Put queries of the same video at even distances with a random start; the others fill the places between."""
    places: list[tuple[float, int]] = []
    for queries in several.values():
        gap = n_queries / len(queries)
        start = rng.random() * gap
        places += [(start + number * gap, query) for number, query in enumerate(queries)]
    fill = rng.random(len(single)) * n_queries
    places += list(zip(fill.tolist(), single, strict=True))
    return [query for _, query in sorted(places)]
