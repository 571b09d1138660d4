"""The sentences that people review: a sample of the kept ones, and the number that is needed.

The number for a share *p* to within *w* is that of a simple random sample times the design effect of clusters (L. Kish,
Survey Sampling, 1965): sentences of one film are alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np

from truemoment.base.errors import InputError
from truemoment.collection import layout
from truemoment.collection.export import kept_of, text_of
from truemoment.collection.layout import StoredSentence, films_in, read_collection
from truemoment.media.audio.alignment import Alignment, Span, read_alignment

Z95 = NormalDist().inv_cdf(0.975)

SHARE, WITHIN = 0.05, 0.02
"""The share whose sample size is reported, and the half width of its 95 % interval."""

RHO = 0.1
"""Correlation within a film that is assumed before any review."""


@dataclass(frozen=True)
class SampledSentence:
    """A sentence to be reviewed.

    Parameters
    ----------
    id, film, sentence
        As in the collection.
    film_s
        Start and end in the film.
    rate, delay_s
        Rate and delay of the described track there: ``film_s = rate x track_s + delay_s``; None where it has no piece.
    """

    id: str
    film: str
    sentence: str
    film_s: Span
    rate: float | None
    delay_s: float | None


@dataclass(frozen=True)
class ReviewSample:
    """A sample of a collection.

    Parameters
    ----------
    sentences
        By film and time.
    requested, most_per_film, seed
        How it was drawn.
    n_kept
        Kept sentences of the collection.
    full
        Films that have as many sentences in the sample as a film may have, and more in the collection.
    """

    sentences: tuple[SampledSentence, ...]
    requested: int
    most_per_film: int
    seed: int
    n_kept: int
    full: tuple[str, ...]

    @property
    def films(self) -> list[str]:
        """Films of the sample, by name."""
        return sorted({sentence.film for sentence in self.sentences})

    @property
    def per_film(self) -> float:
        """Mean number of sentences of a film of the sample."""
        return len(self.sentences) / len(self.films)


def design_effect(per_film: float, rho: float = RHO) -> float:
    r"""Return :math:`1 + (m - 1) \rho` for *m* sentences a film (Kish 1965)."""
    return 1 + (per_film - 1) * rho


def sample_size(per_film: float = 1.0, *, share: float = SHARE, within: float = WITHIN, rho: float = RHO) -> int:
    r"""Return the number of sentences after which a share is known to within half the width of a 95 % interval.

    .. math:: n = \frac{z^2 p (1 - p)}{w^2} \left(1 + (m - 1) \rho\right)

    Examples
    --------
    >>> sample_size(), sample_size(5)
    (457, 640)
    """
    alone = math.ceil(Z95**2 * share * (1 - share) / within**2)
    return math.ceil(alone * design_effect(per_film, rho))


def half_width(n: int, per_film: float, *, share: float = SHARE, rho: float = RHO) -> float:
    """Return half the width of the 95 % interval of a share from `n` sentences."""
    return Z95 * math.sqrt(share * (1 - share) * design_effect(per_film, rho) / n)


def draw_sample(out: Path, n: int = 400, *, most_per_film: int = 8, seed: int = 0) -> ReviewSample:
    """Draw kept sentences of a collection: films by lot in proportion to their sentences, up to a number a film.

    Parameters
    ----------
    out
        Folder of the collection.
    n
        Number of sentences; fewer, if the films have fewer.
    most_per_film
        Largest number of sentences of a film.
    seed
        Seed of the draws.
    """
    settings = read_collection(out).settings
    films = {film.report.name: film for film in films_in(out)}
    candidates = [(name, sentence) for name, film in films.items() for sentence in kept_of(film)]
    if not candidates:
        raise InputError("has no kept sentences", path=out)
    counts = dict.fromkeys(films, 0)
    places: list[int] = []
    for at in np.random.default_rng(seed).permutation(len(candidates)).tolist():
        name = candidates[at][0]
        if len(places) < n and counts[name] < most_per_film:
            counts[name] += 1
            places.append(at)
    alignments = {
        name: read_alignment(films[name].folder / layout.ALIGNMENT) for name, count in counts.items() if count
    }
    sentences = tuple(
        _sampled(name, sentence, text_of(sentence, settings), alignments[name])
        for name, sentence in (candidates[at] for at in sorted(places))
    )
    full = tuple(
        name for name, count in counts.items() if count == most_per_film and films[name].report.n_kept > most_per_film
    )
    return ReviewSample(sentences, n, most_per_film, seed, len(candidates), full)


def _sampled(film: str, sentence: StoredSentence, text: str, alignment: Alignment) -> SampledSentence:
    start_s, end_s = alignment.to_track(sentence.film_s).tolist()
    if not start_s < end_s:  # one of them is NaN, outside of every piece
        return SampledSentence(sentence.id, film, text, sentence.film_s, None, None)
    rate = (sentence.film_s[1] - sentence.film_s[0]) / (end_s - start_s)
    return SampledSentence(sentence.id, film, text, sentence.film_s, rate, sentence.film_s[0] - rate * start_s)
