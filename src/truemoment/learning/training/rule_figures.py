"""Figures of the interval rules, floors and a ceiling, beside those of methods trained on simulated perception.

A rule answers with the intervals that the simulated detector finds at a quality and seed: it knows what the features
show, and no more. At quality 1 they are the annotated intervals. See :mod:`truemoment.worlds.interval_rules`. Charades
and ActivityNet have the same floors, and each its own ceiling: a class of Charades is a phrase, a concept one word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from truemoment.base.records import Annotations
from truemoment.data.datasets import data_folder
from truemoment.data.language import get_engine
from truemoment.data.language.remembered import Remembered
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.grounders import Grounder
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import protocol_for_dataset
from truemoment.evaluation.scores import Scores
from truemoment.learning.training.floors import floor_rows
from truemoment.learning.training.results import ResultRow
from truemoment.worlds.concepts import WITH_SENTENCES, perfect_concepts
from truemoment.worlds.interval_rules import (
    ConceptInterval,
    Intervals,
    LikeliestInterval,
    NamedInterval,
    RandomInterval,
)
from truemoment.worlds.perception import Perception, class_names, perfect_perception

Kind = Literal["floor", "ceiling"]

N_DRAWS = 10
"""Draws of the random interval that its figures are the means of."""


@dataclass(frozen=True)
class RuleFigures:
    """What a rule scores at a quality of perception and a seed.

    Parameters
    ----------
    name, title
        In files, and in reports.
    kind
        ``floor`` or ``ceiling``.
    quality, seed
        Of the simulated features.
    values
        Fraction by split and measure; NaN where it is undefined.
    rows
        The same as rows of a file of figures.
    """

    name: str
    title: str
    kind: Kind
    quality: float
    seed: int
    values: Mapping[tuple[str, str], float]
    rows: tuple[ResultRow, ...]


@dataclass(frozen=True, eq=False)
class Simulated:
    """Simulated features of a dataset, and the rule that reads the sentence.

    Parameters
    ----------
    perfect
        Features without errors; those of each quality are made of them.
    ceiling
        Returns name and rule for the intervals that a detector finds.
    """

    perfect: Perception
    ceiling: Callable[[Intervals], tuple[str, Grounder]]


def simulate(dataset: str, *, data_dir: str | Path | None = None) -> Simulated:
    """Return the simulated features of Charades, or of ActivityNet, with the rule for it."""
    engine = Remembered(get_engine())
    if dataset in WITH_SENTENCES:
        perfect = perfect_concepts(dataset, data_dir=data_dir)
        return Simulated(perfect, lambda of: ("concept-interval", ConceptInterval(of, perfect.concepts, engine)))
    folder = data_folder(data_dir) / "charades-sta"
    names = class_names(folder)
    return Simulated(perfect_perception(folder), lambda of: ("named-interval", NamedInterval(of, names, engine)))


def run_rules(
    splits: Mapping[str, Annotations],
    *,
    simulated: Simulated,
    train: Annotations,
    qualities: Sequence[float],
    seeds: Sequence[int],
    measures: Sequence[Measure],
    top: int,
) -> Iterator[RuleFigures]:
    """Run every rule at every quality and seed, and yield its figures on the splits.

    Parameters
    ----------
    splits
        Annotations by name.
    simulated
        Features of their dataset.
    train
        What the training prior is counted on.
    qualities, seeds
        Of the simulated features.
    measures
        What is measured.
    top
        Most answers a query.
    """
    for quality in qualities:
        for seed in seeds:
            detected = simulated.perfect.at(quality, seed=seed)
            intervals = cache(detected.intervals)
            drawn = RandomInterval(intervals, np.random.default_rng(seed))
            likeliest = LikeliestInterval(intervals).fit(train)
            ceiling_name, ceiling = simulated.ceiling(intervals)
            rules: tuple[tuple[str, Kind, Grounder, int, Annotations | None], ...] = (
                ("random-interval", "floor", drawn, N_DRAWS, None),
                ("likeliest-interval", "floor", likeliest, 1, train),
                (ceiling_name, "ceiling", ceiling, 1, None),
            )
            for name, kind, rule, n_draws, fitted in rules:
                values: dict[tuple[str, str], float] = {}
                rows: list[ResultRow] = []
                for split, of in splits.items():
                    draws = [
                        evaluate(of, rule.ground(of.queries, top), measures, protocol_for_dataset(of.dataset))
                        for _ in range(n_draws)
                    ]
                    means = {str(measure): _mean(draws, measure) for measure in measures}
                    values |= {(split, measure): mean for measure, mean in means.items()}
                    rows += [
                        msgspec.structs.replace(row, features=detected.name, value=_written(means[row.measure]))
                        for row in floor_rows(name, draws[0], seed=seed, fitted_on=fitted)
                    ]
                yield RuleFigures(name, rule.name, kind, quality, seed, values, tuple(rows))


def _mean(draws: Sequence[Scores], measure: Measure) -> float:
    """Mean of a measure over draws."""
    return float(np.mean([scores.value(measure) for scores in draws]))


def _written(fraction: float) -> str:
    """Write a fraction as files of figures do."""
    return f"{fraction:.6f}" if math.isfinite(fraction) else ""
