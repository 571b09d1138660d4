"""Conditions on findings: how a gate is read and judged."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import UsageError
from truemoment.evaluation.measures import parse_measures
from truemoment.studies.audit import AuditFinding, judge, read_gate, resolve_conditions

FINDINGS = (
    AuditFinding("sound", "good", "All is well.", holds=True, figure=0.25),
    AuditFinding("unsound", "serious", "It is not.", holds=False, figure=0.9),
    AuditFinding("open", "note", "Nobody knows."),
    AuditFinding("drawn", "note", "Within bounds.", holds=True, figure=0.3, ci95=(0.2, 0.5)),
)
FIGURES = {"R@1,IoU=0.5": 0.4, "mIoU": math.nan}


def passed(text):
    return [outcome.passed for outcome in judge(read_gate(text), FINDINGS, FIGURES)]


@pytest.mark.parametrize(
    ("gate", "expected"),
    [
        ("sound", [True]),
        ("unsound", [False]),
        ("open", [False]),
        ("sound<0.3", [True]),
        ("sound <= 0.25", [True]),
        ("sound<0.25", [False]),
        ("unsound>0.5; sound", [True, True]),
        ("R@1,IoU=0.5>=0.4", [True]),
        ("R@1,IoU=0.5>0.4", [False]),
        ("mIoU>0", [False]),
        ("open<1", [False]),
        ("; sound ;", [True]),
        # Both ends of an interval must lie on the right side; "(point)" looks at the figure.
        ("drawn>0.1; drawn>0.2; drawn>=0.2; drawn>0.25", [True, False, True, False]),
        ("drawn<0.6; drawn<0.5; drawn<=0.5; drawn<0.4", [True, False, True, False]),
        ("drawn>0.25 (point); drawn<0.4(point); drawn>0.3 (point)", [True, True, False]),
    ],
)
def test_conditions(gate, expected):
    assert passed(gate) == expected


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("", "got no condition"),
        (" ; ", "got no condition"),
        ("sound<much", "got 'much', expected a number"),
        ("sound<nan", "expected a number"),
    ],
)
def test_what_cannot_be_read(gate, message):
    with pytest.raises(UsageError, match=message):
        read_gate(gate)


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("nothing", "unknown 'nothing', expected one of better-than-guessing, "),
        ("R@1,IoU=0.3>0", "unknown 'R@1,IoU=0.3'"),
        ("mIoU", "it cannot pass or fail, give a number"),
        ("resolution", "it cannot pass or fail, give a number"),
        ("shallow-lists>1", "has no figure to compare"),
    ],
)
def test_names_that_are_not_there(gate, message):
    with pytest.raises(UsageError, match=message):
        resolve_conditions(read_gate(gate), parse_measures("R@1,IoU=0.5; mIoU"))


def test_measures_may_be_written_otherwise():
    (condition,) = resolve_conditions(read_gate("R@1,IoU=0.50>=0.4"), parse_measures("R@1,IoU=0.5"))
    assert condition.name == "R@1,IoU=0.5"


def test_what_does_not_apply_fails_and_says_so():
    (outcome,) = judge(read_gate("uses-video"), FINDINGS, FIGURES)
    assert outcome[1:] == (False, "uses-video does not apply here")


@pytest.mark.slow
@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        conditions = read_gate(text)
    except UsageError:
        return
    assert conditions
    assert all(condition.text and condition.name for condition in conditions)
