"""Chapters on the terminal, in documents and as JSON."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from truemoment.metaevaluation.agreement import agreement
from truemoment.reports.metaevaluation import delivery
from truemoment.reports.metaevaluation.agreement import chapter
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.metaevaluation.verdict import Answer, Verdict
from truemoment.reports.model import Cell, Table
from truemoment.reports.text import WIDTH

NAMES = [
    "<script>alert(1)</script>",
    "\u202eright to left",
    "x" * 3000,
    "two\nlines \x1b[31m",
    "a|b_c*d & 5 %",
    "plain",
]


def small(**changed: object) -> Chapter:
    """A chapter with one of everything."""
    rows = ((Cell("a_b"), Cell("1.5", "1 to 2", marked=True)), (Cell("c"), Cell("-")))
    table = Table("What was counted.", ("measure", "figure"), (("all", rows),))
    fields = {
        "name": "made-up",
        "title": "Is it so?",
        "said": ("It is so.", "word " * 60),
        "tables": (table,),
        "drawings": (),
        "document": {"value": 0.5},
        "notes": ("Nobody knows.",),
    }
    return Chapter(**(fields | changed))


@pytest.fixture(scope="module")
def hostile(make_systems) -> Chapter:
    return chapter(agreement(make_systems(NAMES), np.random.default_rng(0), resamples=10))


def test_the_terminal_shows_all_of_a_chapter():
    """Laid out as the docstring says: title, sentences, table with its caption, notes."""
    told = delivery.lines([small()])
    assert told[:3] == ["Is it so?", "=========", "- It is so."]
    assert told[-8:] == [
        "What was counted.",
        "measure         figure",
        "-------  -------------",
        "all",
        "a_b      1.5* (1 to 2)",
        "c                    -",
        "",
        "note: Nobody knows.",
    ]


def test_smaller_text_is_left_out_of_a_table_that_would_be_too_wide():
    cells = tuple(Cell("12.34", "10.00 to 20.00") for _ in range(8))
    table = Table("Wide.", ("m", *(f"h{at}" for at in range(8))), (("", ((Cell("a"), *cells),)),))
    told = delivery.lines([small(tables=(table,))])
    assert not [line for line in told if "10.00" in line]
    assert sum(line.count("12.34") for line in told) == 8


def test_a_table_that_is_still_too_wide_is_folded():
    """Every part begins with the first column, and no column is lost."""
    columns = [f"heading {at}" for at in range(30)]
    rows = tuple((Cell(f"row {r}"), *(Cell(f"{r}.{c:03}") for c in range(30))) for r in range(2))
    told = delivery.lines([small(tables=(Table("Wide.", ("m", *columns), (("", rows),)),))])
    assert max(map(len, told)) <= WIDTH
    shown = " ".join(told)
    assert all(f"{r}.{c:03}" in shown for r in range(2) for c in range(30))
    assert sum(line.startswith("row 0") for line in told) > 1


def test_hostile_names_do_not_widen_or_break_the_terminal(hostile):
    told = delivery.lines([hostile])
    assert max(map(len, told)) <= WIDTH
    text = "\n".join(told)
    assert not {"\u202e", "\x1b"} & set(text)
    assert all("\n" not in line for line in told)


@pytest.mark.parametrize("style", ["md", "latex"])
def test_documents_escape_what_comes_from_outside(hostile, style):
    text = "\n".join(delivery.lines([hostile], style))
    assert {"md": r"a\|b\_c\*d & 5 %", "latex": r"a$|$b\_c*d \& 5 \%"}[style] in text
    assert "<script>" not in text
    assert not {"\u202e", "\x1b"} & set(text)


def test_markdown_and_latex_have_headings_and_bold():
    told = "\n".join(delivery.lines([small()], "md"))
    assert "## Is it so?" in told
    assert "**1.5** (1 to 2)" in told
    assert "a\\_b" in told
    assert "Note: Nobody knows." in told
    told = "\n".join(delivery.lines([small()], "latex"))
    assert r"\section*{Is it so?}" in told
    assert r"\textbf{1.5} (1 to 2)" in told
    assert r"\toprule" in told
    assert r"a\_b" in told


def test_private_characters_in_names_open_no_brace():
    """They stand for mark-up inside the table; a name that holds them must not."""
    rows = ((Cell("\ue000name"), Cell("1")),)
    told = "\n".join(delivery.lines([small(tables=(Table("t", ("a", "b"), (("", rows),)),))], "latex"))
    assert "\ufffdname" in told
    assert "textbf" not in told


def test_the_answer_over_all_studies_is_said_first():
    verdict = Verdict("Select by it", (Answer("Which", ("That one.",)),), None, ("On this only.",), {"headline": "x"})
    told = delivery.lines([small()], verdict=verdict)
    assert told[0] == "Select by it"
    assert told.index("- That one.") < told.index("note: On this only.") < told.index("Is it so?")
    assert "### Which" in delivery.lines([], "md", verdict=verdict)
    assert r"\subsection*{Which}" in delivery.lines([], "latex", verdict=verdict)


def test_the_document_says_what_it_is_of(make_systems):
    scores = make_systems(["a", "b"]).first
    sources = [{"name": "a", "path": "a.jsonl", "sha256": "ab"}]
    found = delivery.document([small()], scores=scores, sources=sources, seed=7)
    assert found["schema"] == "truemoment/meta/1"
    assert found["dataset"], found["split"] == ("made-up", "test")
    assert found["annotations"] == {"sha256": "cd" * 32, "n_queries": 80, "n_videos": 40}
    assert (found["sources"], found["seed"]) == (sources, 7)
    assert found["studies"]["made-up"]["value"] == 0.5
    assert found["studies"]["made-up"]["said"][0] == "It is so."
    assert "verdict" not in found


def test_studies_without_systems_have_a_document_too():
    found = delivery.document([small()], scores=None, sources=[], seed=0)
    assert set(found) == {"schema", "truemoment", "sources", "seed", "studies"}


def test_two_chapters_of_one_name_are_both_kept():
    found = delivery.document([small(), small(document={"value": 2})], scores=None, sources=[], seed=0)
    assert [one["value"] for one in found["studies"].values()] == [0.5, 2]


def test_json_holds_whatever_a_chapter_has():
    """NaN is no JSON, and NumPy's numbers are none either."""
    document = {
        "nan": math.nan,
        "inf": [math.inf, 1.0],
        "array": np.array([[1.0, np.nan]]),
        "number": np.int64(3),
        "truth": np.bool_(True),
        "words": ("a", None),
    }
    found = delivery.document([small(document=document)], scores=None, sources=[], seed=0)["studies"]["made-up"]
    text = json.dumps(found, allow_nan=False)
    assert {key: json.loads(text)[key] for key in document} == {
        "nan": None,
        "inf": [None, 1.0],
        "array": [[1.0, None]],
        "number": 3,
        "truth": True,
        "words": ["a", None],
    }


def test_hostile_names_pass_through_json(hostile):
    found = delivery.document([hostile], scores=None, sources=[], seed=0)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
