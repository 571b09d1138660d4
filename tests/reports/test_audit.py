"""The report of an audit: the document for programs, and the words for a terminal."""

import json
import math
import unicodedata

import numpy as np
import pytest

from truemoment.audit import judge, read_gate
from truemoment.reports import audit as report

FIGURES = {"value", "difference", "p", "p_holm"}
"""Keys under which the document has a measured number, or null."""


def every_object(value):
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from every_object(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from every_object(inner)


@pytest.fixture(params=["example", "hostile", "bare", "in_words"])
def any_audit(request):
    return request.getfixturevalue(request.param)


# ------------------------------------------------------------------------------------------- document


def test_the_document_is_json_and_says_why_where_it_is_null(any_audit, source):
    document = report.document(any_audit, source=source, seed=3)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    nulls = [o for o in every_object(document) if any(o.get(key, 0) is None for key in (*FIGURES, "ci95"))]
    assert all(entry.get("why") for entry in nulls)
    assert all(0 <= o["value"] <= 1 for o in every_object(document["measures"]) if o.get("value") is not None)


def test_undefined_is_null_never_zero(bare, source):
    """No reference of the bare world is longer than 30 s, so R@1 of long ones has no query that counts."""
    document = report.document(bare, source=source, seed=0)
    for entry in (document["measures"][1], document["floors"][0]["measures"][1]):
        assert (entry["value"], entry["ci95"], entry["n_queries"]) == (None, None, 0)
        assert entry["why"] == "no query has a reference that counts"
    versus, shortcut = document["versus"][1], document["shortcut_share"]
    assert versus["difference"] is versus["p"] is versus["resolves"]["value"] is None
    # The method's R@1,IoU=0.5 is 0 (its one answer lies elsewhere): a share of nothing is undefined.
    assert shortcut[0]["value"] is None
    assert "0 or undefined" in shortcut[0]["why"]


def test_figures_are_those_of_the_scores(example, source):
    document, material = report.document(example, source=source, seed=0), example.material
    for m, measure in enumerate(["R@1,IoU=0.5", "R@5,IoU=0.5", "dR@1,IoU=0.5", "mIoU", "AxIoU@10"]):
        own = document["measures"][m]
        assert (own["measure"], own["value"]) == (measure, material.scores.value(measure))
        chosen = [floor for floor in document["floors"] if measure in floor["chosen_for"]]
        assert len(chosen) == 1
        floor = chosen[0]["measures"][m]["value"]
        # The difference and the shortcut share from their definitions.
        assert document["versus"][m]["difference"] == pytest.approx(own["value"] - floor, abs=1e-15)
        assert document["shortcut_share"][m]["value"] == pytest.approx(floor / own["value"], abs=1e-15)
        # The floor to beat is the best on the selection split.
        on_selection = [floor["measures"][m]["selection"]["value"] for floor in document["floors"]]
        assert chosen[0]["measures"][m]["selection"]["value"] == max(on_selection)
    assert [entry["verdict"] for entry in document["findings"]] == [finding.verdict for finding in example.findings]
    assert document["predictions"] == source
    assert document["annotations"]["sha256"] == material.case.annotations.sha256
    assert document["fit"]["split"] == "train"
    assert document["selection"]["split"] == "val"


def test_slices_and_errors_add_up(example, source):
    document = report.document(example, source=source, seed=0)
    families = {entry["family"] for entry in document["slices"]}
    for family in families:
        assert sum(entry["n_queries"] for entry in document["slices"] if entry["family"] == family) == 120
    kinds = [kind for kind in document["errors"]["kinds"] if not kind["kind"].startswith("hidden")]
    assert sum(kind["n_queries"] for kind in kinds) == 120


def test_text_only_and_abstentions_are_in_the_document(in_words, source):
    """Of 36 answers numbers 0, 3, 6 ... 33 are hostile and hold no moment; of the last six, without one, 4 deny."""
    document = report.document(in_words, source=source, seed=0)
    assert document["answers"]["statuses"] == {"parsed": 20, "no answer": 4, "refused": 0, "ambiguous": 0, "failed": 12}
    assert document["shuffled"]["statuses"] == {
        "parsed": 20,
        "no answer": 0,
        "refused": 0,
        "ambiguous": 0,
        "failed": 10,
    }
    assert document["text_only"]["statuses"] is None  # numbers
    assert document["annotations"]["n_queries"] == 36
    assert document["annotations"]["n_without_moment"] == 6
    own, without = document["measures"][1], document["floors"][-1]["measures"][1]
    assert (document["floors"][-1]["name"], own["n_queries"], without["n_queries"]) == ("text-only", 30, 30)
    assert document["text_only"]["versus"][1]["difference"] == pytest.approx(own["value"] - without["value"], abs=1e-15)
    assert (document["abstention"]["n_rightly"], document["abstention"]["n_wrongly"]) == (4, 0)
    assert document["abstention"]["worth"]["value"] == 4 / 6


def test_what_a_run_without_them_has_not_is_null(example, source):
    document = report.document(example, source=source, seed=0)
    assert document["text_only"] is document["abstention"] is document["answers"]["statuses"] is None
    assert document["annotations"]["n_without_moment"] == 0
    assert document["annotations"]["measured_sha256"] == document["annotations"]["sha256"]


def test_the_floor_to_beat_is_the_best_of_those_that_could_be_chosen(in_words, source):
    said = " ".join(" ".join(report.lines(in_words, source=source, seed=0)).split())
    assert f"the best of {len(in_words.material.floors) - 1} on train" in said
    assert "6 more queries without a moment take part only in what is said of abstaining" in said


def test_the_gate_is_in_the_document(example, source):
    outcomes = judge(read_gate("mIoU>=0.99"), example.findings, report.figures_by_name(example))
    [entry] = report.document(example, source=source, seed=0, outcomes=outcomes)["gate"]
    assert entry == {"condition": "mIoU>=0.99", "passed": False, "why": entry["why"]}
    assert f"{example.material.scores.value('mIoU'):.4f}" in entry["why"]


def test_figures_by_name_and_headline(example, bare):
    assert report.figures_by_name(example)["mIoU"] == example.material.scores.value("mIoU")
    assert math.isnan(report.figures_by_name(bare)["R@1,IoU=0.5,length=long"])
    assert report.headline(example) == example.findings[0].verdict


# ---------------------------------------------------------------------------------------------- words


def test_text_is_wrapped_at_100_columns(any_audit, source):
    lines = report.lines(any_audit, source=source, seed=0)
    longest = max(len(str(measure)) for measure in any_audit.material.case.measures)
    columns = [line[longest:] for line in report.table(any_audit).splitlines()]
    room = 100 - len("dR@1,IoU=0.5")  # the longest measure of the default protocol
    assert max(map(len, columns)) <= room + (len("  99.99*") if any_audit.material.text_only is not None else 0)
    first = lines.index("") + 1
    findings = lines[first : lines.index("", first)]
    assert max(map(len, findings)) <= 100
    assert lines[-1] == report.closing(any_audit, 0)
    assert lines[-1].startswith(report.one_line(any_audit.material.scores.signature()))


def test_every_finding_is_said_under_its_mark(example, source):
    said = " ".join(" ".join(report.lines(example, source=source, seed=0)).split())
    for finding in example.findings:
        assert " ".join(f"{finding.level} {finding.verdict}".split()) in said


def test_the_main_question_comes_first_then_the_most_serious(example):
    ordered = report.in_order(example.findings)
    assert ordered[0] is example.findings[0]
    ranks = [report.LEVELS.index(finding.level) for finding in ordered[1:]]
    assert ranks == sorted(ranks)
    assert sorted(map(id, ordered)) == sorted(map(id, example.findings))


def test_a_star_marks_the_floor_to_beat(example):
    material = example.material
    rows = [line.split() for line in report.table(example, style="md").splitlines()[2:]]
    for m, row in enumerate(rows[:-1]):
        cells = [cell for cell in row[1:] if cell != "|"][1:]  # the first is the measure
        assert [cell.endswith(r"\*") for cell in cells].index(True) == 1 + int(material.chosen[m])
        assert cells[0] == material.case.protocol.percent(material.scores.value(material.case.measures[m]))
    assert {cell for cell in rows[-1][2:] if cell != "|"} == {"-"}  # long references: there are none, and no star


def test_plain_columns_stand_two_blanks_apart(example):
    rule = next(line for line in report.table(example).splitlines() if not line.strip("- "))
    assert "   " not in rule
    assert all(set(gap) == {" "} for gap in rule.replace("-", "x").split("x") if gap)


@pytest.mark.parametrize("style", ["md", "latex"])
def test_mark_up_in_names_is_escaped(hostile, source, style):
    text = "\n".join(report.lines(hostile, source=source | {"path": r"a_b|<i>\cmd{$x$}"}, seed=0, style=style))
    if style == "md":
        assert r"a\_b\|\<i\>\\cmd{$x$}" in text
        assert "<b>" not in text
    else:
        assert r"a\_b$|$$<$i$>$\textbackslash{}cmd\{\$x\$\}" in text
        assert r"na\$\textbackslash{}me\$" in text


def test_nothing_reaches_the_terminal_that_moves_its_cursor(hostile):
    text = "".join(report.lines(hostile, source={"path": "a\x1b[2J\u202eb\n\ud800"}, seed=0))
    assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cs")]
    assert "\u202e" not in text
    text.encode("utf-8")


def test_the_same_audit_gives_the_same_words(example, source):
    twice = [json.dumps(report.document(example, source=source, seed=0)) for _ in range(2)]
    assert twice[0] == twice[1]


def test_an_interval_that_is_not_finite_is_null(example, source):
    """Classes of fewer than 2 videos have none (slices.py), and say so."""
    document = report.document(example, source=source, seed=0)
    few = [entry for entry in document["slices"] if entry["n_videos"] < 2]
    assert all(figure["ci95"] is None for entry in few for figure in entry["measures"])
    many = [entry for entry in document["slices"] if entry["n_videos"] >= 20]
    assert many
    low, high = np.array([entry["measures"][3]["ci95"] for entry in many]).T
    value = np.array([entry["measures"][3]["value"] for entry in many])
    assert np.all((low <= value) & (value <= high))
