"""A report in 25 lines: the answer first, what is left out is counted, and a report that fits is whole."""

import math

import pytest

from truemoment.report.model import Cell, Finding, Paragraph, Report, Section, Table
from truemoment.report.render import brief
from truemoment.report.words import columns_of

SIGNATURE = "protocol:default|" + "data:" * 50
LEVELS = ("good", "note", "warning", "serious")


def height(lines):
    return sum(max(1, math.ceil(columns_of(line) / 100)) for line in lines)


def table(n_rows, n_columns=2, caption=""):
    rows = tuple(
        (Cell(f"row {row}"), *(Cell("12.34", "10 to 14") for _ in range(n_columns - 1))) for row in range(n_rows)
    )
    return Table(caption, ("measure", *(f"column {at}" for at in range(n_columns - 1))), (("", rows),))


def report(n_rows=30, n_findings=3, words="is so", n_columns=2, **parts):
    findings = tuple(Finding((f"{level} {n} {words}.",), level=level) for level in LEVELS for n in range(n_findings))
    blocks = (*findings, table(n_rows, n_columns))
    named = {
        "headline": Finding((f"The answer {words}.",), level="good"),
        "facts": (("data", f"test {words}"), ("predictions", f"file {words}"), ("floors", "12")),
        "notes": (f"first {words}", "second"),
        "signature": SIGNATURE,
    }
    return Report("title", (Section("one", "One", blocks), Section("two", "Two", (table(3),))), **(named | parts))


@pytest.mark.parametrize("words", ["is so", "long words " * 40, "x" * 300, "電影 " * 90])
@pytest.mark.parametrize("n_findings", [0, 9])
@pytest.mark.parametrize("n_columns", [2, 30])
def test_it_fits_and_begins_with_the_answer_and_ends_with_facts(words, n_findings, n_columns):
    lines = brief.lines(report(60, n_findings, words, n_columns), more="--full")
    assert height(lines) <= 25
    assert lines[0].startswith("good     The answer")
    assert lines[-1] == SIGNATURE
    assert [line.split()[0] for line in lines[-3:-1]] == ["data", "predictions"]


def test_a_report_that_fits_is_whole():
    lines = brief.lines(report(2, 0, facts=()))
    assert "row 1    12.34 (10 to 14)" in lines
    assert "note: second" in lines
    assert not [line for line in lines if line.startswith("More")]


def test_the_worst_findings_come_first_and_the_others_are_counted():
    lines = brief.lines(report(), more="--full")
    shown = [line.split()[0] for line in lines if line.startswith(LEVELS)][1:]
    assert shown == sorted(shown, key=("serious", "warning", "note", "good").index)
    assert shown[:6] == ["serious"] * 3 + ["warning"] * 3
    n_notes, n_good = 5 - shown.count("note"), 3 - shown.count("good")
    (rest,) = [line for line in lines if line.startswith("More")]
    counts = ", ".join(f"{count} {name}" for count, name in ((n_notes, "notes"), (n_good, "good findings")) if count)
    assert rest == f"More with --full: {counts} and 1 table."


def test_rows_and_columns_that_are_left_out_are_counted():
    lines = brief.lines(report(n_findings=0, n_columns=30))
    first = next(at for at, line in enumerate(lines) if line.startswith("row 0"))
    n_rows = sum(line.startswith("row ") for line in lines)
    assert n_rows == 10  # of the 25 lines, three are for notes
    assert lines[first + n_rows].startswith(f"… {30 - n_rows} more rows and ")
    assert lines[first + n_rows].endswith(" more columns")


def test_the_answer_of_a_study_replaces_the_first_table():
    answer = (Paragraph("It is as published."), table(2, caption="The answer"))
    lines = brief.lines(report(headline=None, answer=answer))
    assert lines[:3] == ["It is as published.", "", "The answer"]
    assert sum(line.startswith("row ") for line in lines) == 2
    assert "2 tables" in next(line for line in lines if line.startswith("More"))


def test_sentences_after_a_headline_without_a_level_have_its_dash():
    lines = brief.lines(report(headline=Finding(("A is above B.",)), answer=(Paragraph("B is above C."),)))
    assert lines[:3] == ["- A is above B.", "- B is above C.", ""]


def test_sentences_without_a_level_are_the_answer_where_there_is_no_headline():
    several = tuple(Finding((f"Moments of {name} are short.", "Second."), title=name) for name in ("a", "b"))
    long = Section("three", "Three", (table(60),))
    lines = brief.lines(Report("title", (Section("one", "One", several), long)))
    assert lines[:6] == ["a", "- Moments of a are short.", "- Second.", "b", "- Moments of b are short.", "- Second."]
    many = several * 5
    lines = brief.lines(Report("title", (Section("one", "One", many), long)))
    assert lines[:2] == ["a: Moments of a are short.", "b: Moments of b are short."]


def test_a_caution_is_shown_with_its_numbers_and_its_end():
    caution = f"by force: test-iid has 12 shared queries; {'clean has 3 of the films; ' * 40}figures are too good"
    lines = brief.lines(report(facts=(("data", "test"), ("floors", "12"), ("reads", "?"), ("caution", caution))))
    shown = " ".join(line.strip() for line in lines)
    assert height(lines) <= 25
    assert "caution  by force: test-iid has 12 shared queries; " in shown
    assert "figures are too good" in shown
    assert "reads" not in shown
