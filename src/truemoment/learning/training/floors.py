"""Figures of blind baselines and interval rules, as rows beside those of trained methods.

Blind baselines are floors. An interval rule answers with the intervals that the simulated detector finds at a quality
and seed: it knows what the features show, and no more. At quality 1 they are the annotated intervals. See
:mod:`truemoment.worlds.interval_rules`. Charades and ActivityNet have the same floors, and each its own ceiling: a
class of Charades is a phrase, a concept one word.
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

from truemoment.base.boundary.caching import Cache
from truemoment.base.records import Annotations
from truemoment.base.version import __version__
from truemoment.baselines.floors import Setting, run_floors
from truemoment.data.datasets import data_folder
from truemoment.data.language import get_engine
from truemoment.data.language.remembered import Remembered
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.grounders import Grounder
from truemoment.evaluation.measures import Measure, parse_measure
from truemoment.evaluation.protocols import protocol_for_dataset
from truemoment.evaluation.scores import Scores
from truemoment.learning.training.hardware import commit
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

CONFIG = "floor"
"""Text in place of the hash of a recipe."""

Kind = Literal["floor", "ceiling"]

N_DRAWS = 10
"""Draws of the random interval that its figures are the means of."""


@dataclass(frozen=True, eq=False)
class FloorFigures:
    """Figures of a floor on a split.

    Parameters
    ----------
    name, title
        In files, and in reports.
    split
        Test split.
    scores
        Its scores.
    rows
        The same as rows of a file of figures.
    """

    name: str
    title: str
    split: str
    scores: Scores
    rows: tuple[ResultRow, ...]


def measure_floors(
    splits: Mapping[str, Annotations],
    measures: Sequence[str],
    *,
    top: int,
    seed: int,
    cache: Cache,
    on_status: Callable[[str], None],
    on_left_out: Callable[[str], None],
) -> Iterator[FloorFigures]:
    """Run every floor on every test split and yield its figures.

    Parameters
    ----------
    splits
        Annotations by name: "train", which floors are fitted on, and the test splits.
    measures
        What is measured.
    top
        Most answers a query.
    seed
        Seed of all draws.
    cache, on_status
        Keeps what floors learned, and receives what is done.
    on_left_out
        Receives the reason why a floor could not be fitted.
    """
    for split in (name for name in splits if name.startswith("test")):
        setting = Setting(
            annotations=splits[split],
            measures=tuple(parse_measure(measure) for measure in measures),
            protocol=protocol_for_dataset(splits[split].dataset),
            top=top,
            train=splits["train"],
            seed=seed,
            cache=cache,
            on_status=on_status,
        )
        floors, left_out = run_floors(setting)
        for why in left_out:
            on_left_out(why)
        for floor in floors:
            rows = floor_rows(floor.name, floor.scores, seed=seed, fitted_on=splits["train"])
            yield FloorFigures(floor.name, floor.title, split, floor.scores, rows)


def floor_rows(name: str, scores: Scores, *, seed: int, fitted_on: Annotations | None) -> tuple[ResultRow, ...]:
    """Return the figures of a floor as rows, one a measure.

    Parameters
    ----------
    name
        As ``truemoment baseline`` calls it.
    scores
        On one split.
    seed
        Seed of its draws.
    fitted_on
        What it learned from; None for nothing.
    """
    fitted = "" if fitted_on is None else f"fitted on {fitted_on.dataset}/{fitted_on.split}#{fitted_on.sha256[:8]}"
    made_by = commit()
    return tuple(
        ResultRow(
            recipe=name,
            config=CONFIG,
            seed=seed,
            dataset=scores.dataset,
            split=scores.split,
            data=scores.annotations_sha256[:8],
            features="none",
            measure=figure.measure,
            value="" if figure.value is None else f"{figure.value:.6f}",
            n_queries=figure.n_queries or 0,
            chosen_on="",
            epoch=0,
            seconds=0.0,
            commit=made_by,
            hardware="",
            truemoment=__version__,
            notes=fitted,
        )
        for figure in scores.measured()
    )


@dataclass(frozen=True)
class RuleFigures:
    """Figures of a rule at a quality of perception and a seed.

    Parameters
    ----------
    name, title
        In files, and in reports.
    kind
        ``floor`` or ``ceiling``.
    quality, seed
        Quality and seed of the simulated features.
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
        return Simulated(
            perfect, lambda intervals: ("concept-interval", ConceptInterval(intervals, perfect.concepts, engine))
        )
    folder = data_folder(data_dir) / "charades-sta"
    names = class_names(folder)
    return Simulated(
        perfect_perception(folder), lambda intervals: ("named-interval", NamedInterval(intervals, names, engine))
    )


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
        Qualities and seeds of the simulated features.
    measures
        What is measured.
    top
        Most answers a query.
    """
    for quality in qualities:
        for seed in seeds:
            detected = simulated.perfect.at(quality, seed=seed)
            intervals = cache(detected.intervals)
            random = RandomInterval(intervals, np.random.default_rng(seed))
            likeliest = LikeliestInterval(intervals).fit(train)
            ceiling_name, ceiling = simulated.ceiling(intervals)
            rules: tuple[tuple[str, Kind, Grounder, int, Annotations | None], ...] = (
                ("random-interval", "floor", random, N_DRAWS, None),
                ("likeliest-interval", "floor", likeliest, 1, train),
                (ceiling_name, "ceiling", ceiling, 1, None),
            )
            for name, kind, rule, n_draws, fitted in rules:
                values: dict[tuple[str, str], float] = {}
                rows: list[ResultRow] = []
                for split, test in splits.items():
                    draws = [
                        evaluate(test, rule.ground(test.queries, top), measures, protocol_for_dataset(test.dataset))
                        for _ in range(n_draws)
                    ]
                    means = {
                        str(measure): float(np.mean([scores.value(measure) for scores in draws]))
                        for measure in measures
                    }
                    values |= {(split, measure): mean for measure, mean in means.items()}
                    rows += [
                        msgspec.structs.replace(row, features=detected.name, value=_written(means[row.measure]))
                        for row in floor_rows(name, draws[0], seed=seed, fitted_on=fitted)
                    ]
                yield RuleFigures(name, rule.name, kind, quality, seed, values, tuple(rows))


def _written(fraction: float) -> str:
    """Return a fraction as it is written in files of figures."""
    return f"{fraction:.6f}" if math.isfinite(fraction) else ""
