"""Your own annotations: JSON Lines, a query a line."""

import json
import math

import pytest

from truemoment.base.errors import InputError, MissingFileError
from truemoment.data.datasets.own import write
from truemoment.data.references import read_annotations


def line(moments=((2, 5),), **about):
    return json.dumps({"video_id": "v1", "sentence": "a door opens", "moments": moments, **about}) + "\n"


@pytest.fixture
def own(tmp_path):
    """Write own.jsonl and read it."""

    def run(content, split=None):
        path = tmp_path / "own.jsonl"
        path.write_text(content, encoding="utf-8")
        return read_annotations(path, split)

    return run


@pytest.fixture
def refused_own(own, tmp_path):
    """Write own.jsonl, which must be refused; return what is said behind its name."""

    def run(content, split=None):
        with pytest.raises(InputError) as caught:
            own(content, split)
        said = str(caught.value)
        assert said.startswith(str(tmp_path / "own.jsonl"))
        assert len(said.splitlines()) == 1
        return said.removeprefix(str(tmp_path / "own.jsonl")).replace("`", "")  # how fields are quoted is not tested

    return run


def test_every_field(own, rows):
    annotations = own(
        line(query_id="q1", duration_s=30.5, moments=[[2, 5], [4.5, 6]], annotators=["ann", "bo"], split="test")
        + line(query_id=7, video_id="v2", sentence=" ü ", moments=[[9, 1]], duration_s=20)
    )
    assert rows(annotations) == [
        ("q1", "v1", 30.5, "a door opens", 2.0, 5.0, "ann"),
        ("q1", "v1", 30.5, "a door opens", 4.5, 6.0, "bo"),
        ("7", "v2", 20.0, " ü ", 9.0, 1.0, ""),
    ]
    assert (annotations.dataset, annotations.split) == ("own.jsonl", "all")


def test_ids_are_made_by_position_within_the_video(own):
    # DESIGN.md, vocabulary: VIDEO#K, from 0, before any filtering.
    content = line() + line(video_id="v2") + line(query_id="mine") + line()
    assert own(content).query_id.tolist() == ["v1#0", "v2#0", "mine", "v1#2"]


def test_a_video_may_hold_no_such_moment(own, tmp_path):
    content = line(moments=[], duration_s=30.5) + line() + line(moments=[], annotators=["ann"], split="test")
    annotations = own(content)
    assert annotations.without_moment.tolist() == [True, False, True]
    assert len(annotations) == 3
    assert annotations.annotator.tolist() == ["", "", "ann"]
    # Written and read back it is the same, and the file says so in the same way.
    write(tmp_path / "again.jsonl", [annotations])
    again = (tmp_path / "again.jsonl").read_text(encoding="utf-8")
    assert [json.loads(text)["moments"] for text in again.splitlines()] == [[], [[2.0, 5.0]], []]
    assert read_annotations(tmp_path / "again.jsonl").sha256 == annotations.sha256


def test_ids_do_not_change_with_the_split_that_is_read(own):
    content = line(split="train") + line(split="test") + line(split="test")
    assert own(content, "test").query_id.tolist() == ["v1#1", "v1#2"]


def test_a_duration_may_be_unknown(own):
    assert math.isnan(own(line()).duration_s[0])
    assert math.isnan(own(line(duration_s=None)).duration_s[0])


def test_splits(own):
    content = line(split="train") + line(split="test") + line()
    assert own(content).n_queries == 3
    test = own(content, "test")
    assert test.query_id.tolist() == ["v1#1", "v1#2"]  # lines that name no split belong to each
    assert test.split == "test"


def test_a_split_that_nobody_has(refused_own):
    assert refused_own(line(split="train") + line(split="dev"), "test") == (
        ": has no queries of split 'test'; expected one of dev, train"
    )


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_an_empty_file(refused_own, content):
    assert refused_own(content) == ": has no queries"
    assert refused_own(content, "test") == ": has no queries of split 'test'"


GOOD = line()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            line(moments=[], annotators=["a", "b"]),
            "field annotators: got 2 names for 0 moments, expected as many",
        ),
        (
            line(moments=[[2, 5]], annotators=["a", "b"]),
            "field annotators: got 2 names for 1 moments, expected as many",
        ),
        (
            line(moments=[[2, 5], [2, 5]], annotators=["a"]),
            "field annotators: got 1 names for 2 moments, expected as many",
        ),
        (
            line(moments=[[2, 5, 0.5]]),
            "field moments[0]: expected a list of length 2; a third number is a score: are predictions and "
            "annotations swapped?",
        ),
        (line(moments=[[2, "5"]]), "field moments[0][1]: got text, expected a number"),
        (line(moments=[2, 5]), "field moments[0]: got a whole number, expected a list"),
        (line(moments=None), "field moments: got null, expected a list"),
        (line(duration_s="30"), "field duration_s: got text, expected a number or null"),
        (line(video_id=3), "field video_id: got a whole number, expected text"),
        (line(sentence=None), "field sentence: got null, expected text"),
        (line(query_id=1.5), "field query_id: got a number, expected a whole number or text or null"),
        (line(moment=[[1, 2]]), "object contains unknown field moment"),
        (json.dumps({"video_id": "v", "moments": [[1, 2]]}), "field sentence: is missing"),
        ("[]", "got a list, expected an object"),
        (line()[:-3], "input data was truncated, expected JSON"),
        (line(moments=[[2, float("nan")]]), "got NaN, expected a number"),
        (line(moments=[[2, float("-inf")]]), "got -Infinity, expected a number"),
        (line(moments=[[2, 5]]).replace("5", "1e999"), "field moments[0][1]: number out of range"),
    ],
)
def test_malformed(refused_own, content, said):
    assert refused_own(GOOD + "\n" + content) == f":3: {said}"


def test_an_id_that_stands_twice(refused_own):
    assert refused_own(line(query_id="q") + "\n" + line(video_id="v2") + line(query_id="q")) == (
        ":4: field query_id: got 'q' again, expected each query once (first in line 1)"
    )


def test_an_id_that_equals_a_made_one(refused_own):
    assert refused_own(line() + line(query_id="v1#0", video_id="v2")) == (
        ":2: field query_id: got 'v1#0' again, expected each query once (first in line 1)"
    )


def test_an_id_may_stand_in_two_splits(own):
    content = line(query_id="q", split="train") + line(query_id="q", split="test")
    assert own(content, "test").query_id.tolist() == ["q"]


def test_a_missing_file(tmp_path):
    with pytest.raises(MissingFileError) as caught:
        read_annotations(tmp_path / "none.jsonl")
    assert str(caught.value) == f"{tmp_path / 'none.jsonl'}: no such file"
