"""Answers in the styles in circulation, each with what a careful person reads: moments, "no answer", or "refused".

The sentences of ``in_circulation.jsonl`` are invented, in the styles that papers, model cards and public reports show;
their first 161 were written before the reader was mended for them. "refused" is everything that is no moment and no
denial: half a moment, another unit, another number, a model that declines.

At the first reading, before the reader was mended for them, 104 of 126 moments were read in the next 163 answers, and 3
answers were read wrongly; 40 of 46 and 2 in the next 61; 32 of 36 and 1 in the next 56, which look for what the mending
may have broken; 47 of 51 and 1 in the next 60; 29 of 33 and 7 in the next 57, half of them hours, frames and counts.
All are read as expected now, but two that are left out: seconds and nanoseconds in two keys, and two times with a third
between them.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from truemoment.data.answers import Reading, parse_answer

LINES = [json.loads(line) for line in Path(__file__).with_name("in_circulation.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("line", LINES, ids=[f"{number}-{line['style']}" for number, line in enumerate(LINES, 1)])
def test_an_answer_is_read_as_a_careful_person_reads_it(line):
    answer = parse_answer(line["answer"])
    if isinstance(line["expected"], str):
        assert answer.moments == (), answer.why
        assert (answer.status == "no answer") == (line["expected"] == "no answer"), answer.why
    else:
        # 1e-9: a time may be a sum of minutes and seconds; float() knows "inf", the end of the video.
        expected = [pytest.approx((float(start), float(end)), rel=0, abs=1e-9) for start, end in line["expected"]]
        assert list(answer.moments) == expected, answer.why
        begin, end = answer.span
        assert 0 <= begin < end <= len(line["answer"])


def test_tokens_of_times_are_bins():
    text = "<t17> <t26> The door opens between <t17> and <t26>."  # as LITA answers, of 100 parts
    assert parse_answer(text, Reading(axis="bins=100")).moments == ((17, 26),)
    assert parse_answer(text).why == "frames, and the axis is seconds"


def test_the_answers_are_many_and_of_many_styles():
    assert len(LINES) > 300
    assert len({line["answer"] for line in LINES}) == len(LINES)
    assert min(Counter(isinstance(line["expected"], str) for line in LINES).values()) > 80
    assert len({line["style"] for line in LINES}) > 30
