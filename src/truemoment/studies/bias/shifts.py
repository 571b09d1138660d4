r"""How the test differs from training: the locations of its moments, its words, or the combination of words.

A shift *ranks* queries: the lowest ranks go to test-ood first, as many as fill it
(:func:`truemoment.studies.bias.splitting.resplit`).

==================  ==================================================================================================
location            by the density of their moments, the least dense first (Closer Look, Yuan et al. 2021, section 4.1)
words               by words drawn at random, which no training query has
compositions        by pairs of a verb and its noun drawn at random: both occur in training, but never together
==================  ==================================================================================================

Words and compositions have to be *new*: every query of test-ood has one, and no query of another split. Queries that
violate this are put aside: other queries of the videos of test-ood, and queries of other videos with a new word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from truemoment.base.density import Density
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Bools, Floats, seconds_to_norm
from truemoment.base.known_names import GIVES_DURATIONS, NO_DURATION
from truemoment.base.records import Annotations
from truemoment.data.language import Engine, Token

Place = Literal["start-end", "start-length", "middle-length", "middle-log-length", "seconds"]
"""Coordinates of a moment."""

SHORTEST_NORM = 1e-3
"""Lower limit of lengths before the logarithm, as a share of the video."""

PLACES: Mapping[Place, Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]] = MappingProxyType(
    {
        "start-end": lambda start, end, _: (start, end),
        "start-length": lambda start, end, _: (start, end - start),
        "middle-length": lambda start, end, _: ((start + end) / 2, end - start),
        "middle-log-length": lambda start, end, _: ((start + end) / 2, np.log(np.maximum(end - start, SHORTEST_NORM))),
        "seconds": lambda start, end, duration_s: (start * duration_s, end * duration_s),
    }
)
"""Coordinates from start and end, as shares of the video, and duration in seconds.

The first three are linear images of each other, which have the same ranks if the kernels follow the covariance of the
points. They differ only with a given width.
"""

New = Literal["words", "compositions"]

FARTHEST = 1e9
"""Larger coordinates are refused."""

ROUNDING = 1e-9
"""Relative tolerance of equal densities."""

NARROWEST, WIDEST = 1e-6, 1e6
"""Limits of a width: beyond them all densities are equal in float64."""

LEAST_QUERIES = 5
"""Least number of queries with a word or composition that can be drawn; rarer ones may be misspelt."""

MOST_VIDEOS = 0.05
"""Largest share of videos with a word that can be drawn: without the common words the task would differ."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """The order in which queries go to test-ood.

    Parameters
    ----------
    rank : (Q,)
        Rank, the lowest first; infinite for queries that cannot go there.
    eligible : (Q,)
        Queries that can be in test-ood; others of a low rank are put aside.
    terms : (Q,) tuples of text
        New words or compositions of each query, by rank; None for locations.
    candidates
        All terms in the order in which they are drawn, which is their rank.
    density : (Q,)
        For locations: density of the most typical moment of each query; NaN without a location.
    """

    rank: Floats
    eligible: Bools
    terms: Sequence[tuple[str, ...]] | None = None
    candidates: tuple[str, ...] = ()
    density: Floats | None = None


@dataclass(frozen=True)
class LocationShift:
    """Moments of test-ood are at rare locations.

    Parameters
    ----------
    place
        Coordinates of a moment.
    width
        Standard deviation of the kernels in both directions, in the unit of the coordinates; None for kernels with the
        covariance of the points by Scott's rule, as in SciPy.
    """

    place: Place = "start-end"
    width: float | None = None

    def __post_init__(self) -> None:
        if self.place not in get_args(Place):
            raise UsageError(f"got place {self.place!r}, expected one of {', '.join(get_args(Place))}")
        if self.width is not None and not NARROWEST <= self.width <= WIDEST:
            raise UsageError(f"got a width of {self.width:g}, expected {NARROWEST:g} to {WIDEST:g}")

    def rank(self, annotations: Annotations) -> Ranking:
        """Rank queries by the density of their moments; swapped times are put in order.

        A query with several moments counts by its most typical one, because an answer with that one is right.
        """
        is_known = (annotations.duration_s > 0) & ~np.isnan(annotations.start_s)
        if len(annotations) and not np.any(annotations.duration_s > 0):
            raise InputError(f"{annotations.dataset}: {NO_DURATION}", hint=GIVES_DURATIONS)
        duration_s = annotations.duration_s[is_known]
        times = np.sort(np.stack([annotations.start_s[is_known], annotations.end_s[is_known]], axis=1), axis=1)
        with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused below
            start, end = (seconds_to_norm(column, duration_s) for column in times.T)
            points = np.stack(PLACES[self.place](start, end, duration_s), axis=1)
        if not np.all(np.abs(points) <= FARTHEST):
            row = int(np.flatnonzero(is_known)[~np.all(np.abs(points) <= FARTHEST, axis=1)][0])
            raise InputError(
                f"{annotations.dataset}: got a moment to {annotations.end_s[row]:g} s in a video of "
                f"{annotations.duration_s[row]:g} s for query {annotations.query_id[row]!r}; expected both in seconds"
            )
        try:
            estimate = Density.fit(points)
        except InputError as error:
            raise InputError(f"{annotations.dataset}: {error}; there is no density to split by") from None
        if self.width is not None:
            estimate = Density(points, np.eye(2) * self.width**2)
        places, place = np.unique(points, axis=0, return_inverse=True)  # equal points have equal ranks, to the last bit
        of_row = np.full(len(annotations), -np.inf)
        ordered, at = np.unique(estimate.evaluate(places), return_inverse=True)
        higher = np.append(True, np.diff(ordered) > ROUNDING * ordered[1:])  # others are equal: rounding breaks no tie
        of_row[is_known] = ordered[higher][np.cumsum(higher) - 1][at][place.reshape(-1)]
        density = np.maximum.reduceat(of_row, annotations.offsets[:-1])
        has_location = np.isfinite(density)
        return Ranking(
            rank=np.where(has_location, density, np.inf),
            eligible=has_location,
            density=np.where(has_location, density, np.nan),
        )


@dataclass(frozen=True)
class WordShift:
    """Queries of test-ood have ``words`` (verbs, nouns and adjectives, by lemma) or ``compositions`` that are new."""

    new: New = "words"

    def __post_init__(self) -> None:
        if self.new not in get_args(New):
            raise UsageError(f"got {self.new!r}, expected one of {', '.join(get_args(New))}")

    def rank(self, annotations: Annotations, engine: Engine, rng: np.random.Generator) -> Ranking:
        """Rank queries by the first of their terms, in a random order of all terms that can be drawn."""
        queries = annotations.queries
        find = compositions_of if self.new == "compositions" else words_of
        of_query = [find(tokens) for tokens in engine.analyse(list(queries.sentence))]
        queries_with: defaultdict[str, list[int]] = defaultdict(list)
        for q, terms in enumerate(of_query):
            for term in terms:
                queries_with[term].append(q)
        max_videos = max(MOST_VIDEOS * annotations.n_videos, 1)
        candidates = [
            term
            for term, rows in sorted(queries_with.items())
            if len(rows) >= LEAST_QUERIES and len(set(queries.video_id[rows])) <= max_videos
        ]
        if not candidates:
            raise InputError(
                f"{annotations.dataset}: none of the {self.new} is in at least {LEAST_QUERIES} queries and at most "
                f"{100 * MOST_VIDEOS:g} % of the videos"
            )
        order = tuple(candidates[number] for number in rng.permutation(len(candidates)).tolist())
        place = {term: float(at) for at, term in enumerate(order)}
        ordered = [
            tuple(sorted((term for term in terms if term in place), key=place.__getitem__)) for terms in of_query
        ]
        rank = np.array([place[terms[0]] if terms else np.inf for terms in ordered])
        return Ranking(rank, np.ones(len(queries), dtype=bool), ordered, order)


Shift = LocationShift | WordShift


def words_of(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the lemmas of the verbs, nouns and adjectives of a sentence."""
    return frozenset(token.lemma for token in tokens if token.tag in ("VERB", "NOUN", "ADJ"))


def compositions_of(tokens: Sequence[Token]) -> frozenset[str]:
    """Return verbs of a sentence with the first noun after each, before the next verb: "open door".

    Examples
    --------
    >>> from truemoment.data.language import get_engine
    >>> (tokens,) = get_engine().analyse(["The person opens the big door and closes a window."])
    >>> sorted(compositions_of(tokens))
    ['close window', 'open door']
    """
    compositions, verb = set(), ""
    for token in tokens:
        if token.tag == "VERB":
            verb = token.lemma
        elif token.tag == "NOUN" and verb:
            compositions.add(f"{verb} {token.lemma}")
            verb = ""
    return frozenset(compositions)
