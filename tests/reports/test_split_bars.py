"""Bars by method and split show the numbers that they are given."""

import csv
import math

import pytest

from truemoment.report.drawing import save_drawings
from truemoment.studies.compare.report_beside import MOST_SPLITS, SplitBar, split_bars

BARS = [
    SplitBar("theirs", "test-ood", 0.308, kind="published", source="paper, Table 2"),
    SplitBar("ours", "test-iid", 0.5, (0.45, 0.55)),
    SplitBar("ours", "test-ood", 0.25, (0.2, 0.3)),
    SplitBar("blind", "test-iid", 0.4, (0.35, 0.45), "floor"),
    SplitBar("blind", "test-ood", math.nan, kind="floor"),
]
"""Invented; rows are drawn methods first, splits in order of occurrence: test-ood, test-iid."""


def test_each_bar_is_as_long_as_its_figure_and_published_ones_are_last():
    [axes] = split_bars(BARS, "R@1,IoU=0.5").draw().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["ours", "blind", "theirs"]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([25, 50, 40, 30.8])
    assert [bar.get_hatch() for bar in axes.patches] == [None] * 4
    inside = [bar.get_facecolor() for bar in axes.patches]
    edges = [bar.get_edgecolor() for bar in axes.patches]
    assert [of == edge for of, edge in zip(inside, edges, strict=True)] == [False, True, True, False]  # by split
    assert len(set(edges)) == 3  # by kind
    assert [text.get_text() for text in axes.texts] == ["25.0", "50.0", "undefined", "40.0", "30.8"]
    assert len(axes.collections) == 2 * 3  # an interval and what surrounds it, where there is one


def test_its_numbers_are_saved_beside_it(tmp_path):
    paths = save_drawings([split_bars(BARS, "R@1,IoU=0.5", name="splits-1")], tmp_path, ("svg",))
    assert [path.name for path in paths] == ["splits-1.svg", "splits-1.csv"]
    rows = list(csv.DictReader(paths[1].read_text().splitlines()))
    assert [(row["kind"], row["method"], row["split"], row["value"], row["ci95_low"]) for row in rows[:2]] == [
        ("published", "theirs", "test-ood", "0.308", ""),
        ("method", "ours", "test-iid", "0.5", "0.45"),
    ]
    assert rows[-1]["value"] == ""


def test_splits_that_are_not_drawn_are_named():
    bars = [SplitBar("ours", f"split-{number}", 0.5) for number in range(MOST_SPLITS + 1)]
    drawing = split_bars(bars, "mIoU")
    assert "split-4: not drawn." in drawing.caption
    assert len(drawing.draw().axes[0].patches) == MOST_SPLITS
