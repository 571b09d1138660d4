"""Simulated systems: predictions of known quality, to study measures without trained models.

Like the oracle, a simulated system reads the references. A recipe (:class:`SimulatedSystem`) processes a query, with
times as shares of the video:

1. *Places.* :data:`PLACES` places; with probability ``found`` one is the moment, each end with a normal error of
   ``boundary_error`` times its length. Each other place comes from the density of training moments with probability
   ``bias``, else it is uniform over all moments of the video.
2. *Near-duplicates.* :data:`COPIES` proposals for each place; a copy's ends move by a normal of :data:`COPY_SPREAD`
   times its length.
3. *Score.* ``ranking`` · IoU + (1 - ``ranking``) · (``bias`` · prior + (1 - ``bias``) · chance), each in [0, 1]. The
   prior is the share of training moments at no denser place; most of the chance is common to the copies of a place.
4. *List.* NMS at ``nms_threshold`` (None: no NMS), then the first ``top``.

A query has a difficulty z, standard normal, the same for all systems; :data:`VIDEO_SHARE` of its variance is common to
the video. It decides :data:`DIFFICULTY_IN_FOUND` of the variance of what is found (a Gaussian copula), multiplies the
boundary error by :math:`e^{sz - s^2/2}`, and raises ``ranking`` to the power :math:`e^{sz}`; s is
:data:`DIFFICULTY_SPREAD`.

Draws depend only on the population's seed, the model's name and the queries (ids and videos); places from the training
density have a stream of their own. Systems of one ``model`` share all draws. Guide: ``docs/meta.md``.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from statistics import NormalDist

import numpy as np

from truemoment.base.density import Density
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Bools, Floats, Ints, first_kept, seconds_to_norm, temporal_iou
from truemoment.base.records import Annotations, Predictions, numbers_of
from truemoment.baselines.base import fit_density
from truemoment.baselines.prior_only import start_duration_norm
from truemoment.evaluation.progress import with_progress
from truemoment.evaluation.references import pad

TOP = 10
"""Default number of answers per query: the deepest measures in use evaluate ten."""

PLACES = 12
"""Number of places of a video that a system considers."""

COPIES = 5
"""Number of candidates at each place."""

COPY_SPREAD = 0.15
"""Standard deviation of the ends of the copies of a place, as a share of its length."""

VIDEO_SHARE = 0.25
"""Share of the variance of a query's difficulty that all queries of the video share."""

DIFFICULTY_IN_FOUND = 0.5
"""Share of the variance of finding a moment that the query's difficulty explains."""

DIFFICULTY_SPREAD = 0.5
"""Logarithm of the factor on boundary errors of a query that is one standard deviation harder."""

COMMON_CHANCE = 0.9
"""Share of a candidate's random score that all candidates of its place have in common."""

SHORTEST_NORM = 0.005
"""Minimum length of a candidate, as a share of the video."""

GRID = 64
"""Number of cells per axis in which the density of training moments is tabulated."""

BLOCK = 2048
"""Number of queries per block. Each block has its own draws, so the draws of a seed depend on it."""


@dataclass(frozen=True)
class SimulatedSystem:
    """A recipe for the answers of a system; the docstring of this module describes it.

    Parameters
    ----------
    found_share
        Share of queries whose moment is among the candidates, 0 to 1.
    boundary_error
        Standard deviation of each end of the candidate that is the moment, as a share of the moment's length; normal,
        0 or more.
    ranking
        Weight of the IoU in the score, 0 to 1.
    bias
        Weight of the density of training moments in wrong candidates and scores, 0 to 1.
    nms_threshold
        NMS threshold: maximum IoU between two answers; None keeps near-duplicates.
    model
        Systems of one model share all draws; by default a system is its own model.
    lineage, alike
        On the share `alike` of the queries all models of that lineage share their draws, as trainings of one
        architecture fail on the same queries in the same way.

    Examples
    --------
    >>> SimulatedSystem("blind", "guesser", found_share=0.0, ranking=0.0, bias=1.0).sees
    False
    """

    name: str
    family: str
    found_share: float = 0.8
    boundary_error: float = 0.2
    ranking: float = 0.5
    bias: float = 0.5
    nms_threshold: float | None = 0.5
    model: str = ""
    lineage: str = ""
    alike: float = 0.0

    def __post_init__(self) -> None:
        for dial in ("found_share", "ranking", "bias", "alike"):
            if not 0 <= getattr(self, dial) <= 1:
                raise UsageError(f"{self.name}: got {dial} {getattr(self, dial):g}, expected 0 to 1")
        if not 0 <= self.boundary_error < math.inf:
            raise UsageError(f"{self.name}: got boundary_error {self.boundary_error:g}, expected 0 or more")
        if self.nms_threshold is not None and not 0 <= self.nms_threshold <= 1:
            raise UsageError(f"{self.name}: got nms_threshold {self.nms_threshold:g}, expected 0 to 1 or None")
        if self.alike and not self.lineage:
            raise UsageError(f"{self.name}: got alike {self.alike:g} without a lineage")

    @property
    def drawn_as(self) -> str:
        """Name of the model whose draws it uses; its own name by default."""
        return self.model or self.name

    @property
    def sees(self) -> bool:
        """Whether its answers depend on the references."""
        return self.found_share > 0 or self.ranking > 0

    @property
    def recipe(self) -> dict[str, object]:
        """Every field by name, for the documents."""
        return {field.name.removesuffix("_share"): getattr(self, field.name) for field in fields(self)}


def simulate_all(
    systems: Iterable[SimulatedSystem],
    references: Annotations,
    rng: np.random.Generator,
    *,
    fit: Annotations | None = None,
    top: int = TOP,
    progress: bool = False,
) -> dict[str, Predictions]:
    """Simulate several systems, and return the answers of all by name; see :func:`simulate_each`."""
    return dict(simulate_each(systems, references, rng, fit=fit, top=top, progress=progress))


def simulate_each(
    systems: Iterable[SimulatedSystem],
    references: Annotations,
    rng: np.random.Generator,
    *,
    fit: Annotations | None = None,
    top: int = TOP,
    progress: bool = False,
) -> Iterator[tuple[str, Predictions]]:
    """Simulate the answers of systems one at a time: (name, predictions) for all queries, in the order of `systems`.

    Like the oracle, systems read the references. A query without a moment in the video has only wrong places. Scores
    fall strictly; NMS may leave fewer than `top` answers. One number is drawn from `rng`, the seed of the population,
    so a system has the same answers alone or among others.
    """
    listed = list(systems)
    names = [system.name for system in listed]
    repeated = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if repeated is not None:
        raise UsageError(f"got two simulated systems called {repeated!r}, expected each name once")
    if not 1 <= top <= PLACES * COPIES:
        raise UsageError(f"got {top} answers a query, expected 1 to {PLACES * COPIES}, the number of candidates")
    biased = next((system for system in listed if system.bias > 0), None)
    if biased is not None and fit is None:
        raise UsageError(
            f"{biased.name} uses the locations of training moments (bias {biased.bias:g}), expected training "
            "annotations"
        )
    stage = _Stage.of(references, fit, int(rng.integers(1 << 62)))
    systems = with_progress(listed, "simulated systems", show=progress)
    return ((system.name, _answers(system, stage, top)) for system in systems)


# --------------------------------------------------------------------------------------- what all systems share


@dataclass(frozen=True, eq=False)
class _Usual:
    """Density of training moments, and draws from it.

    `share` (GRID, GRID) is the share of training moments in cells that are not denser, by start and end of a moment.
    """

    density: Density  # of (start, duration)
    share: Floats

    @classmethod
    def of(cls, train: Annotations) -> _Usual:
        """Fit the density to training moments."""
        points = start_duration_norm(train)[0]
        density = fit_density(points, train)
        middle = (np.arange(GRID) + 0.5) / GRID
        start, end = (axis.ravel() for axis in np.meshgrid(middle, middle, indexing="ij"))
        at_cell = density.evaluate(np.stack([start, end - start], axis=1)).reshape(GRID, GRID)
        at_moments = np.sort(at_cell[_cell(points[:, 0]), _cell(points.sum(axis=1))])
        return cls(density, np.searchsorted(at_moments, at_cell, side="right") / len(at_moments))

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw start and end of n places, as Prior-Only Blind does; shape (n, 2)."""
        drawn = self.density.sample(n, rng)
        start = np.clip(drawn[:, 0], 0, 1)
        return np.stack([start, start + np.minimum(np.clip(drawn[:, 1], 0, 1), 1 - start)], axis=1)

    def at(self, start: Floats, end: Floats) -> Floats:
        """Return the share of training moments at places that are not denser, of moments of any shape."""
        return np.asarray(self.share[_cell(start), _cell(end)])


def _cell(time_norm: Floats) -> Ints:
    return np.minimum((time_norm * GRID).astype(np.int64), GRID - 1)


@dataclass(frozen=True, eq=False)
class _Stage:
    """Data that all systems of a population share."""

    references: Annotations
    start: Floats  # (Q, R) of the references, as shares of the video; NaN where there is none
    end: Floats
    difficulty: Floats  # (Q,)
    usual: _Usual | None
    seed: tuple[int, int]  # of the population, and the number of these queries

    @classmethod
    def of(cls, references: Annotations, fit: Annotations | None, seed: int) -> _Stage:
        """Compute the shared data."""
        queries = references.queries
        if not np.all(queries.duration_s > 0):
            query_id = queries.query_id[~(queries.duration_s > 0)][0]
            raise InputError(
                f"simulated systems need every video's duration, and that of query {query_id!r} is not known"
            )
        start, end = (
            np.clip(seconds_to_norm(time_s, references.duration_s), 0, 1)
            for time_s in (references.start_s, references.end_s)
        )
        start, end = (pad(references.offsets, np.where(end > start, time, np.nan)) for time in (start, end))
        query_number = _number("\n".join(queries.query_id))  # otherwise two splits would have the same draws
        seeds = (seed, query_number)
        video, rng = numbers_of(queries.video_id), np.random.default_rng([*seeds, 0])
        of_video = rng.standard_normal(int(video.max(initial=-1)) + 1)[video]
        of_query = rng.standard_normal(len(video))
        difficulty = math.sqrt(VIDEO_SHARE) * of_video + math.sqrt(1 - VIDEO_SHARE) * of_query  # standard normal
        return cls(references, start, end, difficulty, None if fit is None else _Usual.of(fit), seeds)


def _number(text: str) -> int:
    """Return a number that represents a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


# ------------------------------------------------------------------------------------------ what one system does


@dataclass(frozen=True, eq=False)
class _ModelDraws:
    """All draws of a model on n queries, independent of its parameters."""

    seeing: Floats  # (n,) normal: whether the moment is found
    choice: Floats  # (n,) in [0, 1): which of the references is seen
    ends: Floats  # (n, 2) normal: how far its ends are off
    usual: Floats  # (n, PLACES, 2) places drawn from the density
    even: Floats  # (n, PLACES, 2) places drawn evenly
    leaning: Floats  # (n, PLACES) in [0, 1): which of the two it is
    copies: Floats  # (n, PLACES, COPIES, 2) normal: how far a copy's ends are off; 0 for the first
    luck: Floats  # (n, PLACES, COPIES) in [0, 1]

    @classmethod
    def draw(cls, n: int, usual: _Usual | None, rng: np.random.Generator) -> _ModelDraws:
        """Draw the values. Draws that depend on training moments have their own stream, so they change no other."""
        even = np.sort(rng.random((n, PLACES, 2)), axis=2)
        copies = rng.standard_normal((n, PLACES, COPIES, 2))
        copies[:, :, 0] = 0
        return cls(
            rng.standard_normal(n),
            rng.random(n),
            rng.standard_normal((n, 2)),
            even if usual is None else usual.draw(n * PLACES, rng.spawn(1)[0]).reshape(n, PLACES, 2),
            even,
            rng.random((n, PLACES)),
            copies,
            COMMON_CHANCE * rng.random((n, PLACES, 1)) + (1 - COMMON_CHANCE) * rng.random((n, PLACES, COPIES)),
        )

    def replaced(self, source: _ModelDraws, where: Bools) -> _ModelDraws:
        """Return the draws with those of another model on some of the queries; `where` is (n,)."""
        drawn = {}
        for field in fields(self):
            values, others = getattr(self, field.name), getattr(source, field.name)
            drawn[field.name] = np.where(where.reshape(-1, *[1] * (values.ndim - 1)), others, values)
        return _ModelDraws(**drawn)


def _chance(system: SimulatedSystem, stage: _Stage, block: int, n: int) -> _ModelDraws:
    """Return the draws of a system for a block of n queries."""

    def stream(kind: str, name: str) -> np.random.Generator:
        return np.random.default_rng([*stage.seed, 1, _number(f"{kind}:{name}"), block])

    rng = stream("model", system.drawn_as)
    draws = _ModelDraws.draw(n, stage.usual, rng)
    if not system.alike:
        return draws
    common = _ModelDraws.draw(n, stage.usual, stream("lineage", system.lineage))
    return draws.replaced(common, rng.random(n) < system.alike)


def _answers(system: SimulatedSystem, stage: _Stage, top: int) -> Predictions:
    queries = stage.references.queries
    parts = []
    for block, first in enumerate(range(0, len(queries), BLOCK)):
        rows = slice(first, first + BLOCK)
        chance = _chance(system, stage, block, len(stage.difficulty[rows]))
        candidates = _candidates(system, stage, rows, chance)
        score = _scores(system, stage, rows, candidates, chance.luck)
        start, end, score, answered = _ranked(*candidates, score, system.nms_threshold, top)
        duration_s = queries.duration_s[rows, None]
        parts.append(
            (answered.sum(axis=1), *(table[answered] for table in (start * duration_s, end * duration_s, score)))
        )
    lengths, start_s, end_s, score = (
        np.concatenate([np.zeros(0), *column]) for column in (zip(*parts, strict=True) if parts else [()] * 4)
    )
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Predictions(queries.query_id, offsets, start_s, end_s, score, name=system.name)


def _candidates(system: SimulatedSystem, stage: _Stage, rows: slice, chance: _ModelDraws) -> tuple[Floats, Floats]:
    """Return start and end of all candidates of some queries, as shares of the video; (n, PLACES * COPIES) each."""
    place = np.where((chance.leaning < system.bias)[:, :, None], chance.usual, chance.even)
    seen, is_seen = _see(system, stage, rows, chance)
    place[:, 0] = np.where(is_seen[:, None], seen, place[:, 0])
    length = np.maximum(place[:, :, 1] - place[:, :, 0], SHORTEST_NORM)
    copies = place[:, :, None] + COPY_SPREAD * length[:, :, None, None] * chance.copies
    ends = np.sort(np.clip(copies.reshape(len(place), PLACES * COPIES, 2), 0, 1), axis=2)
    start = np.minimum(ends[..., 0], 1 - SHORTEST_NORM)
    return start, np.minimum(np.maximum(ends[..., 1], start + SHORTEST_NORM), 1)


def _see(system: SimulatedSystem, stage: _Stage, rows: slice, chance: _ModelDraws) -> tuple[Floats, Bools]:
    """Return the moment with the system's error, (n, 2), and whether the system finds it, (n,)."""
    start, end, difficulty = stage.start[rows], stage.end[rows], stage.difficulty[rows]
    n_references = (~np.isnan(start)).sum(axis=1)
    order = np.argsort(np.isnan(start), axis=1, kind="stable")  # references within the video first
    selected = np.take_along_axis(order, (chance.choice * n_references).astype(np.int64)[:, None], axis=1)
    moment = np.stack([np.take_along_axis(time, selected, axis=1)[:, 0] for time in (start, end)], axis=1)
    ease = np.sqrt(DIFFICULTY_IN_FOUND) * -difficulty + np.sqrt(1 - DIFFICULTY_IN_FOUND) * chance.seeing
    is_seen = (ease > _quantile(1 - system.found_share)) & (n_references > 0)
    harder = np.exp(DIFFICULTY_SPREAD * difficulty - DIFFICULTY_SPREAD**2 / 2)
    off = system.boundary_error * harder * (moment[:, 1] - moment[:, 0])
    return np.asarray(moment + off[:, None] * chance.ends), np.asarray(is_seen)


def _quantile(share: float) -> float:
    """Return a quantile of the standard normal, infinite at 0 and 1."""
    if share <= 0 or share >= 1:
        return -math.inf if share <= 0 else math.inf
    return NormalDist().inv_cdf(share)


def _scores(
    system: SimulatedSystem, stage: _Stage, rows: slice, candidates: tuple[Floats, Floats], luck: Floats
) -> Floats:
    """Return the score of each candidate, in [0, 1]; shape (n, PLACES * COPIES)."""
    start, end = candidates
    guess = (1 - system.bias) * luck.reshape(start.shape)
    if system.bias and stage.usual is not None:
        guess += system.bias * stage.usual.at(start, end)
    if not system.ranking:
        return np.asarray(guess)
    iou = np.zeros_like(start)
    for reference_start, reference_end in zip(stage.start[rows].T, stage.end[rows].T, strict=True):
        overlap = temporal_iou(start, end, reference_start[:, None], reference_end[:, None])
        np.fmax(iou, overlap, out=iou)
    ranking = system.ranking ** np.exp(DIFFICULTY_SPREAD * stage.difficulty[rows, None])
    return np.asarray(ranking * iou + (1 - ranking) * guess)


def _ranked(
    start: Floats, end: Floats, score: Floats, nms_threshold: float | None, top: int
) -> tuple[Floats, Floats, Floats, Bools]:
    """Rank candidates, (n, C) each, and mark the answers.

    Scores of equal candidates are distinguished by 1e-9 a rank.
    """
    order = np.argsort(-score, axis=1, kind="stable")
    start, end, score = (np.take_along_axis(table, order, axis=1) for table in (start, end, score))
    score = score - 1e-9 * np.arange(score.shape[1])
    if nms_threshold is None:
        return start, end, score, np.broadcast_to(np.arange(start.shape[1]) < top, start.shape)
    return start, end, score, first_kept(start, end, threshold=nms_threshold, top=top)
