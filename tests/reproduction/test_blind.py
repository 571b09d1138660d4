"""The sentence network: its figures on real splits, and beside published ones."""

from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from truemoment.base.boundary.caching import Cache
from truemoment.base.errors import MissingFileError
from truemoment.baselines.floors import NETWORK, Floor, Setting
from truemoment.data.datasets import load_annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.report.drawing import drawing_style
from truemoment.report.roles import PAPER
from truemoment.reproduction import TABLES, published_figures, reproduce_tables
from truemoment.reproduction import TableInputs as Reproducing
from truemoment.reproduction.blind import FIGURES, blind_beside_published
from truemoment.reproduction.blind_figures import FloorFigure, PublishedModel, by_split, draw_years
from truemoment.studies.compare.comparison import PublishedFigure

NAME = "blind-beside-published"


# Issue 19, R@1,IoU=0.5: to be met within 1 point. The splits of ActivityNet Captions, whose networks take a minute each
# to train, are those of benchmarks/kept_back.py.
@pytest.mark.data
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("dataset", "asked"),
    [
        ("charades-sta", {"test": 40.38}),
        ("charades-cd", {"test-iid": 42.04, "test-ood": 22.04}),
        ("tacos", {"test": 8.60}),
    ],
)
def test_the_sentence_network_scores_what_was_asked(data_dir, dataset, asked):
    measures, cache = parse_measures("R@1,IoU=0.5"), Cache.of_user()
    train = load_annotations(dataset, "train", data_dir=data_dir)
    for split, value in asked.items():
        test = load_annotations(dataset, split, data_dir=data_dir)
        protocol = get_protocol("default")
        draws = Floor(NETWORK, Setting(test, measures, protocol, train=train, cache=cache)).answers(test)
        scored = [evaluate(test, answers, measures, protocol).value(measures[0]) for (answers,) in draws]
        assert 100 * np.mean(scored) >= value - 1


def test_every_published_figure_is_a_share_of_a_split_and_measure_we_have():
    figures = published_figures(TABLES[NAME].figures)
    assert len({(of.dataset, of.split, of.measure, of.method) for of in figures}) == len(figures) == 845
    assert all(figure.unit == "percent" and 0 < figure.value < 100 for figure in figures)
    models = [PublishedModel.of_figure(figure) for figure in figures]
    assert {of.reads for of in models} == {"", "one sentence at a time", "sentences in order"}
    assert {of.year for of in models} == set(range(2017, 2026))
    assert {figure.dataset.lower().replace(" ", "-") for figure in figures} == set(TABLES[NAME].datasets)
    parse_measures("; ".join({figure.measure for figure in figures}))


@pytest.mark.data
@pytest.mark.thorough
def test_each_row_holds_ours_less_theirs(data_dir):
    theirs = [of for of in published_figures(TABLES[NAME].figures) if of.dataset == "TACoS"]
    rows = list(blind_beside_published(theirs, Reproducing(data_dir, cache=Cache.of_user())))
    beside = [row for row in rows if row.published is not None]
    assert [row.published for row in beside] == [of.value for of in theirs]
    ours = {(row.method, row.measure): row.printed for row in rows if row.published is None}
    assert all(row.printed == ours["sentence network", row.measure] for row in beside)
    assert {method for method, _ in ours} == {
        "sentence network",
        "best constant",
        "best constant of this split",
        "sentence neighbours",
        "order table",
        "paragraph network",
        "order table, sorted by true start",
    }
    # Issue 19: 4.02 is the highest of all floors before there was a network.
    assert float(ours["best constant", "R@1,IoU=0.5"]) <= 4.02
    assert {row.status for row in rows} == {"informational"}
    trained = {"sentence network", "paragraph network"}
    assert {row.method for row in rows if row.published is None and row.spread} == trained
    assert len({row.spread for row in beside if row.measure == "R@1,IoU=0.5"}) == 1


def published(method, value, note="2020; second-hand", split="test", measure="R@1,IoU=0.5"):
    place = ("a dataset", split, method, measure)
    return PublishedFigure("somebody", "a table", *place, Decimal(value), "percent", note, Path("f.csv"), 2)


@pytest.fixture
def splits():
    """Two splits: two of three, and one of two published figures are at or below the network's 40."""
    theirs = [
        *(published(f"model {value}", value) for value in (30, 40)),
        published("model 50", 50, "2025; sentences in order (a/repository model.py:1); evaluator >"),
        published("model 60", 60, measure="R@1,IoU=0.3"),
        published("model 20", 20, "2017; one sentence at a time", split="other"),
        published("model 44", 44, "2026", split="other"),
    ]
    network = {"sentence network": FloorFigure(40.0, 2.5)}
    order = {"order table": FloorFigure(41.0), "paragraph network": FloorFigure(42.0, 0.5)}
    floors = {("a dataset", "test", "R@1,IoU=0.5"): network, ("a dataset", "other", "R@1,IoU=0.5"): network | order}
    return by_split(theirs, floors)


def test_figures_at_or_below_a_floor_are_counted_with_their_range(splits):
    test, other = splits
    # By hand: 30 and 40 are at most 40; from 35 to 45, two standard deviations away, one and two of 30, 40, 50.
    assert (test.count(), other.count()) == ("2 of 3 (1 to 2)", "1 of 2 (1 to 2)")
    assert other.count("order table") == "1 of 2"


def test_the_highest_figure_of_models_that_read_several_sentences_is_apart(splits):
    test, other = splits
    assert (test.highest(several=False), test.highest(several=True)) == (40, 50)
    assert other.highest(several=True) is None


def test_the_figure_shows_who_reads_several_sentences_and_what_is_second_hand(splits):
    with drawing_style():
        drawn = draw_years(splits)
        drawn.canvas.draw()
    marks = [line for line in drawn.axes[0].lines if len(line.get_xdata()) == 1]
    shown = [(line.get_marker(), round(line.get_xdata()[0]), line.get_markerfacecolor() == PAPER) for line in marks]
    assert shown == [("o", 2020, True), ("o", 2020, True), ("s", 2025, False)]


def test_labels_of_floors_do_not_overlap_and_lie_inside_the_figure(splits):
    with drawing_style():
        drawn = draw_years(splits)
        drawn.canvas.draw()
    boxes = [text.get_window_extent() for text in drawn.axes[1].texts]
    assert [text.get_text() for text in drawn.axes[1].texts] == ["40.0 ± 2.5", "41.0", "42.0 ± 0.5"]
    assert all(below.y1 <= above.y0 + 1 for below, above in pairwise(boxes))
    assert all(drawn.bbox.x0 <= box.x0 and box.x1 <= drawn.bbox.x1 + 1 for box in boxes)


# Read in the stored repositories: xian-sh/UniSDNet f6f46eb README.md; baopj/DenseEventsGrounding 11373f7, the paper,
# Table 1; CFM-MSG/Code_GTLR 9904fd3 figures/activitynet.png; sudo-Boris/mr-Blip 4d4bdf1 README.md; www-Ye/Time-R1
# d1a0d54 TimeZero_TechReport.pdf, Table 2, which has EaTR's figure from elsewhere.
@pytest.mark.parametrize(
    ("method", "value", "reads", "second_hand"),
    [
        ("UniSDNet-M", 60.75, "sentences in order", False),
        ("DepNet", 55.91, "sentences in order", False),
        ("GTLR", 60.80, "sentences in order", False),
        ("Mr. BLIP", 53.79, "one sentence at a time", False),
        ("EaTR", 58.18, "one sentence at a time", True),
    ],
)
def test_figures_that_the_page_names_are_those_of_their_sources(method, value, reads, second_hand):
    here = [
        PublishedModel.of_figure(of)
        for of in published_figures(FIGURES)
        if (of.method, of.dataset, of.measure) == (method, "ActivityNet Captions", "R@1,IoU=0.5")
    ]
    assert [(of.value, of.reads, of.second_hand) for of in here] == [(value, reads, second_hand)]


def test_without_names_it_is_not_computed(monkeypatch):
    monkeypatch.setattr("truemoment.reproduction.TABLES", {NAME: TABLES[NAME]})
    with pytest.raises(MissingFileError, match=f"{NAME}: .*; name it to compute it"):
        reproduce_tables()
