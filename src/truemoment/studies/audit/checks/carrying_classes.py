"""Classes of queries that carry the score: the method scores far more on them than on other queries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from truemoment.base.boundary.documents import NO_INTERVAL, Measured
from truemoment.base.records import numbers_of
from truemoment.evaluation.measures import Measure, why_undefined
from truemoment.evaluation.studentised import resample_ratios
from truemoment.evaluation.uncertainty import LEVEL, NO_WEIGHT, false_discoveries
from truemoment.report.drawing import FLOOR, METHOD, SOFT, drawing_style, new_figure, wrapped, write_beside
from truemoment.report.model import Block, Cell, Details, Drawing, Table
from truemoment.report.words import counted
from truemoment.studies.audit.charts import draw_dots, draw_interval, percent_axis, write_undefined
from truemoment.studies.audit.checks import slices
from truemoment.studies.audit.checks.base import CLASSES, Check
from truemoment.studies.audit.checks.below_floor import FEWEST_VIDEOS
from truemoment.studies.audit.findings import AuditFinding
from truemoment.studies.audit.results import Results
from truemoment.studies.audit.table_cells import figure_cell
from truemoment.studies.evaluate.slices import Slice

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "carrying-classes"

TIMES = 1.5
"""A class carries the score if its share of the score is at least this multiple of its share of the queries."""

N_NAMED = 3

FEW_VIDEOS = "fewer than 2 videos"
"""Reason for a class without an interval."""


class CarryingClass(NamedTuple):
    """A class of queries that carries the score; fractions."""

    family: str
    label: str
    value: float
    elsewhere: float  # the figure on all other queries
    floor: float  # the strongest floor's figure on the class
    of_queries: float  # its share of the queries
    of_score: float


def carrying_classes(results: Results) -> tuple[CarryingClass, ...]:
    """Return the classes, largest ratio of share of the score to share of the queries first."""
    m, video = results.headline, numbers_of(results.scores.video_id)
    own, weight = results.scores.numerator[m], results.scores.weight[m]
    floor = results.strongest_scores.numerator[m]
    n_videos, total = int(video.max(initial=-1)) + 1, own.sum()
    overall = own - own.sum() / max(weight.sum(), NO_WEIGHT) * weight  # what each query has above the whole score
    classes, above = [], []
    for member in results.cached(slices.members):
        for label, mask in zip(member.labels, member.masks, strict=True):
            inside, outside = weight[mask].sum(), weight[~mask].sum()
            if not (inside > 0 and outside > 0 and total > 0) or len(np.unique(video[mask])) < FEWEST_VIDEOS:
                continue
            elsewhere = own[~mask].sum() / outside
            classes.append(
                CarryingClass(
                    family=member.family,
                    label=label,
                    value=float(own[mask].sum() / inside),
                    elsewhere=float(elsewhere),
                    floor=float(floor[mask].sum() / inside),
                    of_queries=float(inside / weight.sum()),
                    of_score=float(own[mask].sum() / total),
                )
            )
            # Sums to (value - elsewhere) inside outside / (inside + outside), and varies as that difference does.
            share = np.where(mask, outside, -inside) / weight.sum()
            above.append(np.bincount(video, overall * share, n_videos))
    if not classes:
        return ()
    drawn = resample_ratios(
        np.array(above, dtype=np.float64).T,
        np.broadcast_to(np.bincount(video, weight, n_videos)[:, None], (n_videos, len(classes))),
        results.stream(NAME),
        resamples=results.setup.resamples,
    )
    discoveries = false_discoveries(drawn.p_values()[1], LEVEL)
    carry = [
        part
        for part, is_kept in zip(classes, discoveries, strict=True)
        if is_kept and part.of_score > TIMES * part.of_queries
    ]
    return tuple(sorted(carry, key=lambda part: part.of_queries / part.of_score))


def look(results: Results) -> AuditFinding | None:
    """Name the classes that carry the score."""
    parts, percent = results.cached(carrying_classes), results.setup.protocol.percent
    if not parts:
        return None
    lines = tuple(
        f"{part.family} {part.label}: {percent(part.value)} against {percent(part.elsewhere)} elsewhere (strongest "
        f"floor: {percent(part.floor)}); {100 * part.of_queries:.0f} % of the queries, "
        f"{100 * part.of_score:.0f} % of the score"
        for part in parts
    )
    named = "; ".join(lines[:N_NAMED])
    classes = counted(len(parts), "class carries", "classes carry")
    verdict = f"{classes} more of {results.measure} than {'its' if len(parts) == 1 else 'their'} share: {named}."
    return AuditFinding(NAME, "note", verdict, lines, parts[0].of_score)


def blocks(results: Results) -> dict[str, tuple[Block, ...]]:
    """Show the headline measure by class of query."""
    own, floor = results.cached(slices.method_slices), results.cached(slices.floor_slices)
    words = f"{results.measure} of the method (dot) and of the strongest floor (hollow diamond), with 95 % intervals."
    tables = Details("The same as tables", tuple(_tables(results, own, floor)))
    drawings = slice_drawings(own, floor, results.headline, results.measure)
    return {CLASSES: (*(drawing._replace(caption=words) for drawing in drawings[:1]), *drawings[1:], tables)}


def _tables(results: Results, own: list[Slice], floor: list[Slice]) -> list[Table]:
    """Return one table per family."""
    m, measure = results.headline, results.measure
    rows_of: dict[str, list[tuple[Cell, ...]]] = {}
    for part, floor_part in zip(own, floor, strict=True):
        why = FEW_VIDEOS if part.n_videos < 2 else ""
        rows_of.setdefault(part.family, []).append(
            (
                Cell(part.label),
                Cell(f"{part.n_queries:,}"),
                Cell(f"{part.n_videos:,}"),
                figure_cell(results, measure, float(part.value[m]), part.ci95[m], why=why),
                figure_cell(results, measure, float(floor_part.value[m]), floor_part.ci95[m], why=why),
            )
        )
    headings = ("queries", "videos", "the method, %", "strongest floor, %")
    return [
        Table(f"{measure} by {family}", (family, *headings), (("", tuple(rows)),)) for family, rows in rows_of.items()
    ]


def document(results: Results) -> dict[str, Any]:
    """Return the classes that carry the score, and the figures of every class."""
    pairs = zip(results.cached(slices.method_slices), results.cached(slices.floor_slices), strict=True)
    return {
        "carrying_classes": results.cached(carrying_classes),
        "slices": [
            {
                "family": own.family,
                "class": own.label,
                "n_queries": own.n_queries,
                "n_videos": own.n_videos,
                "measures": _figures(results, own),
                "floor": _figures(results, floor),
            }
            for own, floor in pairs
        ],
    }


def _figures(results: Results, part: Slice) -> list[Measured]:
    why = FEW_VIDEOS if part.n_videos < 2 else NO_INTERVAL
    return [
        Measured(float(value), why_undefined(measure), ci95.tolist(), measure=str(measure), no_interval=why)
        for measure, value, ci95 in zip(results.setup.measures, part.value, part.ci95, strict=True)
    ]


FAMILIES = {
    "reference length": "By length of the reference, share of the video",
    "reference length (s)": "By length of the reference, seconds",
    "position": "By place of the middle of the reference",
    "video length": "By length of the video",
    "sentence length": "By length of the sentence",
    "references": "By number of references",
    "shared moment": "By whether other sentences have the same moment",
    "in train": "By whether the sentence is in the training set",
}
"""Titles of the figures."""


def slice_drawings(own: Sequence[Slice], floor: Sequence[Slice], m: int, measure: Measure) -> list[Drawing]:
    """Return one figure of measure m per family with several classes."""
    drawings = []
    for family in dict.fromkeys(part.family for part in own):
        in_own, in_floor = ([part for part in slices if part.family == family] for slices in (own, floor))
        if len(in_own) > 1:
            name = f"slices-{re.sub(r'[^a-z]+', '-', family).strip('-')}"
            title = FAMILIES.get(family, f"By {family}")
            drawings.append(Drawing(name, title, "", partial(slices_figure, in_own, in_floor, m, measure)))
    return drawings


def slices_figure(own: Sequence[Slice], floor: Sequence[Slice], m: int, measure: Measure) -> Figure:
    """Draw measure m by class of one family: the method, the strongest floor, and the number of queries."""
    with drawing_style():
        figure = new_figure(1.05 + 0.235 * len(own))
        axes = figure.add_subplot()
        for row, (part, floor_part) in enumerate(zip(own, floor, strict=True)):
            draw_interval(axes, row + 0.14, 100 * floor_part.ci95[m], colour=FLOOR)
            draw_interval(axes, row - 0.14, 100 * part.ci95[m], colour=METHOD)
            write_beside(axes, f"{part.n_queries:,}", 1, row, share_of_width=True, color=SOFT)
        values = 100 * np.array([part.value[m] for part in own])
        floor_values = 100 * np.array([part.value[m] for part in floor])
        draw_dots(axes, values, floor_values, offset=0.14)
        write_undefined(axes, values)
        write_beside(axes, "queries", 1, -0.85, share_of_width=True, color=SOFT)
        axes.set_yticks(range(len(own)), [wrapped(part.label, 20) for part in own])
        axes.set_ylim(len(own) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0, pad=7)
        intervals = np.stack([part.ci95[m] for part in (*own, *floor)])
        percent_axis(axes, np.concatenate([values, floor_values]), intervals, f"{measure}, %")
        axes.grid(axis="y")
        figure.legend(loc="outside upper center", ncols=2, columnspacing=1.2, handletextpad=0.3)
    return figure


CHECK = Check(
    name=NAME,
    title="What carries the score",
    looks_at="classes of queries whose share of the score is far above their share of the queries",
    look=look,
    figure="share of the score of the first such class",
    blocks=blocks,
    document=document,
)
