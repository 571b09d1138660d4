"""The report on ties: the finding follows from the figures, and the figure can be drawn."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment import get_protocol, parse_measures
from truemoment.base.records import as_strings
from truemoment.evaluation.scores import Scores
from truemoment.report.drawing import inline_svg, save_drawings
from truemoment.studies.meta.reports import ties as reports
from truemoment.studies.meta.systems import Systems
from truemoment.studies.meta.ties import ties

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


@pytest.fixture
def told(shown):
    return lambda systems: shown(reports, ties(systems, np.random.default_rng(0), resamples=100))


@pytest.fixture
def three() -> Systems:
    """Of 20 queries all three systems hit 15 by R@5 and miss 12 by R@1; AxIoU never ties them."""
    values = np.zeros((3, 3, 20))
    values[:, 0, :15] = 1
    values[0, 0, 15:] = 1
    values[1, 1, 12:] = 1
    values[:, 2] = np.random.default_rng(0).random((3, 20))
    return systems_of(values)


def test_the_finding_names_the_fewest_and_the_most(three, told):
    assert told(three).said == ["All systems tie on 0.0 % (AxIoU@1) to 75.0 % (R@5,IoU=0.3) of the queries."]


def test_the_table_has_a_row_a_measure(three, told):
    (table,) = told(three).tables
    rows = [[cell.text for cell in row] for _, group in table.groups for row in group]
    # A pair, on average: 15 queries tie all 3 pairs and 5 tie one of 3, (15 + 5 / 3) / 20; of R@1 (12 + 8 / 3) / 20.
    assert rows == [
        ["R@5,IoU=0.3", "75.0", "0.0", "75.0", "83.3"],
        ["R@1,IoU=0.7", "60.0", "60.0", "0.0", "73.3"],
        ["AxIoU@1", "0.0", "0.0", "0.0", "0.0"],
    ]


def test_where_less_is_better_shares_are_those_of_the_values(told):
    """Nobody abstains falsely on 15 of 20 queries, all do on 3, and the two systems differ on 2."""
    values = np.zeros((2, 1, 20))
    values[:, 0, 15:18] = 1
    values[0, 0, 18:] = 1
    (table,) = told(systems_of(values, "FalseAbstention")).tables
    assert [cell.text for cell in table.groups[0][1][0]] == ["FalseAbstention", "90.0", "75.0", "15.0", "90.0"]


def test_measures_that_tie_alike_are_not_ranked(told):
    assert told(systems_of(np.ones((2, 3, 20)))).said[0] == "All systems tie on 100.0 % (every measure) of the queries."


def test_what_no_query_defines_is_null_with_its_reason(told):
    made = told(systems_of(np.zeros((2, 3, 20)), weight=0.0))
    assert made.said == ["No measure is defined on any query."]
    entry = made.document["measures"][0]
    assert (entry["all_tied"], entry["why"]) == (None, "no query has a reference that counts")


def test_the_document_holds_fractions(three, told):
    entry = told(three).document["measures"][0]
    assert (entry["measure"], entry["all_tied"], entry["at_one"], entry["unit"]) == (
        "R@5,IoU=0.3",
        0.75,
        0.75,
        "fraction",
    )
    assert 0 < entry["ci95"][0] < 0.75 < entry["ci95"][1] <= 1


@pytest.mark.slow
def test_the_figure_is_drawn(three, told, tmp_path):
    made = told(three)
    assert [path.name for path in save_drawings(made.drawings, tmp_path, ("png",))] == ["ties-ratio.png"]
    svg = inline_svg(made.drawings[0])
    assert "R@5 .3" in svg
    assert "all score 1" in svg
    assert "all score alike between" not in svg  # none does
