"""References of anybody on the command line: studies, durations of videos, the kept mapping, and convert."""

import json

import pytest

import truemoment as tm
from truemoment.cli import run
from truemoment.data.references import read_annotations

from .conftest import FILES

PREDICTION = '{"video_id": "%s", "sentence": "%s", "moments": [[%s, %s]]}\n'


@pytest.fixture
def call(capfd):
    """Run the command line: status, standard output, standard error."""

    def run_words(*words):
        capfd.readouterr()
        status = run([str(word) for word in words])
        return status, *capfd.readouterr()

    return run_words


@pytest.mark.parametrize("form", FILES)
def test_a_perfect_answer_is_perfect_in_every_form(put, tmp_path, call, form):
    name, content, options, rows = FILES[form]
    file = put(name, content)
    first = {row[0]: row for row in reversed(rows)}
    predictions = put("preds.jsonl", "".join(PREDICTION % (row[1], row[3], row[4], row[5]) for row in first.values()))
    rate = ["--frame-rate", "25"] if options else []
    words = ["--annotations", file, *rate, "--measures", "R@1,IoU=0.7", "--json", tmp_path / "out.json"]
    status, _, err = call("evaluate", predictions, *words)
    assert (status, err) == (0, ""), err
    assert json.loads((tmp_path / "out.json").read_text())["measures"][0]["value"] == 1.0


def test_python_takes_the_same_options(put):
    file = put("a.csv", "file,caption,begin,finish\nv,x,90,300\n")
    predictions = put("preds.jsonl", PREDICTION % ("v", "x", 3, 10))
    scores = tm.evaluate(
        predictions, annotations=file, fields="start_s=begin/30, end_s=finish/30", measures="R@1,IoU=0.7"
    )
    assert scores.table()["value"] == [1.0]
    assert tm.read_annotations(file, fields="start_s=begin/30, end_s=finish/30").start_s.tolist() == [3.0]


def test_a_mapping_is_saved_once_the_file_was_read(put, tmp_path, call):
    file, kept = put("a.csv", "file,caption,begin,finish\nv,x,90,300\n"), tmp_path / "map.txt"
    out = ["--references", "--to", "own", "-o", tmp_path / "own.jsonl"]
    status, _, err = call("convert", file, *out, "--fields", "start_s=begn/30", "--save-fields", kept)
    assert (status, kept.exists()) == (2, False)
    assert "did you mean 'begin'?" in err
    mapping = "start_s=begin/30, end_s=finish/30"
    assert call("convert", file, *out, "--fields", mapping, "--save-fields", kept)[0] == 0
    assert kept.read_text() == "start_s=begin/30\nend_s=finish/30\n"
    assert call("convert", file, *out, "--fields", kept)[0] == 0
    assert read_annotations(tmp_path / "own.jsonl").end_s.tolist() == [10.0]
    status, _, err = call("convert", file, *out, "--save-fields", kept)
    assert (status, err) == (2, "truemoment: --save-fields saves the value of --fields, expected --fields\n")


def test_durations_of_video_files(put, call, films):
    file = put("a.txt", "a 0.5 1.0##person sits.\n")
    predictions = put("preds.jsonl", PREDICTION % ("a", "person sits.", 0.5, 1.0))
    words = ["evaluate", predictions, "--annotations", file, "--measures", "dR@1,IoU=0.5"]
    status, _, err = call(*words)
    assert status == 2
    assert "give durations (--durations FILE or --videos DIR)" in err
    status, _, err = call(*words, "--videos", films)
    assert (status, err) == (0, "")
    assert call(*words, "--durations", put("d.csv", "video,duration\na,2\n"))[0] == 0


def test_durations_that_nothing_needs_are_read(put, call, tmp_path):
    file = put("a.csv", FILES["csv"][1])
    words = ["convert", file, "--references", "--to", "own", "-o", tmp_path / "own.jsonl"]
    assert call(*words, "--videos", tmp_path / "none")[::2] == (2, f"truemoment: {tmp_path / 'none'}: no such folder\n")
    words.append("--durations")
    assert call(*words, tmp_path / "none")[::2] == (2, f"truemoment: {tmp_path / 'none'}: no such file\n")
    status, _, err = call(*words, put("d.csv", "video,duration\na,soon\n"))
    assert (status, err) == (2, f"truemoment: {tmp_path / 'd.csv'}:2: field duration: got 'soon', expected seconds\n")
    assert call(*words, put("d.csv", "video,duration\na,2\n"))[0] == 0


def test_what_is_left_out_is_said_once(put, call):
    file = put("a.srt", "1\n00:00:01,0 --> 00:00:02,0\n\n2\n00:00:03,0 --> 00:00:04,0\nx\n")
    status, _, err = call("bias", "--annotations", file, "--quiet")
    no_duration = "no video's duration is known; --durations FILE or --videos DIR gives them"
    said = [f"warning: {file}: {line}" for line in ("left out 1 cues without text", no_duration)]
    assert (status, err.splitlines()) == (0, said)


def test_convert_says_what_is_lost(put, tmp_path, call):
    file = put("a.json", FILES["didemo"][1])
    status, out, err = call("convert", file, "--references", "--to", "activitynet", "-o", tmp_path / "out.json")
    assert status == 0
    assert out.splitlines()[0] == f"{file}: didemo (its entries have description and times); 1 query, 2 moments"
    assert err.splitlines() == [
        "note: query ids are lost: they become VIDEO#K",
        "note: annotators are lost",
        "note: 1 query with several moments: each moment becomes a query",
    ]


def test_convert_keeps_splits_in_our_form(put, tmp_path, call):
    file = put("a.csv", "video,query,start,end,split\nv,x,1,2,train\nw,y,5,6,test\nu,z,1,2,\n")
    assert call("convert", file, "--references", "--to", "own", "-o", tmp_path / "own.jsonl")[0] == 0
    lines = [json.loads(line) for line in (tmp_path / "own.jsonl").read_text().splitlines()]
    assert [(line["video_id"], line["split"]) for line in lines] == [("v", "train"), ("w", "test"), ("u", None)]
    status, _, err = call("convert", file, "--references", "--to", "qvhighlights", "-o", tmp_path / "qvh.jsonl")
    assert (status, err) == (0, "note: the splits are lost (test, train); --split NAME writes one\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--to", "elan"],
            "the form elan is read only, expected one of own, qvhighlights, activitynet, charades-sta, csv",
        ),
        (["--to", "own", "--dataset", "tacos"], "got FILE and --dataset or --annotations, expected one of them"),
    ],
)
def test_convert_refuses_in_one_line(put, tmp_path, call, words, said):
    status, _, err = call("convert", put("a.csv", FILES["csv"][1]), "--references", *words, "-o", tmp_path / "x")
    assert (status, err) == (2, f"truemoment: {said}\n")


def test_one_line_is_an_error_behind_a_warning(put, call):
    """A script finds the error by its beginning, which no warning has."""
    file = put("a.srt", "1\n00:00:01,0 --> 00:00:02,0\n\n")
    status, _, err = call("bias", "--annotations", file)
    assert (status, err) == (
        2,
        f"warning: {file}: left out 1 cues without text\ntruemoment: {file}: has no cue with text\n",
    )
