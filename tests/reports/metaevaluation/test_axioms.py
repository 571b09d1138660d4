"""The report on axioms: findings first, every counterexample as two lists, and nothing claimed to be proven."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment import parse_measure
from truemoment.evaluation.protocols import get_protocol
from truemoment.report.drawing import save_drawings
from truemoment.studies.meta.axioms import AxiomResult, MinimalPair, check_axioms
from truemoment.studies.meta.reports import axioms as reports
from truemoment.studies.meta.reports.axioms import MOST_DRAWN

DEFAULT = get_protocol("default")

KEEPS, CHANGES = "redundant predictions change nothing (INV)", "redundant predictions change the figure (INV)"
ALONE = "one prediction only, so none is redundant (INV)"
RAISES = "every better prediction raises the figure (MON)"
MISSES = "some better predictions do not raise the figure (MON)"

PAIR = MinimalPair(  # by hand: IoU of 10-20 and 0-20 with 0-10 is 0 and 1/2; no hit at 0.5
    duration_s=20.0,
    references=np.array([[0.0, 10.0]]),
    before=np.array([[10.0, 20.0]]),
    after=np.array([[0.0, 20.0]]),
    rank=1,
    value_before=0.0,
    value_after=0.0,
    iou_before=np.array([0.0]),
    iou_after=np.array([0.5]),
)


def result(measure, axiom, broken, *, pairs=(10, 10), worse=(0, 0), pair=PAIR, references=1, protocol=DEFAULT):
    ranks = np.arange(1, len(broken) + 1)
    tables = (np.array(table[: len(ranks)], dtype=np.int64) for table in (pairs, broken, worse))
    shown = pair if any(broken) else None
    return AxiomResult(parse_measure(measure), axiom, ranks, *tables, shown, references, protocol)


def both(measure, inv, mon, **options):
    return [result(measure, "INV", inv), result(measure, "MON", mon, **options)]


def texts(table):
    return [[cell.text for cell in row] for _, rows in table.groups for row in rows]


def test_measures_with_equal_outcomes_share_a_sentence_the_best_first():
    results = [*both("R@2,IoU=0.5", (0, 0), (3, 4)), *both("AxIoU@2", (0, 0), (0, 0)), *both("mIoU", (), (0,))]
    results += [*both("NCxIoU@2,p=uniform", (0, 0), (0, 0)), *both("AP@2,IoU=0.5", (1, 1), (1, 1))]
    assert list(reports.sentences(reports.outcomes(results))) == [
        f"AxIoU@2 and NCxIoU@2,p=uniform: {KEEPS}; {RAISES}.",
        f"mIoU: {ALONE}; {RAISES}.",
        f"R@2,IoU=0.5: {KEEPS}; {MISSES}.",
        f"AP@2,IoU=0.5: {CHANGES}; {MISSES}.",
    ]


def test_the_table_says_on_how_many_pairs(shown):
    results = [*both("R@2,IoU=0.5", (0, 0), (0, 4)), *both("mIoU", (), (0,))]
    results += [
        result("dR@2,IoU=0.5", "INV", (0, 0), pairs=(0, 0)),
        result("dR@2,IoU=0.5", "MON", (5, 4), worse=(1, 0)),
    ]
    table = shown(reports, results).tables[0]
    assert table.headings == ("measure", "INV", "MON", "worse")
    assert texts(table) == [
        ["R@2,IoU=0.5", "holds on 20", "broken by 4 of 20", ""],
        ["mIoU", "one prediction only", "holds on 10", ""],
        ["dR@2,IoU=0.5", "undefined", "broken by 9 of 20", "1"],
    ]
    marks = [[cell.marked for cell in row] for _, rows in table.groups for row in rows]
    assert marks == [[False, False, True, False], [False] * 4, [False, False, True, False]]
    assert table.groups[0][1][0][2].below == "rank 2"


def test_a_counterexample_is_two_lists_and_what_measures_say(shown):
    results = [*both("R@2,IoU=0.5", (0, 0), (3, 4)), *both("R@2,IoU=0.7", (0, 0), (3, 4))]
    overview, counterexample = shown(reports, results).tables  # one for both
    assert counterexample.caption == (
        "MON-1 is broken by R@2,IoU=0.5 and R@2,IoU=0.7: reference 0-10 s of a 20 s video; marked: rank 1, where the "
        "lists differ."
    )
    assert texts(counterexample) == [
        ["rank 1", "10-20 s", "0.000", "0-20 s", "0.500"],
        ["R@2,IoU=0.5", "0.000", "", "0.000", ""],
        ["R@2,IoU=0.7", "0.000", "", "0.000", ""],
    ]
    assert counterexample.groups[0][1][0][0].marked
    assert len(overview.groups[0][1]) == 2


def test_values_that_differ_are_shown_to_differ(shown):
    close = MinimalPair(**{**vars(PAIR), "value_before": 0.12341, "value_after": 0.12342})
    table = shown(reports, [result("DCG@2", "INV", (1, 1), pair=close), result("DCG@2", "MON", (0, 0))]).tables[1]
    assert texts(table)[-1] == ["DCG@2", "0.12341", "", "0.12342", ""]


def test_nothing_is_said_to_be_proven_here(shown):
    # Issue 6: an executable check never proves.
    made = shown(reports, both("AxIoU@2", (0, 0), (0, 0)))
    assert "prove" not in " ".join(made.said)
    assert any("that none was found proves nothing. The paper proves INV for R@K and AxIoU@K" in n for n in made.notes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"references": 2}, "Queries have several references here."),
        ({"protocol": get_protocol("2d-tan")}, "suppresses near copies first"),
        ({"protocol": get_protocol("timelens")}, "Measures with another rule for references are judged by the nearest"),
    ],
)
def test_notes_name_what_bears_on_the_result(shown, options, words):
    def notes(**given):
        results = [result("AxIoU@2", "INV", (0, 0), **given), result("AxIoU@2", "MON", (0, 0), **given)]
        return " ".join(shown(reports, results).notes)

    assert words in notes(**options)
    assert words not in notes()


def test_the_document_has_every_figure(shown):
    document = shown(reports, [*both("R@2,IoU=0.5", (0, 0), (3, 4), worse=(0, 1)), *both("mIoU", (), (0,))]).document
    assert document["references"] == 1
    assert document["protocol"] == DEFAULT.signature()
    mon, nothing = document["results"][1], document["results"][2]
    assert (mon["measure"], mon["axiom"], mon["holds"]) == ("R@2,IoU=0.5", "MON", False)
    assert (mon["n_pairs"], mon["n_broken"], mon["n_worse"]) == (20, 7, 1)
    assert mon["by_rank"][1] == {"rank": 2, "pairs": 10, "broken": 4, "worse": 1}
    assert mon["counterexample"] == {
        "duration_s": 20.0,
        "references": [[0.0, 10.0]],
        "rank": 1,
        "before": [[10.0, 20.0]],
        "after": [[0.0, 20.0]],
        "iou_before": [0.0],
        "iou_after": [0.5],
        "value_before": 0.0,
        "value_after": 0.0,
    }
    assert (nothing["holds"], nothing["why"]) == (None, "the measure uses one answer")
    assert "counterexample" not in nothing


@pytest.fixture(scope="module")
def real(shown):
    """A report of real results, with more counterexamples than are drawn."""
    measures = "R@5,IoU=0.5; AP@3,IoU=0.5; DCG@5; dR@5,IoU=0.5; SetIoU; NCxIoU@3,p=weights(1,0,1); AxIoU@5"
    return shown(reports, check_axioms(measures, np.random.default_rng(0), pairs=1000))


def test_counterexamples_are_drawn(real, tmp_path):
    (drawing,) = real.drawings
    n_cases = len(real.tables) - 1
    assert n_cases > MOST_DRAWN
    assert f"{n_cases - MOST_DRAWN} more are in the tables." in drawing.caption
    (svg,) = save_drawings(real.drawings, tmp_path, ("svg",))
    assert svg.name == "axioms-counterexamples.svg"
    # matplotlib writes each text into a comment beside its outline.
    words = svg.read_text(encoding="utf-8")
    assert words.count("<!-- reference -->") == MOST_DRAWN
    assert "MON-1: " in words
    assert "INV-2: " in words


def test_without_a_counterexample_there_is_no_picture(shown):
    made = shown(reports, both("AxIoU@2", (0, 0), (0, 0)))
    assert made.drawings == []
    assert len(made.tables) == 1


def test_it_fits_the_terminal(real):
    assert max(map(len, real.lines)) <= 100
    assert any(line.startswith("R@5,IoU=0.5") and "holds on 1,000" in line for line in real.lines)
