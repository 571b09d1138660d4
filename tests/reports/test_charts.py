"""Charts that templates draw: axes, places on a page, files, and the colours of roles."""

import dataclasses
import itertools
import math
import re
import subprocess
import sys

import numpy as np
import pytest
from page_reader import Reader

from truemoment.report.chart_axis import nice_axis
from truemoment.report.charts import Cloud, Clouds, Plot, PlotCurve, StripChart, StripMark, StripRow
from truemoment.report.drawing import save_drawings
from truemoment.report.model import Finding, Report, Section
from truemoment.report.render import html
from truemoment.report.roles import DARK, LIGHT, ROLES, SERIES
from truemoment.web.pages.static_files import StaticFiles

HOSTILE = "<b>\u6a21\u578b & \u202e name</b>"


def charts(name="model"):
    rows = (
        StripRow(name, (StripMark("method", 40.0, (35.0, 45.0)), StripMark("floor", 20.0)), "1,200", is_main=True),
        StripRow("empty", (StripMark("method", math.nan), StripMark("floor", 0.0, (0.0, 2.0))), "3"),
    )
    points = np.random.default_rng(0).uniform(0, 1, (300, 2))
    curves = (
        PlotCurve(name, SERIES[0], (0.0, 0.5, 1.0), (90.0, math.nan, 10.0)),
        PlotCurve("n", SERIES[1], (0, 1, 2), (3, 4)),
    )
    return (
        StripChart("strip", "Strip", name, "R@1, %", ((name, rows),), note="queries", line=StripMark("floor", 20.0)),
        Plot("plot", "Plot", "", "x", "y", curves),
        Clouds(
            "clouds",
            "Clouds",
            "",
            (
                Cloud(name, np.sort(points, axis=1)),
                Cloud("one place", np.full((9, 2), (0.2, 0.6))),
                Cloud("none", points[:0]),
            ),
        ),
    )


def page_of(*blocks, **report):
    return html.page(Report("t", (Section("one", "s", blocks),), **report))


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 46.8, (0, 10, 20, 30, 40, 50)),
        (46.61, 47.64, (46.5, 46.75, 47, 47.25, 47.5, 47.75)),
        (-3.2, 4, (-4, -2, 0, 2, 4)),
        (0, 0, (0, 0.2, 0.4, 0.6, 0.8, 1)),
        (5, 5, (4.6, 4.8, 5, 5.2, 5.4)),  # a twentieth to both sides: 4.75 to 5.25
    ],
)
def test_an_axis_has_few_round_steps_and_contains_its_values(low, high, ticks):
    """Worked out by hand: the smallest of 1, 2, 2.5, 5 times a power of ten that needs at most five steps."""
    axis = nice_axis(low, high)
    np.testing.assert_allclose(axis.ticks, ticks)
    assert [float(text) for text in axis.tick_texts] == pytest.approx(ticks)


def test_a_strip_chart_is_a_table_with_every_value_beside_its_mark():
    text = page_of(charts()[0])
    [figure] = re.findall(r'<figure id="figure-strip">.*?</figure>', text, re.DOTALL)
    reader = Reader(figure)
    assert not reader.faults
    words = " ".join(" ".join(data for _, data in reader.text).split())
    for shown in ("40.0 35.0 to 45.0", "20.0", "undefined", "0.0 0.0 to 2.0", "1,200", "the method", "strongest floor"):
        assert shown in words
    # The axis is 0 to 50: 35 lies at 70 % of it, 40 at 80 %, and the line through the rows at 40 %.
    assert '<line x1="70%" x2="90%"' in figure
    assert re.search(r'<use href="#mark-o" x="80%"', figure)
    assert figure.count('class="through floor" x1="40%"') == 2
    assert figure.count("<use ") == 2 + 3  # the legend, and three values; what is undefined has no mark


def test_charts_escape_what_comes_from_outside_and_load_nothing():
    text = page_of(*charts(HOSTILE))
    assert not Reader(text).faults
    assert "<b>" not in text
    assert "\u202e" not in text
    assert not re.search(r'(src|href)="(?!#|data:)', text)


def test_a_page_of_charts_does_not_load_matplotlib():
    words = (
        "import sys; sys.path.insert(0, 'tests/reports'); sys.path.insert(0, 'tests'); import test_charts; "
        "test_charts.page_of(*test_charts.charts()); assert 'matplotlib' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_curve_leaves_out_what_is_undefined_and_a_histogram_is_an_outline():
    text = page_of(charts()[1])
    curve, outline = re.findall(r'<path d="(M[^"]+)" style="stroke', text)[-2:]
    assert curve.count("L") == 1  # two of three points
    assert outline.count("L") == 5  # up, along, up, along, down


def test_a_density_is_drawn_by_class_and_one_place_by_its_share():
    text = page_of(charts()[2])
    assert len(set(re.findall(r"fill:var\(--scale-\d\)", text))) == 6  # all classes are in the legend
    assert "100 % at 0.20 to 0.60" in text
    assert ">none</text>" in text


def test_every_chart_can_be_saved(tmp_path):
    paths = save_drawings(charts("\u6a21\u578b $x"), tmp_path, ["svg"])
    assert [path.name for path in paths] == ["strip.svg", "plot.svg", "clouds.svg"]
    assert all(path.stat().st_size > 2000 for path in paths)


@pytest.mark.parametrize(("venue", "width_in"), [("cvpr-column", 3.28125), ("acl-column", 7.7 / 2.54), (None, 4.0)])
def test_saved_figures_have_the_width_of_a_column(tmp_path, venue, width_in):
    """cvpr.sty: (6.875 in - 0.3125 in) / 2; acl.sty: (16 cm - 0.6 cm) / 2. A PDF has 72 points an inch."""
    save_drawings(charts()[:1], tmp_path, ["pdf"], venue=venue)
    data = (tmp_path / "strip.pdf").read_bytes()
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", data)
    assert float(box[1]) == pytest.approx(72 * width_in, abs=0.1)
    assert b"/FontFile2" in data  # TrueType, embedded


def test_names_break_at_the_signs_that_join_their_words_and_a_line_cuts_the_rows():
    strip = charts("ours_test_ood-2")[0]
    rows = [strip.rows[0]._replace(is_cut=True), strip.rows[1]]
    text = page_of(dataclasses.replace(strip, groups=(("", tuple(rows)),), method="ours_test"))
    assert "<bdi>ours_<wbr>test_<wbr>ood-<wbr>2</bdi>" in text
    assert '<tr class="main cut">' in text
    assert "ours_<wbr>test<span" in text  # in the legend
    assert "the method" not in text


def test_a_page_begins_with_the_number_of_findings_and_links_to_the_most_serious():
    findings = tuple(
        Finding((f"Sentence {k}.",), f"Title {k}", level, section="one")
        for k, level in enumerate(("warning", "warning", "warning", "warning", "note", "good"))
    )
    headline = Finding(("Better: 3 points.",), level="good")
    text = html.page(Report("t", (Section("one", "s", findings),), headline=headline, answer=charts()[:1]))
    start = text[: text.index('<section id="one"')]
    counts = re.findall(r'<li class="(\w+)"><a href="#([\w-]+)">([^<]+)</a></li>', start)
    assert counts == [
        ("warning", "one-1-group", "4 warnings"),
        ("note", "one-5-group", "1 note"),
        ("good", "one-6-group", "2 passed"),
    ]
    assert re.findall(r'href="#(one-\d)"', start) == ["one-1", "one-2", "one-3"]
    assert 'class="level"' not in start  # "Passed" alone would stand above four warnings
    assert all(f'id="{name}"' in text for name in ("one-1", "one-1-group", "one-6-group"))


# ------------------------------------------------------------------------------------------- colours


def linear(colour):
    srgb = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """WCAG 2.2, relative luminance and contrast ratio."""
    low, high = sorted(linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_marks_have_a_contrast_of_3_to_the_paper(scheme):
    names = [*ROLES, "olive"]
    assert {
        name: contrast(scheme[name], scheme["paper"]) for name in names if contrast(scheme[name], scheme["paper"]) < 3
    } == {}


NORMAL = np.eye(3)
# Machado, Oliveira and Fernandes (2009), severity 1.
PROTAN = np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]])
DEUTAN = np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]])
TRITAN = np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]])
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(rgb):
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / [0.9505, 1, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
@pytest.mark.parametrize("sight", [NORMAL, PROTAN, DEUTAN, TRITAN])
def test_roles_of_one_figure_differ_for_every_kind_of_sight(scheme, sight):
    """CIE 1976 colour difference of 10 or more, where 2.3 is just noticeable (Sharma 2003)."""
    for one, other in itertools.combinations(("method", "floor", "other", "ceiling", "people", "reference"), 2):
        difference = np.linalg.norm(lab(sight @ linear(scheme[one])) - lab(sight @ linear(scheme[other])))
        assert difference >= 10, (one, other)


def test_roles_and_series_have_looks_of_their_own():
    assert len({(role.look.colour, role.look.marker) for role in ROLES.values()}) == len(ROLES)
    assert len({(look.colour, look.marker) for look in SERIES}) == len(SERIES)
    assert not {look.colour for look in SERIES} & {ROLES[name].look.colour for name in ("floor", "other", "ceiling")}
    assert {look.colour for look in SERIES} <= set(LIGHT.values())  # so that they follow the scheme of a page


def test_pages_of_servers_have_the_same_colours():
    answer = StaticFiles().answer("roles.css", None)
    text = bytes(answer.body).decode()
    light, dark = text.split("@media")
    for name in ROLES:
        assert f"--{name}: {LIGHT[name]};" in light
        assert f"--{name}: {DARK[name]};" in dark
