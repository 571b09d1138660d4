"""How measures look in every figure, and the figures that all studies share."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

from truemoment.report.drawing import drawing_style, inline_svg
from truemoment.report.model import Drawing
from truemoment.report.roles import LIGHT
from truemoment.studies.meta.reports.looks import (
    SHARES,
    group_breaks,
    heat_map,
    lines_figure,
    measure_looks,
    panels_of,
    short_label,
    short_number,
)
from truemoment.studies.meta.systems import DEFAULT_MEASURES

MEASURES = DEFAULT_MEASURES.split("; ")


def texts_of(figure):
    """Every text of a figure."""
    import matplotlib.text

    return [one.get_text() for one in figure.findobj(matplotlib.text.Text) if one.get_text()]


def test_measures_are_told_apart_without_colour():
    """In one panel, of one K, by the marker; across panels by marker and fill. In print, or to the colour-blind."""
    looks = measure_looks(MEASURES)
    assert len({(look.marker, look.fill) for look in looks}) == len(MEASURES) == 14
    for _, members in panels_of(MEASURES):
        assert len({looks[at].marker for at in members}) == len(members)
    assert {look.colour for look in looks} <= set(LIGHT.values())  # so that the dark page can change them


def test_the_usual_measures_look_the_same_in_whatever_company():
    alone = {measure: measure_looks([measure])[0] for measure in MEASURES}
    together = measure_looks(["mIoU", *reversed(MEASURES), "DCG@10"])[1:-1]
    assert list(together) == [alone[measure] for measure in reversed(MEASURES)]


def test_other_measures_are_told_apart_too():
    others = ["R@1,IoU=0.5,length=long", "R@1,IoU=0.5,length=short", "R@1,IoU=0.1", "DCG@1", "R@1,IoU=0.5"]
    looks = measure_looks(others)
    assert len({look.marker for look in looks}) == len(others)
    assert len({look.label for look in measure_looks(["R@1,IoU=0.1", "mIoU", "DCG@1"])}) == 3


@pytest.mark.parametrize("measure", [*MEASURES, "R@1,IoU=0.5,length=middle", "<b>x\u202e\n" * 50, "R@10,IoU=1", ""])
def test_short_labels_are_short(measure):
    label = short_label(measure)
    assert len(label) <= 12
    assert not set("\n\u202e") & set(label)


def test_short_labels_of_one_study_differ():
    assert len({short_label(measure) for measure in MEASURES}) == 14


def test_gaps_stand_where_k_or_the_family_changes():
    """R@1 | R@5 | R@10 | AxIoU | dR, three each but the last, as the measures stand in the default list."""
    assert group_breaks(MEASURES) == (3, 6, 9, 12)


@pytest.mark.parametrize(
    ("value", "shown"), [(0.874, ".87"), (-0.214, "-.21"), (1.0, "1"), (-1.0, "-1"), (0.9999, "1.0"), (-0.001, "0")]
)
def test_numbers_are_short(value, shown):
    assert short_number(value) == shown


def test_a_heat_map_has_every_number():
    table = np.round(np.random.default_rng(0).uniform(-1, 1, (14, 14)), 2)
    table[2, 3] = np.nan
    labels = [short_label(measure) for measure in MEASURES]
    with drawing_style():
        figure = heat_map(labels, labels, table, breaks=group_breaks(MEASURES))
        figure.draw_without_rendering()
        shown = texts_of(figure)
    for value in table.ravel():
        assert short_number(value) in shown
    for label in labels:
        assert shown.count(label) >= 2  # a row and a column


def test_a_heat_map_of_fourteen_has_room_for_its_numbers():
    """No number is wider than its cell, at the width at which figures are drawn; -.21 is the widest there is."""
    labels = [short_label(measure) for measure in MEASURES]
    with drawing_style():
        figure = heat_map(labels, labels, np.full((14, 14), -0.21), breaks=group_breaks(MEASURES))
        figure.draw_without_rendering()
        axes = figure.axes[0]
        cell = axes.transData.transform((1, 0))[0] - axes.transData.transform((0, 0))[0]
        widths = [text.get_window_extent().width for text in axes.texts]
    assert len(widths) == 14 * 14
    assert max(widths) < cell


def test_colours_of_a_heat_map_say_what_its_numbers_say():
    """Each class has its colour of the scale; what is below the first class is marked; equal numbers look equal."""
    table = np.array([[-0.1, *np.array(SHARES) + 0.01, 0.597, 0.602, np.nan]])
    with drawing_style():
        figure = heat_map(["row"], [str(at) for at in range(table.shape[1])], table)
    import matplotlib.colors

    found = [matplotlib.colors.to_hex(one.get_facecolor()) for one in figure.axes[0].patches]
    names = {colour: name for name, colour in reversed([*LIGHT.items()])}
    assert [names[colour] for colour in found] == [
        "floor-faint",
        *(f"scale-{number}" for number in range(6)),
        *("scale-3", "scale-3"),  # .60 both
        "paper",
    ]


def test_a_heat_map_takes_words_and_needs_no_square():
    with drawing_style():
        figure = heat_map(["a", "b"], ["x"], np.array([[0.1], [0.2]]), text=[["one"], ["two"]])
        assert {"one", "two"} <= set(texts_of(figure))


def test_lines_have_a_panel_for_each_k_and_a_name_each():
    x = np.array([50.0, 500, 5000])
    y = np.linspace(0.2, 0.9, 3 * 14).reshape(3, 14)
    with drawing_style():
        figure = lines_figure(MEASURES, x, y, x_label="queries", y_label="tau", x_log=True, x_ticks=[50, 5000])
        figure.draw_without_rendering()
        shown = texts_of(figure)
        assert len(figure.axes) == 3
    assert {short_label(measure) for measure in MEASURES} <= set(shown)
    assert {"K = 1", "K = 5", "K = 10", "queries", "5,000"} <= set(shown)


def test_names_at_the_ends_of_lines_do_not_touch():
    """Six lines that end in one place: the boxes of their names have no point in common."""
    import matplotlib.text

    measures = [measure for measure in MEASURES if "@1," in measure or measure == "AxIoU@1"]
    with drawing_style():
        figure = lines_figure(measures, np.arange(3.0), np.full((3, 6), 0.5), x_label="x", y_label="y")
        figure.draw_without_rendering()
        extents = [matplotlib.text.Text.get_window_extent(text) for text in figure.axes[0].texts]  # without its line
        boxes = sorted((box.y0, box.y1) for box in extents)
    assert len(boxes) == 6
    assert all(below[1] <= above[0] + 0.5 for below, above in pairwise(boxes))


def test_gaps_in_lines_are_borne():
    """A measure that is undefined everywhere has no line and no name, one that ends early a name where it ends."""
    y = np.full((3, 2), 0.5)
    y[:, 0], y[2, 1] = np.nan, np.nan
    with drawing_style():
        figure = lines_figure(["R@1,IoU=0.5", "AxIoU@1"], np.arange(3.0), y, x_label="x", y_label="y")
        named = [text for text in figure.axes[0].texts if text.get_text()]
    assert [text.get_text() for text in named] == ["Ax@1"]
    assert named[0].xy[0] == 1.0


def test_on_the_page_colours_are_variables():
    labels = [short_label(measure) for measure in MEASURES]
    table = np.random.default_rng(0).uniform(-0.2, 1, (14, 14))
    for draw in (
        lambda: heat_map(labels, labels, table),
        lambda: lines_figure(MEASURES, np.arange(14.0), table, x_label="x", y_label="y"),
    ):
        svg = inline_svg(Drawing("made-up", "made up", "", draw))
        assert re.findall(r"#[0-9a-f]{6}(?=[;\"])", svg) == []
        assert "var(--" in svg
