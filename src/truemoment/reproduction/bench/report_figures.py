"""The figure of a table of methods: a bar a method and test split, published figures and blind baselines beside."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from truemoment.baselines.floors import NETWORK
from truemoment.report.drawing import (
    CEILING,
    FLOOR,
    METHOD,
    METHOD_FAINT,
    OTHER,
    OTHER_FAINT,
    drawing_style,
    new_figure,
    shortened,
)
from truemoment.report.model import Drawing
from truemoment.report.roles import INK, PAPER
from truemoment.report.words import listed
from truemoment.reproduction.bench.result import SPLIT_CONSTANT, BenchResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW_IN, AROUND_IN, LEGEND_IN = 0.22, 0.65, 0.8
"""Height of a method, of what a panel has around its methods, and of the legend, inches."""

LINES = (
    (NETWORK, FLOOR, (0, (4, 2))),
    ("likeliest-interval", OTHER, (0, (1, 1.5))),
    ("random-interval", OTHER, (0, (6, 1.6, 1.2, 1.6))),
    (SPLIT_CONSTANT, CEILING, (0, (2.5, 2))),
    ("named-interval", CEILING, "-"),
    ("concept-interval", CEILING, "-"),
)
"""References that are drawn as lines."""


def drawings(result: BenchResult) -> list[Drawing]:
    """List the figure; none without a finished run."""
    if not result.trained:
        return []
    simulated = (
        f"Hatched bars are runs on simulated features ({result.features}) and no reproduction of the published figures."
        if result.is_simulated
        else f"Features: {result.features}."
    )
    return [
        Drawing(
            f"bench-{result.table.name}",
            f"{result.headline} by method",
            f"Score on {listed(result.splits)} of {result.dataset}, mean of seeds. {simulated} Diamonds are published "
            "figures. Lines are baselines: the sentence network sees no video, the interval rules only pick an "
            "interval that the features show. After Closer Look, Fig. 7.",
            partial(figure, result),
            partial(numbers, result),
        )
    ]


def numbers(result: BenchResult) -> list[dict[str, Any]]:
    """Return the numbers of the figure, a row a bar or line and split; fractions."""
    lines = [reference for name, _, _ in LINES if (reference := result.reference(name)) is not None]
    return [
        {
            "measure": result.headline,
            "split": split,
            "kind": curve.kind,
            "method": curve.title,
            "features": result.features_of(curve),
            "value": result.mean(curve, split),
            "standard_deviation": result.spread(curve, split),
            "published": float(published) / 100 if published is not None else math.nan,
        }
        for split in result.splits
        for curve in (*result.trained, *lines)
        for published in [result.published_value(curve.title, split) if curve.kind == "method" else None]
    ]


def figure(result: BenchResult) -> Figure:
    """Draw a panel a split, a bar a method, diamonds for published figures, and lines for baselines."""
    methods = result.trained
    with drawing_style():
        drawing = new_figure((ROW_IN * len(methods) + AROUND_IN) * len(result.splits) + LEGEND_IN)
        panels = drawing.subplots(len(result.splits), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, split in zip(panels, result.splits, strict=True):
            _panel(axes, result, split)
        panels[0].set_yticks(range(len(methods)), [shortened(method.title, 24) for method in methods])
        panels[0].set_ylim(len(methods) - 0.4, -0.6)
        panels[0].set_xlim(left=0)
        panels[-1].set_xlabel(f"{result.headline}, %")
        handles = {
            label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        drawing.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=2, columnspacing=0.8)
    return drawing


def _panel(axes: Axes, result: BenchResult, split: str) -> None:
    for name, colour, line in LINES:
        reference = result.reference(name)
        if reference is not None and math.isfinite(value := result.mean(reference, split)):
            label = f"{reference.title} ({reference.kind})"
            axes.axvline(100 * value, color=colour, linestyle=line, linewidth=1.1, zorder=2.2, label=label)
    for at, curve in enumerate(result.trained):
        simulated = result.is_simulated and curve.sees
        spread = result.spread(curve, split)
        label = "ours" + (f", simulated {result.features}" if simulated else "" if curve.sees else ", sees no video")
        axes.barh(
            at,
            100 * result.mean(curve, split),
            height=0.62,
            xerr=100 * spread if math.isfinite(spread) else None,
            capsize=2,
            color=METHOD_FAINT if curve.sees else OTHER_FAINT,
            edgecolor=METHOD if curve.sees else OTHER,
            linewidth=0.8,
            hatch="////" if simulated else None,
            label=label,
        )
        if (published := result.published_value(curve.title, split)) is not None:
            axes.plot(
                [float(published)],
                [at],
                marker="D",
                color=INK,
                mfc=PAPER,
                linestyle="none",
                zorder=3,
                label="published",
            )
    axes.set_title(split, loc="left")
    axes.tick_params(axis="x", labelbottom=True)
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)
