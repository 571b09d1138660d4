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
    panels = drawings(compared)[0].draw().axes
    assert [axes.get_title(loc="left") for axes in panels] == MEASURES
    for row, axes in enumerate(panels):
        marks = [line for line in axes.lines if len(line.get_xdata()) == 1]
        ends = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2]
        assert [line.get_xdata()[0] for line in marks[:2]] == pytest.approx(100 * compared.comparison.mean[:, row])
        np.testing.assert_allclose(ends, 100 * compared.comparison.interval[:, row])
    assert [text.get_text() for text in panels[1].get_yticklabels()] == ["ours", "base", "theirs"]
    assert drawings(compared)[0].caption.endswith("Published figures: paper, 1.")
    assert marks[2].get_xdata()[0] == 41.5
    assert marks[2].get_markerfacecolor() != marks[0].get_markerfacecolor()


def test_published_figures_of_several_tables_are_named_by_their_tables_too(compared):
    [(at, printed)] = compared.published
    other = dataclasses.replace(printed, source="another_paper", table="Table 2", value=Decimal("44.0"))
    of_methods, *_ = drawings(dataclasses.replace(compared, published=[(at, printed), (at, other)]))
    labels = [text.get_text() for text in of_methods.draw().axes[1].get_yticklabels()]
    assert labels[2:] == ["theirs (paper, 1)", "theirs (another paper,\nTable 2)"]
    assert "Published figures:" not in of_methods.caption


def test_the_curves_are_of_each_method(compared):
    [axes] = drawings(compared)[1].draw().axes
    solid = [line for line in axes.lines if line.get_label() in compared.answers]
    assert [line.get_label() for line in solid] == ["ours", "base"]
    at_half = [line.get_ydata()[10] for line in solid]  # thresholds 0, 0.05, ...
    assert at_half == pytest.approx(100 * compared.comparison.mean[:, 0])


def test_the_report_has_them_and_says_when_measures_are_left_out(compared, monkeypatch):
    assert [drawing.name for drawing in report(compared).drawings] == ["methods", "curves"]
    monkeypatch.setattr("truemoment.studies.compare.report_figures.MOST_PANELS", 1)
    cut = drawings(dataclasses.replace(compared))[0]
    assert "the first 1 of 2 measures" in cut.caption
    assert len(cut.draw().axes) == 1
