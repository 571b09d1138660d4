"""Tables for the terminal, Markdown and LaTeX."""

import pytest

from truemoment.report.render.tabular import escaped, render

HEADINGS = ["measure", "%", "queries"]
ROWS = [["R@1,IoU=0.5", "46.84", "3,375"], ["mIoU", "44.28", "3,375"]]


def test_plain():
    assert render(HEADINGS, ROWS, numbers=[1, 2]).splitlines() == [
        "measure          %    queries",
        "-----------  -----  ---------",
        "R@1,IoU=0.5  46.84      3,375",
        "mIoU         44.28      3,375",
    ]


def test_markdown():
    # A colon at the right end of the rule aligns a column to the right (GitHub's tables).
    assert render(HEADINGS, ROWS, style="md", numbers=[1, 2]).splitlines() == [
        "| measure     |     % |   queries |",
        "|:------------|------:|----------:|",
        "| R@1,IoU=0.5 | 46.84 |     3,375 |",
        "| mIoU        | 44.28 |     3,375 |",
    ]


def test_latex():
    headings = [escaped(heading, "latex") for heading in HEADINGS]
    lines = [" ".join(line.split()) for line in render(headings, ROWS, style="latex", numbers=[1, 2]).splitlines()]
    # The rules of the package booktabs; the percent sign would otherwise begin a comment.
    assert lines == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"measure & \% & queries \\",
        r"\midrule",
        r"R@1,IoU=0.5 & 46.84 & 3,375 \\",
        r"mIoU & 44.28 & 3,375 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


@pytest.mark.parametrize("style", ["plain", "md", "latex"])
def test_figures_are_text_and_stay_as_they_are(style):
    # No rounding, no dropping of zeros, no reading of "1e3" or "007" as numbers.
    cells = ["50.00", "0.10", "1e3", "007", "-0.00", "1,234", "-", "inf"]
    table = render(["a"], [[cell] for cell in cells], style=style, numbers=[0])
    words = table.replace("|", " ").replace("\\\\", " ").split()
    assert [word for word in words if word in cells] == cells


@pytest.mark.parametrize("style", ["plain", "md", "latex"])
def test_no_rows(style):
    assert "measure" in render(HEADINGS, [], style=style, numbers=[1])


def test_text_that_would_break_a_table():
    assert escaped("a & b_c $d$\n #e", "latex") == r"a \& b\_c \$d\$ \#e"


def test_no_text_is_a_rule_of_the_table():
    table = render(["a"], [[escaped(r"\hline", "latex")]], style="latex")
    assert r"\textbackslash{}hline" in table
    assert [line for line in table.splitlines() if line.endswith("rule")] == [r"\toprule", r"\midrule", r"\bottomrule"]
    assert r" \hline" not in render(["a"], [], style="latex")
