"""Populations of simulated systems: different systems, variants of one system, and the similarity of the systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.uncertainty import ROUNDING
from truemoment.studies.meta.rankings import pairs_of
from truemoment.studies.meta.simulation import SimulatedSystem
from truemoment.studies.meta.systems import Systems, figures_of


def default_population() -> tuple[SimulatedSystem, ...]:
    """Return 24 systems: six as in the AxIoU paper, two guessers, and four series that each vary one parameter.

    The six represent those of Togashi et al. 2022 (section 6.1): a blind baseline, a good ranker whose lists are short
    of good further answers (SCDM), a proposal map (2D-TAN), and the map without suppression, on shuffled video, and
    both. On Charades-STA's test split the 24 have R@1,IoU=0.5 of 11 to 60 % and R@5,IoU=0.5 of 42 to 92 %. At both,
    ``blind``, ``map`` and ``ranker`` lie within 4 points of the published figures of Prior-Only Blind, 2D-TAN and SCDM.
    Names have at most 16 characters, because small figures cut longer ones.
    """
    shuffled = SimulatedSystem(
        "map rand", "as in the paper", found_share=0.3, boundary_error=0.35, ranking=0.05, bias=0.9
    )
    proposal_map = SimulatedSystem(
        "map", "as in the paper", found_share=0.6, boundary_error=0.2, ranking=0.11, bias=0.8
    )
    six = (
        SimulatedSystem("blind", "as in the paper", found_share=0.0, boundary_error=0.0, ranking=0.0, bias=1.0),
        SimulatedSystem("ranker", "as in the paper", 0.6, 0.15, ranking=0.21, bias=0.2, nms_threshold=0.75),
        proposal_map,
        replace(proposal_map, name="map nonms", model="map", nms_threshold=None),
        shuffled,
        replace(shuffled, name="map rand+nonms", model="map rand", nms_threshold=None),
    )
    guessers = tuple(
        SimulatedSystem(f"guesser bias {bias:g}", "blind guessers", 0.0, 0.0, ranking=0.0, bias=bias)
        for bias in (0.0, 0.5)
    )
    ends = tuple(
        SimulatedSystem(f"ends {100 * error:.0f} % off", "boundary error", 0.8, error, ranking=0.2, bias=0.5)
        for error in (0.05, 0.15, 0.3, 0.5)
    )
    rankers = tuple(
        SimulatedSystem(f"ranking {ranking:g}", "ranking quality", 0.8, 0.15, ranking=ranking, bias=0.4)
        for ranking in (0.0, 0.06, 0.12, 0.2)
    )
    leaning = tuple(
        SimulatedSystem(f"bias {bias:g}", "bias", 0.6, 0.2, ranking=0.15, bias=bias) for bias in (0.0, 0.35, 0.7, 1.0)
    )
    lists = tuple(
        SimulatedSystem(
            _suppression(threshold),
            "redundancy",
            found_share=0.7,
            boundary_error=0.15,
            ranking=0.16,
            bias=0.6,
            nms_threshold=threshold,
            model="redundancy",
        )
        for threshold in (0.3, 0.5, 0.7, None)
    )
    return (*six, *guessers, *ends, *rankers, *leaning, *lists)


THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, None)
"""NMS thresholds of the variants."""

THRESHOLDS_A_TRAINING = 4
"""Number of variants of one training, which differ only in the NMS threshold."""

ALIKE = 0.5
"""Share of the queries on which trainings of one architecture have the same draws."""


def variants(n: int, rng: np.random.Generator) -> tuple[SimulatedSystem, ...]:
    r"""Return variants of one proposal map (``map`` of :func:`default_population`), as in a hyper-parameter search.

    Every :data:`THRESHOLDS_A_TRAINING` variants are one training, with as many of the :data:`THRESHOLDS` of
    suppression. A training has a learning rate x decades off the best, uniform in [-1, 1], which costs found moments
    and ranking quality alike: ``found`` = 0.62 - 0.1 x², ``ranking`` = 0.12 (1 - 0.4 x²); and a capacity y, uniform in
    [-1, 1], which sharpens boundaries at the expense of ranking and gives training moments more weight:
    ``boundary_error`` = 0.2 exp(-0.5 y), ``ranking`` times exp(-0.15 y), ``bias`` = 0.7 + 0.2 y. So no variant is best
    in everything, and the best one depends on the measure. Trainings share their draws on :data:`ALIKE` of the queries.

    The AxIoU paper selects among 640 variants of 2D-TAN (section 6.6), by learning rate and threshold of suppression
    among others.
    """
    if n < 1:
        raise UsageError(f"got {n} variants, expected 1 or more")
    digits = len(str(-(-n // THRESHOLDS_A_TRAINING)))
    systems: list[SimulatedSystem] = []
    while len(systems) < n:
        rate, capacity = rng.uniform(-1, 1, 2).tolist()
        name = f"run {len(systems) // THRESHOLDS_A_TRAINING + 1:0{digits}}"
        training = SimulatedSystem(
            name,
            f"variant (rate {rate:+.2f}, capacity {capacity:+.2f})",
            found_share=0.62 - 0.1 * rate**2,
            boundary_error=0.2 * math.exp(-0.5 * capacity),
            ranking=0.12 * (1 - 0.4 * rate**2) * math.exp(-0.15 * capacity),
            bias=0.7 + 0.2 * capacity,
            model=name,
            lineage="map",
            alike=ALIKE,
        )
        for number in np.sort(rng.choice(len(THRESHOLDS), THRESHOLDS_A_TRAINING, replace=False)):
            threshold = THRESHOLDS[number]
            systems.append(replace(training, name=f"{name} {_suppression(threshold)}", nms_threshold=threshold))
    return tuple(systems[:n])


def _suppression(threshold: float | None) -> str:
    return "no NMS" if threshold is None else f"NMS {threshold:g}"


# --------------------------------------------------------------------------------------------- how alike they are


def differ_in_model(recipes: Sequence[SimulatedSystem]) -> Bools:
    """Return which pairs of systems, (P,), are of two models; systems of one model share all draws."""
    drawn_as = np.array([system.drawn_as for system in recipes], dtype=np.str_)
    first, second = pairs_of(len(recipes))
    return np.asarray(drawn_as[first] != drawn_as[second])


def correlations(systems: Systems, measure: str | Measure = "mIoU") -> Floats:
    """Return the correlation of the per-query values of each two systems, (P,); NaN if one does not vary.

    Pairs are in the order of :func:`~truemoment.studies.meta.rankings.pairs_of`. The weight of a query is the root of
    the product of its weights for the two systems.
    """
    row = systems.first.row(measure)
    numerator, weight = systems.on_queries(row)
    value, root = np.nan_to_num(figures_of(numerator, weight)), np.sqrt(weight)
    sums, counted, squared = root * value, root @ root.T, (root * value**2) @ root.T
    mean = figures_of(sums @ root.T, counted)  # [a, b]: of a, on the queries of a and b
    variance = figures_of(squared, counted) - mean**2
    covariance = figures_of(sums @ sums.T, counted) - mean * mean.T
    first, second = pairs_of(len(systems))
    vary = np.minimum(variance, variance.T) > ROUNDING
    spread = np.sqrt(np.where(vary, variance * variance.T, 1))
    return np.asarray(np.where(vary, covariance / spread, np.nan)[first, second])
