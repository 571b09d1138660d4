r"""Whether answers follow the order of a video's sentences, unknown to a method that reads one sentence at a time.

Blind methods that read the order give other answers if a sentence has another place k among the n of its video. If a
method does not know the order, its answer depends on what it sees and on the sentence; and given where the moment is
and what the sentence network expects, k follows a law P of its own, which is the same whatever the answer is: a
conditional randomisation test (Candes et al. 2018). The statistic is the likelihood ratio of the most powerful test
against answers :math:`a_q` half of which come from floors that read the order:

.. math::

    T = \sum_q \log \frac{u(a_q) + g(a_q \mid k_q)}{u(a_q) + \sum_k P_q(k) \, g(a_q \mid k)}

g is a kernel density around the floors' answers to query q at place k, for which the sentences of its video are rotated
(:func:`rotated_rows`), so that it keeps its neighbours. u does not depend on k: a mixture of the uniform density and
of kernels around the answer of the sentence network and around the annotated moment. The kernel is the mean of two
products of Laplace densities. The p-value is the share of draws with as large a T, in which each :math:`k_q` is drawn
from :math:`P_q`.

The law learned on the training split, :math:`P(k \mid m)` given a moment m
(:mod:`~truemoment.studies.audit.place_law`), has two parameters for the audited videos:

.. math::

    P_q(k) = (1 - \varepsilon_q) \, P_\beta(k \mid m_q) + \varepsilon_q \, P_\beta(k \mid a_q), \qquad
    P_\beta(k \mid m) \propto P(k \mid m) \, g(m \mid k)^\beta

:math:`\beta` is for an order that tells more about these moments than about those of the training videos.
:math:`\varepsilon` is for annotations that err: a method that sees then answers with the true moment, which tells the
place better than the annotated moment :math:`m_q` does. An answer whose start and end are both at most :data:`REACH`
from the annotated ones is the true moment with probability :math:`\varepsilon_q = \varepsilon`; for others
:math:`\varepsilon_q` is 0. :math:`P_q` is averaged over both, weighted by prior and by likelihood of the own places
(Bayesian model averaging, Hoeting et al. 1999).

The *share* of the answers which follow the order is the s of the highest likelihood of their places,
:math:`\prod_q (1 - s + s \, g(a_q \mid k_q) / \sum_k P_q g)`, with a uniform part in g. The interval has the shares
whose logarithm is at most 1.92 lower.

:func:`in_other_orders` returns a model's answers to the same queries without the others of their video, and in shuffled
order. A model that reads one sentence at a time gives the same answers.

``benchmarks/declaration.py`` measures the error rates of the test. Its limit: if annotations err by a fifth of the
video, methods that see the moments follow the order too.

References
----------
E. Candes, Y. Fan, L. Janson and J. Lv, Panning for gold: model-X knockoffs for high dimensional controlled variable
selection, Journal of the Royal Statistical Society B 80 (2018), 551: conditional randomisation.
J. Hoeting, D. Madigan, A. Raftery and C. Volinsky, Bayesian model averaging: a tutorial, Statistical Science 14 (1999),
382.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Predictions, Queries, numbers_of
from truemoment.data.language.paragraphs import Paragraphs
from truemoment.studies.audit.place_law import PlaceLaw, moment_terms
from truemoment.studies.audit.shuffled import SeesVideo

CONTRADICTED, LEAST_SHARE, LEAST_BOUND = 0.015, 0.25, 0.07
"""Maximum p-value, and minimum share or minimum lower bound of its interval, that contradict the declaration."""

WIDTH = 0.05
"""Mean deviation of the kernels, as a share of the video."""

UNIFORM, OF_NETWORK, OF_MOMENT = 0.3, 0.5, 0.2
"""Parts of u: the uniform density, and the kernels around the sentence network's answer and the annotated moment."""

REACH = 0.25
"""Largest error of an annotated start or end, as a share of the video: an answer that is nearer may be right."""

POWERS, ERRING = np.linspace(-0.5, 1.5, 21), np.linspace(0, 1, 6)
"""Values of beta and of epsilon."""

LOG_PRIOR = -2 * POWERS[:, None] ** 2 + np.where(ERRING > 0, np.log(0.2 / 5), np.log(0.8))
"""Logarithm of their prior, plus a constant: beta is normal with deviation 0.5, and epsilon 0 with probability 0.8."""

SHARES = np.linspace(0, 1, 101)
"""Shares of answers that follow the order, whose likelihood is computed."""

WITHIN_95 = 1.92
"""Largest loss in the logarithm of the likelihood inside a 95 % interval: half the quantile of chi squared."""

FEWEST = 15
"""Minimum number of sentences of a test, in videos with at least two."""


class OrderFollowing(NamedTuple):
    """How closely answers follow the order of sentences.

    Parameters
    ----------
    share, ci95
        Share of the answers that follow, and its 95 % interval; NaN without a test.
    p
        One-sided p-value; 1 without a test.
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
    law
        The law of places.
    compared : (N, P)
        Places that are compared, the own one first; -1 where there is none.
    size : (N,)
        Number of sentences of the video.
    expected : (N, 2)
        What the sentence network expects of the centre.
    by_order : (N, P, F, 2)
        Answers of F floors to the query at each of these places, as shares of the video.
    network, annotated : (N, 2)
        Answers of the sentence network, and annotated moments, as shares of the video.
    video : (N,)
        Numbers of the videos.
    """

    law: PlaceLaw
    compared: Ints
    size: Ints
    expected: Floats
    by_order: Floats
    network: Floats
    annotated: Floats
    video: Ints

    def select(self, rows: Ints) -> ComparedPlaces:
        """Return some queries."""
        return self._replace(**{name: values[rows] for name, values in self._asdict().items() if name != "law"})

    def probabilities(self, answer: Floats) -> Floats:
        """Return the probabilities P of places if answers (N, 2) do not depend on them, (N, P)."""
        near = np.abs(answer - self.annotated).max(axis=1) <= REACH
        laws = self._laws(self.annotated)
        change = near[:, None] * (self._laws(answer) - laws)
        own = laws[:, None, :, 0] + ERRING[:, None] * change[:, None, :, 0]  # (powers, errors, N)
        weight = LOG_PRIOR + np.log(own).sum(axis=2)
        weight = np.exp(weight - weight.max())
        weight /= weight.sum()
        return np.asarray(np.tensordot(weight.sum(axis=1), laws, 1) + np.tensordot(weight @ ERRING, change, 1))

    def _laws(self, moment: Floats) -> Floats:
        """Return the probabilities of places given moments (N, 2), by the power of g, (B, N, P)."""
        log_p = self.law.log_probabilities(moment_terms(moment, self.expected), self.compared, self.size)
        density = np.log(2 * UNIFORM + _kernel(moment[:, None, None], self.by_order).mean(axis=2))
        p = np.exp(log_p + POWERS[:, None, None] * density)
        return np.asarray(p / p.sum(axis=2, keepdims=True))


def order_following(answer: Floats, places: ComparedPlaces, rng: np.random.Generator, *, draws: int) -> OrderFollowing:
    """Return how closely answers (N, 2), as shares of the video, follow the order."""
    tested = UNTESTED._replace(n_queries=len(answer), n_videos=len(np.unique(places.video)))
    if tested.n_queries < FEWEST:
        return tested
    p = places.probabilities(answer)
    by_order = np.where(p > 0, _kernel(answer[:, None, None], places.by_order).mean(axis=2), 0)
    expected = (p * by_order).sum(axis=1)
    alone = 2 * UNIFORM + OF_NETWORK * _kernel(answer, places.network) + OF_MOMENT * _kernel(answer, places.annotated)
    ratio = np.log((alone[:, None] + by_order) / (alone + expected)[:, None])
    drawn = np.zeros(draws)
    for of_query, below in zip(ratio, p.cumsum(axis=1), strict=True):
        at = np.searchsorted(below, below[-1] * rng.random(draws), side="right")
        drawn += of_query[np.minimum(at, len(below) - 1)]
    odds = (2 * UNIFORM + by_order[:, 0]) / (2 * UNIFORM + expected)
    likelihood = np.array([np.log(1 - share + share * odds).sum() for share in SHARES])
    likely = SHARES[likelihood >= likelihood.max() - WITHIN_95]
    return tested._replace(
        share=float(SHARES[likelihood.argmax()]),
        ci95=(float(likely[0]), float(likely[-1])),
        p=(1 + int((drawn >= ratio[:, 0].sum() - 1e-9).sum())) / (1 + draws),
    )


def _kernel(answer: Floats, centre: Floats) -> Floats:
    """Return the density at moments (..., 2) of the kernels around others (..., 2)."""
    off = np.abs(answer - centre).sum(axis=-1)
    return np.asarray(np.exp(-off / WIDTH) / (2 * WIDTH) ** 2)


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
