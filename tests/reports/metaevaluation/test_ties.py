"""The chapter on ties: what is said follows from the figures, and the figure can be drawn."""

from __future__ import annotations

import json

import numpy as np
import pytest

from truemoment import get_protocol, parse_measures
from truemoment.metaevaluation.systems import Systems
from truemoment.metaevaluation.ties import ties
from truemoment.records import as_strings
from truemoment.reports.drawing import inline_svg, save_drawings
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.metaevaluation.delivery import document
from truemoment.reports.metaevaluation.ties import chapter
from truemoment.scores import Scores

MEASURES = "R@5,IoU=0.3; R@1,IoU=0.7; AxIoU@1"


def systems_of(values: np.ndarray, measures: str = MEASURES, *, weight: float = 1.0) -> Systems:
    """Systems of values (S, M, Q); two queries a video."""
    parsed = parse_measures(measures)
    names = [f"q{at}" for at in range(values.shape[2])]
    return Systems(
        {
            f"s{number}": Scores(
                measures=parsed,
                protocol=get_protocol("default"),
                query_id=as_strings(names, "query_id"),
                video_id=as_strings([f"v{at // 2}" for at in range(len(names))], "video_id"),
                numerator=of_system * weight,
                weight=np.full_like(of_system, weight),
                on_threshold=np.full(len(parsed), -1),
            )
            for number, of_system in enumerate(values)
        }
    )


def told(systems: Systems) -> Chapter:
    return chapter(ties(systems, np.random.default_rng(0), resamples=100))


@pytest.fixture
def three() -> Systems:
    """Of 20 queries all three systems hit 15 by R@5 and miss 12 by R@1; AxIoU never ties them."""
    values = np.zeros((3, 3, 20))
    values[:, 0, :15] = 1
    values[0, 0, 15:] = 1
    values[1, 1, 12:] = 1
    values[:, 2] = np.random.default_rng(0).random((3, 20))
    return systems_of(values)


def test_the_finding_comes_first_with_its_interval_and_its_reason(three):
    first, *why = told(three).said
    assert first.startswith(
        "AxIoU@1 ties all 3 systems on no query, the fewest of 3 measures; R@5,IoU=0.3 on 75.0 % (95"
    )
    assert why == [
        "R@1,IoU=0.7 demands the most: on 60.0 % of the queries no system scores above 0.",
        "R@5,IoU=0.3 demands the least: on 75.0 % of the queries every system scores 1.",
    ]


def test_the_table_has_a_row_a_measure(three):
    (table,) = told(three).tables
    rows = [[cell.text for cell in row] for _, group in table.groups for row in group]
    # A pair, on average: 15 queries tie all 3 pairs and 5 tie one of 3, (15 + 5 / 3) / 20; of R@1 (12 + 8 / 3) / 20.
    assert rows == [
        ["R@5,IoU=0.3", "75.0", "0.0", "75.0", "83.3"],
        ["R@1,IoU=0.7", "60.0", "60.0", "0.0", "73.3"],
        ["AxIoU@1", "0.0", "0.0", "0.0", "0.0"],
    ]


def test_measures_that_share_the_least_are_named_together():
    values = np.random.default_rng(0).random((2, 3, 20))
    values[:, 0, 0] = 1
    said = told(systems_of(values)).said
    assert said[0].startswith("R@1,IoU=0.7 and AxIoU@1 tie the two systems on no query, the fewest of 3 measures;")


def test_where_less_is_better_zero_is_no_failure():
    """Nobody abstains falsely on 15 of 20 queries: that is the best outcome; all do on 3, the worst."""
    values = np.zeros((2, 1, 20))
    values[:, 0, 15:18] = 1
    values[0, 0, 18:] = 1
    made = told(systems_of(values, "FalseAbstention"))
    assert made.said[1:] == (
        "FalseAbstention demands the most: on 15.0 % of the queries every system scores 1, the worst there is.",
        "FalseAbstention demands the least: on 75.0 % of the queries every system scores 0, the best there is.",
    )
    assert [cell.text for cell in made.tables[0].groups[0][1][0]] == ["FalseAbstention", "90.0", "75.0", "15.0", "90.0"]


def test_measures_that_tie_alike_are_not_ranked():
    assert told(systems_of(np.ones((2, 3, 20)))).said[0].startswith("Every measure ties the two systems on 100.0 %")


def test_one_measure_is_compared_with_none(three):
    only = Systems({name: one.only(parse_measures("R@5,IoU=0.3")) for name, one in three.scores.items()})
    assert told(only).said[0].startswith("R@5,IoU=0.3 gives all 3 systems the same value on 75.0 % (95 % interval")


def test_what_no_query_defines_is_null_with_its_reason():
    made = told(systems_of(np.zeros((2, 3, 20)), weight=0.0))
    assert made.said == ("No measure is defined on any query.",)
    text = json.dumps(document([made], scores=None, sources=[], seed=0), allow_nan=False)
    entry = json.loads(text)["studies"]["ties"]["measures"][0]
    assert (entry["all_tied"], entry["why"]) == (None, "no query has a reference that counts")


def test_the_document_holds_fractions(three):
    entry = told(three).document["measures"][0]
    assert (entry["measure"], entry["all_tied"], entry["at_one"], entry["unit"]) == (
        "R@5,IoU=0.3",
        0.75,
        0.75,
        "fraction",
    )
    assert 0 < entry["ci95"][0] < 0.75 < entry["ci95"][1] <= 1


@pytest.mark.slow
def test_the_figure_is_drawn(three, tmp_path):
    made = told(three)
    assert [path.name for path in save_drawings(made.drawings, tmp_path, ("png", "svg"))] == [
        "ties-ratio.png",
        "ties-ratio.svg",
    ]
    svg = inline_svg(made.drawings[0])
    assert "R@5 .3" in svg
    assert "all score 1" in svg
    assert "all score alike between" not in svg  # none does
