"""What is a published number worth? Published results of models that see the video beside networks that do not.

Every row has a published figure and what the sentence network, which never sees a video, scores on the same split by
the same measure: our figure less theirs. It is trained on the same training split and answers each measure with what is
worth most by it. Nothing is judged: these are not the same method. Other floors have rows without a published figure:
the order table and the paragraph network where the order of a video's sentences predicts their moments, the order
table of a loader that sorts sentences by their true start, and the best constant of the test split itself, found
on other videos of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from types import MappingProxyType

from truemoment.base.records import Annotations
from truemoment.baselines import OrderTable, split_constants
from truemoment.baselines.floors import FITS, NETWORK, PARAGRAPH, Floor, Setting, measure_each, predict_each
from truemoment.data.language.paragraphs import order_of_starts
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.report.model import Drawing
from truemoment.reproduction.base import PublishedTable, Reproduced, TableInputs, beside, published_figures, with_ours
from truemoment.reproduction.blind_figures import FloorFigure, by_split, draw_years
from truemoment.studies.compare.comparison import PublishedFigure

FIGURES = "blind_beside_published.csv"

BESIDE, OF_ORDER = ("best-constant", "sentence-neighbours"), ("order-table", PARAGRAPH)
"""Other floors that are shown without a published figure; those that are shown where the order of sentences informs."""

OURS = "truemoment"

OF_SPLIT, BY_START = "best constant of this split", "order table, sorted by true start"

PROTOCOLS = MappingProxyType({"QVHighlights": "moment-detr"})
"""Protocols of datasets with several references a query; the others have the default."""

DRAWN = MappingProxyType(
    {
        ("Charades-STA", "test"): "R@1,IoU=0.5",
        ("ActivityNet Captions", "val_2"): "R@1,IoU=0.5",
        ("TACoS", "test"): "R@1,IoU=0.5",
        ("Charades-CD", "test-ood"): "R@1,IoU=0.5",
        ("QVHighlights", "val"): "R@1,IoU=0.5",
    }
)
"""Measures of the figure by dataset and split."""

REASON = (
    "ours is the sentence network, which never sees a video: mean of two trainings, and the standard deviation between "
    "single networks"
)


def called(name: str) -> str:
    """Return what a floor is called in the table."""
    return name.replace("-", " ")


def blind_beside_published(figures: Sequence[PublishedFigure], inputs: TableInputs) -> Iterator[Reproduced]:
    """Fit the floors on each training split, and set the sentence network beside the published figures of a split."""
    for place, of_place in groupby(figures, key=lambda figure: (figure.dataset, figure.split)):
        published = list(of_place)
        names = list(dict.fromkeys(figure.measure for figure in published))
        train, test = inputs.load(place[0], "training"), inputs.load(*place)
        protocol = get_protocol(PROTOCOLS.get(place[0], "default"))
        measures = parse_measures("; ".join(names))
        setting = Setting(test, measures, protocol, train=train, cache=inputs.cache, on_status=inputs.on_status)
        network = dict(zip(names, _floor_rows(NETWORK, setting, place, names), strict=True))
        for figure in published:
            ours = network[figure.measure]
            row = beside(figure, (ours.ours or 0) / 100, tolerance=None, reason=REASON)
            yield replace(row, spread=ours.spread, runs=ours.runs)
        yield from network.values()
        for name in (*BESIDE, *(OF_ORDER if order_of_starts(train).informs else ())):
            yield from _floor_rows(name, setting, place, names)
        yield from _split_rows(setting, train, place, names)


def _floor_rows(name: str, setting: Setting, place: tuple[str, str], names: Sequence[str]) -> Iterator[Reproduced]:
    """Fit a floor and measure it by each measure; the spread is that of single networks."""
    setting.on_status(f"{name} on {', '.join(place)}")
    test, floor = setting.annotations, Floor(name, setting)
    draws = floor.answers(test)
    spreads = floor.training_spreads(test, range(len(names)))
    for m, (measure, printed_name) in enumerate(zip(setting.measures, names, strict=True)):
        values = [evaluate(test, answers[m], [measure], setting.protocol).value(measure) for answers in draws]
        row = with_ours(Reproduced(OURS, "floor", *place, called(name), printed_name, unit="percent"), values)
        yield replace(row, spread=100 * spreads[m] if name in FITS else None)


def _split_rows(
    setting: Setting, train: Annotations, place: tuple[str, str], names: Sequence[str]
) -> Iterator[Reproduced]:
    """Measure what uses the references of the test split: its best constant, and its sentences in their true order."""
    test, measures, protocol = setting.annotations, setting.measures, setting.protocol
    tables = OrderTable(protocol=protocol, references=test).for_measures(measures, train)
    for table, title, grounders in (
        ("ceiling", OF_SPLIT, split_constants(measures, test, protocol=protocol)),
        ("control", BY_START, tables),
    ):
        answers = predict_each(grounders, test.queries, [1] * len(measures))
        scores = measure_each(test, answers, measures, protocol)
        for measure, printed_name in zip(measures, names, strict=True):
            yield with_ours(Reproduced(OURS, table, *place, title, printed_name, unit="percent"), scores.value(measure))


def floor_figures(rows: Sequence[Reproduced]) -> dict[tuple[str, str, str], dict[str, FloorFigure]]:
    """Return the figures of the floors by dataset, split and measure, then by name."""
    figures: dict[tuple[str, str, str], dict[str, FloorFigure]] = {}
    for row in rows:
        if row.source == OURS and row.ours is not None:
            by_method = figures.setdefault((row.dataset, row.split, row.measure), {})
            by_method[row.method] = FloorFigure(row.ours, row.spread)
    return figures


def drawings(rows: Sequence[Reproduced]) -> list[Drawing]:
    """Return the figure of these rows."""
    splits = by_split(published_figures(FIGURES), floor_figures(rows))
    shown_splits = [split for split in splits if DRAWN.get((split.dataset, split.split)) == split.measure]
    return [
        Drawing(
            "blind-beside-published",
            "Published models that see the video, by year, and floors that do not",
            "Each mark is a published figure. Circles are models that read one sentence at a time, or for which this "
            "is not known; squares are models that read several sentences of a video at once. Filled marks come from "
            "the table of the people who measured, hollow marks from a table of others. The lines are three floors: "
            "the sentence network; the order table, which knows only the place of a sentence among those of its "
            "video; and the paragraph network, which reads all of them. At the right are their figures and the "
            "standard deviation between trainings. The bands are two of these wide on either side, and the range in "
            "brackets is that of the count over the band, where it varies.",
            lambda: draw_years(shown_splits),
        )
    ]


TABLES = (
    PublishedTable(
        "blind-beside-published",
        "A network that only reads the sentence, beside published models that see the video",
        "ours, beside figures collected from the literature",
        ("charades-sta", "activitynet-captions", "tacos", "qvhighlights", "charades-cd", "activitynet-cd"),
        FIGURES,
        blind_beside_published,
        drawings,
        seconds=300,
        only_named="it is no table of a paper, and trains networks for minutes; name it to compute it",
    ),
)
