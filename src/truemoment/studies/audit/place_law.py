r"""The law of a sentence's place among those of its video, given where its moment is.

If each of the n - 1 other moments began before this one with probability F, its sentence would be at place k with the
probability of a binomial law, whose logarithm is :math:`\log \binom{n - 1}{k} + k \operatorname{logit} F` and a
constant. The law generalises that:

.. math::

    P(k \mid n, x) \propto
    \exp\Big(\alpha \log \tbinom{n - 1}{k} + \sum_{i=1}^{5} f_i(k, n) \, \theta_i^\top x\Big)

x has the weights of the moment's start and end on the places 0, 0.1, ..., 1 of the video, its centre times its length,
and what the sentence network expects of the centre: words tell the place, too ("a man" comes before "the man").
:math:`f_i` are two slopes in k, a square, the first place and the last one. The parameters are those of the highest
likelihood less a penalty (conditional logit, McFadden 1974), by Newton's method, on sentences of training videos that
are new to the network. Of more than 20 places, the own one and 19 that are drawn are compared, which leaves the
parameters the same (McFadden 1978).

References
----------
D. McFadden, Conditional logit analysis of qualitative choice behavior, in Frontiers in Econometrics (1974), 105.
D. McFadden, Modelling the choice of residential location, in Spatial Interaction Theory and Planning Models (1978), 75:
a sample of the alternatives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from truemoment.base.boundary.arrays import Array
from truemoment.base.cells import cell_bounds
from truemoment.base.intervals import Floats, Ints, seconds_to_norm
from truemoment.base.records import Annotations
from truemoment.baselines.expected_value import CELLS
from truemoment.baselines.sentence_network import N_LEFT_OUT, SentenceNetwork
from truemoment.data.language.paragraphs import Paragraphs

MOST_PLACES = 20
"""Largest number of places of a sentence that are compared."""

FEWEST_TRAINING, MOST_TRAINING = 100, 5000
"""Minimum and maximum number of training sentences from which the law is learned."""

PENALTY = 10.0
"""Penalty of the parameters, of terms with variance 1: it weighs as much as this number of sentences."""

STEPS, MOST_ITERATIONS, CONVERGED = 10, 20, 0.1
"""Steps of the places on which starts and ends have weights; maximum number of Newton steps, and smallest gain in the
logarithm of the likelihood."""


def places_of(place: Ints, size: Ints, rng: np.random.Generator) -> Ints:
    """Return the places that are compared for sentences `place` (N,) of `size` (N,), the own one first, (N, P).

    Rows with fewer places end with -1.

    Examples
    --------
    >>> places_of(np.array([1, 0]), np.array([3, 2]), np.random.default_rng(0)).tolist()
    [[1, 0, 2], [0, 1, -1]]
    """
    every = np.arange(int(size.max(initial=1)))
    order = rng.random((len(place), len(every))) if len(every) > MOST_PLACES else np.tile(every, (len(place), 1))
    order = np.where(every < size[:, None], order, np.inf)
    order[np.arange(len(place)), place] = -1
    compared = np.argsort(order, axis=1, kind="stable")[:, :MOST_PLACES]
    return np.where(np.arange(compared.shape[1]) < size[:, None], compared, -1)


def true_shares(annotations: Annotations) -> Floats:
    """Return the first reference of each query as shares of the video, (Q, 2); NaN where there is none."""
    at = annotations.offsets[:-1]
    return shares_of_video(annotations.start_s[at], annotations.end_s[at], annotations.queries.duration_s)


def shares_of_video(start_s: Array, end_s: Array, duration_s: Array) -> Floats:
    """Return moments in the video as shares of it, (N, 2); NaN without a duration."""
    duration_s = np.where(duration_s > 0, duration_s, np.nan)
    return np.clip(np.stack([seconds_to_norm(times, duration_s) for times in (start_s, end_s)], axis=1), 0, 1)


def expected_centre(probability: Floats, cells: Ints) -> Floats:
    """Return mean and deviation of the centre of moments by the probabilities (N, K) of `cells` (K,), (N, 2)."""
    cell = (cell_bounds(CELLS)[cells].mean(axis=1) + 0.5) / CELLS
    mean = probability @ cell
    return np.stack([mean, np.sqrt(np.maximum(probability @ cell**2 - mean**2, 0))], axis=1)


def moment_terms(moment: Floats, expected: Floats) -> Floats:
    """Return the terms x of moments (N, 2), where the network expects the centre (N, 2), (N, X)."""
    weights = np.maximum(1 - np.abs(STEPS * moment[:, :, None] - np.arange(STEPS + 1)), 0)
    centre, length = moment.mean(axis=1), moment[:, 1] - moment[:, 0]
    mean, deviation = expected.T
    beside = (centre * length, mean, mean * centre, mean**2, deviation)
    return np.column_stack([np.ones(len(moment)), weights.reshape(len(moment), -1), *beside])


class PlaceLaw(NamedTuple):
    """The fitted law: theta (5, X), and alpha; `mean` and `scale` (X,) are those of the terms."""

    theta: Floats
    alpha: float
    mean: Floats
    scale: Floats

    @classmethod
    def of_training(cls, model: SentenceNetwork, train: Annotations) -> PlaceLaw | None:
        """Learn from training sentences that are new to members of a fitted network; None if there are too few."""
        (place, size), true = Paragraphs.of(train.queries).place, true_shares(train)
        if model.fold is None or model.places is None:
            return None
        new = np.flatnonzero((model.fold < N_LEFT_OUT) & (size > 1) & ~np.isnan(true).any(axis=1))
        if len(new) < FEWEST_TRAINING:
            return None
        rng = np.random.default_rng(0)
        rows = np.sort(rng.permutation(new)[:MOST_TRAINING])
        probability = model.new_to_members(train.queries.select(rows), model.fold[rows])
        terms = moment_terms(true[rows], expected_centre(probability, model.places.cells))
        return cls.fit(terms, places_of(place[rows], size[rows], rng), size[rows])

    @classmethod
    def fit(cls, terms: Floats, places: Ints, size: Ints) -> PlaceLaw:
        """Learn from sentences with terms (N, X), whose places are compared (N, P), the own one first."""
        scale = terms.std(axis=0)
        mean = np.where(scale > 0, terms.mean(axis=0), 0.0)  # that of the constant stays
        scale = np.maximum(scale, 1e-3)
        n_terms = terms.shape[1]
        rows, columns = np.nonzero(places >= 0)  # sentence by sentence
        first = np.searchsorted(rows, np.arange(len(places)))
        features, log_ways = _features(places[rows, columns], size[rows])
        standard = ((terms - mean) / scale)[rows]
        design = np.column_stack([(features[:, :, None] * standard[:, None, :]).reshape(len(rows), -1), log_ways])
        start = np.zeros(design.shape[1])
        start[-1] = 1.0

        def evaluate(parameters: Floats) -> tuple[float, Floats]:
            energy = design @ parameters
            energy -= np.maximum.reduceat(energy, first)[rows]
            energy -= np.log(np.add.reduceat(np.exp(energy), first))[rows]
            return float(energy[first].sum() - PENALTY / 2 * ((parameters - start) ** 2).sum()), np.exp(energy)

        parameters = start
        value, p = evaluate(parameters)
        for _ in range(MOST_ITERATIONS):
            weighted = p[:, None] * design
            mean_design = np.add.reduceat(weighted, first)
            gradient = (design[first] - mean_design).sum(axis=0) - PENALTY * (parameters - start)
            curvature = design.T @ weighted - mean_design.T @ mean_design + PENALTY * np.eye(len(start))
            step, before = np.linalg.solve(curvature, gradient), value
            for _ in range(MOST_ITERATIONS):  # the likelihood is concave: a step that is short enough gains
                value, p = evaluate(parameters + step)
                if value >= before:
                    break
                step = step / 2
            parameters = parameters + step
            if value - before < CONVERGED:
                break
        return cls(parameters[:-1].reshape(-1, n_terms), float(parameters[-1]), mean, scale)

    def log_probabilities(self, terms: Floats, places: Ints, size: Ints) -> Floats:
        """Return the logarithm of the probability of each place that is compared, (N, P); -inf where there is none."""
        slopes = ((terms - self.mean) / self.scale) @ self.theta.T
        energy = np.full(places.shape, -np.inf)
        for column, place in enumerate(places.T):
            rows = np.flatnonzero(place >= 0)
            features, log_ways = _features(place[rows], size[rows])
            energy[rows, column] = (features * slopes[rows]).sum(axis=1) + self.alpha * log_ways
        energy -= energy.max(axis=1, keepdims=True)
        return np.asarray(energy - np.log(np.exp(energy).sum(axis=1, keepdims=True)))

    def packed(self) -> dict[str, Array]:
        """Return the law as arrays."""
        return {"theta": self.theta, "alpha": np.array(self.alpha), "mean": self.mean, "scale": self.scale}

    @classmethod
    def unpacked(cls, packed: Mapping[str, Array]) -> PlaceLaw:
        """Return the law of :meth:`packed`."""
        return cls(packed["theta"], float(packed["alpha"]), packed["mean"], packed["scale"])


def _features(place: Ints, size: Ints) -> tuple[Floats, Floats]:
    """Return the features f of places among `size` sentences, (N, 5), and the logarithms of the binomials, (N,)."""
    last = size - 1
    ways = np.array([math.lgamma(number) for number in range(1, int(size.max(initial=1)) + 1)])  # log of factorials
    slope = np.sqrt(size) * place / np.maximum(last, 1)
    features = (slope, place, ((place + 0.5) / size) ** 2, place == 0, place == last)
    return np.stack(features, axis=1).astype(np.float64), ways[last] - ways[place] - ways[last - place]
