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


class Paired(NamedTuple):
    """One system less another over the same queries by M measures: fractions, NaN where undefined.

    Parameters
    ----------
    ci95 : (M, 2)
        By the studentised bootstrap of videos.
    p, p_holm : (M,)
        Of swapping the systems video by video; corrected over the measures.
    resolves : (M,)
        Smallest difference that can be detected with 80 % power at the level of 5 %.
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
    """Return scores in which only the queries marked in `counts`, (Q,), carry weight."""
    return replace(scores, numerator=scores.numerator * counts, weight=scores.weight * counts)


def intervals(systems: list[Scores], rng: np.random.Generator, resamples: int) -> Floats:
    """Return 95 % intervals of systems over the same queries, (S, M, 2)."""
    sums = [sums_by_video(of) for of in systems]
    numerator, weight = (np.concatenate([pair[which] for pair in sums], axis=1) for which in (0, 1))
    found = np.stack(resample_ratios(numerator, weight, rng, resamples=resamples).bounds(LEVEL), axis=-1)
    return np.asarray(np.clip(found, 0, 1).reshape(len(systems), -1, 2))


def paired(a: Scores, b: Scores, rng: np.random.Generator, *, resamples: int, permutations: int) -> Paired:
    """Compare two systems over the same queries."""
    for_draws, for_test = rng.spawn(2)
    (own, weight), (other, _) = sums_by_video(a), sums_by_video(b)
    drawn = resample_ratios(own - other, weight, for_draws, resamples=resamples)
    p = paired_permutation(a, b, for_test, permutations=permutations)
    resolves = minimum_detectable_difference(drawn.drawn, n_differing=videos_that_differ(a, b))
    ci95 = np.stack(drawn.bounds(LEVEL), axis=-1)
    return Paired(figures(a) - figures(b), ci95, p, holm(p), resolves)
