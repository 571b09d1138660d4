"""Figures of an audit: files for papers, and SVG for the page."""

import io
import re
import struct

import matplotlib as mpl
import numpy as np
import pytest

from truemoment.base.errors import InputError, UsageError
from truemoment.report import drawing
from truemoment.report.density_classes import DENSITY_BOUNDS, histogram
from truemoment.studies.audit import report
from truemoment.studies.audit.checks import excess_where_blind_misses, slices
from truemoment.studies.audit.checks.loose_threshold import curves

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def drawn(example):
    return {one.name: one for one in report.report(example).drawings}


@pytest.fixture(scope="module")
def two_drawings(example):
    """Two figures only, which is quicker."""
    return report.report(example).drawings[:2]


def test_all_figures_of_a_full_audit_are_there(drawn):
    names = {name for name in drawn if not name.startswith("slices-")}
    assert names == {
        *("floors", "measures", "curves", "by-length", "where-blind-misses", "densities", "displacement", "errors"),
        "conventions",
    }
    assert {"slices-reference-length", "slices-position", "slices-first-verb", "slices-in-train"} <= set(drawn)


def test_what_does_not_apply_is_not_there(bare):
    names = {one.name for one in report.report(bare).drawings}
    assert "displacement" not in names
    assert "slices-video-length" not in names  # one video is one class, which compares with nothing


@pytest.fixture(scope="module")
def saved(two_drawings, tmp_path_factory):
    """The files of two drawings, in a new folder of a new folder."""
    return drawing.save_drawings(two_drawings, tmp_path_factory.mktemp("saved") / "new" / "folder")


def test_figures_are_saved_in_three_formats(saved):
    assert [path.name for path in saved] == [
        f"{name}.{end}" for name in ("floors", "measures") for end in ("png", "svg", "pdf")
    ]
    for path in saved:
        data = path.read_bytes()
        if path.suffix == ".png":
            width, height = struct.unpack(">II", data[16:24])
            assert width == round(drawing.WIDTH_IN * 300)
            assert height > 300
        elif path.suffix == ".pdf":
            assert b"/FontFile2" in data  # TrueType, as a whole
            assert b"/Type3" not in data
        else:
            assert b"<svg" in data
        assert not re.search(rb"20\d\d-\d\d-\d\d|CreationDate", data)


def test_the_same_figure_is_the_same_bytes(saved, two_drawings, tmp_path):
    again = drawing.save_drawings(two_drawings[1:], tmp_path)
    assert [path.read_bytes() for path in saved[3:]] == [path.read_bytes() for path in again]


def test_what_cannot_be_saved_is_told(two_drawings, tmp_path):
    with pytest.raises(UsageError, match="got figure format 'gif', expected png, svg, pdf"):
        drawing.save_drawings(two_drawings, tmp_path, formats=["gif"])
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        drawing.save_drawings(two_drawings, tmp_path / "file")


def test_settings_of_the_user_neither_reach_a_figure_nor_are_changed(drawn):
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "text.usetex": True}):
        before = dict(mpl.rcParams)
        odd = drawing.inline_svg(drawn["displacement"])
        assert dict(mpl.rcParams) == before
    assert odd == drawing.inline_svg(drawn["displacement"])


@pytest.mark.thorough
def test_names_in_any_script_can_be_drawn(hostile):
    """Warnings are errors here, as that a font lacks a letter; $ must not begin a formula. As SVG: test_page.py."""
    for one in report.report(hostile).drawings:
        with drawing.drawing_style():
            picture = io.BytesIO()
            one.draw().savefig(picture, format="png", dpi=40)
            assert picture.getvalue().startswith(b"\x89PNG")


# --------------------------------------------------------------------------------- what figures show


def marks_of(strip):
    return {row.label: {mark.role: mark.value for mark in row.marks} for row in strip.rows}


def test_the_first_chart_has_the_method_every_floor_by_what_it_reads_and_the_ceilings(example, drawn):
    results, strip = example.results, drawn["floors"]
    rivals = (*results.floors, *results.ceilings)
    values = sorted(value for marks in marks_of(strip).values() for value in marks.values())
    assert values == sorted(100 * one.scores.value("R@1,IoU=0.5") for one in (results, *rivals))
    assert [title for title, _ in strip.groups] == [
        *("", "Floors that read nothing", "Floors that read the sentence", "Ceilings")
    ]
    [strongest] = [row for row in strip.rows if row.marks[0].role == "floor"]
    assert strongest.marks[0].value == strip.line.value == 100 * results.strongest_scores.value("R@1,IoU=0.5")


def test_curves_are_r_and_dr(example, drawn):
    curves_drawn = drawn["curves"].curves
    for number, (name, of) in enumerate(example.results.cached(curves)):
        solid, dashed = curves_drawn[2 * number : 2 * number + 2]
        assert solid.name == name
        np.testing.assert_array_equal(solid.y, 100 * of.recall[0])
        np.testing.assert_array_equal(dashed.y, 100 * of.discounted[0])


def test_hits_are_drawn_by_the_probability_that_the_network_is_right(example, drawn):
    found = example.results.cached(excess_where_blind_misses.network_excess)
    shown = drawn["where-blind-misses"].curves
    assert [curve.name for curve in shown] == [
        example.results.setup.predictions.name,
        "sentence network",
        "a second network",
    ]
    for curve, hits in zip(shown, found.hits.T, strict=True):
        np.testing.assert_allclose(curve.x, 100 * found.probability)
        np.testing.assert_allclose(curve.y, 100 * hits)


def test_text_only_has_a_mark_and_a_curve(in_words):
    drawn = {one.name: one for one in report.report(in_words).drawings}
    assert "Text only (no frames)" in marks_of(drawn["floors"])
    shown = [curve for curve in drawn["curves"].curves if curve.in_legend]
    assert [curve.name for curve in shown].count("text only (no frames)") == 1
    assert len({curve.look for curve in shown}) == len(shown)


def test_hits_by_length_are_of_all_queries(drawn):
    total, floor, own = drawn["by-length"].curves
    assert sum(total.y) == 120  # the queries of the example
    assert np.all(np.array(own.y) <= total.y)
    assert np.all(np.array(floor.y) <= total.y)


def test_slices_show_method_floor_and_counts(example, drawn):
    own = [one for one in example.results.cached(slices.method_slices) if one.family == "reference length"]
    strip = drawn["slices-reference-length"]
    shown = marks_of(strip)
    assert {one.label: 100 * one.value[0] for one in own} == {label: of["method"] for label, of in shown.items()}
    assert [row.note for row in strip.rows] == [f"{one.n_queries:,}" for one in own]


def test_cells_cover_their_classes():
    """Areas of the drawn cells, by the shoelace formula, are those of the cells counted one by one."""
    rng = np.random.default_rng(1)
    table, bounds, classes = rng.uniform(0, 20, (8, 8)), np.linspace(0, 1, 9), DENSITY_BOUNDS
    with drawing.drawing_style():
        axes = drawing.new_figure(2.0).add_subplot()
        drawing.draw_cells(axes, table, bounds, classes)
    counted = [
        np.sum((table >= low) & (table < high)) for low, high in zip(classes, (*classes[1:], np.inf), strict=True)
    ]
    areas = []
    for patch in axes.patches:
        corners = patch.get_path().vertices.reshape(-1, 5, 2)
        x, y = corners[..., 0], corners[..., 1]
        areas.append(abs(np.sum(x[:, :-1] * y[:, 1:] - x[:, 1:] * y[:, :-1])) / 2)
    np.testing.assert_allclose(areas, np.array([n for n in counted if n]) / 64)


def test_an_even_spread_has_density_1():
    """The scale of the histogram: N points, one in each cell above the diagonal, are as dense as an even spread."""
    middles = (np.arange(64) + 0.5) / 64
    start, end = np.meshgrid(middles, middles)
    above = (end > start).ravel()
    points = np.stack([start.ravel(), end.ravel()], axis=1)[above]
    table = histogram(points)
    # 2,016 cells lie above the diagonal, where half the square is 2,048 cells.
    np.testing.assert_allclose(table[table > 0], 2048 / 2016)


# ------------------------------------------------------------------------------------- svg for the page


def test_svg_has_text_variables_and_names_of_its_own(drawn):
    svg = drawing.inline_svg(drawn["displacement"])
    assert svg.startswith('<svg viewBox="')
    assert f'role="img" aria-label="{drawn["displacement"].title}"><title>{drawn["displacement"].title}</title>' in svg
    assert not re.search(r"#[0-9a-f]{6}\b", svg), "a colour that does not follow the page"
    assert not re.search(r"<\?xml|<!|metadata|font-family|<style|xlink|http", svg)
    assert "</text>" in svg
    own = re.findall(r' id="([^"]+)"', svg)
    assert set(re.findall(r'(?:url\(|href=")#([^)"]+)', svg)) == set(own)
    assert all(name.startswith("displacement-") for name in own)
