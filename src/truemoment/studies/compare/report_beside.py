"""Additional figures of a comparison: the methods on other splits, and on changed videos.

Bars after Closer Look (Yuan et al. 2021), Fig. 1b, 1c and 7 (Fig. 11 of the journal version), and Hidden Challenges
(Otani et al. 2020), Fig. 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from truemoment.evaluation.repeated_measures import caption_without_repeats
from truemoment.report.drawing import (
    FLOOR,
    FLOOR_FAINT,
    METHOD,
    METHOD_FAINT,
    OTHER_FAINT,
    SMALL,
    drawing_style,
    new_figure,
    wrapped,
)
from truemoment.report.model import Cell, Drawing, Table
from truemoment.report.roles import INK, PAPER
from truemoment.report.words import UNDEFINED, listed, low_to_high, p_number, percent, points
from truemoment.studies.audit.shuffled import SLIGHT_NORM
from truemoment.studies.compare.changes import ChangedMethod
from truemoment.studies.compare.comparison import PublishedFigure
from truemoment.studies.compare.files import ComparedFiles
from truemoment.studies.compare.ranking import distinct_measures
from truemoment.studies.compare.runs import FileRun
from truemoment.studies.compare.splits import SplitResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_MEASURES = 4
"""Maximum number of measures with their own figures; tables and JSON have all of them."""


def runs_beside(compared: ComparedFiles) -> Iterator[tuple[str, FileRun]]:
    """List the files of other splits and of changed videos, each with its method and its split or change."""
    for split in compared.splits[:-1]:
        yield from ((f"{method}, {split.name}", run) for method, runs in split.runs.items() for run in runs)
    for changed in compared.changed:
        yield from ((f"{changed.method}, {changed.way}", run) for run in changed.runs)


def one_source(compared: ComparedFiles) -> str:
    """Return the source of all published figures of a comparison; "" if there is none, or several."""
    lists = (compared.published or (), *(split.published for split in compared.splits))
    places = {figure.origin for figures in lists for _, figure in figures}
    return places.pop() if len(places) == 1 else ""


def published_name(compared: ComparedFiles, figure: PublishedFigure) -> str:
    """Return the name of a published figure in a drawing: its method, and its source where there are several."""
    return figure.method if figure.method and one_source(compared) else figure.label


def published_caption(compared: ComparedFiles) -> str:
    """Return the sentence of a caption that names the source of all published figures; "" if there are several."""
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
    shown = distinct_measures(compared)
    for row in shown:
        rows = [
            (Cell(method), *(cell(split, method, row) for split in compared.splits)) for method in _methods(compared)
        ]
        groups.append((compared.heading(row), tuple(rows)))
    columns = tuple(range(1, 1 + len(compared.splits)))
    headings = ("method", *(split.name for split in compared.splits))
    caption = caption_without_repeats(
        "Measures by split, in percent, with 95 % intervals", shown, compared.comparison.measures
    )
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
    order = {method: number for number, method in enumerate(_methods(compared))}
    return [
        split_bars(
            sorted(_split_bars(compared, row), key=lambda bar: order.get(bar.method, len(order))),  # as in the table
            compared.heading(row),
            name=f"splits-{row + 1}",
            splits=[split.name for split in compared.splits],
            note=published_caption(compared),
        )
        for row in distinct_measures(compared)[:MOST_MEASURES]
    ]


def _split_bars(compared: ComparedFiles, row: int) -> Iterator[SplitBar]:
    for split in compared.splits:
        for method in (name for name in _methods(compared) if name in split.value):
            low, high = split.ci95[method][row].tolist()
            kind: Kind = "floor" if method in split.floors else "method"
            yield SplitBar(method, split.name, float(split.value[method][row]), (low, high), kind)
        names = set()
        for at, figure in split.published:
            name = published_name(compared, figure)
            if at == row and name not in names:
                names.add(name)
                yield SplitBar(name, split.name, figure.fraction, kind="published", source=figure.origin)


def splits_document(compared: ComparedFiles) -> list[dict[str, Any]]:
    """Return the splits as JSON objects."""
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
                    "method": figure.method,
                    "measure": str(measures[row]),
                    "value": figure.fraction,
                    "unit": "fraction",
                    "source": figure.source,
                    "table": figure.table,
                }
                for row, figure in split.published
            ],
        }
        for split in compared.splits
    ]


# -------------------------------------------------------------------------------------- changed videos


def changed_table(compared: ComparedFiles) -> Table:
    """Return the table of changed videos: figures on both, the change with interval and p-value, answers that stay."""
    protocol = compared.comparison.first.protocol
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    shown = distinct_measures(compared)
    for row in shown:
        for changed in compared.changed:
            fall = changed.fall
            original = float(changed.value[row] + fall.difference[row])
            texts = (
                changed.method,
                protocol.percent(original) if math.isfinite(original) else UNDEFINED,
                protocol.percent(float(changed.value[row])) if math.isfinite(changed.value[row]) else UNDEFINED,
                points(-fall.difference[row], protocol.decimals, sign="+"),
                low_to_high(-fall.ci95[row][::-1], protocol.decimals, times=100) or UNDEFINED,
                p_number(fall.p_holm[row]),
                _share(changed.displacement.share_unchanged),
            )
            groups.setdefault(f"{compared.heading(row)}, {changed.way} videos", []).append(tuple(map(Cell, texts)))
    headings = ("method", "original", "changed", "change", "95 % interval", "corrected p", "same answer")
    caption = caption_without_repeats(
        "Measures on changed videos in percent, change in percentage points", shown, compared.comparison.measures
    )
    return Table(caption, headings, tuple((name, tuple(rows)) for name, rows in groups.items()))


def _share(value: float) -> str:
    return UNDEFINED if math.isnan(value) else percent(value)


def changed_drawings(compared: ComparedFiles) -> list[Drawing]:
    """Return a figure for each of the first measures: methods on original and on changed videos."""
    drawings = []
    for row in distinct_measures(compared)[:MOST_MEASURES] if compared.changed else ():
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
    methods = {changed.method for changed in compared.changed} | set(comparison.blind)
    for method, values, ci95 in zip(comparison.methods, comparison.mean, comparison.interval, strict=True):
        if method in methods:
            low, high = ci95[row].tolist()
            kind: Kind = "floor" if method in comparison.blind else "method"
            yield SplitBar(method, "original videos", float(values[row]), (low, high), kind)
    for changed in compared.changed:
        low, high = changed.ci95[row].tolist()
        yield SplitBar(changed.method, f"{changed.way} videos", float(changed.value[row]), (low, high))


def changed_document(compared: ComparedFiles) -> list[dict[str, Any]]:
    """Return the methods on changed videos as JSON objects."""
    return [_changed_entry(compared, changed) for changed in compared.changed]


def _changed_entry(compared: ComparedFiles, changed: ChangedMethod) -> dict[str, Any]:
    displacement = changed.displacement
    return {
        "change": changed.way,
        "method": changed.method,
        "runs": [{"predictions": run.source, "match": run.match.as_dict()} for run in changed.runs],
        "measures": [
            {
                "measure": str(measure),
                "value": changed.value[row],
                "unit": "fraction",
                "ci95": changed.ci95[row],
                "fall": changed.fall.difference[row],
                "fall_ci95": changed.fall.ci95[row],
                "p": changed.fall.p[row],
                "p_corrected": changed.fall.p_holm[row],
            }
            for row, measure in enumerate(compared.comparison.measures)
        ],
        "share_unchanged": displacement.share_unchanged,
        "share_slightly_changed": {"below": SLIGHT_NORM, "value": displacement.share_within()},
        "left_out": displacement.left_out,
    }


# ---------------------------------------------------------------------------------- bars by split

BAR_IN, BETWEEN_IN, AROUND_IN = 0.145, 0.1, 0.95
"""Height of a bar, of the gap between two methods, and of the margins, inches."""

COLOURS = {"method": (METHOD, METHOD_FAINT), "floor": (FLOOR, FLOOR_FAINT), "published": (INK, OTHER_FAINT)}
"""Full and faint colour of each kind of row."""

FILLS = (("faint", None), ("paper", "////"), ("faint", "...."))
"""Fill of the bars of each split but the last: colour and hatch. The last one has the full colour."""

MOST_SPLITS = len(FILLS) + 1
"""Splits that a figure can distinguish."""

LABEL_WIDTH = 21
"""Letters of a line of the name of a split in the legend."""

SHORT_KINDS = {"method": "method", "floor": "floor (blind)", "published": "published"}
KINDS = {"method": "methods", "floor": "floors, which never see a video", "published": "published figures"}


Kind = Literal["method", "floor", "published"]
"""Kind of a row."""


class SplitBar(NamedTuple):
    """A figure of a method on one split.

    Parameters
    ----------
    method
        Name of its row.
    split
        Name of the split, e.g. ``test-ood``.
    value
        A fraction; NaN where it is undefined.
    ci95
        Ends of its 95 % interval, fractions; NaN where it has none.
    kind
        Kind of its row.
    source
        Source of a published figure.
    """

    method: str
    split: str
    value: float
    ci95: tuple[float, float] = (math.nan, math.nan)
    kind: Kind = "method"
    source: str = ""


def split_bars(
    bars: Sequence[SplitBar], measure: str, *, name: str = "splits", splits: Sequence[str] | None = None, note: str = ""
) -> Drawing:
    """Return the figure of a measure: a row a method (floors and published ones last), a bar a split.

    Parameters
    ----------
    bars
        At most one for each kind, method and split; methods of a kind are in the order in which they occur.
    measure
        Name of the measure.
    name
        Name of the file of the figure.
    splits
        Order of the splits; by default that in which they occur. Only the first :data:`MOST_SPLITS` are drawn.
    note
        Further sentence of the caption, after a blank.
    """
    splits = list(dict.fromkeys(bar.split for bar in bars) if splits is None else splits)
    kinds = [words for kind, words in KINDS.items() if any(bar.kind == kind for bar in bars)]
    left_out = f" {listed(splits[MOST_SPLITS:])}: not drawn." if len(splits) > MOST_SPLITS else ""
    caption = (
        f"{measure} in percent by split: {listed(kinds)}, with 95 % intervals by resampling videos where the "
        f"predictions are known.{note}{left_out} After Closer Look, Fig. 7."
    )
    return Drawing(
        name,
        f"{measure} by method and split",
        caption,
        partial(split_bars_figure, bars, measure, splits[:MOST_SPLITS]),
        partial(split_numbers, bars, measure),
    )


def split_numbers(bars: Sequence[SplitBar], measure: str) -> list[dict[str, Any]]:
    """Return the numbers of the figure, a row a bar; fractions."""
    return [
        {
            "measure": measure,
            "split": bar.split,
            "kind": bar.kind,
            "method": bar.method,
            "value": bar.value,
            "ci95_low": bar.ci95[0],
            "ci95_high": bar.ci95[1],
            "source": bar.source,
        }
        for bar in bars
    ]


def split_bars_figure(bars: Sequence[SplitBar], measure: str, splits: Sequence[str]) -> Figure:
    """Draw the bars, the methods from top to bottom."""
    rows = [(kind, bar.method) for kind in KINDS for bar in bars if bar.kind == kind and bar.split in splits]
    rows = list(dict.fromkeys(rows))
    with drawing_style():
        row_in = BAR_IN * len(splits) + BETWEEN_IN
        figure = new_figure(AROUND_IN + row_in * len(rows) + 0.15 * any(len(split) > LABEL_WIDTH for split in splits))
        axes = figure.add_subplot()
        height, fills = BAR_IN / row_in, _fills(len(splits))
        reach = 0.01
        for number, row in enumerate(rows):
            of_row = {bar.split: bar for bar in bars if (bar.kind, bar.method) == row}
            for place, split in enumerate(splits):
                if split in of_row:
                    at = number + height * (place - (len(splits) - 1) / 2)
                    reach = max(reach, _draw_bar(axes, at, of_row[split], fills[place], height))
        axes.set_yticks(range(len(rows)), [wrapped(method, 19) for _, method in rows])
        axes.set_ylim(len(rows) - 0.45, -0.55)
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0, min(100 * reach * 1.16, 116))
        axes.set_xlabel(f"{measure}, %")
        axes.grid(axis="x")
        _legend(figure, [kind for kind in KINDS if any(row[0] == kind for row in rows)], splits)
    return figure


def _fills(n_splits: int) -> list[tuple[str, str | None]]:
    return [*FILLS[: n_splits - 1], ("full", None)]


def _draw_bar(axes: Axes, at: float, bar: SplitBar, look: tuple[str, str | None], height: float) -> float:
    """Draw a bar with its interval and number; return how far it reaches, a fraction."""
    end = 0.0
    if math.isfinite(bar.value):
        full, faint = COLOURS[bar.kind]
        fill, hatch = look
        face = {"full": full, "faint": faint, "paper": PAPER}[fill]
        value = 100 * bar.value
        axes.barh(at, value, height=0.86 * height, color=face, edgecolor=full, hatch=hatch, linewidth=0.6)
        end = bar.value
        low, high = bar.ci95
        if math.isfinite(low) and math.isfinite(high):
            axes.hlines(at, 100 * low, 100 * high, color=PAPER, linewidth=2.6)
            axes.hlines(at, 100 * low, 100 * high, color=INK, linewidth=1.1)
            end = max(end, high)
    text = f"{100 * bar.value:.1f}" if math.isfinite(bar.value) else "undefined"
    axes.annotate(text, (100 * end, at), (3, 0), textcoords="offset points", va="center", fontsize=SMALL, color=INK)
    return end


def _legend(figure: Figure, kinds: Sequence[str], splits: Sequence[str]) -> None:
    """Draw the legend of fills and colours above the bars."""
    from matplotlib.patches import Patch  # noqa: PLC0415 - see drawing_style

    faces = {"full": INK, "faint": OTHER_FAINT, "paper": PAPER}
    labels = [wrapped(split, LABEL_WIDTH) for split in splits]
    n_lines = max(label.count("\n") for label in labels)
    labels = [label + "\n" * (n_lines - label.count("\n")) for label in labels]  # so that entries are side by side
    handles = [
        Patch(facecolor=faces[fill], edgecolor=INK, hatch=hatch, linewidth=0.6, label=label)
        for label, (fill, hatch) in zip(labels, _fills(len(splits)), strict=True)
    ]
    columns = max(len(splits), len(kinds)) if len(kinds) > 1 else len(splits)
    if len(kinds) > 1:  # a second line; matplotlib fills columns first
        second = [Patch(facecolor=COLOURS[kind][0], edgecolor="none", label=SHORT_KINDS[kind]) for kind in kinds]
        blank = Patch(facecolor="none", edgecolor="none", label="")
        lines = [line + [blank] * (columns - len(line)) for line in (handles, second)]
        handles = [handle for column in zip(*lines, strict=True) for handle in column]
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=columns,
        columnspacing=0.9,
        handlelength=1.3,
        handletextpad=0.4,
    )
