"""Compare methods on the same queries: paired, with corrected intervals and p-values and what the split can detect.

A method is a group of runs: one prediction file, or several that differ by the seed of their training. Its figure is
the mean over its runs; the spread is their sample standard deviation. Where a method of a pair has several runs,
intervals and tests are about other videos *and* other trainings (:mod:`truemoment.studies.compare.trainings`); else
about other videos of the same kind, for these very runs.

A method with one run may owe its figure to a lucky training. So it counts as above a blind method only if the interval
of the difference also lies above the spread between trainings of the blind method.

A difference that is not significant is not zero: its interval and the smallest true difference that this split would
detect with 80 % power are reported with it.

References
----------
See :mod:`truemoment.evaluation.uncertainty` for the bootstrap of videos, the paired permutation test, its correction
for many comparisons, and the minimum detectable difference.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import combinations
from pathlib import Path
from types import MappingProxyType

import numpy as np

from truemoment.base.boundary.files import read_number
from truemoment.base.boundary.tables import read_cells
from truemoment.base.errors import InputError, MeasureError, UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.known_names import one_of_known
from truemoment.evaluation.measures import Measure, parse_measure
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import (
    FEW_DIFFERING,
    LEVEL,
    check_paired,
    interval95,
    minimum_detectable_difference,
    normal_tail,
    permutation_tests,
    resample_figures,
    sums_by_video,
)
from truemoment.studies.compare.trainings import POWER, TrainingsTested, over_trainings

NO_BLIND: Mapping[str, float] = MappingProxyType({})
"""No blind method."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """G methods compared by M measures in P pairs. All figures are fractions; undefined is NaN.

    Parameters
    ----------
    groups
        Scores of each method's runs, by method.
    baseline
        The method that all others are compared with; None if all pairs are compared.
    blind
        Methods without the video; every other method is compared with them in any case.
    values
        Figures of each method's runs: G arrays of shape (R, M).
    mean, spread : (G, M)
        Mean over a method's runs, and their sample standard deviation (NaN for one run).
    interval : (G, M, 2)
        95 % interval of the mean, by resampling videos.
    pairs
        P pairs of methods, by number; the difference is the first less the second.
    difference : (P, M)
        Difference of the means.
    difference_interval : (P, M, 2)
        95 % intervals for all P x M differences together: one contains 0 exactly where the corrected p-value is above
        0.05.
    p, p_corrected : (P, M)
        Two-sided p-value, and the same corrected for all P x M comparisons: over videos and trainings, or of the
        paired permutation test (:func:`truemoment.evaluation.uncertainty.permutation_tests`).
    resolved_level
        Level of a single permutation test after the correction; 0 where none can be significant.
    n_differing : (P, M)
        Number of videos on which the two differ.
    resolves : (P, M)
        Smallest true difference that would be found in 80 % of such splits, with the correction; NaN where the two
        differ on fewer than 10 videos, or by the same on all.
    trainings
        Tests over other videos and other trainings, where a method has several runs.
    margin
        Spread between trainings of each blind method, by name; 0 for others.
    resamples, permutations
        Number of resamples, and of swaps.
    """

    groups: Mapping[str, Sequence[Scores]]
    baseline: str | None
    blind: tuple[str, ...]
    values: tuple[Floats, ...]
    mean: Floats
    spread: Floats
    interval: Floats
    pairs: tuple[tuple[int, int], ...]
    difference: Floats
    difference_interval: Floats
    p: Floats
    p_corrected: Floats
    resolved_level: float
    n_differing: Ints
    resolves: Floats
    trainings: TrainingsTested
    margin: Mapping[str, float]
    resamples: int
    permutations: int

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods."""
        return tuple(self.groups)

    @property
    def first(self) -> Scores:
        """Scores of the first run of the first method: they name data, measures and convention."""
        return self.groups[self.methods[0]][0]

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures."""
        return self.first.measures

    @functools.cached_property
    def verdict(self) -> Ints:
        """1 where the first of a pair is significantly above the second, -1 below, 0 where neither is shown, (P, M)."""
        is_shown = self.p_corrected <= LEVEL
        for pair, (i, j) in enumerate(self.pairs):
            for method, other in ((i, j), (j, i)):
                if self.methods[other] in self.blind and len(self.values[method]) == 1:
                    nearest = np.abs(self.difference_interval[pair]).min(axis=-1)
                    is_shown[pair] &= nearest > self.margin.get(self.methods[other], 0)
        return np.where(is_shown, np.sign(np.nan_to_num(self.difference)), 0).astype(np.int64)

    @functools.cached_property
    def over_trainings(self) -> Bools:
        """Which differences are tested over videos and trainings, (P, M); the others over videos alone."""
        return np.isfinite(self.trainings.p)

    @property
    def family(self) -> int:
        """Number of defined comparisons, for which p-values and intervals are corrected."""
        return int(np.isfinite(self.p).sum())

    def level(self, pair: int, row: int) -> float:
        """Return the level of a single comparison after the correction; 0 where it cannot be significant."""
        return LEVEL / self.family if self.over_trainings[pair, row] else self.resolved_level

    def above(self, method: str, other: str) -> Ints:
        """Return verdicts on a method against another, (M,): 1 if significantly above, -1 if below, else 0."""
        pair, sign = self.pair_of(method, other)
        return np.asarray(sign * self.verdict[pair])

    def pair_of(self, method: str, other: str) -> tuple[int, int]:
        """Return the number of the pair of two methods, and 1 if it has `method` first, else -1."""
        i, j = self.methods.index(method), self.methods.index(other)
        return (self.pairs.index((i, j)), 1) if (i, j) in self.pairs else (self.pairs.index((j, i)), -1)

    @functools.cached_property
    def counts(self) -> Bools:
        """Which queries carry weight in every run, shape (M, Q)."""
        runs = [run for group in self.groups.values() for run in group]
        return np.asarray(np.logical_and.reduce([run.weight > 0 for run in runs]))

    @functools.cached_property
    def weights_differ(self) -> bool:
        """Whether runs are measured on different queries, as where a protocol drops those without an answer."""
        runs = [run for group in self.groups.values() for run in group]
        return any(not np.array_equal(run.weight, self.first.weight) for run in runs)


def compare(
    groups: Mapping[str, Sequence[Scores]],
    rng: np.random.Generator,
    *,
    baseline: str | None = None,
    blind: Mapping[str, float] = NO_BLIND,
    resamples: int = 1000,
    permutations: int = 10_000,
    progress: bool = False,
) -> Comparison:
    """Compare methods pair by pair on the same queries.

    Where a method of a pair has several runs, the pair is tested over videos and trainings
    (:func:`truemoment.studies.compare.trainings.over_trainings`), corrected for all comparisons by Bonferroni's method;
    else by swapping the two methods' statistics by video, corrected by max-t over all pairs.

    Parameters
    ----------
    groups
        Scores of one or more runs of each method, by its name; two methods or more.
    rng
        Generator of resamples and swaps.
    baseline
        Compare all others with this method; by default all pairs are compared.
    blind
        Compare all others with these methods too, which do not see the video: their spread between trainings by name.
    resamples
        Resamples of the videos for intervals, 2 or more.
    permutations
        Swaps of the permutation test, 1 or more.
    progress
        Show a progress bar on standard error when there is much to do.

    Returns
    -------
    Comparison

    Raises
    ------
    UsageError
        If there are fewer than two methods, a method has no run, the baseline is none of them, or runs
        are not of the same queries, measures and convention.

    Examples
    --------
    >>> import numpy as np
    >>> from truemoment import Annotations, Predictions
    >>> from truemoment.evaluation.evaluate import evaluate
    >>> videos = [f"v{i}" for i in range(8)]
    >>> annotations = Annotations.from_rows([(f"{v}#0", v, 30.0, "a door opens", 2.0, 6.0) for v in videos])
    >>> def answers(end_s):
    ...     return evaluate(annotations, Predictions.from_lists({f"{v}#0": [(2.0, end_s)] for v in videos}), "mIoU")
    >>> result = compare({"ours": [answers(5.0), answers(5.5)], "base": [answers(4.0)]}, np.random.default_rng(0))
    >>> result.mean.ravel().tolist(), round(float(result.spread[0, 0]), 4)
    ([0.8125, 0.5], 0.0884)
    >>> result.difference.ravel().tolist(), result.p.round(3).ravel().tolist(), result.verdict.ravel().tolist()
    ([0.3125], [0.126], [0])
    """
    _check_groups(groups, baseline=baseline, blind=list(blind))
    names = list(groups)
    runs = [run for group in groups.values() for run in group]
    check_paired(runs)
    ends = np.cumsum([len(group) for group in groups.values()])
    members = [slice(int(end) - len(group), int(end)) for end, group in zip(ends, groups.values(), strict=True)]
    pairs = _pairs(names, baseline, list(blind))
    first, second = np.array(pairs).T

    of_run = np.array([[run.value(measure) for measure in run.measures] for run in runs])
    values = tuple(of_run[of_group] for of_group in members)
    mean = np.stack([table.mean(axis=0) for table in values])
    draws = resample_figures(runs, rng, resamples=resamples, progress=progress)
    draws = np.stack([draws[:, of_group].mean(axis=1) for of_group in members], axis=1)

    sums = [sums_by_video(run) for run in runs]
    numerator, weight = (
        np.stack([np.mean([sums[run][part] for run in range(group.start, group.stop)], axis=0) for group in members])
        for part in (0, 1)
    )
    differs = (numerator[first] != numerator[second]) | (weight[first] != weight[second])
    n_differing = differs.sum(axis=1)
    tests = permutation_tests(numerator, weight, pairs, rng, permutations=permutations, progress=progress)
    level = 2 * float(normal_tail(np.array(tests.critical)))
    resolves = np.full(tests.p.shape, np.nan)
    if 0 < level < 1:
        differences = draws[:, first] - draws[:, second]
        resolves = minimum_detectable_difference(differences, level=level, power=POWER, n_differing=n_differing)
    trainings = over_trainings([groups[name] for name in names], pairs, family=int(np.isfinite(tests.p).sum()))
    is_trained = np.isfinite(trainings.p)
    return Comparison(
        groups={name: tuple(group) for name, group in groups.items()},
        baseline=baseline,
        blind=tuple(blind),
        values=values,
        mean=mean,
        spread=np.stack([_spread(table) for table in values]),
        interval=interval95(draws),
        pairs=pairs,
        difference=mean[first] - mean[second],
        difference_interval=np.where(is_trained[:, :, None], trainings.interval, tests.interval),
        p=np.where(is_trained, trainings.p, tests.p),
        p_corrected=np.where(is_trained, trainings.p_corrected, tests.p_corrected),
        resolved_level=level,
        n_differing=n_differing,
        resolves=np.where(is_trained & (n_differing >= FEW_DIFFERING), trainings.resolves, resolves),
        trainings=trainings,
        margin=dict(blind),
        resamples=resamples,
        permutations=permutations,
    )


def _check_groups(groups: Mapping[str, Sequence[Scores]], *, baseline: str | None, blind: Sequence[str]) -> None:
    """Refuse fewer than two methods, methods without a run, and names that are none of them."""
    names = list(groups)
    if len(names) < 2:
        raise UsageError(f"got {len(names)} methods ({', '.join(names) or 'none'}), expected two or more")
    for option, name in (("baseline", baseline), *(("blind", method) for method in blind)):
        if name is not None and name not in groups:
            raise UsageError(f"got {option} {name!r}, expected {one_of_known(name, names)}")
    for name, group in groups.items():
        if not group:
            raise UsageError(f"method {name!r} has no run, expected one or more")


def _pairs(names: Sequence[str], baseline: str | None, blind: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of methods to compare: all, or all others with the baseline and with the blind methods."""
    if baseline is None:
        return tuple(combinations(range(len(names)), 2))
    pairs: list[tuple[int, int]] = []
    for other in dict.fromkeys((baseline, *blind)):
        at = names.index(other)
        sets = {frozenset(pair) for pair in pairs}
        pairs += [(i, at) for i in range(len(names)) if i != at and frozenset((i, at)) not in sets]
    return tuple(pairs)


def _spread(values: Floats) -> Floats:
    """Return the sample standard deviation over runs, (R, M) to (M,); NaN for one run."""
    return np.asarray(values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1], np.nan))


# ------------------------------------------------------------------------------------ published figures

PUBLISHED_COLUMNS = ("source", "table", "dataset", "split", "method", "measure", "value", "unit", "note")

LONGEST_NUMBER = 30
"""Largest number of digits before or after the point of a figure; 1e-999999 is refused."""


@dataclass(frozen=True)
class PublishedFigure:
    """A figure as a paper prints it: unchecked, and perhaps by another convention than ours.

    Parameters
    ----------
    source, table
        Source and table in which it is printed.
    dataset, split, method, measure
        Their names in the words of the file.
    value
        The figure as printed.
    unit
        ``percent``, ``fraction``, or something else.
    note
        Remark of the person who wrote it down.
    path, line
        File and line from which it was read.
    """

    source: str
    table: str
    dataset: str
    split: str
    method: str
    measure: str
    value: Decimal
    unit: str
    note: str
    path: Path
    line: int

    @property
    def origin(self) -> str:
        """Source and table, as text."""
        return ", ".join(word.replace("_", " ") for word in (self.source, self.table) if word)

    @property
    def label(self) -> str:
        """The method with the origin of its figure."""
        return f"{self.method or 'unnamed'} ({self.origin})"

    @property
    def fraction(self) -> float:
        """The figure as a fraction; `unit` is percent or fraction."""
        return float(self.value.scaleb(-2) if self.unit == "percent" else self.value)

    @property
    def percent(self) -> str:
        """The figure in percent with as many digits as were printed; `unit` is percent or fraction."""
        return f"{self.value if self.unit == 'percent' else self.value.scaleb(2):f}"


def read_published(path: Path) -> list[PublishedFigure]:
    """Read published figures from a tidy CSV file, or from all of a folder's.

    Columns, in any order: source, table, dataset, split, method, measure, value, unit, note.

    Parameters
    ----------
    path
        A file, or a folder with files ``*.csv``, which are read by name.

    Returns
    -------
    list
        In the order of the files.

    Raises
    ------
    MissingFileError, InputError
        If there is no such file, or a field of a file is invalid.
    """
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    if not files:
        raise InputError("contains no .csv file, expected published figures", path=path)
    return [figure for file in files for figure in _read_file(file)]


def _read_file(path: Path) -> list[PublishedFigure]:
    rows = read_cells(path)
    _, header = next(rows)
    if sorted(header) != sorted(PUBLISHED_COLUMNS):
        names = ", ".join(header)[:100] or "none"
        raise InputError(f"got headings {names}, expected {', '.join(PUBLISHED_COLUMNS)}", path=path, line=1)
    figures = []
    for line, row in rows:
        fields = dict(zip(header, row, strict=True))
        for name in ("source", "measure", "unit"):
            if not fields[name]:
                raise InputError("is empty, expected text", path=path, line=line, field=name)
        text = fields.pop("value")
        value = _decimal(text)
        if value is None:
            raise InputError(f"got {text[:40]!r}, expected a number", path=path, line=line, field="value")
        figures.append(PublishedFigure(**fields, value=value, path=path, line=line))
    return figures


def _decimal(text: str) -> Decimal | None:
    """Read a number with all its digits; None if the text is not a number."""
    if math.isnan(read_number(text)):
        return None
    try:
        value = Decimal(text.strip())
    except InvalidOperation:  # its exponent is beyond all numbers
        return None
    return value if abs(value.adjusted()) <= LONGEST_NUMBER else None


def published_beside(figures: Iterable[PublishedFigure], scores: Scores) -> list[tuple[int, PublishedFigure]]:
    """Select the published figures of the dataset, split and measures of `scores`.

    Names are compared without regard to case, blanks as hyphens: ``ActivityNet Captions`` is
    ``activitynet-captions``.

    Parameters
    ----------
    figures
        Published figures.
    scores
        Scores of our run.

    Returns
    -------
    list of (row of the measure in `scores`, figure)
        In the order given.

    Raises
    ------
    InputError
        If one of them is not a share: below 0, or above 100 percent.
    """
    rows = {str(measure): row for row, measure in enumerate(scores.measures)}
    key = (_folded(scores.dataset), _folded(scores.split))
    selected = []
    for figure in figures:
        if (_folded(figure.dataset), _folded(figure.split)) != key or figure.unit not in ("percent", "fraction"):
            continue
        try:
            row = rows.get(str(parse_measure(figure.measure)))
        except MeasureError:
            continue  # "dR@1,IoU=0.5 gain" and the like: no measure
        if row is None:
            continue
        if not 0 <= figure.fraction <= 1:
            message = (
                f"got {figure.value} {figure.unit}, expected {'0 to 100' if figure.unit == 'percent' else '0 to 1'}"
            )
            raise InputError(message, path=figure.path, line=figure.line, field="value")
        selected.append((row, figure))
    return selected


def _folded(name: str) -> str:
    return "-".join(name.casefold().split())
