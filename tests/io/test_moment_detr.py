"""moment_detr JSON Lines: values, clip ratings, and the exact line said of a bad file."""

import gzip
import json

import pytest

from truemoment import Annotations
from truemoment.data.formats import read_predictions

THROUGHOUT = "expected [start, end] or [start, end, score] throughout"


@pytest.fixture(scope="module")
def numbered():
    """Two queries with the numbers that QVHighlights gives as ids."""
    return Annotations.from_rows(
        [
            ("7", "abc_0.0_150.0", 150.0, "A door opens.", 2.0, 6.0),
            ("9", "abc_0.0_150.0", 150.0, "A dog barks.", 8.0, 12.0),
        ],
        dataset="qvhighlights",
        split="val",
    )


def line(windows, qid=7, **more):
    return json.dumps({"qid": qid, **more, "pred_relevant_windows": windows}) + "\n"


def full(windows, *, ratings=None, **about):
    """Build a line as moment_detr writes it."""
    about = {"query": "A door opens.", "vid": "abc_0.0_150.0", **about}
    return line(windows, **about, **({} if ratings is None else {"pred_saliency_scores": ratings}))


def test_values(read, numbered):
    content = full([[0, 12.5, 0.5], [3, 4, 0.75]]) + full([], qid=9, query="A dog barks.")
    answers, report = read(content, against=numbered)
    assert answers == {"7": [(0.0, 12.5, 0.5), (3.0, 4.0, 0.75)], "9": []}  # in the order of the file
    assert report.recognised == 'its first line has "pred_relevant_windows"'
    assert (report.format, report.by_id, report.empty, report.reordered) == ("moment-detr", 2, 1, 1)


def test_an_id_as_text(read, numbered):
    assert read(line([[1, 2, 3]], qid="7"), against=numbered)[0] == {"7": [(1.0, 2.0, 3.0)]}


def test_without_scores_the_order_is_the_rank(read, numbered):
    # UniTime writes windows without scores (field.md, section 3).
    assert read(line([[1, 2], [3, 4]]), against=numbered)[0] == {"7": [(1.0, 2.0, 0.0), (3.0, 4.0, -1.0)]}


def test_clip_ratings(tmp_path, numbered):
    path = tmp_path / "p.jsonl"
    path.write_text(full([], ratings=[0.5, -1, 2]) + full([[1, 2, 3]], qid=9, query="A dog barks.", ratings=[4]))
    predictions, _ = read_predictions(path, numbered)
    assert predictions.saliency_offsets.tolist() == [0, 3, 4]
    assert predictions.saliency.tolist() == [0.5, -1.0, 2.0, 4.0]


def test_clip_ratings_follow_their_queries(tmp_path, numbered):
    path = tmp_path / "p.jsonl"
    rows = [
        full([], qid=9, query="A dog barks.", ratings=[4]),
        full([], qid=8, query="?", ratings=[9, 9]),
        full([], ratings=[1, 2, 3]),
    ]
    path.write_text("".join(rows))
    predictions, report = read_predictions(path, numbered, on_unknown="ignore")
    assert predictions.query_id.tolist() == ["7", "9"]
    assert predictions.saliency_offsets.tolist() == [0, 3, 4]
    assert predictions.saliency.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert report.unmatched == 1


def test_no_clip_ratings(tmp_path, numbered):
    path = tmp_path / "p.jsonl"
    path.write_text(line([[1, 2, 3]], pred_saliency_scores=None) + line([], qid=9))
    predictions, _ = read_predictions(path, numbered)
    assert predictions.saliency is None
    assert predictions.saliency_offsets is None


@pytest.mark.parametrize("name", ["p.jsonl", "p.jsonl.gz"])
def test_marks_line_ends_and_packing(read, numbered, name):
    content = b"\xef\xbb\xbf" + line([[1, 2, 3]]).replace("\n", "\r\n\r\n").encode()
    packed = gzip.compress(content) if name.endswith(".gz") else content
    assert read(packed, name, against=numbered)[0] == {"7": [(1.0, 2.0, 3.0)]}


GOOD = line([[1, 2, 3]], qid=9)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (GOOD + '{"pred_relevant_windows": []}\n', ":2: field qid: is missing"),
        (GOOD + '{"qid": 7}\n', ":2: field pred_relevant_windows: is missing"),
        (GOOD + line([], qid=None), ":2: field qid: got null, expected a whole number or text"),
        (GOOD + line([], qid=7.5), ":2: field qid: got a number, expected a whole number or text"),
        (GOOD + line(None), ":2: field pred_relevant_windows: got null, expected a list"),
        (GOOD + line([["1", 2]]), ":2: field pred_relevant_windows[0][0]: got text, expected a number"),
        (GOOD + line([[1, 2], None]), ":2: field pred_relevant_windows[1]: got null, expected a list"),
        (GOOD + line([], vid=3), ":2: field vid: got a whole number, expected text or null"),
        (
            GOOD + line([], pred_saliency_scores=["x"]),
            ":2: field pred_saliency_scores[0]: got text, expected a number",
        ),
        (
            GOOD + line([], pred_saliency_scores=[1, 2]),
            ":1: field pred_saliency_scores: is missing, and 1 other entries have it; expected all or none",
        ),
        (GOOD + "[]\n", ":2: got a list, expected an object"),
        (GOOD + line([[1, 2, 3]])[:-9], ":2: input data was truncated, expected JSON"),
        (GOOD * 2, ":2: answers query '9' again, expected each query once (first in line 1)"),
    ],
)
def test_bad_lines(refused, numbered, content, said):
    assert refused(content, against=numbered) == said


@pytest.mark.parametrize(
    ("windows", "came"),
    [
        ([[1, 2, 3], [1, 2]], "moments with and without a score"),
        ([[1, 2, 3, 4]], "a moment of 4 values"),
        ([[]], "a moment of 0 values"),
    ],
)
def test_bad_windows_name_the_field_of_this_format(refused, numbered, windows, came):
    said = refused(GOOD + line(windows), against=numbered)
    assert said == f":2: field pred_relevant_windows: got {came}, {THROUGHOUT}"


def test_negative_time_names_the_field_of_this_format(refused, numbered):
    assert refused(GOOD + line([[1, 2, 3], [-2, 3, 4]]), against=numbered) == (
        ":2: field pred_relevant_windows[1].start: got -2 for query '7', expected seconds from 0 to 1e+08; "
        "--on-negative clip lifts negative times to 0"
    )


def test_nan(refused, numbered):
    # What Python's json.dumps writes for a NaN score.
    assert refused(GOOD + line([[1, 2, float("nan")]]), against=numbered) == ":2: got NaN, expected a number"


def test_another_sentence_is_never_the_same_query(refused, numbered):
    assert refused(full([], query="A cat sleeps."), against=numbered) == (
        ":1: got sentence 'A cat sleeps.' for query '7', expected 'A door opens.'; is it the right dataset and split?"
    )


def test_another_video_is_never_the_same_query(refused, numbered):
    assert refused(full([], vid="xyz_0.0_150.0"), against=numbered) == (
        ":1: got video 'xyz_0.0_150.0' for query '7', expected 'abc_0.0_150.0'; is it the right dataset and split?"
    )


@pytest.mark.parametrize("content", ["", "\n", " \n\n", "\ufeff"])
def test_empty_files(refused, content, numbered):
    assert refused(content, format="moment-detr", against=numbered) == ": has no predictions"


@pytest.mark.parametrize("as_list", [False, True])
def test_a_file_of_highlights_has_ratings_and_no_moments(tmp_path, annotations, as_list):
    """TimeChat writes a list, moment_detr lines."""
    rows = [{"qid": query, "vid": "v", "pred_saliency_scores": [0.5, 0.25]} for query in ("v#0", "v#1")]
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps(rows) if as_list else "\n".join(map(json.dumps, rows)))
    predictions, report = read_predictions(path, annotations)
    assert (report.format, report.empty, predictions.saliency.tolist()) == ("moment-detr", 2, [0.5, 0.25] * 2)
