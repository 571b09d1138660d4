"""What a page shows of a figure under the pointer: expected values are those that each figure was drawn from."""

import re

import numpy as np
import pytest

from truemoment.report.drawing import FLOOR, METHOD, drawing_style, inline_svg, new_figure
from truemoment.report.marks import MOST_MARKS, MOST_POINTS, marks_of
from truemoment.report.model import Drawing


def drawn(draw, rows=1):
    """Return the marks of a figure whose panels `draw` draws."""
    with drawing_style():
        figure = new_figure(3.0)
        panels = figure.subplots(rows, 1, squeeze=False)[:, 0]
        draw(*panels)
        figure.draw_without_rendering()
        return marks_of(figure)


def texts(draw, rows=1):
    return [mark.text for mark in drawn(draw, rows)]


def test_a_bar_has_the_name_of_its_row_its_value_and_its_interval():
    def draw(axes):
        axes.barh([0, 1], [46.84, 21.9])
        axes.hlines([0], [44.67], [48.8])
        axes.set_yticks([0, 1], ["its answer to a\nsimilar sentence", "long_-\nname"])
        axes.set_xlabel("R@1, %")

    assert texts(draw) == [
        "its answer to a similar sentence\nR@1, %: 46.84 (44.67 to 48.80)",
        "long_-name\nR@1, %: 21.90",
    ]


def test_a_line_between_two_dots_is_no_interval():
    def draw(axes):
        axes.hlines([0], [1.5], [4.5])  # joins the first and the third
        axes.plot([1.5, 2.5, 4.5], [0, 0, 0], "o")

    assert all("(" not in text for text in texts(draw))


def test_bars_on_each_other_show_their_own_length_and_their_bin():
    def draw(axes):
        axes.bar([0, 10], [3, 1], width=10, align="edge", label="hits")
        axes.bar([0, 10], [2, 4], bottom=[3, 1], width=10, align="edge", label="misses")
        axes.set_ylabel("queries")
        axes.set_xlabel("length, s")

    assert texts(draw)[1:3] == ["hits\nlength, s: 10 to 20\nqueries: 1", "misses\nlength, s: 0 to 10\nqueries: 2"]


def test_a_bar_that_begins_within_the_axis_is_a_span():
    def draw(axes):
        axes.barh([0], [4.0], left=[2.5])
        axes.set_yticks([0], ["annotator 1"])
        axes.set_xlabel("s")

    assert texts(draw) == ["annotator 1\ns: 2.5 to 6.5"]


def test_a_histogram_shows_its_bins():
    def draw(axes):
        axes.stairs([12.5, 0, 87.5], [0, 1, 2, 3], color=METHOD)
        axes.set_ylabel("%")

    assert texts(draw) == ["0 to 1\n%: 12.5", "2 to 3\n%: 87.5"]


def test_curves_have_the_names_of_the_legend_of_the_figure_and_evenly_spaced_points():
    over = np.linspace(0, 1, 101)

    def draw(axes):
        from matplotlib.lines import Line2D

        axes.plot(over, over, color=METHOD)
        axes.plot([0.52], [0.5], "o", color=METHOD)
        axes.plot([0, 1], [0, 1], color=FLOOR)  # a reference line
        axes.figure.legend(
            handles=[Line2D([], [], color=METHOD, label="train"), Line2D([], [], color=FLOOR, label="x")]
        )
        axes.set_ylabel("share")

    found = texts(draw)
    assert len(found) == MOST_POINTS + 1
    assert found[1] == "train\n0.05\nshare: 0.05"
    assert found[-1] == "train\n0.52\nshare: 0.50"


def test_panels_are_named_and_share_the_only_label():
    def draw(top, bottom):
        for axes, title in ((top, "R@1"), (bottom, "R@5")):
            axes.set_title(title, loc="left")
            axes.plot([2], [0], "o", label="_dashed")
            axes.set_yticks([0], ["a method"])
        bottom.set_xlabel("%")

    assert texts(draw, 2) == ["R@1, a method, dashed\n%: 2", "R@5, a method, dashed\n%: 2"]


def test_a_logarithmic_axis_has_four_digits():
    def draw(axes):
        axes.set_xscale("log")
        axes.plot([12345.6, 0.000645123], [1, 1], "o")
        axes.annotate("TACoS", (12345.6, 1), (1, 1), textcoords="axes fraction")
        axes.annotate("46.8", (0.000645123, 1), (1, 1), textcoords="axes fraction")

    assert texts(draw) == ["TACoS\n12,346\n1", "0.0006451\n1"]


def test_negative_numbers_have_a_minus():
    assert texts(lambda axes: axes.barh([0], [-2.25])) == ["\u22122.25\n\u22120.4 to 0.4"]


@pytest.mark.parametrize("n", [MOST_MARKS, MOST_MARKS + 1])
def test_a_cloud_of_many_dots_has_no_marks(n):
    assert len(drawn(lambda axes: axes.scatter(np.arange(n), np.arange(n)))) == (n if n <= MOST_MARKS else 0)


def test_what_lies_outside_its_panel_has_no_mark():
    def draw(axes):
        axes.plot([0.5, 5], [0.5, 0.5], "o")
        axes.set_xlim(0, 1)

    assert len(drawn(draw)) == 1


def test_marks_lie_on_what_they_mark():
    """The figure is 4 by 3 inches, and the axes fill it, so that places are shares of 288 by 216 points."""

    def draw():
        figure = new_figure(3.0)
        figure.set_layout_engine("none")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.barh([0.5], [0.25], height=0.5)
        axes.plot([0.75], [0.75], "o", label="<b>\u202e")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        return figure

    svg = inline_svg(Drawing("one", "t", "", draw))
    assert svg.startswith('<svg viewBox="0 0 288 216"')
    boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"><title>', svg)
    assert boxes == [("0.0", "54.0", "72.0", "108.0"), ("212.0", "50.0", "8.0", "8.0")]
    assert "&lt;b&gt;" in svg
    assert "\u202e" not in svg


def test_the_same_figure_has_the_same_marks():
    def draw(axes):
        axes.plot([1, 2, 3], [3, 1, 2])

    assert drawn(draw) == drawn(draw)
