"""The figures of a comparison show its numbers."""

import dataclasses
from decimal import Decimal

import numpy as np
import pytest

from truemoment import Annotations, Predictions
from truemoment.data.formats import MatchReport
from truemoment.evaluation.evaluate import evaluate
from truemoment.studies.compare.comparison import PublishedFigure, compare
from truemoment.studies.compare.files import ComparedFiles, FileRun
from truemoment.studies.compare.report import report
from truemoment.studies.compare.report_figures import drawings

MEASURES = ["R@1,IoU=0.5", "mIoU"]


@pytest.fixture
def compared():
    rows = [(f"v{n}#0", f"v{n}", 20.0, "a door opens", 0.0, 10.0) for n in range(12)]
    annotations = Annotations.from_rows(rows)
    answers = {
        "ours": Predictions.from_lists({f"v{n}#0": [(0.0, 6.0 + n / 3)] for n in range(12)}),
        "base": Predictions.from_lists({f"v{n}#0": [(8.0 - n / 2, 18.0)] for n in range(12)}),
    }
    scores = {name: [evaluate(annotations, of, MEASURES)] for name, of in answers.items()}
    comparison = compare(scores, np.random.default_rng(0), resamples=200, permutations=200)
    runs = {
        name: [FileRun(of[0], MatchReport("native", "as asked", 12), {"path": f"{name}.jsonl", "sha256": "ab"}, 1)]
        for name, of in scores.items()
    }
    printed = PublishedFigure("paper", "1", "d", "s", "theirs", "mIoU", Decimal("41.5"), "percent", "", "p.csv", 2)
    return ComparedFiles(comparison, runs, annotations, answers, [(1, printed)], seed=0)


def test_each_method_has_its_figure_and_interval_and_published_ones_are_hollow(compared):
    strips = drawings(compared)[:2]
    assert [strip.title for strip in strips] == [f"{measure} of each method" for measure in MEASURES]
    for at, strip in enumerate(strips):
        order = [compared.comparison.methods.index(row.label) for row in strip.groups[0][1]]
        marks = [row.marks[0] for row in strip.groups[0][1]]
        assert [mark.value for mark in marks] == pytest.approx(100 * compared.comparison.mean[order, at])
        np.testing.assert_allclose([mark.ci95 for mark in marks], 100 * compared.comparison.interval[order, at])
    (title, [row]) = strips[1].groups[1]
    assert (title, row.label, row.marks[0].value, row.marks[0].look.hollow) == (
        "Published, unchecked",
        "theirs",
        41.5,
        True,
    )
    labels = [text.get_text() for text in strips[1].draw().axes[0].get_yticklabels()]
    assert labels == [*(row.label for row in strips[1].groups[0][1]), "Published, unchecked", "theirs"]


def test_published_figures_of_several_tables_are_named_by_their_tables_too(compared):
    [(at, printed)] = compared.published
    other = dataclasses.replace(printed, source="another_paper", table="Table 2", value=Decimal("44.0"))
    strip = drawings(dataclasses.replace(compared, published=[(at, printed), (at, other)]))[1]
    assert [row.label for row in strip.groups[1][1]] == ["theirs (paper, 1)", "theirs (another paper, Table 2)"]


def test_the_curves_are_of_each_method(compared):
    [axes] = drawings(compared)[2].draw().axes
    solid = [line for line in axes.lines if line.get_label() in compared.answers]
    assert [line.get_label() for line in solid] == ["ours", "base"]
    at_half = [line.get_ydata()[10] for line in solid]  # thresholds 0, 0.05, ...
    assert at_half == pytest.approx(100 * compared.comparison.mean[:, 0])


def test_the_report_has_them_without_measures_that_repeat_others(compared):
    assert [drawing.name for drawing in report(compared).drawings] == ["methods", "methods-2", "curves"]
    scores = {
        name: [evaluate(compared.annotations, of, ["R@1,IoU=0.5", "R@5,IoU=0.5"])]
        for name, of in compared.answers.items()
    }
    repeated = compare(scores, np.random.default_rng(0), resamples=200, permutations=200)
    assert [
        drawing.name for drawing in drawings(dataclasses.replace(compared, comparison=repeated, published=None))
    ] == [
        "methods",
        "curves",
    ]
