"""The report of an audit: the document for programs, and the words for a terminal."""

import json
import math
import unicodedata

import numpy as np
import pytest

from truemoment.base.boundary.documents import as_json
from truemoment.report.model import LEVELS
from truemoment.report.render import latex, markdown, terminal
from truemoment.studies.audit import audit, read_gate, report

pytestmark = pytest.mark.slow

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


def test_the_document_is_json_and_says_why_where_it_is_null(any_audit):
    document = as_json(report.document(any_audit))
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    nulls = [o for o in every_object(document) if any(o.get(key, 0) is None for key in (*FIGURES, "ci95"))]
    assert all(entry.get("why") for entry in nulls)
    assert all(0 <= o["value"] <= 1 for o in every_object(document["measures"]) if o.get("value") is not None)


def test_undefined_is_null_never_zero(bare):
    """No reference of the bare world is longer than 30 s, so R@1 of long ones has no query that counts."""
    document = as_json(report.document(bare))
    for entry in (document["measures"][1], document["floors"][0]["measures"][1]):
        assert (entry["value"], entry["ci95"], entry["n_queries"]) == (None, None, 0)
        assert entry["why"] == "no query has a reference that counts"
    verdict, shortcut = document["verdict"][1], document["shortcut_share"]
    assert verdict["verdict"] == "undefined"
    assert verdict["difference"]["value"] is verdict["difference"]["p"] is verdict["resolves"]["value"] is None
    # The method's R@1,IoU=0.5 is 0 (its one answer lies elsewhere): a share of nothing is undefined.
    assert shortcut[0]["value"] is None
    assert "0 or undefined" in shortcut[0]["why"]


def test_figures_are_those_of_the_scores(example):
    document, results = as_json(report.document(example)), example.results
    assert document["schema"] == "truemoment/audit/2"
    references = next(one for one in document["ceilings"] if one["name"] == "perfect")
    for m, measure in enumerate(["R@1,IoU=0.5", "R@5,IoU=0.5", "dR@1,IoU=0.5", "mIoU", "AxIoU@10"]):
        own, verdict = document["measures"][m], document["verdict"][m]
        assert (own["measure"], own["value"]) == (measure, results.scores.value(measure))
        # The strongest floor is the best on this split, and the only one that is called so.
        values = {floor["name"]: floor["measures"][m]["value"] for floor in document["floors"]}
        strongest = [floor["name"] for floor in document["floors"] if measure in floor["strongest_for"]]
        assert strongest == [verdict["floor"]]
        floor = values[verdict["floor"]]
        assert floor == max(values.values())
        assert verdict["n_floors"] == len(values)
        # Differences, skill and the shortcut share from their definitions.
        assert verdict["difference"]["value"] == pytest.approx(own["value"] - floor, abs=1e-15)
        skill = (own["value"] - floor) / (references["measures"][m]["value"] - floor)
        assert verdict["skill"]["value"] == pytest.approx(skill, abs=1e-12)
        assert document["shortcut_share"][m]["value"] == pytest.approx(floor / own["value"], abs=1e-12)
        for one in document["floors"]:
            against = one["measures"][m]["difference"]
            assert against["value"] == pytest.approx(own["value"] - values[one["name"]], abs=1e-15)
            assert against["ci95"][0] >= verdict["difference"]["ci95"][0]  # the lowest lower end is that of the verdict
            assert against["p"] <= verdict["difference"]["p"]  # and its p value the largest
    assert [entry["verdict"] for entry in document["findings"]] == [finding.verdict for finding in example.findings]
    assert document["predictions"] == example.sources
    assert document["annotations"]["sha256"] == results.setup.annotations.sha256
    assert document["fit"]["split"] == "train"
    assert document["validation"]["split"] == "val"


def test_floors_say_what_they_answer_how_often_they_win_and_how_they_are_drawn(example):
    document, results = as_json(report.document(example)), example.results
    for m in range(5):
        shares = [floor["measures"][m]["strongest_in"] for floor in document["floors"]]
        assert sum(shares) == pytest.approx(1)
        for number, floor in enumerate(document["floors"]):
            entry, of = floor["measures"][m], results.floors[number]
            assert entry["answers"] == of.name_at(m)
            validated = of.validated and of.validated.value(results.setup.measures[m])  # own answers have none
            assert entry["validation"]["value"] == validated
            assert (entry.get("draws", 0), entry.get("spread")) == (
                (len(of.draws), float(of.spread[m])) if of.draws else (0, None)
            )


def test_parts_of_checks_are_in_the_document(example):
    """The very numbers that the findings quote."""
    document = as_json(report.document(example))
    figures = {finding.check: finding.figure for finding in example.findings}
    where = document["where_blind_misses"]
    assert where["excess"]["value"] > where["floor"]["excess"]["value"] > 0
    assert figures["excess-where-blind-misses"] is None  # withheld: 40 training queries are too few
    assert [entry["way"] for entry in document["controls"]] == ["shuffled"]
    assert document["controls"][0]["share"]["value"] == figures["without-right-video"]
    assert document["places"]["difference"]["value"] == pytest.approx(figures["training-places"], abs=1e-15)
    found = document["below_floor"]["found"]
    assert figures["below-floor"] == (max((one["of_floor"] - one["method"] for one in found), default=0.0))
    assert (where["where_missed"]["network"], where["where_hit"]["network"]) == (0, 1)
    assert sum(one["n_queries"] for one in where["by_probability"]) == 120


def test_slices_and_errors_add_up(example):
    document = as_json(report.document(example))
    families = {entry["family"] for entry in document["slices"]}
    for family in families:
        assert sum(entry["n_queries"] for entry in document["slices"] if entry["family"] == family) == 120
    kinds = [kind for kind in document["errors"]["kinds"] if not kind["kind"].startswith("hidden")]
    assert sum(kind["n_queries"] for kind in kinds) == 120


def test_text_only_and_abstentions_are_in_the_document(in_words):
    """Of 36 answers numbers 0, 3, 6 ... 33 are hostile and hold no moment; of the last six, without one, 4 deny."""
    document = as_json(report.document(in_words))
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


def test_what_a_run_without_them_has_not_is_null(example):
    document = as_json(report.document(example))
    assert document["text_only"] is document["abstention"] is document["answers"]["statuses"] is None
    assert document["annotations"]["n_without_moment"] == 0
    assert document["annotations"]["measured_sha256"] == document["annotations"]["sha256"]


def test_facts_count_floors_and_queries_without_a_moment(in_words):
    facts = dict(report.report(in_words).facts)
    n = len(in_words.results.floors)
    assert facts["floors"] == f"{n} baselines that never see the video; training split: train (30 queries)"
    assert facts["abstaining"] == "6 more queries without a moment, used only for abstention"


def test_the_gate_is_in_the_document(example):
    failed, passed = report.document(example)["gate"]
    assert failed == {"condition": "mIoU>=0.99", "passed": False, "why": failed["why"]}
    assert f"{example.results.scores.value('mIoU'):.4f}" in failed["why"]
    assert passed["passed"] is True


def test_a_figure_that_is_undefined_fails_a_gate(bare):
    """No reference of the bare world is longer than 30 s."""
    name = "R@1,IoU=0.5,length=long"
    assert math.isnan(bare.results.scores.value(name))
    found = audit(bare.results.setup, conditions=read_gate(f"{name}>=0"))
    assert (found.passed, found.outcomes[0].why) == (False, f"{name} is undefined")


# ---------------------------------------------------------------------------------------------- words


def test_every_finding_is_reported_under_its_level(example):
    shown = report.report(example)
    [findings] = [section for section in shown.sections if section.name == "findings"]
    of_report = [shown.headline, *findings.blocks]
    of_audit = report.in_order(example.findings)
    assert [(of.sentences, of.level, of.evidence) for of in of_report] == [
        ((of.verdict,), of.level, of.evidence) for of in of_audit
    ]
    assert all(of.title for of in of_report)


def test_the_main_question_comes_first_then_the_most_serious(example):
    ordered = report.in_order(example.findings)
    assert ordered[0] is example.findings[0]
    ranks = [LEVELS.index(finding.level) for finding in ordered[1:]]
    assert ranks == sorted(ranks)
    assert sorted(map(id, ordered)) == sorted(map(id, example.findings))


def test_the_strongest_floor_of_each_measure_is_marked(example):
    results = example.results
    table = report.report(example).tables[0]
    rows = [row for _, of_group in table.groups for row in of_group]
    for m, measure in enumerate(results.setup.measures[:-1]):
        marked = [row[1 + m].marked for row in rows]
        assert (marked.count(True), marked.index(True)) == (1, 1 + int(results.verdict.strongest[m]))
        assert rows[0][1 + m].text == results.setup.protocol.percent(results.scores.value(measure))
    assert {row[-1].text for row in rows} == {"undefined"}  # long references: there are none


def test_every_system_has_a_row(example):
    results = example.results
    table = report.report(example).tables[0]
    assert [title for title, _ in table.groups] == ["Method", "Floors", "Ceilings"]
    systems = [results.scores, *(of.scores for of in (*results.floors, *results.ceilings))]
    rows = [row for _, of_group in table.groups for row in of_group]
    percent = results.setup.protocol.percent
    for row, scores in zip(rows, systems, strict=True):
        assert [cell.text for cell in row[1:-1]] == [percent(scores.value(of)) for of in results.setup.measures[:-1]]


def test_mark_up_in_names_is_escaped(hostile):
    in_markdown = "\n".join(markdown.lines(report.report(hostile)))
    assert "<b>" not in in_markdown
    assert r"\<b\>na$\\me$\</b\>" in in_markdown
    assert r"na\$\textbackslash{}me\$" in "\n".join(latex.lines(report.report(hostile)))


def test_nothing_reaches_the_terminal_that_moves_its_cursor(hostile):
    shown = report.report(hostile)
    text = "".join([*terminal.body(shown), *terminal.closing(shown)])
    assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cs")]
    assert "\u202e" not in text
    text.encode("utf-8")


def test_the_terminal_leaves_out_what_only_a_page_shows(example):
    text = "\n".join(terminal.body(report.report(example)))
    assert "Method, floors and ceilings\n====" in text
    assert "By class of query" not in text
    assert "Chosen by a rule" not in text


def test_an_interval_that_is_not_finite_is_null(example):
    """Classes of fewer than 2 videos have none (slices.py), and say so."""
    document = as_json(report.document(example))
    few = [entry for entry in document["slices"] if entry["n_videos"] < 2]
    assert all(figure["ci95"] is None for entry in few for figure in entry["measures"])
    many = [entry for entry in document["slices"] if entry["n_videos"] >= 20]
    assert many
    low, high = np.array([entry["measures"][3]["ci95"] for entry in many]).T
    value = np.array([entry["measures"][3]["value"] for entry in many])
    assert np.all((low <= value) & (value <= high))
