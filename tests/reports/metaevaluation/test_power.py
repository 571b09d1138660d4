"""The report on discriminative power: sentences, planning table, document and figure."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from truemoment import get_protocol, parse_measures
from truemoment.base.records import as_strings
from truemoment.evaluation.scores import Scores
from truemoment.report.drawing import inline_svg
from truemoment.studies.meta.power import Power, power
from truemoment.studies.meta.reports import power as reports
from truemoment.studies.meta.reports.power import rounded_up, sentences
from truemoment.studies.meta.systems import Systems


def study(values: np.ndarray, measures: str, **choices: object) -> Power:
    """Systems of values (S, M, Q), three queries a video."""
    parsed = parse_measures(measures)
    n_queries = values.shape[2]
    systems = Systems(
        {
            f"s{number}": Scores(
                measures=parsed,
                protocol=get_protocol("default"),
                query_id=as_strings([f"q{at}" for at in range(n_queries)], "query_id"),
                video_id=as_strings([f"v{at // 3}" for at in range(n_queries)], "video_id"),
                numerator=of_system,
                weight=np.ones_like(of_system),
                on_threshold=np.full(len(parsed), -1),
            )
            for number, of_system in enumerate(values)
        }
    )
    return power(systems, np.random.default_rng(0), **{"repetitions": 10, **choices})


@pytest.fixture(scope="module")
def found() -> Power:
    """Four systems on 600 queries, a little apart by R@1 and far by AxIoU, whose values vary less."""
    rng = np.random.default_rng(0)
    skill = np.array([0.30, 0.31, 0.34, 0.45])[:, None]
    hits = (rng.random((4, 600)) < skill).astype(np.float64)
    graded = np.clip(skill + rng.normal(0, 0.15, (4, 600)), 0, 1)
    return study(np.stack([hits, graded], axis=1), "R@1,IoU=0.5; AxIoU@1")


def test_the_finding_comes_first(found):
    n_by_r, n_by_ax = (found.p_holm <= 0.05).sum(axis=0).tolist()
    assert 0 < n_by_r < n_by_ax
    first, _, price = sentences(found)
    assert first == (
        f"On all 600 queries (200 videos), measures separate {n_by_r} (R@1,IoU=0.5) to {n_by_ax} (AxIoU@1) of 6 pairs "
        "of systems (paired tests at level 0.05, Holm's correction)."
    )
    assert price.startswith("A test set needs about ")
    assert "to show a true difference of 2 points in R@1,IoU=0.5 for a typical pair of systems" in price


def test_pairs_on_which_measures_contradict_each_other_are_named(found):
    """Six pairs: three shown by both measures, one of them both ways round; one by one measure, two by none."""
    difference, p = np.full((6, 2), 0.1), np.full((6, 2), 0.01)
    difference[2, 1], p[3, 0], p[4:] = -0.1, 0.5, 0.5
    whole = dataclasses.replace(found.whole, difference=difference)
    assert sentences(dataclasses.replace(found, whole=whole, p_holm=p))[1:3] == [
        "All measures separate 2 of 6 pairs in the same direction; no measure separates 2.",
        "Different measures separate 1 pair in opposite directions, e.g. s0 and s3: there, the measure decides which "
        "system is better.",
    ]


def test_the_planning_table_is_rounded_up_to_three_digits(shown, found):
    table = shown(reports, found).tables[1]
    rows = [row for _, group in table.groups for row in group]
    for at, row in enumerate(rows):
        planned = found.planned()[:, at]
        shown = [(int(cell.text.replace(",", "")), int(cell.below.replace(",", ""))) for cell in row[1:]]
        assert (np.array(shown) >= planned).all()
        assert (np.array(shown) <= planned * 1.01 + 1).all()
    assert table.headings == ("measure", "1 point", "2 points", "3 points", "5 points", "10 points")


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0.2, "1"), (17.2, "18"), (999.1, "1,000"), (1000.0, "1,000"), (8401.2, "8,410"), (np.inf, "∞"), (np.nan, "-")],
)
def test_queries_are_rounded_up(number, shown):
    assert rounded_up(number) == shown


def test_comparisons_are_told(shown):
    values = (np.random.default_rng(1).random((3, 1, 300)) < 0.5).astype(np.float64)
    made = shown(reports, study(values, "R@1,IoU=0.5", comparisons=10))
    assert "corrected for 10 comparisons" in made.tables[1].caption
    assert "level 0.05, corrected for 10 comparisons" in made.said[-1]


def test_measures_that_separate_alike_are_not_ranked(shown):
    values = np.repeat(
        (np.random.default_rng(1).random((2, 1, 300)) < [[[0.2]], [[0.8]]]).astype(np.float64), 2, axis=1
    )
    assert shown(reports, study(values, "R@1,IoU=0.5; R@5,IoU=0.5")).said[0] == (
        "On all 300 queries (100 videos), measures separate 1 (every measure) of 1 pair of systems (paired tests at "
        "level 0.05, Holm's correction)."
    )


def test_copies_have_no_price(shown):
    values = np.repeat((np.random.default_rng(1).random((1, 1, 300)) < 0.5).astype(np.float64), 2, axis=0)
    made = shown(reports, study(values, "R@1,IoU=0.5"))
    assert [cell.text for cell in made.tables[1].groups[0][1][0]] == ["R@1,IoU=0.5", *["-"] * 5]
    assert made.tables[0].groups[0][1][0][-1].text == "∞"
    entry = made.document["measures"][0]
    assert entry["needed_median"] == {"value": None, "unit": "queries", "why": "no difference was seen"}
    assert entry["planning"][0]["why"] == "no two of the systems differ"
    assert (entry["p"], entry["needed"], entry["why"]) == ([1], [None], "needed: no difference was seen")


def test_the_document_holds_every_pair_and_size(shown, found):
    study_of = shown(reports, found).document
    entry = study_of["measures"][1]
    assert [one["n_queries"] for one in entry["separated"]] == found.queries.tolist()
    assert study_of["pairs"] == [["s0", "s1"], ["s0", "s2"], ["s0", "s3"], ["s1", "s2"], ["s1", "s3"], ["s2", "s3"]]
    columns = (("better_by", found.whole.difference), ("p", found.whole.p), ("p_holm", found.p_holm))
    for name, table in (*columns, ("sigma_per_query", found.sigma), ("needed", found.needed)):
        assert entry[name] == table[:, 1].tolist()
    assert "why" not in entry
    assert entry["planning"][1] == {
        "difference": 0.02,
        "typical": pytest.approx(found.planned()[1, 1, 0]),
        "hard": pytest.approx(found.planned()[1, 1, 1]),
        "unit": "queries",
    }


def test_what_is_taken_as_independent_is_noted(shown):
    values = (np.random.default_rng(1).random((2, 1, 300)) < 0.5).astype(np.float64)
    by_video, by_query = (shown(reports, study(values, "R@1,IoU=0.5", unit=unit)) for unit in ("video", "query"))
    assert "3.0 queries per video" in by_video.notes[0]
    assert "treats queries as independent" in by_query.notes[0]
    assert "(300 single queries)" in by_query.said[0]


def test_the_figure_is_drawn_and_the_terminal_is_not_overrun(shown, found):
    made = shown(reports, found)
    assert "% separated" in inline_svg(made.drawings[0])
    assert max(map(len, made.lines)) <= 100
