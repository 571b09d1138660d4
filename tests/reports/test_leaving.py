"""Text from outside in every field of a report: no renderer and no encoder lets through what steers or hides."""

import json
import unicodedata

import pytest

from truemoment.base.boundary.documents import json_text
from truemoment.base.boundary.files import write_text
from truemoment.base.boundary.tables import csv_of
from truemoment.report.drawing import drawing_style, inline_svg, new_figure, save_drawings
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
    Remarks,
    Report,
    Section,
    Table,
)
from truemoment.report.render import html, latex, markdown, terminal

EVIL = "<b>\x1b[31m\x07\u202e\u200b\x9b1m\u2028\nFORGED\r\udcff"


def draw():
    """Draw a figure with names in all places of text."""
    name = EVIL.removesuffix("\udcff")  # which text of a file cannot have, and names of files have no more
    figure = new_figure(2.0)
    axes = figure.subplots()
    axes.bar([0, 1], [1, 2], label=name)
    axes.set_xticks([0, 1], [name, "b"])
    axes.set_title(name)
    axes.legend()
    return figure


DRAWING = Drawing("figure", EVIL, EVIL, draw, lambda: [{"name": EVIL, EVIL: 1.0}])
CELL = Cell(EVIL, EVIL, marked=True)
BLOCKS = (
    Finding((EVIL,), title=EVIL, evidence=(EVIL,)),
    Finding((EVIL,), level="warning"),
    Remarks((EVIL,), title=EVIL),
    Paragraph(EVIL),
    Table(EVIL, (EVIL, EVIL), ((EVIL, ((CELL, CELL),)),)),
    Details(EVIL, (Paragraph(EVIL), Table(EVIL, (EVIL, EVIL), (("", ((CELL, CELL),)),)))),
    Examples((Example(EVIL, EVIL, EVIL, EVIL, 9.0, (Bar("reference", EVIL, 1.0, 2.0, EVIL),)),)),
    Gallery((Picture(None, EVIL, EVIL, (EVIL,)),)),
    DRAWING,
)
REPORT = Report(
    EVIL,
    (Section("one", EVIL, BLOCKS, EVIL), Section("two", EVIL, BLOCKS)),
    question=EVIL,
    facts=((EVIL, EVIL),),
    headline=Finding((EVIL,), title=EVIL),
    notes=(EVIL,),
    reading=((EVIL, EVIL),),
    signature=EVIL,
    hashes=((EVIL, EVIL),),
    browse=EVIL,
    answer=(KeyFigures((KeyFigure(EVIL, CELL, EVIL),)),),
)


def lines_of(style):
    """Return the lines of the report in a style."""
    return "\n".join(style.lines(REPORT))


WRITTEN = {
    "terminal": lambda: "\n".join([*terminal.body(REPORT), *terminal.closing(REPORT)]),
    "markdown": lambda: lines_of(markdown),
    "latex": lambda: lines_of(latex),
    "document in Markdown": lambda: markdown.document(REPORT, command=EVIL),
    "page": lambda: html.page(REPORT, command=EVIL),
    "notebook": lambda: html.fragment(REPORT),
    "figure": lambda: inline_svg(DRAWING),
    "JSON": lambda: json_text({EVIL: [EVIL]}),
}


@pytest.mark.parametrize("form", WRITTEN)
def test_nothing_that_steers_or_hides_leaves(form):
    text = WRITTEN[form]()
    assert r"\u202e" in text.replace(r"\textbackslash{}", "\\").replace("\\\\", "\\")
    assert "<b>" not in text or form not in ("page", "notebook", "figure")
    assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in "\n\t"]
    if form in ("markdown", "latex", "document in Markdown", "JSON"):  # a terminal's table wraps its headings
        assert not [line for line in text.splitlines() if line.startswith("FORGED")]
    text.encode()


def test_a_document_holds_the_same_text():
    assert json.loads(json_text({"name": EVIL})) == {"name": EVIL.replace("\udcff", r"\xff")}


def test_files_hold_nothing_that_steers_or_hides(tmp_path):
    with drawing_style():
        save_drawings([DRAWING], tmp_path)
    write_text(tmp_path / "rows.csv", csv_of([{EVIL: EVIL}, {EVIL: f"={EVIL}"}]))
    assert (tmp_path / "rows.csv").read_text().count("\"'=<b>") == 1
    for path in [*tmp_path.glob("*.svg"), *tmp_path.glob("*.csv")]:
        text = path.read_bytes().decode()
        assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\n\t"], path
