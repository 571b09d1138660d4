"""The report of a comparison: two tables in three styles, the document, the words."""

from __future__ import annotations

import dataclasses
import json
import math
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from truemoment import get_protocol
from truemoment.comparison import PublishedFigure, compare
from truemoment.io import MatchReport
from truemoment.reports import comparison as report
from truemoment.reports.evaluation import Evaluation

nan = float("nan")
VIDEOS = [f"v{i}" for i in range(40)]
HALF, MORE, MOST = ([1] * n + [0] * (40 - n) for n in (20, 24, 36))


def reported(groups, *, baseline=None, blind=None, published=None, sha256=None, permutations=2000, **counts):
    """A report of groups of Scores, each run from a file of its own."""
    comparison = compare(
        groups, np.random.default_rng(0), baseline=baseline, blind=blind, resamples=200, permutations=permutations
    )
    runs = {
        method: [
            Evaluation(
                scores=run,
                figures=run.measured(),
                match=MatchReport(
                    **{"format": "native", "recognised": "as asked", "rows": 40, "moments": 40, "by_id": 40} | counts
                ),
                source={"path": f"{method}{i}.jsonl", "sha256": sha256 or f"{method}{i}"},
                depth=1,
            )
            for i, run in enumerate(group)
        ]
        for method, group in groups.items()
    }
    return report.ComparedFiles(comparison, runs, published, [{"path": "p.csv", "sha256": "cd"}], seed=0)


@pytest.fixture
def three(made_scores):
    """Hits 36/40 and 34/40 (two runs, mean 87.50, sample standard deviation 3.54), 24/40 and 20/40."""
    runs = [made_scores(VIDEOS, MOST), made_scores(VIDEOS, [1] * 34 + [0] * 6)]
    return {"ours": runs, "a_b": [made_scores(VIDEOS, MORE)], "base": [made_scores(VIDEOS, HALF)]}


def figure(method, value, unit="percent", table="Table 2", source="paper"):
    return PublishedFigure(source, table, "made", "test", method, "mIoU", Decimal(value), unit, "", Path("p.csv"), 2)


def cells(table, *, head):
    return [line.split() for line in table.splitlines()[head:]]


def latex(table):
    return [" ".join(line.split()) for line in table.splitlines()]


# ------------------------------------------------------------------------------------ table of methods

# By hand: ours differs from a_b on 12 videos (10 by 1, 2 by 1/2) and from base on 16, each time upwards: p = 2/2^12
# and less. a_b and base differ on 4 videos: p = 2/2^4 = 0.125, drawn about as much.


def test_all_pairs_are_marked_by_letters(three):
    assert cells(report.table(reported(three)), head=0) == [
        ["method", "runs", "mIoU"],
        ["--", "--------", "------", "------", "------", "--"],
        ["a", "ours", "2", "87.50", "±", "3.54", "bc"],
        ["b", "a_b", "1", "60.00"],
        ["c", "base", "1", "50.00"],
    ]


def test_against_a_baseline_by_triangles(three):
    table = report.table(reported(three, baseline="a_b"))
    assert cells(table, head=2) == [
        ["ours", "2", "87.50", "±", "3.54", "▲"],
        ["a_b", "1", "60.00"],
        ["base", "1", "50.00"],
    ]
    table = report.table(reported(three, baseline="ours"))
    assert [row[-1] for row in cells(table, head=2)] == ["3.54", "▼", "▼"]


def test_against_a_baseline_and_a_blind_method(three):
    compared = reported(three, baseline="base", blind="a_b")
    assert compared.comparison.pairs == ((0, 2), (1, 2), (0, 1))
    table = report.table(compared)  # marks are about the baseline only
    assert [row[-1] for row in cells(table, head=2)] == ["▲", "60.00", "50.00"]
    said = report.notes(compared)
    assert "base is not shown to be above a_b, which never sees the video, in mIoU" in said
    assert not any(note.startswith("ours is") for note in said)
    assert "a_b is significantly below ours, which never sees the video, in mIoU" in (
        report.notes(reported(three, blind="ours"))
    )


def test_markdown(three):
    table = report.table(reported(three), style="md")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert rows[0] == ["", "method", "runs", "mIoU"]
    assert rows[2:] == [
        ["a", "ours", "2", "**87.50** ± 3.54<sup>bc</sup>"],
        ["b", r"a\_b", "1", "60.00"],
        ["c", "base", "1", "50.00"],
    ]


def test_latex(three):
    assert latex(report.table(reported(three), style="latex"))[2:8] == [
        r"& method & runs & mIoU \\",
        r"\midrule",
        r"a & ours & 2 & \textbf{87.50} $\pm$ 3.54$^{bc}$ \\",
        r"b & a\_b & 1 & 60.00 \\",
        r"c & base & 1 & 50.00 \\",
        r"\bottomrule",
    ]
    rows = latex(report.table(reported(three, baseline="base"), style="latex"))
    assert r"ours & 2 & \textbf{87.50} $\pm$ 3.54$^{\uparrow}$ \\" in rows
    rows = latex(report.table(reported(three, baseline="ours"), style="latex"))
    assert r"base & 1 & 50.00$^{\downarrow}$ \\" in rows


def test_equal_figures_are_all_best_and_undefined_ones_none(made_scores):
    # 20.0004 and 20.0008 of 40 print alike; the second measure is undefined.
    weight = [[1] * 40, [0] * 40]
    made = {
        name: [made_scores(VIDEOS, [[*values], [0] * 40], weight, "mIoU; AP@1,IoU=0.5")]
        for name, values in (("a", [*HALF[:-1], 0.0004]), ("b", [*HALF[:-1], 0.0008]), ("c", [0] * 40))
    }
    rows = cells(report.table(reported(made), style="md"), head=2)
    assert [row[5:-1] for row in rows] == [["**50.00**<sup>c</sup>", "|", "-"]] * 2 + [["0.00", "|", "-"]]


def test_names_that_would_break_a_table(made_scores):
    made = {"x|y & 50 %": [made_scores(VIDEOS, MOST)], "▲ü": [made_scores(VIDEOS, HALF)]}
    assert r"x\|y & 50 %" in report.table(reported(made), style="md")
    table = report.table(reported(made), style="latex")
    assert r"x$|$y \& 50 \%" in table  # a bare stroke is a dash in the usual fonts
    assert "▲ü" in table
    assert "uparrow" not in table


def test_more_methods_than_letters(made_scores):
    made = {f"m{i:02}": [made_scores(VIDEOS, HALF)] for i in range(27)} | {"best": [made_scores(VIDEOS, MOST)]}
    # 378 comparisons of which 351 are of equals: they take nothing from the others.
    rows = cells(report.table(reported(made)), head=2)
    assert [row[0] for row in rows] == [str(i + 1) for i in range(28)]
    assert rows[27] == ["28", "best", "90.00", ",".join(str(i + 1) for i in range(27))]


def test_published_rows_stand_below(three):
    published = [
        (0, figure("CTRL", "0.35", "fraction")),
        (0, figure("MDD", "95.0")),
        (0, figure("CTRL", "36.1")),  # a second figure of one method and table
        (0, figure("", "1", table="", source="blog")),
    ]
    compared = reported(three, published=published)
    rows = cells(report.table(compared), head=2)
    assert rows[3:] == [
        ["†", "CTRL", "(paper,", "Table", "2)", "35"],
        ["†", "CTRL", "(paper,", "Table", "2)", "36.1"],
        ["†", "MDD", "(paper,", "Table", "2)", "95.0"],
        ["†", "unnamed", "(blog)", "1"],
    ]
    assert rows[:3] == cells(report.table(reported(three)), head=2)
    in_latex = latex(report.table(compared, style="latex"))
    assert r"& $^\dagger$ MDD (paper, Table 2) & & 95.0 \\" in in_latex  # never bold: not ours
    assert r"a & ours & 2 & \textbf{87.50} $\pm$ 3.54$^{bc}$ \\" in in_latex
    note = "published figures are as printed and unchecked, perhaps by another convention; nothing is tested on them"
    assert note in report.notes(compared)
    assert "no published figure of made/test and these measures" in report.notes(reported(three, published=[]))


def test_published_figures_of_longer_lists_are_not_shown(three):
    # Of what is cut to one answer here, a paper prints figures of longer lists.
    compared = dataclasses.replace(reported(three, published=[(0, figure("CTRL", "95"))]), depths=(1,))
    assert "CTRL" not in report.table(compared)
    assert report.document(compared)["published"]["figures"] == []
    assert "published figures of mIoU are not shown, since they are of longer lists" in report.notes(compared)


def test_figures_are_printed_as_the_protocol_prints_them(made_scores):
    # closer-look truncates: 1/3 of 40 ... 13.3334/40 = 33.3335 %.
    protocol = get_protocol("closer-look")
    values = [0.4] * 20 + [5.3339 / 20] * 20
    made = {
        n: [dataclasses.replace(made_scores(VIDEOS, v), protocol=protocol)] for n, v in (("a", values), ("b", HALF))
    }
    assert [row[2] for row in cells(report.table(reported(made)), head=2)] == ["33.33", "50.00"]


# -------------------------------------------------------------------------------- table of differences


def test_differences(three):
    compared = reported(three)
    comparison = compared.comparison
    lines = cells(report.differences(compared), head=0)
    assert lines[0] == ["measure", "methods", "difference", "95", "%", "interval", "p", "corrected", "p", "resolves"]
    low, high = (100 * comparison.difference_interval[0, 0]).tolist()
    p, p_corrected = float(comparison.p[0, 0]), float(comparison.p_corrected[0, 0])
    assert 0.0004 < p < 0.003  # 2/2^12 = 0.0005 and a few draws
    assert lines[2] == [
        *("mIoU", "ours", "-", "a_b", "+27.50", f"{low:.2f}", "to", f"{high:.2f}"),
        *(f"{p:.4f}", f"{p_corrected:.4f}", f"{100 * comparison.resolves[0, 0]:.2f}"),
    ]
    assert lines[4][:5] == ["mIoU", "a_b", "-", "base", "+10.00"]
    assert lines[4][-1] == "-"  # they differ on 4 videos
    assert f"{comparison.p[2, 0]:.4f}" == lines[4][-3]


def test_one_comparison_needs_no_corrected_p(three):
    compared = reported({name: three[name] for name in ("ours", "base")}, baseline="ours")
    (_, _, row) = cells(report.differences(compared), head=0)
    assert row[:5] == ["mIoU", "base", "-", "ours", "-37.50"]
    assert "corrected" not in report.differences(compared)
    row = latex(report.differences(compared, style="latex"))[4]
    assert row.startswith("mIoU & base $-$ ours & $-$37.50 & $-$")


def test_p_is_never_printed_as_zero():
    assert [report._p(value) for value in (1.0, 0.0001, 0.00004, nan)] == ["1.0000", "0.0001", "<0.0001", "-"]


def test_undefined_differences(made_scores):
    # Only three videos carry weight in the second measure: some of 200 resamples hold none of them.
    weight = [[1] * 40, [1] * 3 + [0] * 37]
    made = {
        name: [made_scores(VIDEOS, [values, [1, 0, value] + [0] * 37], weight, "mIoU; mAP,length=long")]
        for name, values, value in (("a", MOST, 0), ("b", HALF, 1))
    }
    compared = reported(made)
    row = cells(report.differences(compared), head=3)[0]
    assert row == ["mAP,length=long", "a", "-", "b", "-33.33", "-", "1.0000", "1.0000", "-"]
    assert "mAP,length=long: no interval, since too few videos have a reference that counts" in report.notes(compared)
    entry = report.document(compared)["comparisons"][1]
    assert "ci95" not in entry
    why = "so few videos have a reference that counts that some resamples or swaps hold none"
    assert entry["resolves"]["why"] == why


# --------------------------------------------------------------------------------------------- document


def walk(value):
    if isinstance(value, dict):
        for inside in value.values():
            yield from walk(inside)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from walk(inside)
    else:
        yield value


def test_the_document(three):
    compared = reported(three, baseline="base", published=[(0, figure("CTRL", "30.70"))])
    document = report.document(compared)
    json.dumps(document, allow_nan=False)
    assert list(document) == [
        *("schema", "truemoment", "dataset", "split", "annotations", "protocol", "convention", "methods", "network"),
        *(
            "against",
            "comparisons",
            "level",
            "correction",
            "family",
            "published",
            "resamples",
            "permutations",
            "seed",
            "notes",
        ),
    ]
    assert document["schema"] == "truemoment/comparison/2"
    assert (document["dataset"], document["split"], document["against"]) == ("made", "test", "base")
    assert (document["level"], document["correction"], document["family"]) == (0.05, "max-t", 2)
    ours, a_b, _ = document["methods"]
    assert [run["predictions"]["path"] for run in ours["runs"]] == ["ours0.jsonl", "ours1.jsonl"]
    (measured,) = ours["measures"]
    assert measured["value"] == 0.875
    assert measured["values"] == [0.9, 0.85]
    assert measured["spread"] == pytest.approx(0.05 / math.sqrt(2))  # of two: their difference over the root of two
    assert measured["ci95"] == compared.comparison.interval[0, 0].tolist()
    assert (measured["unit"], measured["n_queries"], measured["n_videos"]) == ("fraction", 40, 40)
    assert measured["signature"].startswith("mIoU|protocol:default|")
    assert "spread" not in a_b["measures"][0]
    first, second = document["comparisons"]
    assert (first["methods"], first["measure"], first["difference"]) == (["ours", "base"], "mIoU", 0.375)
    assert first["significant"] is True
    level = compared.comparison.resolved_level
    assert first["resolves"]["level"] == level
    assert first["resolves"]["power"] == 0.8
    assert second["methods"] == ["a_b", "base"]
    assert second["significant"] is False
    assert second["resolves"] == {
        "value": None,
        "unit": "fraction",
        "why": "they differ on 4 videos",
        "level": level,
        "power": 0.8,
    }
    assert document["published"] == {
        "sources": [{"path": "p.csv", "sha256": "cd"}],
        "checked": False,
        "figures": [
            {
                "method": "CTRL",
                "measure": "mIoU",
                "value": 0.307,
                "unit": "fraction",
                "printed": "30.70 percent",
                "source": "paper",
                "table": "Table 2",
                "note": "",
            }
        ],
    }
    assert document["notes"] == report.notes(compared)
    assert report.document(reported(three))["published"] is None


def test_undefined_is_null_with_why(made_scores):
    made = {name: [made_scores(VIDEOS, [0] * 40, [0] * 40)] for name in "ab"}
    document = report.document(reported(made))
    assert all(math.isfinite(value) for value in walk(document) if isinstance(value, float))
    why = "no query has a reference that counts"
    for method in document["methods"]:
        (measured,) = method["measures"]
        assert (measured["value"], measured["values"], measured["why"]) == (None, [None], why)
    (entry,) = document["comparisons"]
    assert [entry[key] for key in ("difference", "p", "p_corrected", "significant", "why")] == [None] * 4 + [why]
    assert entry["resolves"]["why"] == why


# ------------------------------------------------------------------------------------------------ words


def test_the_preamble(three):
    lines = report.preamble(reported(three))
    assert lines[0] == "made/test: 40 queries, 40 videos"
    assert lines[1] == "ours: ours0.jsonl: native (as asked); 40 rows, 40 matched by id"
    assert [line.split(":")[0] for line in lines[1:]] == ["ours", "ours", "a_b", "base"]


def test_what_holds_of_every_file_is_said_once(three):
    assert (
        report.notes(reported(three, past_end=3))[0]
        == "every file: 3 of 40 predicted moments end past the end of the video"
    )
    compared = reported(three)
    worse = dataclasses.replace(
        compared.runs["base"][0], match=dataclasses.replace(compared.runs["base"][0].match, ties=2)
    )
    compared = dataclasses.replace(compared, runs={**compared.runs, "base": [worse]})
    assert report.notes(compared)[0] == "base0.jsonl: 2 lists hold equal scores, ranked in file order"


def test_copies_are_no_runs(three):
    said = report.notes(reported(three, sha256="ab"))
    assert "ours: ours1.jsonl holds the same bytes as ours0.jsonl; they are one run, not two" in said
    assert not any("holds the same bytes" in note for note in report.notes(reported(three)))


def test_few_videos_and_what_cannot_come_out(made_scores):
    videos = list("abcd")
    made = {"x": [made_scores(videos, [1, 1, 1, 1])], "y": [made_scores(videos, [0, 0, 0, 0])]}
    assert report.notes(reported(made)) == [
        "4 videos are few: what the split resolves comes out too small",
        "no difference can come out significant here: the smallest p is 0.1250",  # 2 / 2^4
        "x and y: they differ on 4 videos in mIoU, so what the split resolves there is not known",
    ]


def test_too_few_permutations(three):
    # 1 / (1 + 18) = 0.0526.
    assert report.notes(reported(three, permutations=18))[0] == (
        "no difference can come out significant here: the smallest p is 0.0526; ask for more --permutations"
    )


def test_methods_on_different_queries(made_scores):
    weight = [1] * 30 + [0] * 10
    made = {"x": [made_scores(VIDEOS, MORE)], "y": [made_scores(VIDEOS, HALF, weight)]}
    assert report.notes(reported(made))[0].startswith("protocol default measures the files on different queries")


def test_the_closing_lines(three):
    marks, corrected, resolves, spread, signature = report.closing(reported(three))
    assert marks == (
        "a letter behind a figure: significantly above the method of that letter (corrected p at most 0.05); no mark "
        "does not say that two are equal"
    )
    assert corrected.startswith("corrected p values and intervals are for all 3 comparisons together")
    assert resolves.startswith("resolves: a true difference of so many points would be found significant in 80 % of")
    assert spread.startswith("±: standard deviation over runs;")
    assert signature.startswith("protocol:default|")
    assert signature.endswith("|compared:200 resamples and 2000 permutations of videos, seed 0")
    alone = {name: group[:1] for name, group in three.items() if name != "a_b"}
    marks, _, signature = report.closing(reported(alone, baseline="base"))
    assert marks.startswith("▲ ▼ behind a figure: significantly above or below base (p at most 0.05);")
