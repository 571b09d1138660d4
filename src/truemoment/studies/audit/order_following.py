r"""Whether answers follow the order of a video's sentences, unknown to a method that reads one sentence at a time.

Blind methods that read the order give other answers if a sentence has another place k among the n of its video. If a
method does not know the order, its answer depends on what it sees and on the sentence; and given where the moment is
and what the sentence network expects, k follows a law P of its own (:mod:`~truemoment.studies.audit.place_law`), which
is the same whatever the answer is: a conditional randomisation test (Candes et al. 2018). The statistic is the
likelihood ratio of the most powerful test against answers :math:`a_q` half of which come from floors that read the
order:

.. math::

    T = \sum_q \log \frac{u(a_q) + g(a_q \mid k_q)}{u(a_q) + \sum_k P(k \mid n_q, x_q) \, g(a_q \mid k)}

g is a kernel density around the floors' answers to query q at place k, for which the sentences of its video are rotated
(:func:`rotated_rows`), so that it keeps its neighbours. u does not depend on k: a mixture of the uniform density and
of kernels around the answer of the sentence network and around the true moment. The kernel is the mean of two products
of Laplace densities. P is multiplied with a power of g at the true moment, estimated on the audited videos: their order
may tell more about their moments than that of the training videos does. The p value is the share of draws with as
large a T, in which each :math:`k_q` is drawn from P. The *share* of the answers which follow the order is the s of the
highest likelihood of their places, :math:`\prod_q (1 - s + s \, g(a_q \mid k_q) / \sum_k P g)`, with a uniform part
in g. The interval has the shares whose logarithm is at most 1.92 lower.

:func:`in_other_orders` returns a model's answers to the same queries without the others of their video, and in shuffled
order. A model that reads one sentence at a time gives the same answers.

``benchmarks/declaration.py`` measures the error rates of the test. Its limit: if the annotations err by a tenth of the
video or more, methods that see the moments follow the order too.

References
----------
E. Candes, Y. Fan, L. Janson and J. Lv, Panning for gold: model-X knockoffs for high dimensional controlled variable
selection, Journal of the Royal Statistical Society B 80 (2018), 551: conditional randomisation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Predictions, Queries, numbers_of
from truemoment.data.language.paragraphs import Paragraphs
from truemoment.studies.audit.shuffled import SeesVideo

CONTRADICTED, LEAST_SHARE, LEAST_BOUND = 0.008, 0.2, 0.05
"""Maximum p value, and minimum share or minimum lower bound of its interval, that contradict the declaration."""

WIDTHS = (0.02, 0.08)
"""Mean deviations of the kernels, as shares of the video."""

UNIFORM, OF_NETWORK, OF_TRUE = 0.3, 0.5, 0.2
"""Parts of u: the uniform density, and the kernels around the sentence network's answer and around the true moment."""

POWERS = np.arange(-5, 21) / 10
"""Powers of the floors' density at the true moment that are tried."""

SHARES = np.linspace(0, 1, 101)
"""Shares whose likelihood is computed."""

FEWEST = 15
"""Minimum number of sentences of a test, in videos with at least two."""


class OrderFollowing(NamedTuple):
    """How closely answers follow the order of sentences.

    Parameters
    ----------
    share, ci95
        Share of the answers that follow, and its 95 % interval; NaN without a test.
    p
        One-sided p value; 1 without a test.
    n_queries, n_videos
        Number of answered queries in videos with at least two sentences, and of these videos.
    """

    share: float
    ci95: tuple[float, float]
    p: float
    n_queries: int
    n_videos: int

    @property
    def contradicts(self) -> bool:
        """Whether the answers are shown to follow the order."""
        return self.p <= CONTRADICTED and (self.share >= LEAST_SHARE or self.ci95[0] >= LEAST_BOUND)


UNTESTED = OrderFollowing(np.nan, (np.nan, np.nan), 1.0, 0, 0)
"""The result if there is nothing to test."""


class ComparedPlaces(NamedTuple):
    """What answers to N queries are tested with.

    Parameters
    ----------
    log_p : (N, P)
        Logarithms of the probabilities of places, the own one first; -inf where there is none.
    by_order : (N, P, F, 2)
        Answers of F floors to the query at each of these places, as shares of the video.
    network, true : (N, 2)
        Answers of the sentence network, and true moments, as shares of the video.
    video : (N,)
        Numbers of the videos.
    """

    log_p: Floats
    by_order: Floats
    network: Floats
    true: Floats
    video: Ints

    def with_agreement(self) -> ComparedPlaces:
        """Return the places with the law times a power of the floors' density at the true moment.

        The power is that of the highest likelihood of the own places: the order of these videos may tell more about
        their moments than that of the training videos does.
        """
        density = 2 * UNIFORM + _kernel(self.true[:, None, None], self.by_order).mean(axis=2)
        agreement = np.where(np.isfinite(self.log_p), np.log(density), 0)
        laws = (self.log_p + power * agreement for power in POWERS)
        laws = (law - np.log(np.exp(law).sum(axis=1, keepdims=True)) for law in laws)
        return self._replace(log_p=max(laws, key=lambda law: float(law[:, 0].sum())))

    def select(self, rows: Ints) -> ComparedPlaces:
        """Return some queries."""
        of_queries = (self.log_p[rows], self.by_order[rows], self.network[rows], self.true[rows])
        return ComparedPlaces(*of_queries, video=self.video[rows])


class OrderEvidence(NamedTuple):
    """What answers say about the order, video by video, for V videos.

    Parameters
    ----------
    n_queries, total : (V,)
        Number of answered queries, and their part of T.
    drawn : (V, D)
        Parts of T if their places are drawn.
    likelihood : (V, S)
        Logarithm of the likelihood of each of :data:`SHARES`.
    """

    n_queries: Ints
    total: Floats
    drawn: Floats
    likelihood: Floats

    @classmethod
    def of(cls, answer: Floats, places: ComparedPlaces, rng: np.random.Generator, *, draws: int) -> OrderEvidence:
        """Compare answers (N, 2), as shares of the video, with those of the floors at each place."""
        places = places.with_agreement()
        video = np.unique(places.video, return_inverse=True)[1]
        n_videos = int(video.max(initial=-1)) + 1
        p = np.exp(places.log_p)
        by_order = np.where(p > 0, _kernel(answer[:, None, None], places.by_order).mean(axis=2), 0)
        expected = (p * by_order).sum(axis=1)
        alone = 2 * UNIFORM + OF_NETWORK * _kernel(answer, places.network) + OF_TRUE * _kernel(answer, places.true)
        ratio = np.log((alone[:, None] + by_order) / (alone + expected)[:, None])
        drawn = np.zeros((n_videos, draws))
        for of_query, below, v in zip(ratio, p.cumsum(axis=1), video, strict=True):
            at = np.searchsorted(below, below[-1] * rng.random(draws), side="right")
            drawn[v] += of_query[np.minimum(at, len(below) - 1)]
        odds = (2 * UNIFORM + by_order[:, 0]) / (2 * UNIFORM + expected)
        mixed = (np.log(1 - share + share * odds) for share in SHARES)
        return cls(
            n_queries=np.bincount(video, minlength=n_videos),
            total=np.bincount(video, ratio[:, 0], minlength=n_videos).astype(np.float64),
            drawn=drawn,
            likelihood=np.stack([np.bincount(video, terms, minlength=n_videos) for terms in mixed], axis=1),
        )

    def select(self, videos: Ints) -> OrderEvidence:
        """Return the evidence of some videos."""
        of_videos = (self.total[videos], self.drawn[videos], self.likelihood[videos])
        return OrderEvidence(self.n_queries[videos], *of_videos)

    def following(self) -> OrderFollowing:
        """Return how closely the answers follow the order."""
        n_queries = int(self.n_queries.sum())
        if n_queries < FEWEST:
            return UNTESTED._replace(n_queries=n_queries, n_videos=len(self.total))
        drawn, likelihood = self.drawn.sum(axis=0), self.likelihood.sum(axis=0)
        p = (1 + int((drawn >= self.total.sum() - 1e-9).sum())) / (1 + len(drawn))
        likely = SHARES[likelihood >= likelihood.max() - 1.92]
        return OrderFollowing(
            share=float(SHARES[likelihood.argmax()]),
            ci95=(float(likely[0]), float(likely[-1])),
            p=p,
            n_queries=n_queries,
            n_videos=len(self.total),
        )


def _kernel(answer: Floats, centre: Floats) -> Floats:
    """Return the density at moments (..., 2) of the kernels around others (..., 2)."""
    off = np.abs(answer - centre).sum(axis=-1)
    return np.asarray(sum(np.exp(-off / width) / (2 * width) ** 2 for width in WIDTHS) / len(WIDTHS))


def rotated_rows(queries: Queries, turn: int, most: int) -> tuple[Ints, Ints]:
    """Return the rows of queries with those of each video rotated, and the places that they have then, (R,) both.

    Turns from 0 to `most` - 1 distribute each sentence evenly over the places; videos with `turn` or fewer sentences
    are left out, as earlier turns have all of their rotations.
    """
    place, size = Paragraphs.of(queries).place
    shift = np.where(size > most, turn * size // most, turn)
    moved = (place + shift) % size
    rows = np.lexsort((moved, numbers_of(queries.video_id)))
    rows = rows[size[rows] > turn]
    return rows, moved[rows]


ALONE, SHUFFLED = "alone", "in shuffled order"


def in_other_orders(
    grounder: SeesVideo,
    queries: Queries,
    *,
    top: int,
    rng: np.random.Generator,
    on_status: Callable[[str], None] = lambda _: None,
) -> dict[str, Predictions]:
    """Return a model's answers to queries alone and in shuffled order, by :data:`ALONE` and :data:`SHUFFLED`.

    For :data:`ALONE`, the model answers the first queries of all videos, then the second ones, and so on. The result is
    empty if no video has two queries.
    """
    place, _ = Paragraphs.of(queries).place
    if not place.any():
        return {}
    rounds = [np.flatnonzero(place == k) for k in range(int(place.max(initial=-1)) + 1)]
    alone = []
    for number, rows in enumerate(rounds):
        on_status(f"each query alone, {100 * number / len(rounds):.0f} %")
        alone.append(grounder.ground(queries.select(rows), top))
    on_status("queries in shuffled order")
    shuffled = grounder.ground(queries.select(shuffled_rows(queries, rng)), top)
    return {ALONE: Predictions.joined(alone), SHUFFLED: shuffled}


def shuffled_rows(queries: Queries, rng: np.random.Generator) -> Ints:
    """Return the rows of queries, (Q,), with those of each video in random order."""
    return np.lexsort((rng.random(len(queries)), numbers_of(queries.video_id)))
