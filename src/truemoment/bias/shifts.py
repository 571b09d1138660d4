r"""In what the test differs from training: where its moments lie, the words it uses, or how it combines them.

A shift *ranks* queries: the lowest ranks go to test-ood first, as many as it takes
(:func:`truemoment.bias.splitting.resplit`).

==================  ==================================================================================================
location            by the density of their moments, the least dense first (Closer Look, Yuan et al. 2021, section 4.1)
words               by words drawn at random, of which training is to know none
compositions        by pairs of a verb and its noun drawn at random: both are known elsewhere, and never together
==================  ==================================================================================================

Words and compositions have to be *new*: no other split may use them, and every query of test-ood does. So queries are
put aside that stand in the way: what is left of the videos of test-ood, and what other videos say in the new words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from truemoment.density import Density
from truemoment.exceptions import InputError, UsageError
from truemoment.intervals import Bools, Floats, seconds_to_norm
from truemoment.language import Engine, Token
from truemoment.records import Annotations

Place = Literal["start-end", "start-length", "middle-length", "middle-log-length", "seconds"]
"""What stands for where a moment lies."""

SHORTEST_NORM = 1e-3
"""Moments shorter than this share of the video count as this long where a logarithm is taken."""

PLACES: Mapping[Place, Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]] = MappingProxyType(
    {
        "start-end": lambda start, end, _: (start, end),
        "start-length": lambda start, end, _: (start, end - start),
        "middle-length": lambda start, end, _: ((start + end) / 2, end - start),
        "middle-log-length": lambda start, end, _: (
            (start + end) / 2,
            np.log(np.maximum(end - start, SHORTEST_NORM)),
        ),
        "seconds": lambda start, end, duration_s: (start * duration_s, end * duration_s),
    }
)
"""Two numbers of (start, end, duration in seconds), start and end as shares of the video.

The first three are linear images of each other. A density whose kernels follow the points' covariance gives linear
images the same ranks, so they differ only where a width is given.
"""

New = Literal["words", "compositions"]

FARTHEST = 1e9
"""A place beyond this, in whatever unit, is a mistake."""

ROUNDING = 1e-9
"""Densities that differ by this share of themselves or less are equal: that is how exact they are."""

NARROWEST, WIDEST = 1e-6, 1e6
"""Bounds of a width: beyond them every density is alike in float64."""

LEAST_QUERIES = 5
"""Queries that hold a word, or composition, that may be drawn: fewer may be a mistake of spelling."""

MOST_VIDEOS = 0.05
"""Share of the videos that may hold one that is drawn: a test without the common words would not be the same task."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Which queries go to test-ood first.

    Parameters
    ----------
    rank : (Q,)
        The lowest first; infinite for queries that never do.
    eligible : (Q,)
        Queries that may be in test-ood; others of a low rank are put aside.
    terms : (Q,) tuples of text
        For new words and compositions: what each query holds, by rank; None for locations, where nothing is put aside.
    drawn
        All terms in the order they are drawn: a term's place is its rank.
    density : (Q,)
        For locations: of each query's most typical moment; NaN for a query without a place. Else None.
    """

    rank: Floats
    eligible: Bools
    terms: Sequence[tuple[str, ...]] | None = None
    drawn: tuple[str, ...] = ()
    density: Floats | None = None


@dataclass(frozen=True)
class LocationShift:
    """Moments of test-ood lie where few moments lie.

    Parameters
    ----------
    place
        What stands for where a moment lies.
    width
        Standard deviation of the kernels in the unit of the place (shares of the video, but for ``seconds`` and the
        logarithm), alike in both directions; None for kernels of the points' covariance by Scott's rule, as SciPy has
        it.
    """

    place: Place = "start-end"
    width: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if self.place not in get_args(Place):
            raise UsageError(f"got place {self.place!r}, expected one of {', '.join(get_args(Place))}")
        if self.width is not None and not NARROWEST <= self.width <= WIDEST:
            raise UsageError(f"got a width of {self.width:g}, expected {NARROWEST:g} to {WIDEST:g}")

    def rank(self, annotations: Annotations) -> Ranking:
        """Rank queries by the density of their moments, times as annotated (a swapped pair is put in order).

        A query with several moments counts as its most typical one: an answer that finds that one is right.

        Raises
        ------
        InputError
            If fewer than two moments have a place, or all lie on one line.
        """
        known = (annotations.duration_s > 0) & ~np.isnan(annotations.start_s)
        duration_s = annotations.duration_s[known]
        times = np.sort(np.stack([annotations.start_s[known], annotations.end_s[known]], axis=1), axis=1)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused below
            start, end = (seconds_to_norm(column, duration_s) for column in times.T)
            points = np.stack(PLACES[self.place](start, end, duration_s), axis=1)
        if not np.all(np.abs(points) <= FARTHEST):
            row = int(np.flatnonzero(known)[~np.all(np.abs(points) <= FARTHEST, axis=1)][0])
            raise InputError(
                f"{annotations.dataset}: got a moment to {annotations.end_s[row]:g} s in a video of "
                f"{annotations.duration_s[row]:g} s for query {annotations.query_id[row]!r}; expected both in seconds"
            )
        try:
            fitted = Density.fit(points)
        except InputError as error:
            raise InputError(f"{annotations.dataset}: {error}; there is no density to split by") from None
        if self.width is not None:
            fitted = Density(points, np.eye(2) * self.width**2)
        places, place = np.unique(points, axis=0, return_inverse=True)  # what is equal has equal ranks, to the last bit
        of_row = np.full(len(annotations), -np.inf)
        of_row[known] = _levelled(fitted.evaluate(places))[place.reshape(-1)]
        density = np.maximum.reduceat(of_row, annotations.offsets[:-1])
        placed = np.isfinite(density)
        return Ranking(
            rank=np.where(placed, density, np.inf), eligible=placed, density=np.where(placed, density, np.nan)
        )


def _levelled(density: Floats) -> Floats:
    """Densities, those that rounding alone tells apart made equal, so that the order of a file breaks no tie."""
    ordered, at = np.unique(density, return_inverse=True)
    higher = np.append(True, np.diff(ordered) > ROUNDING * ordered[1:])
    return np.asarray(ordered[higher][np.cumsum(higher) - 1][at])


@dataclass(frozen=True)
class WordShift:
    """Queries of test-ood use words, or compositions of a verb and its noun, that no other split uses.

    Parameters
    ----------
    new
        ``words`` (verbs, nouns and adjectives, by lemma) or ``compositions``.
    """

    new: New = "words"

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if self.new not in get_args(New):
            raise UsageError(f"got {self.new!r}, expected one of {', '.join(get_args(New))}")

    def rank(self, annotations: Annotations, engine: Engine, rng: np.random.Generator) -> Ranking:
        """Rank queries by the first of their terms in a random order of all that may be drawn.

        Raises
        ------
        InputError
            If there is none to draw.
        """
        queries = annotations.queries
        find = compositions_of if self.new == "compositions" else words_of
        of_query = [find(tokens) for tokens in engine.analyse(list(queries.sentence))]
        holding: defaultdict[str, list[int]] = defaultdict(list)
        for q, terms in enumerate(of_query):
            for term in terms:
                holding[term].append(q)
        most = max(MOST_VIDEOS * annotations.n_videos, 1)
        drawable = [
            term
            for term, rows in sorted(holding.items())
            if len(rows) >= LEAST_QUERIES and len(set(queries.video_id[rows])) <= most
        ]
        if not drawable:
            raise InputError(
                f"{annotations.dataset}: none of the {self.new} stands in {LEAST_QUERIES} queries or more and in "
                f"{100 * MOST_VIDEOS:g} % of the videos or less"
            )
        drawn = tuple(drawable[number] for number in rng.permutation(len(drawable)).tolist())
        place = {term: float(at) for at, term in enumerate(drawn)}
        ordered = [
            tuple(sorted((term for term in terms if term in place), key=place.__getitem__)) for terms in of_query
        ]
        rank = np.array([place[terms[0]] if terms else np.inf for terms in ordered])
        return Ranking(rank, np.ones(len(queries), dtype=bool), ordered, drawn)


Shift = LocationShift | WordShift


def words_of(tokens: Sequence[Token]) -> frozenset[str]:
    """Lemmas of a sentence's verbs, nouns and adjectives."""
    return frozenset(token.lemma for token in tokens if token.tag in ("VERB", "NOUN", "ADJ"))


def compositions_of(tokens: Sequence[Token]) -> frozenset[str]:
    """Verbs of a sentence with the first noun after each, before the next verb: "open door".

    Examples
    --------
    >>> from truemoment.language import get_engine
    >>> (tokens,) = get_engine().analyse(["The person opens the big door and closes a window."])
    >>> sorted(compositions_of(tokens))
    ['close window', 'open door']
    """
    found, verb = set(), ""
    for token in tokens:
        if token.tag == "VERB":
            verb = token.lemma
        elif token.tag == "NOUN" and verb:
            found.add(f"{verb} {token.lemma}")
            verb = ""
    return frozenset(found)
