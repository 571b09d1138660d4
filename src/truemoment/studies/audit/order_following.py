r"""Whether answers follow the order of a video's sentences, unknown to a method that reads one sentence at a time.

Blind methods that read the order give other answers if a video's sentences are shuffled. A moment is written as a
vector: the weights of its start and of its end on the places 0, 0.1, ..., 1 of the video, by linear interpolation
(:func:`weights_of_places`). So two moments agree only if they are close. Let :math:`c_q` be the vector of the answer
under test to query q, and :math:`d_q` how the order changes that of the blind answers. The model is

.. math:: c_q = b \, d_q + h(z_q) + a_{v(q)} + \varepsilon_q

over the queries that the tested answers miss. The share b is about 1 for answers of those blind methods, and 0 for a
method that does not know the order: its misses depend on what it sees and on the sentence. h is a function of the place
of the true moment, because a method that looks at the video errs near it, and of the expectation of the sentence
network. :math:`a_v` is a constant of each video. b is estimated by least squares with a small penalty on h. Its p value
is the share of permutations of d within videos, less h and a, that have as large a b (Freedman and Lane 1983). The sum
of the products of what remains of c and d is the generalised covariance measure (Shah and Peters 2020).

:func:`in_other_orders` returns a model's answers to the same queries without the others of their video, and in shuffled
order. A model that reads one sentence at a time gives the same answers.

``benchmarks/declaration.py`` measures the error rates of the test. Its limit: if the annotations err by a tenth of the
video or more, a method that sees the moments much better than the annotators follows the order too.

References
----------
D. Freedman and D. Lane, A nonstochastic interpretation of reported significance levels, Journal of Business and
Economic Statistics 1 (1983), 292: permutation of what a regression leaves.
R. D. Shah and J. Peters, The hardness of conditional independence testing and the generalised covariance measure,
Annals of Statistics 48 (2020), 1514.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Floats, Ints, temporal_iou
from truemoment.base.records import Predictions, Queries, numbers_of
from truemoment.data.language.paragraphs import Paragraphs
from truemoment.studies.audit.shuffled import SeesVideo

CONTRADICTED, LEAST_SHARE = 0.003, 0.1
"""Maximum p value and minimum share b that together contradict that the method does not know the order."""

PENALTY = 3.0
"""Penalty of the terms, in units of their variance: it weighs as much as this number of queries."""

KNOTS = (0.2, 0.4, 0.6, 0.8)
"""Places where the cubic pieces of the term of the true centre meet, shares of the video."""

STEPS = 10
"""Steps of the places on which starts and ends have weights."""

FEWEST = 15
"""Minimum number of queries of a test: with fewer, terms explain too little, and methods that see almost follow d."""


class OrderFollowing(NamedTuple):
    """How closely misses follow the order of sentences.

    Parameters
    ----------
    share, ci95
        b, and its 95 % interval from its spread between videos; NaN without a test.
    p
        One-sided p value; 1 without a test.
    n_queries, n_videos
        Number of missed queries in videos with at least two of them, and of these videos.
    """

    share: float
    ci95: tuple[float, float]
    p: float
    n_queries: int
    n_videos: int

    @property
    def contradicts(self) -> bool:
        """Whether the answers are shown to follow the order."""
        return self.p <= CONTRADICTED and self.share >= LEAST_SHARE


UNTESTED = OrderFollowing(np.nan, (np.nan, np.nan), 1.0, 0, 0)
"""The result if there is nothing to test."""


def weights_of_places(moments_norm: Floats) -> Floats:
    """Return the weights of starts and ends on the places, (N, 22), of moments (N, 2) as shares of the video.

    Examples
    --------
    >>> weights_of_places(np.array([[0.0, 0.25]]))[0].reshape(2, -1)[:, :4].tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
    """
    weights = np.maximum(1 - np.abs(STEPS * moments_norm[:, :, None] - np.arange(STEPS + 1)), 0)
    return np.asarray(weights.reshape(len(moments_norm), 2 * (STEPS + 1)))


def follow_order(
    answer: Floats, moved: Floats, terms: Floats, video: Ints, rng: np.random.Generator, *, permutations: int
) -> OrderFollowing:
    """Return how closely answers follow the changes by the order, both weights of places (N, W), given terms (N, Z).

    `video` (N,) numbers the videos; videos with one query are left out.
    """
    several = np.bincount(video)[video] > 1 if len(video) else np.zeros(0, dtype=bool)
    video = np.unique(video[several], return_inverse=True)[1]
    n_videos = int(video.max(initial=-1)) + 1
    nothing = UNTESTED._replace(n_queries=len(video), n_videos=n_videos)
    if len(video) < FEWEST:
        return nothing
    order = np.argsort(video, kind="stable")
    video = video[order]
    design = _less_mean(terms[several][order], video)
    design = design / np.maximum(design.std(axis=0), 1e-6)
    columns = _less_mean(np.concatenate([answer, moved], axis=1)[several][order], video)
    penalised = design.T @ design + PENALTY * np.eye(design.shape[1])
    answer, moved = np.split(columns - design @ np.linalg.solve(penalised, design.T @ columns), 2, axis=1)
    size = float(np.vdot(moved, moved))
    if size < 1e-9:
        return nothing
    total = float(np.vdot(answer, moved))
    drawn = (np.vdot(answer, moved[np.argsort(video + rng.random(len(video)))]) for _ in range(permutations))
    p = (1 + sum(value >= total - 1e-12 for value in drawn)) / (1 + permutations)
    share = total / size
    error = float(np.sqrt((np.bincount(video, ((answer - share * moved) * moved).sum(axis=1)) ** 2).sum())) / size
    return OrderFollowing(share, (share - 1.96 * error, share + 1.96 * error), p, len(video), n_videos)


def terms_beside(true_norm: Floats, probability: Floats, cells_norm: Floats, answer_norm: Floats, iou: float) -> Floats:
    """Return the terms of h, (N, 21): of the true moments and of the expectation of the sentence network.

    Parameters
    ----------
    true_norm, answer_norm : (N, 2)
        True moments, and answers of the sentence network, as shares of the video.
    probability, cells_norm : (N, K), (K, 2)
        Of the network; a true moment is missed by the cells whose IoU with it is below `iou`.
    """
    start, end = cells_norm.T
    cell = (start + end) / 2
    expected = probability @ cell
    spread = np.sqrt(np.maximum(probability @ cell**2 - expected**2, 0))
    missing = probability * (temporal_iou(start, end, true_norm[:, :1], true_norm[:, 1:]) < iou)
    if_missed = (missing @ cell) / np.maximum(missing.sum(axis=1), 1e-9)
    centre, length = true_norm.mean(axis=1), true_norm[:, 1] - true_norm[:, 0]
    terms = [centre, centre**2, centre**3, *(np.maximum(centre - knot, 0) ** 3 for knot in KNOTS)]
    terms += [length, length**2, centre * length]
    for place in (expected, if_missed, answer_norm.mean(axis=1)):
        terms += [place, place**2, place * centre]
    return np.stack([*terms, spread, spread * centre, spread * expected], axis=1)


def _less_mean(values: Floats, video: Ints) -> Floats:
    """Return values (N, D) less the mean of their video."""
    total = np.zeros((int(video.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(total, video, values)
    return np.asarray(values - (total / np.bincount(video)[:, None])[video])


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
