"""The report of a comparison: its tables, its document, its words."""

from __future__ import annotations

import dataclasses
import json
import math
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from truemoment import Annotations, Predictions, get_protocol
from truemoment.base.boundary.documents import as_json
from truemoment.data.formats import MatchReport
from truemoment.report.render import latex, markdown
from truemoment.studies.compare import report
from truemoment.studies.compare.comparison import PublishedFigure, compare
from truemoment.studies.compare.files import ComparedFiles, FileRun

VIDEOS = [f"v{i}" for i in range(40)]
HALF, MORE, MOST = ([1] * n + [0] * (40 - n) for n in (20, 24, 36))


def reported(groups, *, baseline=None, blind=(), published=None, sha256=None, permutations=2000, **counts):
    """A comparison of groups of Scores, each run from a file of its own."""
    comparison = compare(
        groups,
        np.random.default_rng(0),
        baseline=baseline,
        blind=dict.fromkeys(blind, 0.0),
        resamples=200,
        permutations=permutations,
    )
    matched = {"format": "native", "recognised": "as asked", "rows": 40, "moments": 40, "by_id": 40} | counts
    runs = {
        method: [
            FileRun(run, MatchReport(**matched), {"path": f"{method}{i}.jsonl", "sha256": sha256 or f"{method}{i}"}, 1)
            for i, run in enumerate(group)
        ]
        for method, group in groups.items()
    }
    annotations = Annotations.from_rows([("v#0", "v", 20.0, "a door opens", 0.0, 10.0)])
    answers = {method: Predictions.from_lists({"v#0": [(0.0, 9.0)]}) for method in groups}
    return ComparedFiles(comparison, runs, annotations, answers, published, [{"path": "p.csv", "sha256": "cd"}], seed=0)


def document(compared):
    return as_json(report.document(compared))


def rows(table):
    """Texts of the cells, row by row, with the headings of groups."""
    return [
        line
        for title, group in table.groups
        for line in ([[title]] if title else []) + [[c.text for c in r] for r in group]
    ]


@pytest.fixture
def three(made_scores):
    """Hits 36/40 and 34/40 (two runs, mean 87.50, sample standard deviation 3.54), 24/40 and 20/40."""
    runs = [made_scores(VIDEOS, MOST), made_scores(VIDEOS, [1] * 34 + [0] * 6)]
    return {"ours": runs, "a_b": [made_scores(VIDEOS, MORE)], "base": [made_scores(VIDEOS, HALF)]}


def figure(method, value, unit="percent", table="Table 2", source="paper"):
    return PublishedFigure(source, table, "made", "test", method, "mIoU", Decimal(value), unit, "", Path("p.csv"), 2)


# ------------------------------------------------------------------------------------ table of methods

# By hand: ours differs from a_b on 12 videos (10 by 1, 2 by 1/2) and from base on 16, each time upwards: p = 2/2^12
# and less. a_b and base differ on 4 videos: p = 2/2^4 = 0.125, drawn about as much.


def test_all_pairs_are_marked_by_letters(three):
    table = report.methods_table(reported(three))
    assert table.headings == ("method", "runs", "mIoU")
    assert rows(table) == [["a: ours", "2", "87.50 ± 3.54 bc"], ["b: a_b", "1", "60.00"], ["c: base", "1", "50.00"]]
    assert [row[-1].marked for row in table.groups[0][1]] == [True, False, False]  # the largest


def test_against_a_baseline_by_arrows(three):
    table = report.methods_table(reported(three, baseline="a_b"))
    assert rows(table) == [["ours", "2", "87.50 ± 3.54 ↑"], ["a_b", "1", "60.00"], ["base", "1", "50.00"]]
    table = report.methods_table(reported(three, baseline="ours"))
    assert [row[-1] for row in rows(table)] == ["87.50 ± 3.54", "60.00 ↓", "50.00 ↓"]


def test_against_a_baseline_and_a_blind_method(three):
    compared = reported(three, baseline="base", blind=["a_b"])
    assert compared.comparison.pairs == ((0, 2), (1, 2), (0, 1))
    table = report.methods_table(compared)  # marks are about the baseline only
    assert [row[-1] for row in rows(table)] == ["87.50 ± 3.54 ↑", "60.00", "50.00"]
    notes = report.notes(compared)
    assert "base is not significantly above a_b, which never sees the video, in mIoU" in notes
    assert not any(note.startswith("ours is") for note in notes)
    assert "a_b is significantly below ours, which never sees the video, in mIoU" in (
        report.notes(reported(three, blind=["ours"]))
    )


def test_marks_in_markdown_and_latex(three):
    compared = reported(three, baseline="a_b")
    assert any("**87.50 ± 3.54 ↑**" in line for line in markdown.lines(report.report(compared)))
    in_latex = [" ".join(line.split()) for line in latex.lines(report.report(compared))]
    assert r"ours & 2 & \textbf{87.50 $\pm$ 3.54 $\uparrow$} \\" in in_latex
    assert r"a\_b & 1 & 60.00 \\" in in_latex


def test_equal_figures_are_all_largest_and_undefined_ones_none(made_scores):
    # 20.0004 and 20.0008 of 40 print alike; the second measure is undefined.
    weight = [[1] * 40, [0] * 40]
    made = {
        name: [made_scores(VIDEOS, [[*values], [0] * 40], weight, "mIoU; AP@1,IoU=0.5")]
        for name, values in (("a", [*HALF[:-1], 0.0004]), ("b", [*HALF[:-1], 0.0008]), ("c", [0] * 40))
    }
    table = report.methods_table(reported(made))
    assert [row[1:] for row in rows(table)] == [["50.00 c", "-"]] * 2 + [["0.00", "-"]]
    assert [[cell.marked for cell in row[1:]] for row in table.groups[0][1]] == [[True, False]] * 2 + [[False, False]]


def test_many_methods_have_ranks_in_place_of_letters(made_scores):
    made = {f"m{i:02}": [made_scores(VIDEOS, HALF)] for i in range(27)} | {"best": [made_scores(VIDEOS, MOST)]}
    # 378 comparisons of which 351 are of equals: they take nothing from the others.
    compared = reported(made)
    [(_, found)] = report.methods_table(compared).groups
    assert [(row[0].text, row[1].text, row[1].below) for row in found[-2:]] == [
        ("m26", "50.00", "2\u201328"),
        ("best", "90.00", "1"),
    ]
    differences = rows(report.differences_table(compared))
    assert len(differences) == 1 + 27  # the heading of the measure, and the pairs with the first method
    assert all("best" in row[0] for row in differences[1:])
    assert len(document(compared)["comparisons"]) == 378


# ------------------------------------------------------------------------------------------- the answer

# As above: ours is above both others, which are not distinguished (p = 0.125).


def test_the_verdict_counts_the_methods_above_a_blind_one_and_a_line_separates_the_others(three):
    answer = report.report(reported({"low": three["base"], **three}, blind=["a_b"]))
    sentence = answer.headline.sentences[0]
    assert sentence.startswith(
        "1 of 3 methods is significantly above a_b, which never sees the video: the best, ours, has"
    )
    assert "87.50 against 60.00 at mIoU, +27.50 points" in sentence
    strip = answer.lead[0]
    assert [(row.label, row.note, row.is_cut) for row in strip.rows] == [
        ("ours", "1", False),
        ("a_b", "blind", True),
        ("low", "2\u20133", False),
        ("base", "2\u20133", False),
    ]
    assert strip.line.value == pytest.approx(60.0)
    [warning, note] = answer.sections[0].blocks
    assert (warning.level, warning.sentences[0].partition(":")[0]) == ("warning", "low and base")
    assert note.evidence == ("low: base", "base: low")
    assert not set(warning.evidence) & set(answer.notes)
    assert set(warning.evidence) <= set(document(reported({"low": three["base"], **three}, blind=["a_b"]))["notes"])


def test_no_method_above_a_blind_one(three):
    answer = report.report(reported(three, blind=["ours"]))
    assert answer.headline.sentences[0].startswith("None of 2 methods is significantly above ours")
    assert answer.lead[0].rows[0].is_cut


def test_without_a_blind_method_the_verdict_is_about_the_first(three):
    assert (
        report.headline(reported(three))
        .sentences[0]
        .startswith(
            "ours is significantly above all other methods; above a_b, the next one, with 87.50 against 60.00 at mIoU"
        )
    )
    assert (
        report.headline(reported(three, baseline="base"))
        .sentences[0]
        .startswith("ours is significantly above base: 87.50 against 50.00")
    )
    assert (
        report.headline(reported({"a_b": three["a_b"], "base": three["base"]}))
        .sentences[0]
        .startswith("a_b is not shown to be above base: 60.00 against 50.00")
    )


def test_a_method_has_one_look_in_all_figures(three):
    compared = reported(three)
    [strip, curves, *_] = report.report(compared).drawings
    looks = {row.label: row.marks[0].look[:2] for row in strip.rows}  # colour and marker; a line of dR is dashed
    assert {curve.name: curve.look[:2] for curve in curves.curves if curve.name in looks} == looks


def test_published_rows_follow_ours(three):
    published = [
        (0, figure("CTRL", "0.35", "fraction")),
        (0, figure("MDD", "95.0")),
        (0, figure("CTRL", "36.1")),  # a second figure of one method and table
        (0, figure("", "1", table="", source="blog")),
    ]
    compared = reported(three, published=published)
    table = report.methods_table(compared)
    assert rows(table)[3:] == [
        ["Published, unchecked: paper, Table 2"],
        ["CTRL", "", "35"],
        ["CTRL", "", "36.1"],
        ["MDD", "", "95.0"],
        ["Published, unchecked: blog"],
        ["unnamed", "", "1"],
    ]
    assert rows(table)[:3] == rows(report.methods_table(reported(three)))
    not_ours = [cell for _, group in table.groups[1:] for row in group for cell in row]
    assert not any(cell.marked for cell in not_ours)  # never the largest
    note = "published figures are as printed, unchecked, and perhaps of another convention; they are not tested"
    assert note in report.notes(compared)
    assert "no published figure of made/test and these measures" in report.notes(reported(three, published=[]))


def test_published_figures_of_longer_lists_are_not_shown(three):
    # Of what is cut to one answer here, a paper prints figures of longer lists.
    compared = dataclasses.replace(reported(three, published=[(0, figure("CTRL", "95"))]), depths=(1,))
    assert len(report.methods_table(compared).groups) == 1
    assert document(compared)["published"]["figures"] == []
    assert "published figures of mIoU are not shown, since they are of longer lists" in report.notes(compared)


def test_figures_are_printed_as_the_protocol_prints_them(made_scores):
    # closer-look truncates: 1/3 of 40 ... 13.3334/40 = 33.3335 %.
    protocol = get_protocol("closer-look")
    values = [0.4] * 20 + [5.3339 / 20] * 20
    made = {
        n: [dataclasses.replace(made_scores(VIDEOS, v), protocol=protocol)] for n, v in (("a", values), ("b", HALF))
    }
    assert [row[1] for row in rows(report.methods_table(reported(made)))] == ["33.33", "50.00 a"]


# -------------------------------------------------------------------------------- table of differences


def test_differences(three):
    compared = reported(three)
    comparison = compared.comparison
    table = report.differences_table(compared)
    assert table.headings == ("methods", "difference", "95 % interval", "p", "corrected p", "detectable")
    low, high = (100 * comparison.difference_interval[0, 0]).tolist()
    p, p_corrected = float(comparison.p[0, 0]), float(comparison.p_corrected[0, 0])
    assert 0.0004 < p < 0.003  # 2/2^12 = 0.0005 and a few draws
    title, first, _, third = rows(table)
    assert title == ["mIoU"]
    shown = [f"{value:.3f}" if value >= 0.001 else "< 0.001" for value in (p, p_corrected)]
    assert first == [
        *("ours - a_b", "+27.50", f"{low:.2f} to {high:.2f}"),
        *shown,
        f"{100 * comparison.resolves[0, 0]:.2f}",
    ]
    assert third[:2] == ["a_b - base", "+10.00"]
    assert third[-1] == "-"  # they differ on 4 videos
    assert third[3] == f"{comparison.p[2, 0]:.3f}"


def test_one_comparison_needs_no_corrected_p(three):
    compared = reported({name: three[name] for name in ("ours", "base")}, baseline="ours")
    table = report.differences_table(compared)
    assert table.caption == "Differences in percentage points, base - ours"
    assert table.headings == ("measure", "difference", "95 % interval", "p", "detectable")
    assert rows(table)[0][:2] == ["mIoU", "-37.50"]


def test_undefined_differences(made_scores):
    # Only three videos carry weight in the second measure: some of 200 resamples hold none of them.
    weight = [[1] * 40, [1] * 3 + [0] * 37]
    made = {
        name: [made_scores(VIDEOS, [values, [1, 0, value] + [0] * 37], weight, "mIoU; mAP,length=long")]
        for name, values, value in (("a", MOST, 0), ("b", HALF, 1))
    }
    compared = reported(made)
    assert rows(report.differences_table(compared))[1] == ["mAP,length=long", "-33.33", "-", "1.000", "1.000", "-"]
    assert "mAP,length=long: no interval, since too few videos have a reference that counts" in report.notes(compared)
    entry = document(compared)["comparisons"][1]
    assert "ci95" not in entry
    why = "so few videos have a reference that counts that some resamples or swaps have none"
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
    written = document(compared)
    json.dumps(written, allow_nan=False)
    assert list(written) == [
        *("schema", "truemoment", "dataset", "split", "annotations", "protocol", "convention", "methods"),
        *(
            "reads_sentence",
            "network",
            "against",
            "comparisons",
            "level",
            "correction",
            "family",
            "published",
            "splits",
            "changed",
            "by_length",
            "resamples",
            "permutations",
            "seed",
            "notes",
        ),
    ]
    assert written["schema"] == "truemoment/comparison/2"
    assert (written["dataset"], written["split"], written["against"]) == ("made", "test", "base")
    assert (written["level"], written["correction"], written["family"]) == (
        0.05,
        {"videos": "max-t", "trainings": "bonferroni"},
        2,
    )
    ours, a_b, _ = written["methods"]
    assert [run["predictions"]["path"] for run in ours["runs"]] == ["ours0.jsonl", "ours1.jsonl"]
    (measured,) = ours["measures"]
    assert measured["value"] == 0.875
    assert measured["values"] == [0.9, 0.85]
    assert measured["spread"] == pytest.approx(0.05 / math.sqrt(2))  # of two: their difference over the root of two
    assert measured["ci95"] == compared.comparison.interval[0, 0].tolist()
    assert (measured["unit"], measured["n_queries"], measured["n_videos"]) == ("fraction", 40, 40)
    assert measured["signature"].startswith("mIoU|protocol:default|")
    assert "spread" not in a_b["measures"][0]
    first, second = written["comparisons"]
    assert (first["methods"], first["measure"], first["difference"]) == (["ours", "base"], "mIoU", 0.375)
    assert first["significant"] is True
    level = compared.comparison.resolved_level
    assert first["resolves"]["level"] == 0.05 / 2  # a t test over trainings, by Bonferroni's method
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
    assert written["published"] == {
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
    assert written["notes"] == report.notes(compared)
    assert document(reported(three))["published"] is None


def test_undefined_is_null_with_why(made_scores):
    made = {name: [made_scores(VIDEOS, [0] * 40, [0] * 40)] for name in "ab"}
    written = document(reported(made))
    assert all(math.isfinite(value) for value in walk(written) if isinstance(value, float))
    why = "no query has a reference that counts"
    for method in written["methods"]:
        (measured,) = method["measures"]
        assert (measured["value"], measured["values"], measured["why"]) == (None, [None], why)
    (entry,) = written["comparisons"]
    assert [entry[key] for key in ("difference", "p", "p_corrected", "significant", "why")] == [None] * 4 + [why]
    assert entry["resolves"]["why"] == why


# ------------------------------------------------------------------------------------------------ words


def test_the_facts(three):
    data, first, *others = report.facts(reported(three))
    assert data == ("data", "made/test: 40 queries, 40 videos")
    assert first == ("ours", "ours0.jsonl: native (as asked); 40 rows, 40 matched by id")
    assert [label for label, _ in others] == ["ours", "a_b", "base"]


def test_what_holds_of_every_file_is_said_once(three):
    assert (
        report.notes(reported(three, past_end=3))[0]
        == "every file: 3 of 40 predicted moments end after the end of the video"
    )
    compared = reported(three)
    run = compared.runs["base"][0]
    worse = run._replace(match=dataclasses.replace(run.match, ties=2))
    compared = dataclasses.replace(compared, runs={**compared.runs, "base": [worse]})
    assert report.notes(compared)[0] == "base0.jsonl: 2 lists have tied scores, ranked in file order"


def test_copies_are_no_runs(three):
    said = report.notes(reported(three, sha256="ab"))
    assert "ours: ours1.jsonl and ours0.jsonl are identical; they are one run, not two" in said
    assert not any("identical" in note for note in report.notes(reported(three)))


def test_few_videos_and_what_cannot_come_out(made_scores):
    videos = list("abcd")
    made = {"x": [made_scores(videos, [1, 1, 1, 1])], "y": [made_scores(videos, [0, 0, 0, 0])]}
    assert report.notes(reported(made)) == [
        "4 videos are few: the smallest detectable difference is underestimated",
        "no difference can be significant here: the smallest possible value is p = 0.125",  # 2 / 2^4
        "x and y: they differ on 4 videos in mIoU, so the smallest detectable difference there is unknown",
    ]


def test_too_few_permutations(three):
    # 1 / (1 + 18) = 0.0526.
    assert report.notes(reported(three, permutations=18))[0] == (
        "no difference can be significant here: the smallest possible value is p = 0.053; use more --permutations"
    )


def test_methods_on_different_queries(made_scores):
    weight = [1] * 30 + [0] * 10
    made = {"x": [made_scores(VIDEOS, MORE)], "y": [made_scores(VIDEOS, HALF, weight)]}
    assert report.notes(reported(made))[0].startswith(
        "protocol default measures each file on the queries that it answers"
    )


def test_explanations_and_signature(three):
    marks, largest, corrected, resolves, spread, trainings = report.explanations(reported(three))
    assert marks == (
        "a letter after a figure: significantly above the method of that letter (corrected p at most 0.05); figures "
        "without a mark may differ too"
    )
    assert "largest" in largest
    assert corrected.startswith("corrected p-values and intervals apply to all 3 comparisons together")
    assert "would be significant in 80 % of" in resolves
    assert spread == "±: standard deviation over runs"
    assert trainings.startswith("where a method of a pair has several runs")
    signature = report.report(reported(three)).signature
    assert signature.startswith("protocol:default|")
    assert signature.endswith("|compared:200 resamples and 2000 permutations of videos, seed 0")
    alone = {name: group[:1] for name, group in three.items() if name != "a_b"}
    marks, *_ = report.explanations(reported(alone, baseline="base"))
    assert marks.startswith("↑ ↓ after a figure: significantly above or below base (p at most 0.05);")
