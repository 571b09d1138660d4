"""The report of zero-shot search on chunks of growing length (MAD, Fig. 4)."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.evaluation.head import head
from truemoment.evaluation.measures import why_undefined
from truemoment.report.drawing import drawing_style, new_figure
from truemoment.report.model import Cell, Drawing, Report, Section, Table
from truemoment.report.roles import PAPER, ROLES, SERIES
from truemoment.report.words import UNDEFINED, counted, low_to_high
from truemoment.searching.chunk_sweep import CHANCE_DRAWS, LengthSweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMA = "truemoment/length-sweep/1"

FEW_VIDEOS = "a 95 % interval needs two videos or more"


def in_words(length_s: float) -> str:
    """Return a length as people read it.

    Examples
    --------
    >>> [in_words(length_s) for length_s in (30, 90, 180, 2400, float("inf"))]
    ['30 s', '90 s', '3 min', '40 min', 'whole']
    """
    if math.isinf(length_s):
        return "whole"
    return f"{length_s / 60:g} min" if length_s >= 60 and length_s % 60 == 0 else f"{length_s:g} s"


def report(sweep: LengthSweep) -> Report:
    """Return what people read."""
    annotations = sweep.annotations
    size = f"{counted(annotations.n_queries, 'query', 'queries')}, {counted(annotations.n_videos, 'video')}"
    return Report(
        title=f"Search on chunks of {annotations.dataset}, {annotations.split}",
        question="How much of the difficulty is the length of the video?",
        facts=(
            ("data", f"{annotations.dataset}/{annotations.split}: {size}"),
            ("method", f"{sweep.made_by['method']}, {sweep.made_by['proposals']}, NMS {sweep.made_by['nms']:g}"),
        ),
        sections=(Section("lengths", "By length", (table(sweep), drawing(sweep))),),
        notes=tuple(notes(sweep)),
        signature=(f"{sweep.scores.signature()}|intervals:{sweep.resamples} resamples of videos|seed:{sweep.seed}"),
        hashes=(("annotations", annotations.sha256),),
    )


def table(sweep: LengthSweep) -> Table:
    """Return the table: a row a length, figures with intervals and those of chance, in percent."""
    protocol = sweep.scores.protocol
    rows = []
    for point in sweep.points:
        cells = [Cell(in_words(point.length_s)), Cell(f"{point.n_chunks:,}"), Cell(f"{point.n_cut:,}")]
        for value, ci95, chance in zip(point.value.tolist(), point.ci95, point.chance.tolist(), strict=True):
            interval = low_to_high(ci95, 1, times=100)
            figure = protocol.percent(value) if math.isfinite(value) else UNDEFINED
            cells.append(Cell(f"{figure} ({interval})" if interval else figure))
            cells.append(Cell(protocol.percent(chance) if math.isfinite(chance) else UNDEFINED))
        rows.append(tuple(cells))
    measures = [words for measure in sweep.measures for words in (str(measure), "by chance")]
    headings = ("length", "chunks", "moments cut", *measures)
    caption = "Measures in percent by length of the chunks, with 95 % intervals"
    return Table(caption, headings, (("", tuple(rows)),))


def notes(sweep: LengthSweep) -> list[str]:
    """Return what a reader of the figures has to know."""
    lines = [f"by chance: proposals drawn at random, the mean of {CHANCE_DRAWS} draws"]
    if sweep.simulated:
        lines.insert(0, "the films are simulated: figures on them allow no conclusion about real films")
    if sweep.annotations.n_videos < 2:
        lines.append(FEW_VIDEOS)
    missing = {point.length_s: point.n_without_rows for point in sweep.points if point.n_without_rows}
    lines += [
        f"{in_words(length_s)}: {count:,} queries count as missed, since their video has no rows there"
        for length_s, count in missing.items()
    ]
    if any(point.n_cut for point in sweep.points):
        lines.append("a moment that a cut goes through stays whole, and extends beyond its chunk")
    return lines


def document(sweep: LengthSweep) -> dict[str, Any]:
    """Return what programs read; the length of whole videos is null."""
    return {
        **head(SCHEMA, sweep.scores),
        "made_by": sweep.made_by,
        "simulated": sweep.simulated,
        "lengths": [
            {
                "length_s": None if math.isinf(point.length_s) else point.length_s,
                "n_chunks": point.n_chunks,
                "n_cut": point.n_cut,
                "n_without_rows": point.n_without_rows,
                "measures": [
                    {
                        **Measured(
                            float(point.value[row]),
                            why=why_undefined(measure),
                            ci95=point.ci95[row].tolist(),
                            measure=str(measure),
                            no_interval=FEW_VIDEOS,
                        ).as_dict(),
                        "by_chance": point.chance[row],
                    }
                    for row, measure in enumerate(sweep.measures)
                ],
            }
            for point in sweep.points
        ],
        "resamples": sweep.resamples,
        "seed": sweep.seed,
        "notes": notes(sweep),
    }


def drawing(sweep: LengthSweep) -> Drawing:
    """Return the figure."""
    return Drawing(
        "length-sweep",
        "Score by length of the video",
        "Films are cut into chunks of this length, and each query is asked on one chunk. Bars are 95 % intervals by "
        "resampling whole videos; dotted lines are proposals drawn at random. After MAD, Fig. 4.",
        partial(figure, sweep),
        partial(numbers, sweep),
    )


def numbers(sweep: LengthSweep) -> list[dict[str, Any]]:
    """Return the numbers of the figure, a row a length and measure; the length of whole videos is empty."""
    return [
        {
            "length_s": point.length_s,
            "chunks": point.n_chunks,
            "measure": str(measure),
            "value": float(point.value[row]),
            "ci95_low": float(point.ci95[row, 0]),
            "ci95_high": float(point.ci95[row, 1]),
            "by_chance": float(point.chance[row]),
        }
        for point in sweep.points
        for row, measure in enumerate(sweep.measures)
    ]


def figure(sweep: LengthSweep) -> Figure:
    """Draw the first measures against the length, equally spaced, with random proposals beside."""
    with drawing_style():
        drawn = new_figure(3.2)
        axes = drawn.add_subplot()
        at = np.arange(len(sweep.points))
        for row, (measure, look) in enumerate(zip(sweep.measures, SERIES, strict=False)):
            colour, marker = look.colour, look.marker
            values = 100 * np.array([point.value[row] for point in sweep.points])
            ends = 100 * np.array([point.ci95[row] for point in sweep.points])
            axes.vlines(at, ends[:, 0], ends[:, 1], color=colour, linewidth=1.2)
            axes.plot(at, values, color=colour, marker=marker, label=str(measure), clip_on=False)
            chance = 100 * np.array([point.chance[row] for point in sweep.points])
            label = f"{measure} by chance"
            dotted = ROLES["chance"].look.line
            axes.plot(at, chance, color=colour, marker=marker, mfc=PAPER, linestyle=dotted, label=label, clip_on=False)
        axes.set_xticks(at, [in_words(point.length_s) for point in sweep.points])
        if len(at) > 6:
            axes.tick_params(axis="x", rotation=45)
        axes.set_xlabel("length of a chunk")
        axes.set_ylabel("% of the queries")
        axes.set_ylim(bottom=0)
        axes.grid(axis="y")
        drawn.legend(loc="outside upper center", ncols=2, columnspacing=1.2)
    return drawn
