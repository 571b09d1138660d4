"""The statistics of a collection beside Tables 1 and 7 of MAD."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.base.boundary.documents import document_head
from truemoment.base.errors import InputError
from truemoment.collection.layout import ANNOTATIONS, films_in, read_collection
from truemoment.data.datasets.all_splits import splits_of_file
from truemoment.data.language import get_engine
from truemoment.report.model import Cell, Report, Section, Table
from truemoment.report.words import number, percent
from truemoment.reproduction.base import published_figures
from truemoment.reproduction.mad import OURS
from truemoment.studies.bias.statistics import Statistics, dataset_statistics
from truemoment.studies.bias.uniqueness import uniqueness

THOUSANDS = {"thousand": 1e3, "million": 1e6}
"""Units of published figures that count in thousands."""


@dataclass(frozen=True)
class CollectionStatistics:
    """The statistics of a collection.

    Parameters
    ----------
    name
        Name of the collection.
    parts
        Statistics of the whole and of groups of splits, by title.
    unique
        Share of unique sentences within their film, by threshold.
    two_verbs
        Share of kept sentences with two finite verbs.
    """

    name: str
    parts: dict[str, Statistics]
    unique: dict[float, float]
    two_verbs: float


def statistics_of(out: Path) -> CollectionStatistics:
    """Compute the statistics of a collection."""
    read_collection(out)
    films = films_in(out)
    n_kept = sum(film.report.n_kept for film in films)
    if not n_kept:
        raise InputError("has no sentences", path=out)
    annotations = splits_of_file(out / ANNOTATIONS)
    names = [name for name in ("val", "test") if name in annotations.splits]
    groups = {"val+test": names} if names else {}
    statistics = dataset_statistics(annotations.splits, get_engine(), groups=groups)
    parts = {"all": statistics.whole}
    if "train" in statistics.of_split:
        parts["train"] = statistics.of_split["train"]
    parts |= dict(statistics.of_group)
    rows = [(split.video_id[k], split.sentence[k]) for split in annotations.splits.values() for k in range(len(split))]
    unique = uniqueness([video for video, _ in rows], [sentence for _, sentence in rows])
    return CollectionStatistics(
        out.name,
        parts,
        {share.threshold: share.share for share in unique},
        sum(film.report.two_verbs for film in films) / n_kept,
    )


def _published() -> dict[tuple[str, str], tuple[float, str]]:
    """Return MAD's published figures in units of one, by part and column."""
    figures = {}
    for table in ("mad_table1.csv", "mad_table7.csv"):
        for figure in published_figures(table):
            if figure.dataset == "MAD":
                figures[figure.split, figure.measure] = (
                    float(figure.value) * THOUSANDS.get(figure.unit, 1.0),
                    figure.unit,
                )
    return figures


def report(result: CollectionStatistics) -> Report:
    """Return what people read."""
    published = _published()
    headings = ["", *(title for part in result.parts for title in (part, f"MAD {part}"))]
    rows = []
    for column, ours in OURS.items():
        cells = [Cell(column if (unit := published["all", column][1]) in THOUSANDS else f"{column}, {unit}")]
        for part, statistics in result.parts.items():
            unit = published["all", column][1]
            cells.append(Cell(_shown(float(ours(statistics)), unit)))
            cells.append(Cell(_shown(published[part, column][0], unit) if (part, column) in published else "-"))
        rows.append(tuple(cells))
    table = Table("Tables 1 and 7 of MAD", tuple(headings), (("", tuple(rows)),))
    facts = [("collection", result.name)]
    facts += [
        (f"unique at {threshold:g}", f"{percent(share, 1)} of the sentences within their film")
        for threshold, share in result.unique.items()
    ]
    facts.append(("two verbs", f"{percent(result.two_verbs, 1)} of the sentences have two finite verbs or more"))
    notes = ("Words include punctuation, and the vocabulary is case-sensitive, as in the paper's figures.",)
    return Report(
        title="Statistics of a collection", facts=tuple(facts), sections=(Section("tables", "", (table,)),), notes=notes
    )


def _shown(value: float, unit: str) -> str:
    return f"{round(value):,}" if unit in THOUSANDS else number(value, 2)


def document(result: CollectionStatistics) -> dict[str, Any]:
    """Return what programs read."""
    published = _published()
    return {
        **document_head("truemoment/collection-statistics/1"),
        "seed": None,
        "parts": {
            part: {
                column: {"value": float(ours(statistics)), "published": published.get((part, column), (None,))[0]}
                for column, ours in OURS.items()
            }
            for part, statistics in result.parts.items()
        },
        "unique": {f"{threshold:g}": share for threshold, share in result.unique.items()},
        "two_verbs": result.two_verbs,
    }
