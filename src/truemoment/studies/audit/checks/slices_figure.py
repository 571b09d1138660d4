"""The figures by class of query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from truemoment.evaluation.measures import Measure
from truemoment.report.drawing import FLOOR, METHOD, SOFT, drawing_style, new_figure, wrapped, write_beside
from truemoment.report.model import Drawing
from truemoment.studies.audit.charts import draw_dots, draw_interval, percent_axis, write_undefined
from truemoment.studies.evaluate.slices import Slice

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    """Return a figure of measure m for each family of several classes."""
    drawings = []
    for family in dict.fromkeys(of.family for of in own):
        in_own, in_floor = ([of for of in slices if of.family == family] for slices in (own, floor))
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
        for row, (one, other) in enumerate(zip(own, floor, strict=True)):
            draw_interval(axes, row + 0.14, 100 * other.ci95[m], colour=FLOOR)
            draw_interval(axes, row - 0.14, 100 * one.ci95[m], colour=METHOD)
            write_beside(axes, f"{one.n_queries:,}", 1, row, share_of_width=True, color=SOFT)
        values = 100 * np.array([one.value[m] for one in own])
        of_floor = 100 * np.array([one.value[m] for one in floor])
        draw_dots(axes, values, of_floor, offset=0.14)
        write_undefined(axes, values)
        write_beside(axes, "queries", 1, -0.85, share_of_width=True, color=SOFT)
        axes.set_yticks(range(len(own)), [wrapped(one.label, 20) for one in own])
        axes.set_ylim(len(own) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0, pad=7)
        intervals = np.stack([one.ci95[m] for one in (*own, *floor)])
        percent_axis(axes, np.concatenate([values, of_floor]), intervals, f"{measure}, %")
        axes.grid(axis="y")
        figure.legend(loc="outside upper center", ncols=2, columnspacing=1.2, handletextpad=0.3)
    return figure
