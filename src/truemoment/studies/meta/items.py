r"""Difficulty and guessability of queries: an item-response model of hits.

System s hits query q of video v with probability

.. math:: P_{sq} = g_q + (1 - g_q)\, \sigma(a_s - t_q), \qquad t_q = d_q + u_v, \quad
          d_q \sim N(0, \tau^2), \; u_v \sim N(0, \omega^2)

where :math:`\sigma(x) = 1 / (1 + e^{-x})`, a is the system's ability, t the query's difficulty with the part u that all
queries of a video share, and g its *guessability*: the probability that a blind system hits it. The blind systems are
fitted first, with g = 0. The guessability of a query is their mean probability of a hit, given which of them hit it.
Without blind systems, g is 0.

Abilities and variances maximise the marginal likelihood, in which d and u are integrated over fixed grids (EM, Bock and
Aitkin). Difficulties are posterior means with standard deviations: with few systems they lie near the mean. Standard
errors of abilities are computed from the scores of whole videos.

References
----------
A. Birnbaum, in Lord and Novick, Statistical Theories of Mental Test Scores (1968): the model with guessing. R. D. Bock
and M. Aitkin, Psychometrika 46 (1981), 443: EM over a grid. P. De Boeck, Psychometrika 73 (2008), 533: random items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import numbers_of
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.uncertainty import ROUNDING
from truemoment.report.words import counted
from truemoment.studies.meta.systems import Systems

FURTHEST, N_TOTAL, N_SHARED = 9.0, 91, 41
"""Grid of difficulties, from minus to plus this; points of t; points of u, in standard deviations from -4 to 4."""

MOST_STEPS, ENOUGH = 500, 1e-4
"""Steps of EM, and the largest change of a parameter after which it ends."""

NEWTON_STEPS = 3
FURTHEST_ABILITY = 6.0
LEAST_VARIANCE, MOST_VARIANCE = 1e-3, 9.0
STEP_G = 0.02
"""Guessabilities are rounded to this, so that queries share tables of chances."""


@dataclass(frozen=True, eq=False)
class ItemModel:
    """An item-response model, fitted to S systems on Q queries of V videos.

    Parameters
    ----------
    ability, ability_error : (S,)
        Abilities and their standard errors; NaN if a system hits all queries, or no more than a guess does.
    difficulty, difficulty_sd : (Q,)
        Posterior mean and standard deviation of t; 0 is the average query.
    video_difficulty : (V,)
        Posterior mean of u, in the order in which videos first occur.
    variance_within, variance_between : float
        Variances of difficulties within videos and between them.
    guessability : (Q,)
        Guessability that the fit used.
    """

    ability: Floats
    ability_error: Floats
    difficulty: Floats
    difficulty_sd: Floats
    video_difficulty: Floats
    variance_within: float
    variance_between: float
    guessability: Floats


@dataclass(frozen=True, eq=False)
class Items:
    """Difficulty and guessability of the queries of a split, by one measure.

    Parameters
    ----------
    measure
        The measure of hits.
    seeing, blind
        Names of the systems of each kind.
    model
        Model of the systems that are not blind.
    hits : (S, Q)
        Hits of these systems, NaN if a query does not count.
    guessability : (Q,)
        Mean probability of a hit by the blind systems; NaN without any.
    """

    systems: Systems
    measure: Measure
    seeing: tuple[str, ...]
    blind: tuple[str, ...]
    model: ItemModel
    hits: Floats
    guessability: Floats


def items(systems: Systems, measure: Measure, blind: Sequence[str] = ()) -> Items:
    """Fit difficulty and guessability of queries to the hits of systems.

    Parameters
    ----------
    measure
        A measure with the value 0 or 1 on each query, such as ``R@1,IoU=0.5``.
    blind
        Names of the systems that do not see the video.

    Raises
    ------
    UsageError
        If the measure has values between 0 and 1, or fewer than two systems see the video.
    """
    row = systems.first.row(measure)
    seeing = tuple(name for name in systems.names if name not in blind)
    if len(seeing) < 2:
        raise UsageError(
            f"got {counted(len(seeing), 'system')} besides the blind ones ({', '.join(seeing) or 'none'}), expected "
            "two or more"
        )
    video = numbers_of(systems.first.video_id)
    hits = {name: _hits(systems, name, row) for name in systems.names}
    guessable: Floats = np.zeros(len(video))
    if blind:
        guessable = chances(_fit_distinct(np.stack([hits[name] for name in blind]), video))
    seeing_hits = np.stack([hits[name] for name in seeing])
    return Items(
        systems=systems,
        measure=systems.measures[row],
        seeing=seeing,
        blind=tuple(blind),
        model=_fit_distinct(seeing_hits, video, guessable),
        hits=seeing_hits,
        guessability=guessable if blind else np.full(len(video), np.nan),
    )


def _fit_distinct(hits: Floats, video: Ints, guessability: Floats | None = None) -> ItemModel:
    """Fit the model to the distinct rows of hits; equal rows have the same ability and add no information."""
    _, first, inverse = np.unique(np.nan_to_num(hits, nan=-1), axis=0, return_index=True, return_inverse=True)
    model = fit_items(hits[first], video, guessability)
    at = inverse.reshape(-1)
    return replace(model, ability=model.ability[at], ability_error=model.ability_error[at])


def chances(model: ItemModel) -> Floats:
    """Return the mean probability that the systems of a model hit each query, given its hits, (Q,).

    The logistic mean over a normal posterior is computed at the mean, with the slope of MacKay's approximation.
    """
    slope = 1 / np.sqrt(1 + np.pi / 8 * model.difficulty_sd**2)
    known = model.ability[~np.isnan(model.ability)]
    return np.asarray(_logistic((known[:, None] - model.difficulty) * slope).mean(axis=0))


def fit_items(hits: Floats, video: Ints, guessability: Floats | None = None) -> ItemModel:
    """Fit the model to hits.

    Parameters
    ----------
    hits : (S, Q)
        1, 0, or NaN if a query does not count.
    video : (Q,)
        Number of each query's video, from 0.
    guessability : (Q,)
        Probability of a hit by guessing, 0 to 1; 0 by default.

    Examples
    --------
    >>> hits = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 1, 0], [1, 0, 1, 1, 0, 0.0]])
    >>> model = fit_items(hits, np.array([0, 0, 1, 1, 2, 2]))
    >>> bool(model.difficulty[0] < model.difficulty[5]), bool(np.allclose(model.ability, 0, atol=0.05))
    (True, True)
    """
    hits, n_queries = np.asarray(hits, dtype=np.float64), len(video)
    guesses = np.zeros(n_queries) if guessability is None else np.asarray(guessability)
    fit = _ItemFit(hits, video, np.clip(np.round(guesses / STEP_G).astype(int), 0, int(0.98 / STEP_G)))
    ability: Floats = fit.start()
    within, between = 1.0, 0.5
    for _ in range(MOST_STEPS):
        posterior = fit.posterior(ability, within, between)
        new = (
            fit.abilities(ability, posterior.total),
            float(np.clip(posterior.squares_within, LEAST_VARIANCE, MOST_VARIANCE)),
            float(np.clip(posterior.squares_between, LEAST_VARIANCE, MOST_VARIANCE)),
        )
        change = max(float(np.abs(new[0] - ability).max()), abs(new[1] - within), abs(new[2] - between))
        ability, within, between = new
        if change < ENOUGH:
            break
    posterior = fit.posterior(ability, within, between)
    mean = posterior.total @ fit.total
    sd = np.sqrt(np.maximum(posterior.total @ fit.total**2 - mean**2, 0))
    determined = np.abs(ability) < FURTHEST_ABILITY - ROUNDING
    return ItemModel(
        ability=np.where(determined, ability, np.nan),
        ability_error=np.where(determined, fit.errors(ability, posterior.total), np.nan),
        difficulty=mean,
        difficulty_sd=sd,
        video_difficulty=posterior.shared,
        variance_within=within,
        variance_between=between,
        guessability=guesses,
    )


@dataclass(frozen=True, eq=False)
class _Posterior:
    """Posterior of the difficulties: t of each query (Q, T), the mean of u (V,), mean squares of d and u."""

    total: Floats
    shared: Floats
    squares_within: float
    squares_between: float


class _ItemFit:
    """Tables of a fit: hits by level of guessability, and the grids.

    Parameters
    ----------
    hits : (S, Q)
        1, 0 or NaN.
    video : (Q,)
        Number of the video.
    level : (Q,)
        Guessability in steps.
    """

    def __init__(self, hits: Floats, video: Ints, level: Ints) -> None:
        self.video, self.n_videos = video, int(video.max()) + 1
        self.total = np.linspace(-FURTHEST, FURTHEST, N_TOTAL)
        self.shared_z = np.linspace(-4, 4, N_SHARED)
        self.shared_weight = _normalised(-(self.shared_z**2) / 2)
        self.hit = np.where(np.isnan(hits), 0.0, hits)  # (S, Q)
        self.missed = np.where(np.isnan(hits), 0.0, 1 - hits)
        self.levels = [
            (step * STEP_G, at, self.hit[:, at], self.missed[:, at])
            for step in np.unique(level).tolist()
            for at in [np.flatnonzero(level == step)]
        ]

    def start(self) -> Floats:
        """Return the abilities at which a query of difficulty 0 is hit as often as all queries."""
        count = self.hit.sum(axis=1), self.missed.sum(axis=1)
        return np.asarray(np.log((count[0] + 0.5) / (count[1] + 0.5)))

    def posterior(self, ability: Floats, within: float, between: float) -> _Posterior:
        """Return the posterior of the difficulties, given the parameters."""
        log_likelihood = np.empty((self.hit.shape[1], N_TOTAL))
        for guess, queries, hit, missed in self.levels:
            chance = _chance(ability, self.total, guess)  # (S, T)
            log_likelihood[queries] = hit.T @ np.log(chance) + missed.T @ np.log1p(-chance)
        log_likelihood -= log_likelihood.max(axis=1, keepdims=True)
        likelihood = np.exp(log_likelihood)
        shared = self.shared_z * np.sqrt(between)
        spread = _normalised(-((self.total[:, None] - shared) ** 2) / (2 * within), axis=0)  # (T, U)
        query_likelihood = likelihood @ spread  # (Q, U): the likelihood of u
        log_video = np.stack([self._by_video(column) for column in np.log(query_likelihood).T], axis=1)
        shared_posterior = _normalised(log_video + np.log(self.shared_weight), axis=1)  # (V, U)
        weight = shared_posterior[self.video] / query_likelihood  # (Q, U)
        total_posterior = likelihood * (weight @ spread.T)
        squares = likelihood @ (spread * (self.total[:, None] - shared) ** 2)
        return _Posterior(
            total=total_posterior,
            shared=shared_posterior @ shared,
            squares_within=float((weight * squares).sum() / len(self.video)),
            squares_between=float((shared_posterior @ shared**2).mean()),
        )

    def _by_video(self, values: Floats) -> Floats:
        return np.bincount(self.video, values, self.n_videos).astype(np.float64)

    def abilities(self, ability: Floats, posterior: Floats) -> Floats:
        """Return the abilities with the highest likelihood, given the posterior, after a few Newton steps."""
        counts_of_level = [
            (guess, (hit @ posterior[queries], missed @ posterior[queries]))  # (S, T) each
            for guess, queries, hit, missed in self.levels
        ]
        for _ in range(NEWTON_STEPS):
            gradient, curvature = np.zeros(len(ability)), np.full(len(ability), ROUNDING)
            for guess, counts in counts_of_level:
                slope, information = _slopes(ability, self.total, guess)
                gradient += (counts[0] * slope[0] + counts[1] * slope[1]).sum(axis=1)
                curvature += ((counts[0] + counts[1]) * information).sum(axis=1)
            ability = np.clip(ability + np.clip(gradient / curvature, -1, 1), -FURTHEST_ABILITY, FURTHEST_ABILITY)
        return ability

    def errors(self, ability: Floats, posterior: Floats) -> Floats:
        """Return standard errors of abilities from the scores of videos: the inverse of their summed products."""
        scores = np.zeros(self.hit.shape)
        for guess, queries, hit, missed in self.levels:
            slope, _ = _slopes(ability, self.total, guess)
            scores[:, queries] = hit * (slope[0] @ posterior[queries].T) + missed * (slope[1] @ posterior[queries].T)
        by_video = np.stack([self._by_video(row) for row in scores])
        information = by_video @ by_video.T
        if np.linalg.matrix_rank(information) < len(ability):
            return np.full(len(ability), np.nan)
        return np.asarray(np.sqrt(np.diag(np.linalg.inv(information))))


def _chance(ability: Floats, total: Floats, guess: float) -> Floats:
    return np.asarray(guess + (1 - guess) * _logistic(ability[:, None] - total))


def _slopes(ability: Floats, total: Floats, guess: float) -> tuple[tuple[Floats, Floats], Floats]:
    """Return d log P / d ability for hits and for misses, and the expected information; (S, T) each."""
    logistic = _logistic(ability[:, None] - total)
    chance = guess + (1 - guess) * logistic
    slope = (1 - guess) * logistic * (1 - logistic)
    return (slope / chance, -logistic), slope**2 / (chance * (1 - chance))


def _logistic(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -30, 30))))


def _normalised(logarithm: NDArray[np.floating[Any]], axis: int = -1) -> Floats:
    """Return weights that sum to 1 from their logarithms."""
    weights = np.exp(logarithm - logarithm.max(axis=axis, keepdims=True))
    return np.asarray(weights / weights.sum(axis=axis, keepdims=True))


def _hits(systems: Systems, name: str, row: int) -> Floats:
    """Return the hits of a system, 1, 0, or NaN if a query does not count, (Q,)."""
    scores = systems.scores[name]
    weight = scores.weight[row]
    counts: Bools = weight > 0
    values = np.where(counts, scores.numerator[row] / np.where(counts, weight, 1), np.nan)
    partly = counts & (np.abs(values) > ROUNDING) & (np.abs(values - 1) > ROUNDING)
    if partly.any():
        at = int(np.argmax(partly))
        raise UsageError(
            f"{systems.measures[row]} is {values[at]:g} on query {scores.query_id[at]!r}, expected a measure that is 0 "
            "or 1 on each query, as R@1,IoU=0.5"
        )
    return values
