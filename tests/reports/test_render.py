"""One report with every block, in every medium: what is shown, what is left out, what is escaped."""

import json
import re
import shutil
import subprocess

import pytest
from page_reader import Reader, without_script

from truemoment.evaluation.measures import MeanIoU, Recall
from truemoment.evaluation.repeated_measures import repeated_measures
from truemoment.report.drawing import new_figure
from truemoment.report.model import (
    Bar,
    Cell,
    Details,
    Drawing,
    Example,
    Examples,
    Finding,
    Gallery,
    KeyFigure,
    KeyFigures,
    Paragraph,
    Picture,
    Report,
    Section,
    Table,
)
from truemoment.report.render import html, latex, markdown, terminal

from ..thorough import quick_are

HOSTILE = "<script>alert(1)</script> \u202eback \x1b[31m red a|b_c*d & 5 %"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def draw():
    figure = new_figure(1.0)
    figure.add_subplot().plot([0, 1], [1, 0])
    return figure


def table(caption="Values in percent", n_rows=2, name="row"):
    rows = tuple((Cell(f"{name} {number}"), Cell("1.5", "1 to 2", marked=number == 0)) for number in range(n_rows))
    return Table(caption, ("measure", "value"), (("all", rows),))


def full(text="text from outside"):
    """Return a report with every block, `text` in each of its places for text from outside."""
    bars = (Bar("reference", "reference", 1.0, 5.0), Bar("prediction", "rank 1", 20.0, 45.0, text))
    blocks = (
        Finding((f"It is serious: {text}.",), "Check", "serious", (f"evidence {text}",)),
        Finding(("It is fine.",), "Other check", "good"),
        Finding((f"Answer {text}.", "Second sentence."), f"Question {text}"),
        Paragraph(f"Paragraph {text}"),
        KeyFigures((KeyFigure("R@1", Cell("46.8", "40 to 50"), "%", "method"),)),
        table(f"Table {text}", name=text),
        Drawing("first", text, text, draw),
        Examples((Example("a hit", text, text, text, 30.0, bars),)),
        Gallery((Picture(b"\xff\xd8", text, f"1. {text}", (text,)),)),
        Details("folded", (table("Folded table"), Drawing("second", "Second", "", draw))),
    )
    return Report(
        title=f"Report on {text}",
        sections=(Section("one", "First section", blocks), Section("two", text, (Finding((text,)),), short="Second")),
        question="Is it so?",
        facts=(("data", text),),
        headline=Finding((f"It is so: 3 points of {text}.",), level="warning", evidence=(text,)),
        answer=(KeyFigures((KeyFigure("skill", Cell("0.3", "0.2 to 0.4")),)),),
        notes=(f"Note {text}",),
        reading=(("Floor", "A blind baseline."),),
        signature=f"signature {text}",
        hashes=((text, "ab" * 32),),
    )


# ------------------------------------------------------------------------------------------- terminal


def test_the_terminal_shows_sentences_and_tables_in_order():
    lines = terminal.body(full())
    assert lines[:4] == ["data  text from outside", "", "warning  It is so: 3 points of text from outside.", ""]
    assert lines[4:9] == [
        "First section",
        "=============",
        "serious  It is serious: text from outside.",
        "good     It is fine.",
        "",
    ]
    assert lines[9:12] == ["Question text from outside", "- Answer text from outside.", "- Second sentence."]
    at = lines.index("Table text from outside")
    assert lines[at + 1 : at + 6] == [
        "measure                      value",
        "-------------------  -------------",
        "all",
        "text from outside 0  1.5 (1 to 2)*",
        "text from outside 1   1.5 (1 to 2)",
    ]
    assert terminal.closing(full()) == ["note: Note text from outside", "signature text from outside"]


def test_one_section_alone_has_no_title_in_the_terminal():
    report = Report("title", (Section("one", "First section", (table("Caption"),)),))
    assert terminal.body(report)[0] == "Caption"


def test_folded_blocks_and_pictures_are_left_to_the_page():
    text = "\n".join([*terminal.body(full()), *markdown.lines(full()), *latex.lines(full())])
    assert "Folded" not in text
    assert "rank 1" not in text


def test_smaller_text_is_left_out_of_a_table_that_is_too_wide():
    cells = tuple(Cell("12.34", "10.00 to 20.00") for _ in range(8))
    wide = Table("Wide", ("m", *(f"h{at}" for at in range(8))), (("", ((Cell("a"), *cells),)),))
    lines = terminal.body(Report("t", (Section("one", "", (wide,)),)))
    assert not [line for line in lines if "10.00" in line]
    assert sum(line.count("12.34") for line in lines) == 8


@pytest.mark.parametrize("name", ["holiday-" * 25, "電影" * 40])
def test_a_long_name_loses_as_much_of_its_middle_as_does_not_fit(name):
    """East Asian characters are two columns wide; the table beside the name has 18."""
    table = Table("", ("rank", "video", "score"), (("", ((Cell("1"), Cell(name), Cell("0.5")),)),), text_columns=(1,))
    row = terminal.body(Report("", (Section("s", "S", (table,)),)))[-1]
    width = sum(2 if "\u2e80" < c < "\uffff" else 1 for c in row)
    assert 96 <= width <= 100
    start, end = row.split()[1].split("…")
    assert name.startswith(start)
    assert name.endswith(end)
    assert abs(len(start) - len(end)) <= 1


def test_a_table_that_is_still_too_wide_is_folded():
    """Every part begins with the first column, and no column is lost."""
    rows = tuple((Cell(f"row {r}"), *(Cell(f"{r}.{c:03}") for c in range(30))) for r in range(2))
    wide = Table("Wide", ("m", *(f"heading {at}" for at in range(30))), (("", rows),))
    lines = terminal.body(Report("t", (Section("one", "", (wide,)),)))
    assert max(map(len, lines)) <= terminal.WIDTH
    shown = " ".join(lines)
    assert all(f"{r}.{c:03}" in shown for r in range(2) for c in range(30))
    assert sum(line.startswith("row 0") for line in lines) > 1


def test_groups_keep_their_titles_under_headings_of_several_lines():
    groups = (("Method", ((Cell("ours"), Cell("1.0")),)), ("Floors", ((Cell("blind"), Cell("2.0")),)))
    lines = terminal.body(Report("t", (Section("one", "", (Table("Caption", ("", "two words " * 5), groups),)),)))
    assert [line.split(" ")[0] for line in lines[-4:]] == ["Method", "ours", "Floors", "blind"]


def test_a_path_is_not_broken_so_that_it_can_be_copied():
    path = "/a/very/long/path" * 12
    assert path in "\n".join(terminal.body(Report("t", (), facts=(("predictions", f"{path}: native"),))))


@pytest.mark.parametrize("lines", [terminal.body, terminal.closing, markdown.lines, latex.lines])
def test_nothing_from_outside_steers_a_terminal_or_breaks_a_line(lines):
    shown = lines(full(HOSTILE + "\nsecond line"))
    assert shown
    assert not {"\u202e", "\x1b", "\n"} & set("".join(shown))


def test_markdown_and_latex_escape_and_mark_up():
    text = "\n".join(markdown.lines(full(HOSTILE)))
    assert r"a\|b\_c\*d & 5 %" in text
    assert "<script>" not in text
    assert "## First section" in text
    assert "- **serious** " in text
    assert "**1.5** (1 to 2)" in text
    text = "\n".join(latex.lines(full(HOSTILE)))
    assert r"a$|$b\_c*d \& 5 \%" in text
    assert r"\section*{First section}" in text
    assert r"\paragraph{serious} " in text
    assert r"\textbf{1.5} (1 to 2)" in text
    assert r"\toprule" in text


# ----------------------------------------------------------------------------------------------- page


@pytest.fixture(scope="module")
def page():
    return html.page(full(HOSTILE), command="truemoment evaluate")


@pytest.fixture(scope="module")
def read(page):
    return Reader(page)


def test_a_page_is_well_formed_and_shows_every_block(read):
    assert not read.faults
    text = " ".join(" ".join(data for _, data in read.text).split())
    for words in ("Is it so?", "Serious", "Passed", "evidence", "rank 1", "Folded table", "A blind baseline.", "46.8"):
        assert words in text
    assert text.count("truemoment evaluate") == 1


def test_nothing_from_outside_becomes_an_element_or_steers_the_text(page):
    assert "script" not in {tag for tag, _ in Reader(without_script(page)).elements}
    assert not {"\u202e", "\x1b"} & set(page)


def test_a_page_needs_no_network_and_has_no_control_of_its_script(page):
    assert not re.search(r'(src|href|action)="(?!#|data:)', page)
    assert "url(http" not in page
    assert not {"button", "input"} & {tag for tag, _ in Reader(without_script(page)).elements}


def wide_table(n_measures):
    """Return a table of R@n,IoU=0.5 of two methods, which have one prediction a query; the last measure is mIoU."""
    measures = [Recall(n, 0.5) for n in range(1, n_measures)] + [MeanIoU()]
    rows = tuple(
        (Cell(name), *(Cell(value) for _ in measures[:-1]), Cell("7.0")) for name, value in (("a", "1"), ("b", "2"))
    )
    repeats = repeated_measures(measures, rows, first=1)
    return Table("All", ("method", *map(str, measures)), (("", rows),), repeats=repeats)


def test_a_wide_table_folds_the_measures_that_repeat_others():
    text = html.page(Report("t", (Section("one", "s", (wide_table(8),)),)))
    shown, folded = text.split("<summary>6 more measures that repeat these</summary>")
    assert re.findall(r"R@\d|mIoU", shown[shown.index("<thead>") : shown.index("</thead>")]) == ["R@1", "mIoU"]
    heads = folded[folded.index("<thead>") : folded.index("</thead>")]
    assert re.findall(r"R@\d", heads) == [f"R@{n}" for n in range(2, 8)]
    assert "R@2,IoU=0.5 equals R@1,IoU=0.5 in every row; R@3" in folded
    assert "<bdi>a</bdi>" in folded


def test_a_table_that_fits_folds_no_measure():
    assert wide_table(7).repeats
    assert "<summary>" not in html.page(Report("t", (Section("one", "s", (wide_table(7),)),)))


def test_ids_of_a_page_are_its_own_and_links_lead_to_them(read):
    ids = [attrs["id"] for _, attrs in read.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = [attrs["href"] for tag, attrs in read.elements if tag == "a"]
    assert {link[1:] for link in links} <= set(ids)
    assert "#two" in links


def test_sections_of_one_name_have_anchors_of_their_own():
    report = Report("t", tuple(Section("same", f"{number}", (Paragraph("p"),)) for number in range(2)))
    assert report.anchors == ["same", "same-2"]


def test_a_long_table_is_folded_and_a_short_one_is_not():
    def page_of(n_rows):
        return html.page(Report("t", (Section("one", "s", (table("Long one. More of it.", n_rows),)),)))

    assert "<summary><bdi>Long one (17 rows)</bdi></summary>" in page_of(17)
    assert "<summary>" not in page_of(16)


@pytest.mark.parametrize(
    ("start_s", "end_s", "note"),
    [
        (1.0, 5.0, ""),
        (5.0, 1.0, "ends before it starts"),
        (5.0, 5.0, "has no length"),
        (20.0, 32.0, "past the end of the video"),
        (20.0, 50.0, "past the end of the video, further than is drawn"),
        (-1.0, 5.0, "begins before the video"),
    ],
)
def test_time_lines_name_what_is_wrong_with_a_moment(start_s, end_s, note):
    example = Example("why", "q", "v", "sentence", 30.0, (Bar("prediction", "rank 1", start_s, end_s),))
    text = html.page(Report("t", (Section("one", "s", (Examples((example,)),)),)))
    times = re.search(r'<span class="times">(.*?)</span>', text)[1]
    assert times.partition(", ")[2] == note


def test_a_table_without_a_caption_has_a_name_and_no_empty_paragraph():
    text = html.page(Report("t", (Section("one", "s", (table(""),)),)))
    assert '<table aria-label="Table one 1">' in text
    assert 'class="caption"' not in text


def test_a_fragment_is_the_report_without_the_frame_of_a_page():
    text = html.fragment(full(HOSTILE))
    assert not Reader(text).faults
    assert text.lstrip().startswith('<div class="truemoment">')
    assert "<html" not in text
    assert ":root" not in text  # its style does not reach the notebook around it
    assert "<footer" not in text


LOOK = """
<body><script>
const frame = document.createElement("iframe");
frame.style = "width: WIDTHpx; height: 900px; border: 0";
frame.srcdoc = PAGE;
frame.onload = () => {
  const page = frame.contentDocument, out = [];
  for (const element of page.querySelectorAll("body *")) {
    const box = element.getBoundingClientRect();
    if (element.closest(".skip") || !box.width || (element.closest(".scroll") && !element.matches(".scroll"))) continue;
    if (box.right > WIDTH + 1 || box.left < -1) out.push(element.tagName + " " + element.textContent.slice(0, 40));
  }
  document.body.innerHTML = "<pre>" + JSON.stringify(out).replaceAll("<", "&lt;") + "</pre>";
};
document.body.append(frame);
</script></body>
"""


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to lay the page out")
@pytest.mark.parametrize("width", quick_are([360], [360, 1400]))
def test_no_part_of_a_page_is_wider_than_the_screen(page, tmp_path, width):
    text = json.dumps(page).replace("</", "<\\/")
    (tmp_path / "look.html").write_text(LOOK.replace("WIDTH", str(width)).replace("PAGE", text), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile"]
    command = [CHROMIUM, *options, "--virtual-time-budget=5000", "--dump-dom", f"file://{tmp_path}/look.html"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert re.search(r"<pre>(.*?)</pre>", done.stdout)[1] == "[]"


def test_the_longest_verdict_of_an_audit_stands_apart_from_its_figures():
    words = "Not decided, and at most a little better than the 14 blind baselines tried, "
    words += "2 of which read the video&#39;s other sentences"
    finding = Finding((f"{words.replace('&#39;', chr(39))}: 0.1 points above PredictAll.",))
    assert f"<bdi>{words}</bdi>" in html.page(Report("title", (), headline=finding))
