"""Predictions in files of other columns: fields that a user maps, and the messages of mappings that do not fit."""

import json

import pytest

from truemoment.base.errors import TrueMomentError
from truemoment.cli import run
from truemoment.data.formats import read_predictions
from truemoment.data.formats.objects import parse_prediction_fields

# Two moments of query v#0 and one of w#0, in frames at 25 a second: 2 s to 5 s, 1 s to 4 s, 0.4 s to 2 s.
FRAMES = "clip;words;first;last;p\nv.mp4;A man's dog, barking.;50;125,0;0,5\nw.mp4;Die Tür geht auf 🚪;10;50;0,5\n" + (
    "v.mp4;A man's dog, barking.;25;100;0,75\n"
)
MAP = "video_id=clip, sentence=words, start_s=first/25, end_s=last/25, score=p"
MOMENTS = {"v#0": [(2.0, 5.0, 0.5), (1.0, 4.0, 0.75)], "w#0": [(0.4, 2.0, 0.5)]}


def objects():
    """Return JSON objects of the same rows, with nested fields and milliseconds."""
    rows = [line.replace(",", ".").split(";") for line in FRAMES.replace("dog, ", "dog ").splitlines()[1:]]
    return [
        {"clip": {"file": f"a/{clip}"}, "words": words, "ms": [40 * float(first), 40 * float(last)], "p": float(p)}
        for clip, words, first, last, p in rows
    ]


def test_frames_in_a_table_with_semicolons_and_decimal_commas(read):
    lists, report = read(FRAMES, "p.csv", fields=parse_prediction_fields(MAP))
    assert lists == MOMENTS
    assert (report.format, report.rows, report.by_text) == ("csv", 2, 2)


@pytest.mark.parametrize("written", [json.dumps(objects()), "\n".join(map(json.dumps, objects()))])
def test_milliseconds_within_objects(read, written):
    mapping = "video_id=clip.file, sentence=words, moments=ms*0.001, score=p"
    lists, report = read(written, "p.json", fields=parse_prediction_fields(mapping))
    assert (lists, report.format) == (MOMENTS, "json")


def test_parquet(tmp_path, annotations, lists):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(objects()), tmp_path / "p.parquet")
    fields = parse_prediction_fields("video_id=clip.file, sentence=words, moments=ms*0.001, score=p")
    predictions, report = read_predictions(tmp_path / "p.parquet", annotations, fields=fields)
    assert (lists(predictions), report.format) == (MOMENTS, "parquet")


def test_lists_of_scored_moments_have_no_unit_in_their_scores(read):
    content = json.dumps([{"id": "v#1", "spans": [[150, 225, 0.5], [0, 30, 0.25]]}])
    lists, _ = read(content, "p.json", fields=parse_prediction_fields("query_id=id, moments=spans/25"))
    assert lists == {"v#1": [(6.0, 9.0, 0.5), (0.0, 1.2, 0.25)]}


def test_answers_in_words(read):
    content = "id,model output\nv#1,from 6 to 9 seconds\nw#0,\n"
    lists, report = read(content, "p.csv", fields=parse_prediction_fields('query_id=id, answer="model output"'))
    assert lists == {"v#1": [(6.0, 9.0, 0.0)], "w#0": []}
    assert report.failed == 1


def test_usual_names_need_no_mapping(read):
    """The columns named `pred` are the predictions where the references are in the same table."""
    content = "video,caption,start,end,pred_start,pred_end\nv,a door opens,6,9,5,8\n"
    assert read(content, "p.csv")[0] == {"v#1": [(5.0, 8.0, 0.0)]}
    assert read("video;query;begin;finish\nv;a door opens;5,5;8,25\n", "p.csv")[0] == {"v#1": [(5.5, 8.25, 0.0)]}


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (
            "video_id=clips, sentence=words, start_s=first, end_s=last",
            "p.csv:1: field --prediction-fields: got 'clips' as the column of video_id, the file has clip, words, "
            "first, last, p; did you mean 'clip'?",
        ),
        (
            "video_id=clip, sentence=words",
            "p.csv:1: has no column for start_s, end_s, got clip, words, first, last, p; name them: "
            '--prediction-fields "start_s=COLUMN, end_s=COLUMN"',
        ),
        (
            "video_id=clip, sentence=words, start_s=words, end_s=last",
            'p.csv:2: field words: got "A man\'s dog, barking.", expected a number',
        ),
        (
            "start=first",
            "--prediction-fields: got the field 'start', expected one of query_id, video_id, sentence, start_s, end_s, "
            "moments, score, answer; did you mean start_s?",
        ),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused(tmp_path, annotations, mapping, message):
    path = tmp_path / "p.csv"
    path.write_text(FRAMES)
    with pytest.raises(TrueMomentError) as refused:
        read_predictions(path, annotations, fields=parse_prediction_fields(mapping))
    assert str(refused.value).removeprefix(f"{tmp_path}/") == message


@pytest.fixture
def call(tmp_path, monkeypatch, capfd):
    """Run the command line in a folder with a table and its annotations: status, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text("id,a,b\nq1,30,60\n")
    (tmp_path / "own.jsonl").write_text(
        '{"query_id": "q1", "video_id": "v", "sentence": "a door", "duration_s": 9, "moments": [[1, 2]]}\n'
    )

    def run_words(*words):
        capfd.readouterr()
        return run(list(words)), *capfd.readouterr()

    return run_words


def test_the_mapping_is_kept_once_it_was_read(call, tmp_path):
    words = ("evaluate", "p.csv", "--annotations", "own.jsonl", "--measures", "R@1,IoU=0.9", "--prediction-fields")
    status, out, _ = call(*words, "query_id=id, start_s=a/30, end_s=b/30", "--save-prediction-fields", "p.map")
    assert (status, "100.00" in out) == (0, True)
    assert (tmp_path / "p.map").read_text() == "query_id=id\nstart_s=a/30\nend_s=b/30\n"
    assert call(*words, "p.map")[:2] == (0, out)


def test_a_mapping_is_of_one_file(call):
    """--fields is of annotations, of which there are none, and --save-prediction-fields needs a mapping."""
    convert = ("convert", "p.csv", "--to", "csv", "-o", "o.csv")
    line = "truemoment: --fields maps the columns of annotations; --prediction-fields those of FILE\n"
    mapping = "query_id=id, start_s=a, end_s=b"
    assert call(*convert, "--fields", "sentence=id", "--prediction-fields", mapping) == (2, "", line)
    status, _, err = call("evaluate", "p.csv", "--annotations", "own.jsonl", "--save-prediction-fields", "p.map")
    assert (status, err.count("\n")) == (2, 1)
