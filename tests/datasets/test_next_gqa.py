"""NExT-GQA on small files of its form, with an answer file of its own program."""

import json

import pytest

from truemoment.base.errors import InputError
from truemoment.data.formats import read_predictions
from truemoment.evaluation.evaluate import evaluate

QUESTIONS = "video_id,frame_count,question,answer,qid\n10,900,why did he jump,for fun,0\n10,900,what then,sleep,3\n"
MOMENTS = {"10": {"duration": 35, "location": {"0": [[0.5, 12.5]], "3": [[2, 4], [30.0, 35.0]]}, "fps": 29.97}}


@pytest.fixture
def files(put):
    put("next-gqa", "test.csv", QUESTIONS)
    return lambda moments=MOMENTS: put("next-gqa", "gsub_test.json", moments)


def test_rows(files, load, rows):
    files()
    assert rows(load("next-gqa", "test")) == [
        ("10_0", "10", 35.0, "why did he jump", 0.5, 12.5, ""),
        ("10_3", "10", 35.0, "what then", 2.0, 4.0, ""),
        ("10_3", "10", 35.0, "what then", 30.0, 35.0, ""),
    ]


def test_answers_of_its_program(files, load, put):
    files()
    test = load("next-gqa", "test")
    answers, report = read_predictions(put("next-gqa", "test_ground.json", {"10_3": [30, 40], "10_0": []}), test)
    assert (report.format, report.by_id, report.empty) == ("next-gqa", 2, 1)
    # Half of the one answer lies inside; a question without an answer leaves the mean.
    scores = evaluate(test, answers, "mIoP; R@1,IoP=0.5", "default,comparison=>=,missing=drop")
    assert [measured.value for measured in scores.measured()] == [0.5, 1.0]


@pytest.mark.parametrize(
    ("moments", "said"),
    [
        ({}, "test.csv:2: field qid: got question '0' of video '10', expected one with moments in gsub_test.json"),
        ({"10": {"duration": 35, "location": {"0": [[1, 2]]}}}, "test.csv:3: field qid: got question '3' of video"),
        ({"10": {"duration": 35, "location": {"0": [[1]]}}}, "gsub_test.json:1: field 10.location"),
    ],
)
def test_malformed(files, refused, moments, said):
    files(moments)
    assert f"next-gqa/{said}" in refused("next-gqa", "test")


def test_malformed_answers(files, load, put):
    files()
    path = put("next-gqa", "answers.json", json.dumps({"10_0": [1, 2, 3]}))
    with pytest.raises(InputError, match=r"10_0: got 3 numbers, expected \[start, end\]"):
        read_predictions(path, load("next-gqa", "test"))
