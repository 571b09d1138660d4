"""The page of a report in a browser: what its script adds, what print has, and what is there without a script."""

import re
import zlib

import numpy as np
import pytest
from PIL import Image

from truemoment.report.charts import Plot, PlotCurve, StripChart, StripMark, StripRow
from truemoment.report.drawing import new_figure
from truemoment.report.model import Cell, Details, Drawing, Finding, Paragraph, Report, Section, Table
from truemoment.report.render.html import page as page_of
from truemoment.report.roles import SERIES

from ..thorough import quick_are

pytestmark = pytest.mark.slow

URL = f"https://example.org/{'alongnameofapaper' * 20}.pdf"
HOSTILE = '<img src=x onerror="alert()">'
FOREIGN = ("一个男人打开门，然后坐在桌子旁边" * 20, "رجل يفتح الباب ثم يجلس " * 20)
VALUES = ("48.5 ± 2", "9.25 (8 to 10)", "undefined", "\u22121.5", "< 0.001", "1,000", "9.25 bc")
"""By their numbers: 1,000, 48.5, 9.25 twice, below 0.001, -1.5, none."""
DOWNWARD = ["f", "a", "b", "g", "e", "d", "c"]
UPWARD = ["d", "e", "b", "g", "a", "f", "c"]


def draw():
    figure = new_figure(2.0)
    axes = figure.add_subplot()
    axes.barh([0, 1], [46.84, 21.9], height=0.6)
    axes.hlines([0], [44.67], [48.8])
    axes.set_yticks([0, 1], ["the method", HOSTILE])
    axes.set_ylim(1.5, -0.5)
    axes.set_xlabel("R@1, %")
    return figure


def table(caption, names, values):
    rows = tuple((Cell(name), Cell(value)) for name, value in zip(names, values, strict=True))
    return Table(caption, ("method", "R@1,IoU=0.5"), (("Floors", rows[:-1]), ("Ceilings", rows[-1:])))


def charts():
    rows = tuple(
        StripRow(name, (StripMark("method", value, (value - 2, value + 2)), StripMark("floor", 20.0)), "1,200")
        for name, value in (("a_b", 40.0), (HOSTILE, 90.0))
    )
    curve = PlotCurve("the method", SERIES[0], (0.0, 0.5, 1.0), (90.0, 50.0, 10.0))
    return (
        StripChart("strip", "A strip chart", "", "R@1, %", (("Group", rows),), note="queries"),
        Plot("plot", "A plot", "", "threshold", "% of the queries", (curve,)),
    )


def report():
    wide = Table("Wide", ("", *(f"column {n}" for n in range(9))), (("", (tuple(map(Cell, "abcdefghij")),)),))
    long_names = [f"row {n} {HOSTILE if n == 4 else ''}" for n in range(15)]
    long_notes = [Cell(name, URL if name == "a" else "") for name in ("b 10", "a", "b 9")]
    tables = (
        table("Numbers.", [*"abcdefg", "last"], [*VALUES, "7"]),
        Table(
            "Names.", ("name", "of"), (("", tuple((name, Cell("x", "18.4–20.0", marked=True)) for name in long_notes)),)
        ),
        table("Many rows.", long_names, [str(n) for n in range(15)]),
        wide,
    )
    finding = Finding(("It is so: 3 points.",), "Check", "good", ("the evidence",), section="figures")
    drawings = tuple(Drawing(name, "A figure", "What it shows.", draw) for name in ("one", "two"))
    sections = [
        Section(
            "findings", "Findings", (finding, Details("Folded", tuple(map(Paragraph, ("what was folded", *FOREIGN)))))
        )
    ]
    sections += [Section("tables", "Tables", tables), Section("figures", "Figures", (*drawings, *charts()))]
    return Report("A report", tuple(sections), question="Is it so?", headline=finding, reading=(("Floor", "Blind."),))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page_of(report()), encoding="utf-8")
    return path


@pytest.fixture
def opened(chromium, path):
    """Open the page: opened(width, **settings of the browser) -> page; no page asks for anything or complains."""
    pages, faults = [], []

    def open_page(width=1400, **settings):
        context = chromium.new_context(viewport={"width": width, "height": 800}, **settings)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text))
        page.on("request", lambda request: faults.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        pages.append(page)
        return page

    yield open_page
    for page in pages:
        page.context.close()
    assert faults == []


def column(page, number, at=0):
    """Return a column of a table as it is shown, without the titles of groups."""
    rows = page.locator("table").nth(number).locator("tbody tr:not(.group-title):visible")
    return [row.locator("th, td").nth(at).locator("bdi").inner_text() for row in rows.all()]


# --------------------------------------------------------------------------------------------- tables


def test_numbers_sort_as_numbers_within_their_group_and_the_third_time_restores_the_order(opened):
    page = opened()
    head = page.get_by_role("columnheader", name="R@1,IoU=0.5").first
    button = head.get_by_role("button")
    for order, names in (("descending", DOWNWARD), ("ascending", UPWARD), (None, [*"abcdefg"])):
        button.click()
        assert head.get_attribute("aria-sort") == order
        assert column(page, 0) == [*names, "last"]  # of another group; equal figures in the order of the report
    assert page.locator("tbody .group-title").first.inner_text() == "Floors"


def test_words_sort_as_words_by_keyboard_and_one_column_at_a_time_is_sorted(opened):
    page = opened()
    name, of = page.locator("table").nth(1).get_by_role("button").all()
    name.focus()
    page.keyboard.press("Enter")
    assert column(page, 1) == ["a", "b 9", "b 10"]
    page.keyboard.press("Space")
    assert column(page, 1) == ["b 10", "b 9", "a"]
    of.click()
    assert column(page, 1) == ["b 10", "a", "b 9"]  # all equal: the order of the report
    assert page.locator("table").nth(1).locator("[aria-sort]").count() == 1


def test_a_long_table_has_a_field_that_filters_its_rows(opened):
    page = opened()
    fields = page.get_by_role("searchbox", name="Filter rows")
    assert fields.count() == 1
    fields.fill("ROW 1")
    assert column(page, 2) == ["row 1", *(f"row {n}" for n in range(10, 15))]
    assert page.locator(".filter [role=status]").inner_text() == "6 of 15 rows"
    fields.fill("ceilings 14")  # the title of the group counts, and a group without rows is not shown
    assert column(page, 2) == ["row 14"]
    assert page.locator("table").nth(2).locator(".group-title:visible").all_inner_texts() == ["Ceilings"]
    fields.fill("onerror")
    assert column(page, 2) == [f"row 4 {HOSTILE}"]
    fields.fill("")
    assert len(column(page, 2)) == 15


def test_a_table_says_that_it_scrolls_only_where_it_does(opened):
    for width, scrolling in ((1400, 0), (400, 1)):
        page = opened(width)
        page.wait_for_timeout(100)  # the page looks after it is laid out
        assert page.locator(".hint:visible").all_inner_texts() == ["This table scrolls sideways."] * scrolling
        assert page.locator(".scroll[tabindex]").count() == scrolling
        assert page.evaluate("document.documentElement.scrollWidth") == width


# -------------------------------------------------------------------------------------------- figures


def test_a_figure_shows_the_value_under_the_pointer(opened):
    page = opened()
    tip = page.locator(".tip")
    bar = page.locator("#figure-one .marks rect").first
    bar.hover()
    assert tip.inner_text().splitlines() == ["the method", "R@1, %: 46.84 (44.67 to 48.80)"]
    page.locator("#figure-one .marks rect").nth(1).hover()
    assert tip.inner_text().splitlines() == [HOSTILE, "R@1, %: 21.90"]
    box = tip.bounding_box()
    assert 0 <= box["x"] <= box["x"] + box["width"] <= 1400
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    bar.hover()
    page.mouse.move(5, 5)
    assert tip.is_hidden()
    assert page.locator("figure svg title").count() == 0  # the browser would show a second one


def test_a_figure_shows_its_values_by_keyboard(opened):
    page = opened()
    tip = page.locator(".tip")
    page.locator("#figure-one .menu summary").focus()
    page.keyboard.press("Tab")
    assert tip.inner_text().startswith("the method")
    page.keyboard.press("ArrowRight")
    assert tip.inner_text().startswith(HOSTILE)
    page.keyboard.press("ArrowDown")  # the last one
    assert tip.inner_text().startswith(HOSTILE)
    page.keyboard.press("Home")
    assert tip.inner_text().startswith("the method")
    assert tip.is_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('figure').id") == "figure-two"
    assert tip.is_hidden()


def test_a_figure_shows_its_values_to_a_finger(opened):
    page = opened(400, has_touch=True, is_mobile=True)
    page.locator("#figure-one .marks rect").first.tap()
    tip = page.locator(".tip")
    assert tip.inner_text().startswith("the method")
    box = tip.bounding_box()
    assert 0 <= box["x"] <= box["x"] + box["width"] <= 400
    page.locator("#figures h2").tap()
    assert tip.is_hidden()


# ------------------------------------------------------------------------- what is copied and saved


LATEX = r"""\begin{tabular}{lrrr}
\toprule
 & the method, R@1, \% & strongest floor, R@1, \% & queries \\
\midrule
Group &  &  &  \\
a\_b & 40.0 (38.0 to 42.0) & 20.0 & 1,200 \\
$<$img src=x onerror="alert()"$>$ & 90.0 (88.0 to 92.0) & 20.0 & 1,200 \\
\bottomrule
\end{tabular}
"""
CSV = ""","the method, R@1, %","strongest floor, R@1, %",queries
Group,,,
a_b,40.0 (38.0 to 42.0),20.0,"1,200"
"<img src=x onerror=""alert()"">",90.0 (88.0 to 92.0),20.0,"1,200"
"""


def test_a_figure_is_copied_as_a_table_and_saved_as_a_drawing(opened, tmp_path):
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    figure = page.locator("#figure-strip")
    figure.locator(".menu summary").click()
    for form, text in (("LaTeX", LATEX), ("CSV", CSV)):
        figure.get_by_role("button", name=form).click()
        page.wait_for_function(
            "() => document.querySelector('#figure-strip button')?.closest('div').textContent.includes('Copied')"
        )
        page.wait_for_function("(text) => navigator.clipboard.readText().then((copied) => copied === text)", arg=text)
    page.wait_for_function("() => !document.querySelector('#figure-strip .menu').textContent.includes('Copied')")
    for name, words in (("strip", "1,200"), ("plot", "the method"), ("one", "the method")):
        menu = page.locator(f"#figure-{name} .menu")
        if name != "strip":
            menu.locator("summary").click()
        with page.expect_download() as download:
            menu.get_by_role("button", name="SVG").click()
        assert download.value.suggested_filename == f"{name}.svg"
        download.value.save_as(tmp_path / "saved.svg")
        saved = (tmp_path / "saved.svg").read_text(encoding="utf-8")
        assert "var(--" not in saved  # it has its colours without the page
        assert words in saved
    for form in ("PNG", "PDF"):
        with page.expect_download() as download:
            figure.get_by_role("button", name=form).click()
        download.value.save_as(tmp_path / f"saved.{form}")
    with Image.open(tmp_path / "saved.PNG") as picture:
        colours = np.asarray(picture.convert("RGB"))
    assert len(np.unique(colours @ (1, 256, 65_536))) > 2  # something is drawn
    objects = pdf_objects((tmp_path / "saved.PDF").read_bytes())
    height, width, _ = colours.shape
    assert f"/MediaBox [0 0 {width / 4:g} {height / 4:g}]".encode() in objects[2]  # 72 points an inch, 288 pixels
    head, _, rest = objects[4].partition(b"stream\n")
    length = int(re.search(rb"/Length (\d+)", head)[1])
    assert rest[length:] == b"\nendstream\nendobj\n"
    assert zlib.decompress(rest[:length]) == colours.tobytes()


def pdf_objects(data):
    """Return what lies between the objects that the table at the end of a PDF file names (ISO 32000-1, 7.5)."""
    assert data.startswith(b"%PDF-1.4\n")
    table = int(re.search(rb"startxref\n(\d+)\n%%EOF\n$", data)[1])
    rows = re.match(rb"xref\n0 (\d+)\n((?:\d{10} \d{5} [fn] \n)+)trailer\n", data[table:])
    begins = [int(row[:10]) for row in rows[2].splitlines()[1:]]
    assert int(rows[1]) == len(begins) + 1
    objects = [data[begin:end] for begin, end in zip(begins, [*begins[1:], table], strict=True)]
    assert all(one.startswith(f"{number} 0 obj\n".encode()) for number, one in enumerate(objects, start=1))
    return objects


# ------------------------------------------------------------------------------- contents, folds, print


def test_the_contents_list_stays_in_view_and_follows_the_reader(opened):
    page = opened()
    contents = page.get_by_role("navigation", name="Contents")
    contents.get_by_role("link", name="Figures").click()
    assert contents.locator("a").first.is_visible()
    assert 0 <= contents.bounding_box()["y"] < 100
    page.wait_for_function("() => document.querySelector('nav [aria-current]')?.textContent === 'Figures'")
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_function("() => document.querySelector('nav [aria-current]')?.textContent === 'Main finding'")


def test_on_a_phone_the_contents_list_is_a_line_that_stays_in_view(opened):
    page = opened(400)
    contents = page.get_by_role("navigation", name="Contents")
    link = contents.get_by_role("link", name="Figures")
    assert link.is_hidden()
    contents.get_by_text("Contents").click()
    link.click()
    assert link.is_hidden()
    page.wait_for_function("() => scrollY > 500")
    bar = contents.bounding_box()
    assert abs(bar["y"]) < 1
    assert page.locator("#figures h2").bounding_box()["y"] >= bar["height"] - 1  # not below the line


def test_details_fold_one_by_one_and_all_at_once(opened):
    page = opened()
    folded = page.get_by_text("what was folded")
    assert folded.is_hidden()
    page.get_by_text("Folded", exact=True).click()
    assert folded.is_visible()
    page.get_by_role("button", name="Open all details").click()
    assert page.locator("main details:not([open]):not(.menu)").count() == 0
    page.get_by_role("button", name="Close all details").click()
    assert folded.is_hidden()


@pytest.mark.parametrize("width", quick_are([1400], [400, 1400]))
def test_print_shows_what_is_folded_and_no_control(opened, width):
    page = opened(width)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.get_by_text("what was folded").is_visible()
    assert page.locator("nav, .filter, .hint, .tip, .menu").filter(visible=True).count() == 0
    assert page.locator("table").nth(2).is_visible()
    heading = page.locator("thead button").first
    # Chromium paints no box of a button again where a table goes on on the next page, but does paint text.
    assert heading.evaluate("button => getComputedStyle(button).display") == "contents"
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.get_by_text("what was folded").is_hidden()


# ------------------------------------------------------------------------------- everybody, everywhere


@pytest.mark.parametrize("width", quick_are([400], [400, 1400]))
@pytest.mark.parametrize("colours", quick_are(["light"], ["light", "dark"]))
def test_the_page_breaks_no_rule_of_accessibility(chromium, path, axe, width, colours):
    page = chromium.new_page(
        viewport={"width": width, "height": 800}, color_scheme=colours, reduced_motion="reduce", bypass_csp=True
    )
    page.goto(path.as_uri())
    page.locator("thead button").first.click()
    page.locator("main summary").first.click()
    page.locator("#figure-one svg").focus()
    page.keyboard.press("Home")
    assert page.locator(".tip").is_visible()
    assert axe(page) == []
    page.close()


@pytest.mark.parametrize("width", quick_are([400], [400, 1400]))
def test_without_a_script_all_is_there_and_no_control_is_dead(opened, width):
    page = opened(width, java_script_enabled=False)
    assert page.locator("button, input, .tip, .hint").count() == 0
    assert page.locator("nav").get_by_role("link", name="Figures").is_visible()
    page.get_by_text("Folded", exact=True).click()
    assert page.get_by_text("what was folded").is_visible()
    assert column(page, 0) == [*"abcdefg", "last"]
    assert page.locator("#figure-one .marks title").first.text_content().startswith("the method\n")
    assert page.locator(".scroll[tabindex='0']").count() == 4
