"""Published figures of a split by year, the floors beside them, and the figure of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.report.drawing import FLOOR, FLOOR_FAINT, METHOD, SMALL, new_figure
from truemoment.report.roles import INK, PAPER
from truemoment.studies.compare.comparison import PublishedFigure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEVERAL = ("several sentences at once", "sentences in order")
"""Text in the note of a model that reads several sentences of a video at the test."""

SECOND_HAND = "second-hand"
"""Text in the note of a figure that is from a table of other authors."""

NETWORK, ORDER, PARAGRAPH = "sentence network", "order table", "paragraph network"

N_SPREADS = 2
"""Standard deviations between trainings in the range of a floor."""

LINES = {NETWORK: "-", ORDER: "--", PARAGRAPH: ":"}
"""Floors of the figure and the style of their lines."""

PANEL_IN, LEGEND_IN = 2.05, 0.95
"""Heights of a panel and of the legend above all, inches."""

ROW_PT = 9.5
"""Height of a label, points."""

GOLDEN = 0.618
"""Step between figures of one year along the axis, before the shift; neighbours in value are far from each other."""


@dataclass(frozen=True)
class PublishedModel:
    """A published figure of a model that sees the video, in percent."""

    name: str
    value: float
    year: int
    reads: str
    second_hand: bool
    source: str

    @classmethod
    def of_figure(cls, figure: PublishedFigure) -> PublishedModel:
        """Read the note of a published figure: its year, then what is known of it."""
        year, *parts = figure.note.split("; ")
        reads = next((part.split(" (")[0] for part in parts if "sentence" in part), "")
        source = f"{figure.source}, {figure.table}"
        return cls(figure.method, float(figure.percent), int(year), reads, SECOND_HAND in parts, source)

    @property
    def reads_several(self) -> bool:
        """Whether it reads several sentences of a video when it is tested."""
        return self.reads in SEVERAL


@dataclass(frozen=True)
class FloorFigure:
    """A figure of a floor in percent, and its standard deviation between trainings; None where nothing is trained."""

    value: float
    spread: float | None = None

    @property
    def range(self) -> tuple[float, float]:
        """The figure, less and plus two standard deviations."""
        off = N_SPREADS * (self.spread or 0)
        return self.value - off, self.value + off

    def __str__(self) -> str:
        return f"{self.value:.1f}" + (f" ± {self.spread:.1f}" if self.spread else "")


@dataclass(frozen=True)
class SplitFigures:
    """Published figures of one measure on one split, in the order of the file, and those of the floors."""

    dataset: str
    split: str
    measure: str
    models: tuple[PublishedModel, ...]
    floors: Mapping[str, FloorFigure]

    def count(self, floor: str = NETWORK) -> str:
        """Return in words how many published figures are at or below a floor; in brackets, over its range."""
        figure = self.floors[floor]
        n, low, high = (sum(model.value <= bound for model in self.models) for bound in (figure.value, *figure.range))
        return f"{n} of {len(self.models)}" + (f" ({low} to {high})" if low < high else "")

    def highest(self, *, several: bool) -> float | None:
        """Return the highest published figure of models that read several sentences, or of all others."""
        return max((model.value for model in self.models if model.reads_several is several), default=None)


def by_split(
    figures: Sequence[PublishedFigure], floors: Mapping[tuple[str, str, str], Mapping[str, FloorFigure]]
) -> list[SplitFigures]:
    """Collect the figures of each dataset, split and measure that has floors, in the order of the figures."""
    models_of: dict[tuple[str, str, str], list[PublishedModel]] = {place: [] for place in floors}
    for figure in figures:
        place = (figure.dataset, figure.split, figure.measure)
        if place in models_of:
            models_of[place].append(PublishedModel.of_figure(figure))
    return [SplitFigures(*place, tuple(models), floors[place]) for place, models in models_of.items() if models]


def draw_years(splits: Sequence[SplitFigures]) -> Figure:
    """Draw a panel for each split: published figures by year, and the floors as lines with their range."""
    drawing = new_figure(LEGEND_IN + PANEL_IN * len(splits))
    years = [model.year for split in splits for model in split.models]
    panels = drawing.subplots(len(splits), squeeze=False)[:, 0]
    for axes, split in zip(panels, splits, strict=True):
        _draw_panel(axes, split)
        axes.set_xlim(min(years) - 0.6, max(years) + 0.6)
        axes.set_xticks(range(min(years), max(years) + 1), [f"{year}" for year in range(min(years), max(years) + 1)])
    panels[-1].set_xlabel("year of publication")
    _draw_legend(drawing, panels[0])
    return drawing


def _draw_panel(axes: Axes, split: SplitFigures) -> None:
    highest = max(model.value for model in split.models)
    lines = {name: split.floors[name] for name in LINES if name in split.floors}
    axes.set_ylim(0, 1.08 * max(highest, *(floor.range[1] for floor in lines.values())))
    for name, floor in lines.items():
        if floor.spread:
            axes.axhspan(*floor.range, color=FLOOR_FAINT, lw=0)
        axes.axhline(floor.value, color=FLOOR, linestyle=LINES[name], linewidth=1.2)
    for number, model in enumerate(split.models):
        year = model.year + 0.7 * ((GOLDEN * number) % 1 - 0.5)  # apart from the others of its year
        axes.plot([year], [model.value], "s" if model.reads_several else "o", **_style(model.second_hand))
    _label_lines(axes, list(lines.values()))
    measure = split.measure.replace(",IoU=", " at IoU ")
    count = f"{split.count()} published figures at or below the network"
    axes.set_title(f"{split.dataset}, {split.split}: {measure}, %\n{count}", loc="left", fontsize=SMALL)
    axes.grid(axis="y")


def _style(second_hand: bool) -> dict[str, Any]:
    face = PAPER if second_hand else METHOD
    return {"color": METHOD, "markerfacecolor": face, "markersize": 3.8, "markeredgewidth": 0.8, "zorder": 3}


def _label_lines(axes: Axes, floors: Sequence[FloorFigure]) -> None:
    """Write the figures of the floors at the right, without overlap."""
    low, high = axes.get_ylim()
    row = ROW_PT / (72 * (PANEL_IN - 0.75)) * (high - low)
    at = -np.inf
    for floor in sorted(floors, key=lambda name: name.value):
        at = max(at + row, floor.value)
        axes.annotate(
            str(floor),
            (1, at),
            xycoords=("axes fraction", "data"),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            color=INK,
        )


def _draw_legend(drawing: Figure, axes: Axes) -> None:
    words = {"o": "one sentence at a time, or not known", "s": "several sentences at once"}
    handles = [axes.plot([], [], mark, label=label, **_style(second_hand=False))[0] for mark, label in words.items()]
    for second_hand, label in ((False, "filled: the authors' own table"), (True, "hollow: a table of others")):
        handles += axes.plot([], [], "D", label=label, **_style(second_hand))
    for name, line in LINES.items():
        handles += axes.plot([], [], line, color=FLOOR, linewidth=1.2, label=name)
    drawing.legend(handles=handles, loc="outside upper left", ncols=2, columnspacing=0.8, handletextpad=0.4)
