"""Answers in the styles in circulation, each with what a careful person reads: moments, "no answer", or "refused".

The sentences of ``in_circulation.jsonl`` are invented, in the styles that papers, model cards and public reports show.
"refused" is everything that is no moment and no denial: half a moment, another unit, another number, a model that
declines. `docs/answers.md` has how many of each set were read before the reader was mended for them.

All are read as expected now, but those that are left out: 35 that are not read, and sixteen that are read although a
person would not, such as parts of the video without a unit (``[0.5, 0.75]``).
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from truemoment.data.answers import Reading, parse_answer

LINES = [json.loads(line) for line in Path(__file__).with_name("in_circulation.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("style", sorted({line["style"] for line in LINES}))
def test_answers_are_read_as_a_careful_person_reads_them(style):
    for line in LINES:
        if line["style"] != style:
            continue
        answer = parse_answer(line["answer"])
        told = f"{line['answer']}: {answer.why}"
        if isinstance(line["expected"], str):
            assert answer.moments == (), told
            assert (answer.status == "no answer") == (line["expected"] == "no answer"), told
        else:
            # 1e-9: a time may be a sum of minutes and seconds; float() knows "inf", the end of the video.
            expected = [pytest.approx((float(start), float(end)), rel=0, abs=1e-9) for start, end in line["expected"]]
            assert list(answer.moments) == expected, told
            begin, end = answer.span
            assert 0 <= begin < end <= len(line["answer"])


def test_tokens_of_times_are_bins():
    text = "<t17> <t26> The door opens between <t17> and <t26>."  # as LITA answers, of 100 parts
    assert parse_answer(text, Reading(axis="bins=100")).moments == ((17, 26),)
    assert parse_answer(text).why == "frames, and the axis is seconds"


OTHER_NUMBERS = """The video is 95 seconds long.
It has a frame rate of 24 fps and 2280 frames.
There are 2 to 3 people in the scene.
The score changes from 2-1 to 3-1.
The game ends 21 to 19.
A sign says "Exit 12 - 15".
The boy is 8 to 10 years old.
She counts from 1 to 10.
The action lasts about 7 seconds.
It takes 5 to 8 seconds.
My confidence is 0.8 to 0.9.
The boundaries may be off by 1 to 2 seconds.
The room is 4 by 5 meters.
The price falls from 30 to 25 dollars.
The shop is open from 9:00 to 17:00.
Steps 2 to 4 of the recipe follow.
Bake it for 10 to 12 minutes.
The caption says "wait 5 to 10 seconds".
The bounding box is [12, 40, 200, 310].
The light blinks 2 to 3 times per second.
视频总长95秒。
Hay de 2 a 3 personas.
La vidéo dure 95 secondes.
Die Szene dauert 5 bis 8 Sekunden.""".splitlines()
MOMENTS = ("From 41 to 53 seconds.", "It starts at 0:41 and ends at 0:53.", "[41.0, 53.0]", '{"start": 41, "end": 53}')


@pytest.mark.parametrize("sentence", OTHER_NUMBERS)
def test_a_sentence_about_other_numbers_is_no_moment_and_changes_none(sentence):
    assert parse_answer(sentence).moments == ()
    for moment in MOMENTS:
        for text in (f"{sentence} {moment}", f"{moment}\n{sentence}"):
            assert parse_answer(text).moments == ((41, 53),), text


def test_of_several_moments_the_one_is_read_that_the_text_chooses():
    several = "The man eats from 0:05 to 0:09. He drinks from 0:12 to 0:14."
    assert parse_answer(several).why == "several moments, none of which is chosen"
    assert parse_answer(several, Reading(which="last")).moments == ((12, 14),)
    assert parse_answer(f"{several} So the answer is 0:05 to 0:09.").moments == ((5, 9),)


def test_the_answers_are_many_and_of_many_styles():
    assert len(LINES) > 3300
    assert len({line["answer"] for line in LINES}) == len(LINES)
    assert min(Counter(isinstance(line["expected"], str) for line in LINES).values()) > 1200
    assert len({line["style"] for line in LINES}) > 100
