"""Success of the compared methods by length of the moment and of the video (Hidden Challenges, Fig. 6)."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from truemoment.evaluation.uncertainty import stream
from truemoment.report.drawing import SMALL, drawing_style, new_figure, shortened, write_beside
from truemoment.report.model import Drawing
from truemoment.report.roles import GRID, ROLES, SOFT, MarkLook, nth_look
from truemoment.studies.compare.files import ComparedFiles
from truemoment.studies.compare.ranking import best_first, ranking
from truemoment.studies.compare.runs import mean_scores
from truemoment.studies.evaluate.slices import Slice, membership, slices

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAMILIES = {
    "reference length": "By length of the moment, share of the video",
    "reference length (s)": "By length of the moment, seconds",
    "video length": "By length of the video",
}
"""Families of classes that are shown, and titles of their figures."""

MOST = 6
"""Methods and floors that a figure can distinguish."""

ROW_IN, BETWEEN_IN, AROUND_IN = 0.135, 0.12, 1.0
"""Height of a method in a class, of the gap between two classes, and of the margins, inches."""


class MethodSlices(NamedTuple):
    """A method or a floor by class of query: R@1, the mean over its runs."""

    method: str
    is_floor: bool
    slices: tuple[Slice, ...]
    look: MarkLook


def method_looks(compared: ComparedFiles) -> dict[str, MarkLook]:
    """Return the look of each method and floor, the same in all figures of a comparison."""
    comparison = compared.comparison
    blind = list(dict.fromkeys([*ranking(compared).blind, *compared.floors]))
    methods = [name for name in comparison.methods if name not in blind]
    looks = {name: nth_look(number) for number, name in enumerate(methods)}
    strongest, other = ROLES["floor"].look, ROLES["other"].look
    looks |= dict.fromkeys(blind[:1], strongest)
    return looks | {
        name: other._replace(marker=marker) for name, marker in zip(blind[1:], itertools.cycle("os^v"), strict=False)
    }


def slices_of_methods(compared: ComparedFiles) -> list[MethodSlices]:
    """Return R@1 of each method and floor by class of query; nothing where the measures are not of moments."""
    members = membership(compared.annotations, families=list(FAMILIES))
    methods = []
    looks = method_looks(compared)
    for method, runs in compared.hits.items():
        rng = stream(compared.seed, "slices")  # the same draws for every method
        resamples = compared.comparison.resamples
        method_slices = slices(mean_scores(runs), compared.annotations, rng, members, resamples=resamples)
        methods.append(MethodSlices(method, method in compared.floors, tuple(method_slices), looks[method]))
    return methods


def lengths_document(compared: ComparedFiles) -> dict[str, Any] | None:
    """Return the classes as a JSON object; None if no measure is of moments."""
    if not compared.hits:
        return None
    hit = next(iter(compared.hits.values()))[0].measures[0]
    return {"measure": str(hit), "unit": "fraction", "rows": numbers(slices_of_methods(compared))}


def numbers(methods: Sequence[MethodSlices], families: Sequence[str] = tuple(FAMILIES)) -> list[dict[str, Any]]:
    """Return a row a class and method: queries, successes, failures, and the share with its interval."""
    return [
        {
            "family": part.family,
            "class": part.label,
            "method": group.method,
            "kind": "floor" if group.is_floor else "method",
            "queries": part.n_queries,
            "videos": part.n_videos,
            "successes": round(part.n_queries * float(part.value[0]), 6),
            "failures": round(part.n_queries * (1 - float(part.value[0])), 6),
            "value": float(part.value[0]),
            "ci95_low": float(part.ci95[0, 0]),
            "ci95_high": float(part.ci95[0, 1]),
        }
        for group in methods
        for part in group.slices
        if part.family in families
    ]


def length_drawings(compared: ComparedFiles) -> list[Drawing]:
    """Return a figure for each family of several classes; figures are computed when they are drawn."""
    if not compared.hits:
        return []
    hit = str(next(iter(compared.hits.values()))[0].measures[0])
    n_methods = len(compared.hits)
    left_out = "" if n_methods <= MOST else f" {MOST} of {n_methods} methods and floors are drawn."
    methods = functools.cache(partial(slices_of_methods, compared))
    best = best_first(compared, list(compared.runs), MOST)
    return [
        Drawing(
            f"by-{re.sub(r'[^a-z]+', '-', member.family).strip('-')}",
            FAMILIES[member.family],
            f"{hit} of each method by class of queries, with 95 % intervals by resampling videos. Hollow marks are "
            "floors, which never see a video: a method that is above them for long moments only may have learnt which "
            f"sentences belong to long moments.{left_out} After Hidden Challenges, Fig. 6.",
            partial(_family_figure, methods, best, member.family, hit),
            partial(_family_numbers, methods, member.family),
        )
        for member in membership(compared.annotations, families=list(FAMILIES))
        if len(member.labels) > 1
    ]


def _family_numbers(methods: Callable[[], Sequence[MethodSlices]], family: str) -> list[dict[str, Any]]:
    return numbers(methods(), [family])


def _family_figure(
    methods: Callable[[], Sequence[MethodSlices]], best: Sequence[str], family: str, measure: str
) -> Figure:
    selection = _drawn(methods(), best)
    of_family = [
        group._replace(slices=tuple(part for part in group.slices if part.family == family)) for group in selection
    ]
    return lengths_figure(of_family, measure, FAMILIES[family].removeprefix("By "))


def _drawn(methods: Sequence[MethodSlices], best: Sequence[str]) -> list[MethodSlices]:
    """Select the methods of a figure: all floors that fit beside one method, then the best methods."""
    floors = [method for method in methods if method.is_floor][: MOST - 1]
    by_name = {method.method: method for method in methods}
    first = [by_name[name] for name in best][: MOST - len(floors)]
    return [*first, *floors]


def lengths_figure(methods: Sequence[MethodSlices], measure: str, words: str) -> Figure:
    """Draw a measure by class: a line a method with its interval, and the number of queries at the right.

    `words` name the property that divides the classes.
    """
    classes = methods[0].slices
    row_in = ROW_IN * len(methods) + BETWEEN_IN
    with drawing_style():
        figure = new_figure(AROUND_IN + row_in * len(classes) + 0.15 * ((len(methods) + 1) // 2))
        axes = figure.add_subplot()
        step = ROW_IN / row_in
        highest = 1.0
        for place, method in enumerate(methods):
            look = method.look
            at = np.arange(len(classes)) + step * (place - (len(methods) - 1) / 2)
            values = 100 * np.array([part.value[0] for part in method.slices])
            ends = 100 * np.array([part.ci95[0] for part in method.slices])
            axes.hlines(at, ends[:, 0], ends[:, 1], color=look.colour, linewidth=1.2)
            axes.plot(
                values,
                at,
                color=look.colour,
                marker=look.marker,
                mfc=look.face,
                linestyle="none",
                markersize=4.5,
                label=shortened(method.method, 28),
            )
            highest = max(highest, float(np.nanmax([values, ends[:, 1]], initial=0)))
        for row, part in enumerate(classes):
            write_beside(axes, f"{part.n_queries:,}", 1, row, share_of_width=True, color=SOFT)
        write_beside(axes, "queries", 1, -0.72, share_of_width=True, color=SOFT)
        axes.hlines(np.arange(1, len(classes)) - 0.5, 0, 1, transform=axes.get_yaxis_transform(), color=GRID, lw=0.7)
        axes.set_yticks(range(len(classes)), [part.label for part in classes])
        axes.set_ylim(len(classes) - 0.45, -0.55)
        axes.tick_params(axis="y", length=0)
        axes.set_ylabel(words)
        axes.set_xlim(0, highest * 1.04)
        axes.set_xlabel(f"{measure}, %")
        axes.grid(axis="x")
        figure.legend(loc="outside upper center", ncols=2, columnspacing=1.0, handletextpad=0.2, fontsize=SMALL)
    return figure
