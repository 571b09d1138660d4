"""Ranks of the compared methods that the tests allow, and which are above the strongest one without the video."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.intervals import Ints
from truemoment.baselines.floors import NETWORK, headline_of
from truemoment.evaluation.repeated_measures import repeated_measures
from truemoment.report.model import Cell
from truemoment.studies.compare.comparison import Comparison
from truemoment.studies.compare.files import ComparedFiles


def rank_intervals(comparison: Comparison, methods: Sequence[str]) -> Ints:
    """Return the first and last rank that each of S methods may have among them, (S, M, 2); 1 is the best."""
    better, worse = (np.zeros((len(methods), len(comparison.measures)), dtype=np.int64) for _ in range(2))
    for number, method in enumerate(methods):
        for other in methods:
            if other != method:
                verdict = comparison.above(method, other)
                better[number] += verdict < 0
                worse[number] += verdict > 0
    return np.stack([1 + better, len(methods) - worse], axis=-1)


def blind_for(compared: ComparedFiles, method: str) -> Iterator[str]:
    """Yield the blind methods that a method must be above: all, or those that read no more than it declares."""
    for blind in compared.comparison.blind:
        if blind == NETWORK or method not in compared.reads_sentence:
            yield blind


def distinct_measures(compared: ComparedFiles) -> list[int]:
    """Return the rows of the headline measure and of the measures that repeat no other, on any split or video."""
    comparison = compared.comparison
    percent = comparison.first.protocol.percent
    values = [*comparison.mean, *(value for split in compared.splits for value in split.value.values())]
    values += [changed.value for changed in compared.changed]
    rows = [[Cell("" if math.isnan(value) else percent(value)) for value in row.tolist()] for row in values]
    repeats = dict(repeated_measures(comparison.measures, rows, 0))
    headline = headline_of(comparison.measures)
    return [row for row in range(len(comparison.measures)) if row not in repeats or row == headline]


@dataclass(frozen=True, eq=False)
class MethodRanking:
    """The compared methods by the headline measure.

    Parameters
    ----------
    compared
        The comparison.
    row
        The measure.
    """

    compared: ComparedFiles
    row: int

    @property
    def methods(self) -> list[str]:
        """Names of the methods without blind ones, the largest figure first; those without a figure are last."""
        comparison = self.compared.comparison
        names = [name for name in comparison.methods if name not in comparison.blind]
        return sorted(names, key=lambda name: -np.nan_to_num(self.value(name), nan=-1.0))

    @property
    def blind(self) -> list[str]:
        """Names of the blind methods, the largest figure first."""
        return sorted(self.compared.comparison.blind, key=lambda name: -np.nan_to_num(self.value(name), nan=-1.0))

    @functools.cached_property
    def above_blind(self) -> list[str]:
        """The methods that are significantly above each blind method that counts for them; none without one."""
        return [
            name
            for name in self.methods
            if self.blind and all(self.verdict(name, blind) > 0 for blind in blind_for(self.compared, name))
        ]

    def value(self, method: str) -> float:
        """Return the figure of a method, a fraction."""
        comparison = self.compared.comparison
        return float(comparison.mean[comparison.methods.index(method), self.row])

    def verdict(self, method: str, other: str) -> int:
        """Return 1 if a method is significantly above another, -1 if it is below, else 0."""
        return int(self.compared.comparison.above(method, other)[self.row])

    @functools.cached_property
    def ranks(self) -> dict[str, str]:
        """The ranks that each method may have, as text; none where not all pairs are tested."""
        comparison, methods = self.compared.comparison, self.methods
        if comparison.baseline is not None and (len(methods) > 2 or comparison.baseline not in methods):
            return {}
        intervals = rank_intervals(comparison, methods)[:, self.row].tolist()
        return {
            name: rank_text(*interval)
            for name, interval in zip(methods, intervals, strict=True)
            if not math.isnan(self.value(name))
        }

    def level_with(self, method: str) -> list[str]:
        """Return the other methods from which the tests do not distinguish a method."""
        return [name for name in self.methods if name != method and not self.verdict(method, name)]


def ranking(compared: ComparedFiles) -> MethodRanking:
    """Return the ranking by the headline measure."""
    return MethodRanking(compared, headline_of(compared.comparison.measures))


def best_first(compared: ComparedFiles, names: Sequence[str], most: int) -> list[str]:
    """Return the methods that a figure shows: all in their order, or of too many those with the largest figures."""
    if len(names) <= most:
        return list(names)
    return [name for name in ranking(compared).methods if name in names][:most]


def rank_text(first: int, last: int) -> str:
    """Write the ranks that a method may have.

    Examples
    --------
    >>> rank_text(2, 2), len(rank_text(3, 6))
    ('2', 3)
    """
    return str(first) if first == last else f"{first}\u2013{last}"
