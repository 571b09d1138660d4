"""What a reproduced table is: published figures as data, a function that finds ours, a verdict on each figure.

The figures are in ``published/*.csv``, one a row, as the paper prints them. A tolerance of 0 asks for a figure that
prints as the published one; any other bounds the difference, in the unit of the figure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.errors import MissingFileError
from truemoment.base.records import Annotations
from truemoment.data.datasets import DATASETS, NO_DATA_FOLDER, data_folder, has_data_folder, load_annotations
from truemoment.data.language import Remembered, get_engine
from truemoment.evaluation.protocols import Protocol, get_protocol
from truemoment.evaluation.scores import Scores
from truemoment.media.features.base import SIMULATED
from truemoment.report.model import Block, Drawing
from truemoment.reproduction.run_folders import RunFolder, dataset_name
from truemoment.studies.compare.comparison import PublishedFigure, read_published

PUBLISHED = Path(__file__).parent / "published"
"""Folder of the published figures."""

Share = Literal["percent", "points"]
Amount = Literal["count", "thousand", "million", "words", "seconds", "minutes", "hours", "tau"]
Unit = Share | Amount
Status = Literal[
    "exact", "within", "outside", "found by search", "ours beside ours", "informational", "published, unchecked"
]
Agreement = Literal["reproduced", "found by search", "ours beside ours"]
"""What it is if both figures agree: nothing is reproduced if ours was searched for, or if the other is ours, too."""

Unchecked = Literal["no run", "public files missing", "files under agreement", "not published", "not defined"]
"""Why a published figure has none of ours."""

_SCALE: Mapping[str, float] = MappingProxyType({"percent": 100, "points": 100, "thousand": 1e-3, "million": 1e-6})
"""What our fraction or count is multiplied by to be in a unit; 1 for the others."""


@dataclass(frozen=True)
class Reproduced:
    """A published figure and ours.

    Parameters
    ----------
    source, table
        Source of the published figure; for a figure of ours alone, the table that it belongs to.
    dataset, split, method, measure
        What the figures are of, in the words of the paper.
    unit
        ``percent``; ``points`` of percent, for differences; ``count``, or an amount that is no share: ``thousand``,
        ``million``, ``words``, ``seconds``, ``minutes``, ``hours``, ``tau``.
    published
        As printed, in that unit; None where nothing is published: a tolerance then bounds our figure itself.
    ours
        Unrounded, in that unit; None where we have none (yet).
    printed
        Ours, with the rounding of the paper.
    tolerance
        How far ours may lie from the published figure; 0 for "prints alike", None for figures that are not judged.
    reason
        Why ours may differ, or a remark.
    agreement
        What it is if both figures agree.
    unchecked
        Why there is no figure of ours; None where there is one.
    spread
        Sample standard deviation over our runs; None for one run.
    runs
        Runs that ours is the mean of.
    signature
        Convention, data and version of ours.
    features, recipe
        For a trained model: what it saw, and the recipe. "" for other figures. Figures on simulated perception are
        never judged.

    Examples
    --------
    >>> from decimal import Decimal
    >>> shown = {"published": Decimal("13.8"), "ours": 13.767, "printed": Decimal("13.8"), "tolerance": Decimal(0)}
    >>> same = Reproduced("a paper", "Table 1", "d", "test", "m", "R@1,IoU=0.7", "percent", **shown)
    >>> same.status, same.difference
    ('exact', Decimal('0.0'))
    """

    source: str
    table: str
    dataset: str
    split: str
    method: str
    measure: str
    unit: Unit
    published: Decimal | None = None
    ours: float | None = None
    printed: Decimal | None = None
    tolerance: Decimal | None = None
    reason: str = ""
    agreement: Agreement = "reproduced"
    unchecked: Unchecked | None = None
    spread: float | None = None
    runs: int = 1
    signature: str = ""
    features: str = ""
    recipe: str = ""

    @property
    def is_simulated(self) -> bool:
        """Whether ours is of a model that was trained on simulated perception."""
        return self.features.startswith(SIMULATED)

    @property
    def is_share(self) -> bool:
        """Whether the figures are shares, in percent or points of it."""
        return self.unit in get_args(Share)

    @property
    def difference(self) -> Decimal | None:
        """Ours as printed less the published figure; None where one of them is missing or undefined."""
        if self.published is None or self.printed is None or not self.printed.is_finite():
            return None
        return self.printed - self.published

    @property
    def status(self) -> Status:
        """The verdict: ours prints alike, is within the tolerance or outside, is not judged, or is missing."""
        if self.printed is None:
            return "published, unchecked"
        if self.tolerance is None or self.is_simulated:
            return "informational"
        off = self.difference if self.published is not None else self.printed
        if off is None or not off.is_finite() or abs(off) > self.tolerance:
            return "outside"
        if self.agreement != "reproduced":
            return self.agreement
        return "within" if self.tolerance else "exact"


@dataclass(frozen=True, eq=False)
class Readings:
    """Splits that were read, and engines that remember the sentences that they analysed, for several tables."""

    splits: dict[tuple[str, str], Annotations] = field(default_factory=dict)
    engines: dict[str, Remembered] = field(default_factory=dict)


@dataclass(frozen=True)
class TableInputs:
    """The inputs of tables.

    Parameters
    ----------
    data_dir
        Folder with one folder per dataset; None for the variable ``TRUEMOMENT_DATA``, and no folder where it is unset.
    rng, runs
        Source of random draws, and runs of a baseline whose published figure is a mean over runs.
    engine
        Engine that finds verbs.
    trained
        Training runs that fill the figures of trained methods.
    readings
        What earlier tables have read.
    """

    data_dir: Path | str | None
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    runs: int = 100
    engine: str = "lexicon"
    on_status: Callable[[str], None] = lambda _: None
    cache: Cache = NO_CACHE
    trained: Sequence[RunFolder] = ()
    readings: Readings = field(default_factory=Readings, repr=False)

    @property
    def folder(self) -> Path:
        """Folder of the datasets; a MissingFileError if none is named."""
        if not has_data_folder(self.data_dir):
            raise MissingFileError(NO_DATA_FOLDER)
        return data_folder(self.data_dir)

    def load(self, dataset: str, split: str) -> Annotations:
        """Read a split, once; both are named as the papers name them, as in "Charades-STA" and "training"."""
        name = dataset_name(dataset), {"training": "train"}.get(split, split)
        if name not in self.readings.splits:
            self.on_status(f"reading {' '.join(name)}")
            self.readings.splits[name] = load_annotations(*name, data_dir=self.folder)
        return self.readings.splits[name]

    @property
    def words(self) -> Remembered:
        """The engine, which analyses each sentence once."""
        if self.engine not in self.readings.engines:
            self.readings.engines[self.engine] = Remembered(get_engine(self.engine))
        return self.readings.engines[self.engine]


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper, or figures quoted in its text, or a study of ours beside them.

    Parameters
    ----------
    source
        Paper, section or table.
    figures
        Name of its file of published figures.
    compute
        Takes the published figures and the inputs, and yields every figure of the table.
    drawings
        Takes these figures and returns what is drawn of them; by default nothing is.
    blocks, details
        Functions of these figures to further blocks and to keys of the document; none by default.
    seconds
        About how long it takes on two cores.
    only_named
        Why it is computed only where it is named, as no paper's table is; "" for all others.
    """

    name: str
    title: str
    source: str
    datasets: tuple[str, ...]
    figures: str
    compute: Callable[[Sequence[PublishedFigure], TableInputs], Iterable[Reproduced]]
    drawings: Callable[[Sequence[Reproduced]], Sequence[Drawing]] = lambda _: ()
    blocks: Callable[[Sequence[Reproduced]], Sequence[Block]] = lambda _: ()
    details: Callable[[Sequence[Reproduced]], Mapping[str, Any]] = lambda _: {}
    seconds: float = 4.0
    only_named: str = ""


@dataclass(frozen=True)
class ReproducedTable:
    """A table and its figures; without figures, `why_not` it was not run."""

    table: PublishedTable
    rows: Sequence[Reproduced]
    why_not: str = ""


@dataclass(frozen=True)
class Reproduction:
    """Reproduced tables."""

    tables: Sequence[ReproducedTable]
    seed: int
    runs: int
    engine: str

    @property
    def counts(self) -> dict[str, int]:
        """Number of figures by status."""
        status_counts = Counter(row.status for table in self.tables for row in table.rows)
        return {status: status_counts[status] for status in get_args(Status)}

    @property
    def unchecked(self) -> dict[Unchecked, int]:
        """Number of published figures without ours by the reason, as far as there are any."""
        why_counts = Counter(row.unchecked for table in self.tables for row in table.rows)
        return {why: why_counts[why] for why in get_args(Unchecked) if why_counts[why]}


def published_figures(name: str) -> list[PublishedFigure]:
    """Read the published figures of a table by the name of their file."""
    return read_published(PUBLISHED / name)


def unchecked(figure: PublishedFigure, why: Unchecked, reason: str = "") -> Reproduced:
    """Return a published figure that is not recomputed, and why; `reason` says more."""
    return replace(as_published(figure), unchecked=why, reason=reason)


def without_files(figure: PublishedFigure, dataset: str) -> Reproduced:
    """Return a published figure whose dataset is not in the data folder, and how to obtain its files."""
    name = dataset_name(dataset)
    if DATASETS[name].access == "open":
        how = f"fetch them with truemoment datasets fetch {name} --data-dir DIR"
        return unchecked(figure, "public files missing", how)
    return unchecked(figure, "files under agreement", f"truemoment datasets info {name} has the steps")


def as_published(figure: PublishedFigure) -> Reproduced:
    """Return a published figure, with none of ours yet."""
    amounts: tuple[Amount, ...] = get_args(Amount)
    unit: Unit = next((amount for amount in amounts if amount == figure.unit), "percent")
    published = figure.value if unit in amounts else Decimal(figure.percent)
    place = (figure.source, figure.table, figure.dataset, figure.split, figure.method, figure.measure)
    return Reproduced(*place, unit=unit, published=published)


def beside(
    figure: PublishedFigure,
    values: float | Sequence[float],
    *,
    tolerance: str | None,
    protocol: Protocol | None = None,
    reason: str = "",
    signature: str = "",
) -> Reproduced:
    """Return a published figure with ours, or with the mean of our runs.

    `values` are fractions, counts (also where thousands or millions are published) or amounts in the unit of the
    figure. `tolerance` is in points of percent or that unit, as decimal text; "0" for "prints alike", None for a figure
    that is not judged. `protocol` rounds shares as the paper does; by default to the nearest.

    Examples
    --------
    >>> from truemoment.reproduction import published_figures
    >>> uniform = published_figures("hidden_challenges_blind.csv")[0]
    >>> row = beside(uniform, [0.1060, 0.1098], tolerance="0.3")
    >>> row.published, row.printed, row.difference, row.status, round(row.spread, 2)
    (Decimal('10.77'), Decimal('10.79'), Decimal('0.02'), 'within', 0.27)
    """
    row = as_published(figure)
    digits = max(0, -int(figure.value.as_tuple().exponent) - (2 if figure.unit == "fraction" else 0))
    row = with_ours(row, values, protocol=protocol, decimals=digits if tolerance == "0" else max(digits, 2))
    judged = None if tolerance is None else Decimal(tolerance)
    return replace(row, tolerance=judged, reason=reason, signature=signature)


def beside_scores(
    figure: PublishedFigure,
    scores: Sequence[Scores],
    *,
    tolerance: str | None,
    protocol: Protocol | None = None,
    reason: str = "",
    measure: str | None = None,
    suffix: str = "",
) -> Reproduced:
    """Set our scores, one a run, beside a published figure of a measure, by default the one that the figure names."""
    name = measure or figure.measure
    return beside(
        figure,
        [run.value(name) for run in scores],
        tolerance=tolerance,
        protocol=protocol,
        reason=reason,
        signature=f"{name}|{scores[0].signature()}{suffix}",
    )


def data_signature(splits: Iterable[Annotations]) -> str:
    """Return names and hashes of the annotations from which a figure is computed."""
    return "data:" + "+".join(f"{split.dataset}/{split.split}#{split.sha256[:8]}" for split in splits)


def by_dataset(figures: Sequence[PublishedFigure]) -> dict[str, list[PublishedFigure]]:
    """Return the figures of each dataset, in the order of the datasets."""
    figures_of: dict[str, list[PublishedFigure]] = {}
    for figure in figures:
        figures_of.setdefault(figure.dataset, []).append(figure)
    return figures_of


def with_ours(
    row: Reproduced, values: float | Sequence[float], *, protocol: Protocol | None = None, decimals: int = 2
) -> Reproduced:
    """Return a row with our figure, as for :func:`beside`, printed with `decimals`, counts with none."""
    runs = np.atleast_1d(np.asarray(values, dtype=np.float64))
    mean = float(runs.mean())
    scale = _SCALE.get(row.unit, 1)
    if math.isnan(mean):
        printed = Decimal("NaN")
    elif row.unit == "count":
        printed = Decimal(round(mean))
    elif row.is_share:
        printed = Decimal(replace(protocol or get_protocol("default"), decimals=decimals).percent(mean))
    else:
        printed = Decimal(repr(scale * mean)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    spread = scale * float(runs.std(ddof=1)) if len(runs) > 1 else None
    return replace(row, ours=scale * mean, printed=printed, spread=spread, runs=len(runs))
