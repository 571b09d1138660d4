"""What is a published number worth? Published results of models that see the video beside the sentence network.

Every row holds a published figure and what the sentence network, which never sees a video, scores on the same split by
the same measure: our figure less theirs. It is trained on the same training split and answers each measure with what is
worth most by it. Nothing is judged: these are not the same method. Other floors have rows without a published figure:
the order table and the paragraph network where the order of a video's sentences tells something of their moments, and
the best constant of the test split itself, found on other videos of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from truemoment.baselines import split_constants
from truemoment.comparison import PublishedFigure
from truemoment.evaluation import evaluate
from truemoment.floors import NETWORK, PARAGRAPH, Floor, measure_each, predict_each
from truemoment.floors import Setting as FloorSetting
from truemoment.language.paragraphs import order_of_starts
from truemoment.measures import parse_measures
from truemoment.protocols import get_protocol
from truemoment.reports.drawing import FLOOR, INK, METHOD, SMALL, new_figure
from truemoment.reports.model import Drawing
from truemoment.reproduction.base import PublishedTable, Reproduced, TableInputs, beside, with_ours

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BESIDE, OF_ORDER = ("best-constant", "sentence-neighbours"), ("order-table", PARAGRAPH)
"""Other floors that are shown without a published figure; those that are shown where the order of sentences informs."""

OURS = "truemoment"

CONSTANT, OF_SPLIT = "best constant", "best constant of this split"

THIN, THICK = 1.2, 3.0
"""Widths of the marks of the two constants."""

MARKS = ("x", ">")
"""Marks of the floors that read a video's other sentences."""

REASON = "ours is the sentence network, which never sees a video: mean of two trainings"


def called(name: str) -> str:
    """Return what a floor is called in the table."""
    return name.replace("-", " ")


def blind_beside_published(figures: Sequence[PublishedFigure], inputs: TableInputs) -> Iterator[Reproduced]:
    """Fit the sentence network on each training split; set it beside each published figure of its test splits."""
    protocol = get_protocol("default")
    for (dataset, split), of_place in groupby(figures, key=lambda figure: (figure.dataset, figure.split)):
        rows = list(of_place)
        names = list(dict.fromkeys(figure.measure for figure in rows))
        measures = parse_measures("; ".join(names))
        train, test = inputs.load(dataset, "training"), inputs.load(dataset, split)
        floors = FloorSetting(test, measures, protocol, train=train, cache=inputs.cache, on_status=inputs.on_status)
        values: dict[str, dict[str, list[float]]] = {}
        for name in (NETWORK, *BESIDE, *(OF_ORDER if order_of_starts(train).informs else ())):
            inputs.on_status(f"{name} on {dataset}, {split}")
            draws = Floor(name, floors).answers(test)
            values[name] = {
                of: [evaluate(test, answers[m], [measures[m]], protocol).value(measures[m]) for answers in draws]
                for m, of in enumerate(names)
            }
        constants = predict_each(split_constants(measures, test, protocol=protocol), test.queries, [1] * len(measures))
        of_split = measure_each(test, constants, measures, protocol)
        yield from (beside(figure, values[NETWORK][figure.measure], tolerance=None, reason=REASON) for figure in rows)
        for name in values:
            for of in names:
                place = (OURS, "floor", dataset, split, called(name), of)
                yield with_ours(Reproduced(*place, unit="percent"), values[name][of])
        for measure, of in zip(measures, names, strict=True):
            place = (OURS, "ceiling", dataset, split, OF_SPLIT, of)
            yield with_ours(Reproduced(*place, unit="percent"), [of_split.value(measure)])


# --------------------------------------------------------------------------------------------- figure


@dataclass(frozen=True)
class SplitFigures:
    """Published figures of one measure on one split, and those of the floors; in percent.

    `models` are (name, figure) of published models that see the video, in the order published.
    """

    dataset: str
    split: str
    measure: str
    models: tuple[tuple[str, float], ...]
    floors: Mapping[str, float]

    @property
    def published(self) -> tuple[float, ...]:
        """The published figures."""
        return tuple(figure for _, figure in self.models)

    @property
    def network(self) -> float:
        """The figure of the sentence network."""
        return self.floors[called(NETWORK)]

    @property
    def n_below(self) -> int:
        """Number of published figures at or below the sentence network's."""
        return sum(value <= self.network for value in self.published)


def by_split(rows: Sequence[Reproduced], threshold: str = "IoU=0.5") -> list[SplitFigures]:
    """Collect each split's figures of the measures with a threshold, in the order of the rows."""
    cells: dict[tuple[str, str, str], list[Reproduced]] = {}
    for row in rows:
        if threshold in row.measure:
            cells.setdefault((row.dataset, row.split, row.measure), []).append(row)
    found = []
    for place, here in cells.items():
        models = tuple((row.method, float(row.published)) for row in here if row.published is not None)
        floors = {row.method: row.ours for row in here if row.source == OURS and row.ours is not None}
        found.append(SplitFigures(*place, models, floors))
    return [of for of in found if {called(NETWORK), CONSTANT, OF_SPLIT} <= set(of.floors)]


def drawings(rows: Sequence[Reproduced]) -> list[Drawing]:
    """Return the figure of these rows."""
    return [
        Drawing(
            "blind-beside-published",
            "Published models that see the video, and a network that only reads the sentence",
            "Each circle is a published model, the diamond is the sentence network. The bars are two constants: the "
            "best of the training split (thin), and the best of the test split itself, found on other videos (thick). "
            "The cross is the order table, which knows only the place of a sentence among those of its video, and the "
            "triangle the paragraph network, which reads all of them. On the right: number of published figures at or "
            "below the sentence network's.",
            lambda: figure(by_split(rows)),
        )
    ]


def figure(splits: Sequence[SplitFigures]) -> Figure:
    """Draw a line a split: published figures and floors on one scale in percent."""
    drawn = new_figure(1.1 + 0.42 * len(splits))
    axes = drawn.add_subplot()
    heights = range(len(splits), 0, -1)
    for height, of in zip(heights, splits, strict=True):
        axes.plot(of.published, [height] * len(of.published), "o", color=METHOD, alpha=0.55, markersize=4.5, mew=0)
        for name, width in ((CONSTANT, THIN), (OF_SPLIT, THICK)):
            axes.plot([of.floors[name]], [height], "|", color=FLOOR, markersize=13, markeredgewidth=width)
        for name, mark in zip(OF_ORDER, MARKS, strict=True):
            if called(name) in of.floors:
                axes.plot([of.floors[called(name)]], [height], mark, color=FLOOR, markersize=6.5, mew=1.4)
        axes.plot([of.network], [height], "D", color=FLOOR, markeredgecolor=INK, markersize=6.5, markeredgewidth=0.6)
        axes.annotate(
            f"{of.n_below} of {len(of.published)}",
            (1, height),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
        )
    axes.annotate(
        "at or below\nthe network",
        (1, len(splits) + 0.6),
        xycoords=("axes fraction", "data"),
        xytext=(4, 0),
        textcoords="offset points",
        va="bottom",
        fontsize=SMALL,
    )
    axes.set_yticks(list(heights), [f"{of.dataset}\n{of.split}, {of.measure.split(',')[0]}" for of in splits])
    axes.set_ylim(0.4, len(splits) + 0.6)
    axes.set_xlim(0, None)
    axes.set_xlabel("at IoU 0.5, %")
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    marks = [
        ("o", METHOD, 0, "published model"),
        ("D", FLOOR, 0, "sentence network"),
        ("|", FLOOR, THIN, CONSTANT),
        ("|", FLOOR, THICK, OF_SPLIT),
        *((mark, FLOOR, 1.4, called(name)) for name, mark in zip(OF_ORDER, MARKS, strict=True)),
    ]
    handles = [axes.plot([], [], mark, color=colour, mew=width, label=of)[0] for mark, colour, width, of in marks]
    drawn.legend(handles=handles, loc="outside upper left", ncols=2, columnspacing=1.0, handletextpad=0.2)
    return drawn


TABLES = (
    PublishedTable(
        "blind-beside-published",
        "A network that only reads the sentence, beside published models that see the video",
        "ours, beside figures collected from the literature",
        ("charades-sta", "activitynet-captions", "tacos", "charades-cd", "activitynet-cd"),
        "blind_beside_published.csv",
        blind_beside_published,
        drawings,
    ),
)
