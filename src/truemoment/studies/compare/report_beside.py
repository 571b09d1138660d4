"""What a comparison shows beside its tests: the methods on other splits, and on changed videos."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from truemoment.report.model import Cell, Drawing, Table
from truemoment.report.words import UNDEFINED, low_to_high, p_number, percent, points
from truemoment.studies.audit.shuffled import SLIGHT_NORM
from truemoment.studies.bias.split_bars import Kind, SplitBar, split_bars
from truemoment.studies.compare.changes import ChangedMethod
from truemoment.studies.compare.comparison import PublishedFigure
from truemoment.studies.compare.files import ComparedFiles
from truemoment.studies.compare.runs import FileRun
from truemoment.studies.compare.splits import SplitResult

MOST_MEASURES = 4
"""Measures that have figures of their own; tables and JSON have all of them."""


def runs_beside(compared: ComparedFiles) -> Iterator[tuple[str, FileRun]]:
    """List the files of other splits and of changed videos, each with its method and what it is of."""
    for split in compared.splits[:-1]:
        yield from ((f"{method}, {split.name}", run) for method, runs in split.runs.items() for run in runs)
    for of in compared.changed:
        yield from ((f"{of.method}, {of.way}", run) for run in of.runs)


def one_source(compared: ComparedFiles) -> str:
    """Return where all published figures of a comparison are printed; "" if there are none or several places."""
    figures = [
        of for beside in (compared.published or (), *(of.published for of in compared.splits)) for _, of in beside
    ]
    places = {of.where for of in figures}
    return places.pop() if len(places) == 1 else ""


def published_name(compared: ComparedFiles, figure: PublishedFigure) -> str:
    """Return the name of a published figure in a drawing: its method, and its source where there are several."""
    return figure.method if figure.method and one_source(compared) else figure.label


def published_caption(compared: ComparedFiles) -> str:
    """Return the sentence of a caption that names the source of all published figures; "" if there is not one."""
    source = one_source(compared)
    return f" Published figures: {source}." if source else ""


# --------------------------------------------------------------------------------------- other splits


def splits_table(compared: ComparedFiles) -> Table:
    """Return the table of figures by split: a row a method and floor, a column a split, in percent."""
    protocol = compared.comparison.first.protocol

    def cell(split: SplitResult, method: str, row: int) -> Cell:
        if method not in split.value:
            return Cell("")
        value = float(split.value[method][row])
        if math.isnan(value):
            return Cell(UNDEFINED)
        interval = low_to_high(split.ci95[method][row], 1, times=100)
        return Cell(f"{protocol.percent(value)} ({interval})" if interval else protocol.percent(value))

    groups = []
    for row in range(len(compared.comparison.measures)):
        rows = [
            (Cell(method), *(cell(split, method, row) for split in compared.splits)) for method in _methods(compared)
        ]
        groups.append((compared.heading(row), tuple(rows)))
    columns = tuple(range(1, 1 + len(compared.splits)))
    headings = ("method", *(split.name for split in compared.splits))
    caption = "Measures by split, in percent, with 95 % intervals"
    return Table(caption, headings, tuple(groups), text_columns=(0, *columns))


def _methods(compared: ComparedFiles) -> list[str]:
    """List the methods and floors of all splits, floors last."""
    names = list(dict.fromkeys(method for split in reversed(compared.splits) for method in split.value))
    floors = {name for split in compared.splits for name in split.floors}
    return [*(name for name in names if name not in floors), *(name for name in names if name in floors)]


def split_drawings(compared: ComparedFiles) -> list[Drawing]:
    """Return a figure for each of the first measures."""
    if not compared.splits:
        return []
    measures = compared.comparison.measures
    order = {method: number for number, method in enumerate(_methods(compared))}
    return [
        split_bars(
            sorted(_split_bars(compared, row), key=lambda bar: order.get(bar.method, len(order))),  # as in the table
            compared.heading(row),
            name=f"splits-{row + 1}",
            splits=[split.name for split in compared.splits],
            note=published_caption(compared),
        )
        for row in range(min(len(measures), MOST_MEASURES))
    ]


def _split_bars(compared: ComparedFiles, row: int) -> Iterator[SplitBar]:
    for split in compared.splits:
        for method in (name for name in _methods(compared) if name in split.value):
            low, high = split.ci95[method][row].tolist()
            kind: Kind = "floor" if method in split.floors else "method"
            yield SplitBar(method, split.name, float(split.value[method][row]), (low, high), kind)
        seen = set()
        for at, of in split.published:
            name = published_name(compared, of)
            if at == row and name not in seen:
                seen.add(name)
                yield SplitBar(name, split.name, of.fraction, kind="published", source=of.where)


def splits_document(compared: ComparedFiles) -> list[dict[str, Any]]:
    """Return what programs read of the splits."""
    measures = compared.comparison.measures
    return [
        {
            "split": split.name,
            "dataset": split.annotations.dataset,
            "sha256": split.annotations.sha256,
            "n_queries": split.annotations.n_queries,
            "n_videos": split.annotations.n_videos,
            "methods": [
                {
                    "method": method,
                    "kind": "floor" if method in split.floors else "file",
                    "runs": [
                        {"predictions": run.source, "match": run.match.as_dict()} for run in split.runs.get(method, ())
                    ],
                    "measures": [
                        {"measure": str(measure), "value": value, "unit": "fraction", "ci95": ci95}
                        for measure, value, ci95 in zip(measures, split.value[method], split.ci95[method], strict=True)
                    ],
                }
                for method in split.value
            ],
            "published": [
                {
                    "method": of.method,
                    "measure": str(measures[row]),
                    "value": of.fraction,
                    "unit": "fraction",
                    "source": of.source,
                    "table": of.table,
                }
                for row, of in split.published
            ],
        }
        for split in compared.splits
    ]


# -------------------------------------------------------------------------------------- changed videos


def changed_table(compared: ComparedFiles) -> Table:
    """Return the table of changed videos: figures on both, the change with interval and p value, answers that stay."""
    protocol = compared.comparison.first.protocol
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    for row in range(len(compared.comparison.measures)):
        for of in compared.changed:
            fall = of.fall
            original = float(of.value[row] + fall.difference[row])
            texts = (
                of.method,
                protocol.percent(original) if math.isfinite(original) else UNDEFINED,
                protocol.percent(float(of.value[row])) if math.isfinite(of.value[row]) else UNDEFINED,
                points(-fall.difference[row], protocol.decimals, sign="+"),
                low_to_high(-fall.ci95[row][::-1], protocol.decimals, times=100) or UNDEFINED,
                p_number(fall.p_holm[row]),
                _share(of.displacement.share_unchanged),
            )
            groups.setdefault(f"{compared.heading(row)}, {of.way} videos", []).append(tuple(map(Cell, texts)))
    headings = ("method", "original", "changed", "change", "95 % interval", "corrected p", "same answer")
    caption = "Measures on changed videos in percent, change in percentage points"
    return Table(caption, headings, tuple((name, tuple(rows)) for name, rows in groups.items()))


def _share(value: float) -> str:
    return UNDEFINED if math.isnan(value) else percent(value)


def changed_drawings(compared: ComparedFiles) -> list[Drawing]:
    """Return a figure for each of the first measures: methods on original and on changed videos."""
    measures = compared.comparison.measures
    drawings = []
    for row in range(min(len(measures), MOST_MEASURES) if compared.changed else 0):
        drawing = split_bars(list(_changed_bars(compared, row)), compared.heading(row), name=f"changed-{row + 1}")
        caption = (
            "If a method uses the video, its score falls where the video is changed. References are not moved; 95 % "
            "intervals by resampling videos. A floor never sees a video. After Hidden Challenges, Fig. 5."
        )
        title = f"{compared.heading(row)} on original and changed videos"
        drawings.append(drawing._replace(title=title, caption=caption))
    return drawings


def _changed_bars(compared: ComparedFiles, row: int) -> Iterator[SplitBar]:
    comparison = compared.comparison
    shown = {of.method for of in compared.changed} | set(comparison.blind)
    for method, values, ci95 in zip(comparison.methods, comparison.mean, comparison.interval, strict=True):
        if method in shown:
            low, high = ci95[row].tolist()
            kind: Kind = "floor" if method in comparison.blind else "method"
            yield SplitBar(method, "original videos", float(values[row]), (low, high), kind)
    for of in compared.changed:
        low, high = of.ci95[row].tolist()
        yield SplitBar(of.method, f"{of.way} videos", float(of.value[row]), (low, high))


def changed_document(compared: ComparedFiles) -> list[dict[str, Any]]:
    """Return what programs read of changed videos."""
    return [_changed_entry(compared, of) for of in compared.changed]


def _changed_entry(compared: ComparedFiles, of: ChangedMethod) -> dict[str, Any]:
    moved = of.displacement
    return {
        "change": of.way,
        "method": of.method,
        "runs": [{"predictions": run.source, "match": run.match.as_dict()} for run in of.runs],
        "measures": [
            {
                "measure": str(measure),
                "value": of.value[row],
                "unit": "fraction",
                "ci95": of.ci95[row],
                "fall": of.fall.difference[row],
                "fall_ci95": of.fall.ci95[row],
                "p": of.fall.p[row],
                "p_corrected": of.fall.p_holm[row],
            }
            for row, measure in enumerate(compared.comparison.measures)
        ],
        "share_unchanged": moved.share_unchanged,
        "share_slightly_changed": {"below": SLIGHT_NORM, "value": moved.share_within()},
        "left_out": moved.left_out,
    }
