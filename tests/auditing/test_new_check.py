"""A new check is one value in the list: its finding, table and JSON key appear, and nothing else changes."""

import json

import pytest

from truemoment.base.boundary.documents import as_json
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.report.model import Cell, Table
from truemoment.report.render.html import page
from truemoment.studies.audit import CHECKS, AuditFinding, AuditSetup, Check, audit, read_gate, report, run
from truemoment.studies.audit.checks.base import SCORE


def chance(results):
    """A figure that is drawn, so that it would move others if draws were shared."""
    return float(results.stream("coin").random())


def look(results):
    return AuditFinding("coin", "note", "A coin was tossed.", (), results.cached(chance), holds=True)


COIN = Check(
    name="coin",
    title="A coin",
    looks_at="a coin",
    look=look,
    passes="always",
    figure="where it fell",
    blocks=lambda _: {SCORE: (Table("Sides of the coin.", ("side", "n"), (("", ((Cell("heads"), Cell("1")),)),)),)},
    document=lambda results: {"coin": results.cached(chance)},
)


@pytest.fixture(scope="module")
def setup(invented, constant):
    test = invented("test", 8, 0)
    measures, protocol = parse_measures("R@1,IoU=0.5"), get_protocol("default")
    return AuditSetup(test, constant(test, 0.0, 10.0), measures, protocol, resamples=200, permutations=99)


def test_a_new_check_brings_its_parts_and_changes_no_other(setup, monkeypatch):
    monkeypatch.setattr(
        "truemoment.studies.audit.checks.excess_where_blind_misses.network_answers", lambda *_: None
    )  # trains none
    without = as_json(report.document(audit(setup)))
    for module in (run, report):
        monkeypatch.setattr(module, "CHECKS", (CHECKS[0], COIN, *CHECKS[1:]))
    monkeypatch.setattr("truemoment.studies.audit.checks.CHECKS", (*CHECKS, COIN))
    found = audit(setup, conditions=read_gate("coin; coin>=0"))
    assert found.passed
    document = as_json(report.document(found))
    assert document.pop("coin") == next(of.figure for of in found.findings if of.check == "coin")
    assert document["findings"].pop(1)["verdict"] == "A coin was tossed."
    assert len(document.pop("gate")) == 2
    without.pop("gate")
    assert json.dumps(document) == json.dumps(without)
    shown = page(report.report(found))
    assert "<h4><bdi>A coin</bdi></h4>" in shown
    behind = shown[shown.index('<section id="behind"') : shown.index('<section id="classes"')]
    assert "Sides of the coin." in behind
