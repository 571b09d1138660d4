"""The result of a table of methods."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.baselines.floors import NETWORK
from truemoment.learning.training.sweep_results import IID, OOD, Curve, Difference, mean_and_spread
from truemoment.learning.training.trials import TrialOutcome
from truemoment.reproduction.base import Reproduced, Reproduction
from truemoment.reproduction.bench.tables import BenchTable
from truemoment.studies.compare.comparison import Comparison

SPLIT_CONSTANT = "split-constant"
"""Name of the constant that is best on the test split itself."""


@dataclass(frozen=True, eq=False)
class BenchResult:
    """A table of methods, whose runs may be unfinished.

    Parameters
    ----------
    table, dataset
        Which table, on which dataset.
    features, is_simulated
        What methods saw that see the video, and whether it was simulated.
    seeds
        Seconds of training.
    splits, measures
        Test splits, and what is measured on them.
    methods, floors, ceilings
        Figures of what was trained, and of what it is compared with, without a dial.
    beside_network
        The methods compared with the sentence network, by split and by the headline.
    seconds
        Seconds that the training of each trial took, all starts together, by method and seed.
    failed, unfinished
        Trials without figures, and trials that are not finished.
    published
        The published tables on this dataset, with the runs beside.
    notes
        What a reader of the figures has to know.
    """

    table: BenchTable
    dataset: str
    features: str
    is_simulated: bool
    seeds: tuple[int, ...]
    splits: tuple[str, ...]
    measures: tuple[str, ...]
    methods: tuple[Curve, ...]
    floors: tuple[Curve, ...]
    ceilings: tuple[Curve, ...]
    beside_network: Mapping[str, Comparison]
    seconds: Mapping[tuple[str, int], float]
    failed: tuple[TrialOutcome, ...]
    unfinished: tuple[TrialOutcome, ...]
    published: Reproduction
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The measure of the figure."""
        return self.table.headline

    @property
    def references(self) -> tuple[Curve, ...]:
        """The floors and ceilings."""
        return (*self.floors, *self.ceilings)

    @property
    def trained(self) -> tuple[Curve, ...]:
        """The methods that have a figure."""
        return tuple(curve for curve in self.methods if curve.points)

    @property
    def has_two(self) -> bool:
        """Whether there are both test-iid and test-ood."""
        return IID in self.splits and OOD in self.splits

    @property
    def source(self) -> str:
        """The features of the methods, in words."""
        return f"simulated {self.features}" if self.is_simulated else self.features

    def features_of(self, curve: Curve) -> str:
        """Return what a method, floor or ceiling saw."""
        return self.source if curve.sees else "none"

    def reference(self, name: str) -> Curve | None:
        """Return a floor or ceiling by name; None if it was not run."""
        return next((curve for curve in self.references if curve.name == name), None)

    def beside(self, curve: Curve, split: str) -> tuple[Difference, int] | None:
        """Return a method less the sentence network, and 1 or -1 where it is significantly above or below.

        The interval allows for all methods of the split. None where they were not compared.
        """
        comparison = self.beside_network.get(split)
        if comparison is None or curve.kind != "method" or curve.name not in comparison.methods:
            return None
        pair = comparison.methods.index(curve.name), comparison.methods.index(NETWORK)
        at = comparison.pairs.index(pair)
        low, high = comparison.difference_interval[at, 0].tolist()
        return Difference(float(comparison.difference[at, 0]), low, high), int(comparison.verdict[at, 0])

    def by_seed(self, curve: Curve, split: str, measure: str | None = None) -> Floats:
        """Return fractions by seed, (S,); a floor or a ceiling has its own seeds, NaN where there is none."""
        seeds = self.seeds if curve.kind == "method" else sorted({seed for _, seed in curve.points})
        return np.asarray(curve.table((0.0,), seeds, split, measure or self.headline)[0])

    def mean(self, curve: Curve, split: str, measure: str | None = None) -> float:
        """Return the mean fraction over seeds; NaN where there is none."""
        return float(mean_and_spread(self.by_seed(curve, split, measure)[None])[0][0])

    def spread(self, curve: Curve, split: str, measure: str | None = None) -> float:
        """Return the standard deviation over seeds; NaN where there are not two."""
        return float(mean_and_spread(self.by_seed(curve, split, measure)[None])[1][0])

    def strongest_floor(self, split: str) -> Curve | None:
        """Return the floor with the highest figure of the headline on a split."""
        scored = [(value, curve) for curve in self.floors if math.isfinite(value := self.mean(curve, split))]
        return max(scored, key=lambda pair: pair[0])[1] if scored else None

    def published_figure(self, title: str, split: str) -> Reproduced | None:
        """Return a method's published figure of the headline on a split; None if there is none."""
        rows = (row for table in self.published.tables for row in table.rows)
        matching = (row for row in rows if (row.method, row.split, row.measure) == (title, split, self.headline))
        return next((row for row in matching if row.published is not None), None)

    def published_value(self, title: str, split: str) -> Decimal | None:
        """Return a method's published headline in percent; None if there is none."""
        row = self.published_figure(title, split)
        return None if row is None else row.published
