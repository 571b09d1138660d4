"""Conditions on findings: how a gate is read and judged."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.audit import Finding, judge, read_gate
from truemoment.exceptions import UsageError

FINDINGS = (
    Finding("sound", "good", "All is well.", holds=True, figure=0.25),
    Finding("unsound", "serious", "It is not.", holds=False, figure=0.9),
    Finding("open", "note", "Nobody knows."),
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
        ("nothing", "unknown 'nothing', expected one of sound, unsound, open, R@1,IoU=0.5, mIoU"),
        ("R@1,IoU=0.5", "a measure needs a number"),
    ],
)
def test_refusals(gate, message):
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        passed(gate)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        conditions = read_gate(text)
    except UsageError:
        return
    assert conditions
    assert all(condition.text and condition.name for condition in conditions)
