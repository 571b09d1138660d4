"""Files of answers in words: how they say they are read, what is told of the reading, open ends."""

from __future__ import annotations

import json

import pytest

from truemoment import Annotations
from truemoment.base.errors import InputError, UsageError
from truemoment.data.formats import Reading, read_predictions, read_rows

HEAD = {"truemoment_answers": 1, "prompt": {"name": "p", "axis": "percent", "which": "first"}}


@pytest.fixture
def annotations():
    return Annotations.from_rows([("a", "v", 50.0, "s", 5.0, 10.0), ("b", "v", 50.0, "t", 5.0, 10.0)])


@pytest.fixture
def file(tmp_path):
    def write(*lines):
        path = tmp_path / "p.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return write


def test_a_file_that_says_how_it_is_read_is_read_so(file, annotations):
    path = file(HEAD, {"query_id": "a", "answer": "from 10 to 20. From 30 to 40."})
    predictions, report = read_predictions(path, annotations)
    assert (predictions.start_s.tolist(), predictions.end_s.tolist()) == ([5.0], [10.0])  # per cent of 50 s, the first
    assert "read as its first line states (axis=percent,which=first" in report.recognised


def test_an_option_goes_before_what_the_file_says(file, annotations):
    path = file(HEAD, {"query_id": "a", "answer": "from 10 to 20. From 30 to 40."})
    predictions, report = read_predictions(path, annotations, reading=Reading(which="last"))
    assert predictions.start_s.tolist() == [30.0]
    assert "first line says (" not in report.recognised


@pytest.mark.parametrize("prompt", [{"axis": "yards"}, {"which": 3}, {"swapped": "perhaps"}])
def test_a_file_that_says_it_wrongly_is_refused(file, prompt):
    path = file({"truemoment_answers": 1, "prompt": prompt}, {"query_id": "a", "answer": "1 to 2 s"})
    with pytest.raises(InputError, match="field prompt: "):
        read_rows(path)


def test_an_open_end_is_the_end_of_the_video_and_null_in_json(file, annotations):
    path = file({"query_id": "a", "answer": "from 12 s to the end of the video"})
    predictions, report = read_predictions(path, annotations)
    assert predictions.end_s.tolist() == [50.0]
    assert json.loads(json.dumps(report.as_dict(), allow_nan=False))["parsing"]["sample"][0]["moments"] == [
        [12.0, None]
    ]


def test_an_open_end_without_a_duration_is_refused(file):
    path = file({"query_id": "a", "answer": "from 12 s to the end of the video"})
    nowhere = Annotations.from_rows([("a", "v", float("nan"), "s", 5.0, 10.0)])
    with pytest.raises(InputError, match="runs to the end of the video, and the duration of the video is unknown"):
        read_predictions(path, nowhere)


def test_seconds_are_not_put_on_an_axis_again(tmp_path):
    detection = {"_cls": "TemporalDetection", "label": "s", "support": [61, 150]}
    sample = {
        "filepath": "v.mp4",
        "metadata": {"frame_rate": 30},
        "predictions": {"_cls": "TemporalDetections", "detections": [detection]},
    }
    path = tmp_path / "samples.json"
    path.write_text(json.dumps({"samples": [sample]}))
    rows, _ = read_rows(path)
    assert (rows.start.tolist(), rows.end.tolist()) == ([2.0], [5.0])  # frames 61 to 150 at 30 a second
    with pytest.raises(UsageError, match="axis seconds, got --axis fps=30"):
        read_rows(path, reading=Reading(axis="fps=30"))


def test_counts_reasons_and_samples(file, annotations):
    path = file({"query_id": "a", "answer": "1 to 2 s"}, {"query_id": "b", "answer": "2 bags at the start"})
    _, report = read_predictions(path, annotations)
    assert report.parsing is not None
    assert report.parsing.counts == {"parsed": 1, "no answer": 0, "refused": 0, "ambiguous": 0, "failed": 1}
    assert [sample.place for sample in report.parsing.failures] == ["query 'b'"]
    assert [sample.text[slice(*sample.span)] for sample in report.parsing.sample] == ["1 to 2 s"]
