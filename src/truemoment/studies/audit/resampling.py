"""Figures of systems over the same queries, their intervals, and the difference of two systems."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from truemoment.base.intervals import Bools, Floats
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.studentised import resample_ratios
from truemoment.evaluation.uncertainty import (
    LEVEL,
    holm,
    minimum_detectable_difference,
    paired_permutation,
    sums_by_video,
    videos_that_differ,
)


class PairedDifference(NamedTuple):
    """The difference of two systems over the same queries at M measures: fractions, NaN if undefined.

    Parameters
    ----------
    ci95 : (M, 2)
        Its 95 % interval, by the studentised bootstrap of videos.
    p, p_holm : (M,)
        P value of the permutation test that swaps the systems video by video; the same, corrected over the measures.
    resolves : (M,)
        Smallest difference that can be detected with 80 % power at level 0.05.
    """

    difference: Floats
    ci95: Floats
    p: Floats
    p_holm: Floats
    resolves: Floats


def figures(scores: Scores) -> Floats:
    """Return the figure of each measure, (M,)."""
    return np.array([scores.value(measure) for measure in scores.measures])


def restrict(scores: Scores, counts: Bools) -> Scores:
    """Return scores in which only the queries marked in `counts`, (Q,), have weight."""
    return replace(scores, numerator=scores.numerator * counts, weight=scores.weight * counts)


def intervals(systems: list[Scores], rng: np.random.Generator, resamples: int) -> Floats:
    """Return 95 % intervals of systems over the same queries, (S, M, 2)."""
    sums = [sums_by_video(system) for system in systems]
    numerator, weight = (np.concatenate([pair[i] for pair in sums], axis=1) for i in (0, 1))
    bounds = np.stack(resample_ratios(numerator, weight, rng, resamples=resamples).bounds(LEVEL), axis=-1)
    return np.asarray(np.clip(bounds, 0, 1).reshape(len(systems), -1, 2))


def paired(a: Scores, b: Scores, rng: np.random.Generator, *, resamples: int, permutations: int) -> PairedDifference:
    """Compare two systems over the same queries."""
    for_draws, for_test = rng.spawn(2)
    (own, weight), (other, _) = sums_by_video(a), sums_by_video(b)
    drawn = resample_ratios(own - other, weight, for_draws, resamples=resamples)
    p = paired_permutation(a, b, for_test, permutations=permutations)
    resolves = minimum_detectable_difference(drawn.drawn, n_differing=videos_that_differ(a, b))
    ci95 = np.stack(drawn.bounds(LEVEL), axis=-1)
    return PairedDifference(figures(a) - figures(b), ci95, p, holm(p), resolves)
