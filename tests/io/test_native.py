"""Native JSON Lines: values, the first line, and the exact line said of a bad file."""

import gzip
import json

import pytest

from truemoment import Annotations
from truemoment.data.formats import read_predictions
from truemoment.data.formats.native import LINES_AT_A_TIME


def line(moments, **about):
    return json.dumps({"query_id": "v#0", **about, "moments": moments}) + "\n"


def header(**said):
    return json.dumps({"truemoment": 1, **said}) + "\n"


NO_ID = ": field query_id: is missing, expected it or video_id and sentence"
THROUGHOUT = "expected [start, end] or [start, end, score] throughout"
FINITE = "expected seconds from 0 to 1e+08"  # MAX_TIME_S of records.py, over three years
CLIP = "; --on-negative clip lifts negative times to 0"


# -------------------------------------------------------------------------------------------- values


def test_scored_moments(read):
    answers, report = read(line([[1, 2, 0.5], [3.25, 4, -7]]) + line([], query_id="v#1"))
    assert answers == {"v#0": [(1.0, 2.0, 0.5), (3.25, 4.0, -7.0)], "v#1": []}
    assert (report.format, report.recognised) == ("native", 'its first line has "moments"')
    assert (report.rows, report.by_id, report.missing, report.empty, report.moments) == (2, 2, 1, 1, 2)


def test_without_scores_the_order_is_the_rank(read):
    # Formats without scores: rank by position, scores fall by 1 from 0 (io/base.py, flatten).
    answers, report = read(line([[1, 2], [3, 4], [5, 6]]))
    assert answers == {"v#0": [(1.0, 2.0, 0.0), (3.0, 4.0, -1.0), (5.0, 6.0, -2.0)]}
    assert (report.ties, report.reordered) == (0, 0)


def test_one_line_may_have_scores_and_another_none(read):
    answers, _ = read(line([[1, 2]]) + line([[1, 2, 0.5]], query_id="v#1"))
    assert answers == {"v#0": [(1.0, 2.0, 0.0)], "v#1": [(1.0, 2.0, 0.5)]}


def test_fields_it_does_not_know_are_passed_over(read):
    answers, _ = read(line([[1, 2, 3]], note="mine", nested={"a": [1]}))
    assert answers == {"v#0": [(1.0, 2.0, 3.0)]}


def test_an_id_may_be_a_number(read):
    numbered = Annotations.from_rows([("7", "v", 30.0, "s", 1.0, 2.0)])
    assert read(line([[1, 2, 3]], query_id=7), against=numbered)[0] == {"7": [(1.0, 2.0, 3.0)]}


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + line([[1, 2, 3]]).encode(),
        line([[1, 2, 3]]).replace("\n", "\r\n").encode(),
        ("\n\n" + line([[1, 2, 3]]) + "\n").encode(),
        line([[1, 2, 3]]).rstrip("\n").encode(),
    ],
    ids=["byte-order mark", "CRLF", "blank lines", "no last line end"],
)
def test_line_ends_and_marks(read, content):
    assert read(content)[0] == {"v#0": [(1.0, 2.0, 3.0)]}


def test_packed(read):
    assert read(gzip.compress(line([[1, 2, 3]]).encode()), "p.jsonl.gz")[0] == {"v#0": [(1.0, 2.0, 3.0)]}


def test_rows_come_in_the_order_of_the_annotations(read):
    answers, _ = read(line([], query_id="w#0") + line([], query_id="v#1") + line([]))
    assert list(answers) == ["v#0", "v#1", "w#0"]


def test_many_lines(tmp_path, lists):
    # More than two of the blocks in which lines are read (1,000 at a time), scored, unscored and empty.
    n = 2 * LINES_AT_A_TIME + 7
    annotations = Annotations.from_rows([(f"q{i}", f"v{i}", 99.0, "s", 1.0, 2.0) for i in range(n)])
    filed = {
        f"q{i}": [] if i % 5 == 0 else [(i % 50 + k, i % 50 + k + 1.5, float(-k)) for k in range(i % 4)]
        for i in range(n)
    }
    path = tmp_path / "p.jsonl"
    path.write_text(
        "".join(
            line([m if i % 3 else m[:2] for m in moments], query_id=query_id)
            for i, (query_id, moments) in enumerate(filed.items())
        )
    )
    predictions, report = read_predictions(path, annotations)
    assert lists(predictions) == filed
    assert report.rows == report.by_id == n


@pytest.mark.parametrize("at", [0, 999, 1000, 1999, 2000, 2500])
def test_a_fault_in_any_block_names_its_line(refused, at):
    bad = [line([[1, 2, 3]], query_id=f"q{i}") for i in range(2501)]
    bad[at] = line([[1, 2, 3], [1, 2]])
    assert refused("".join(bad)) == f":{at + 1}: field moments: got moments with and without a score, {THROUGHOUT}"


# ------------------------------------------------------------------------------------- the first line


def test_header(read, annotations):
    said = header(dataset="small", split="test", annotations_sha256=annotations.sha256)
    answers, report = read(said + line([[1, 2, 3]]))
    assert answers == {"v#0": [(1.0, 2.0, 3.0)]}
    assert (report.rows, report.recognised) == (1, 'its first line says "truemoment"')


@pytest.mark.parametrize("said", [header(), header(by="me"), "\ufeff" + header(), "\n" + header()])
def test_header_that_says_little(read, said):
    assert read(said + line([[1, 2, 3]]))[0] == {"v#0": [(1.0, 2.0, 3.0)]}


def test_header_of_other_annotations(refused, annotations):
    said = header(dataset="charades-cd", split="test-iid", annotations_sha256="0123456789abcdef" * 4)
    # The first eight figures of each hash; the dataset that the file names, and ours.
    assert refused(said + line([[1, 2, 3]])) == (
        ": field annotations_sha256: was made for annotations 01234567 (charades-cd/test-iid), these are "
        f"{annotations.sha256[:8]} (small/test); evaluate on those, or take the rows whose ids are known "
        "(--on-unknown ignore)"
    )


def test_header_of_other_annotations_whose_rows_may_be_of_other_queries(tmp_path, annotations):
    path = tmp_path / "answers.jsonl"
    path.write_text(header(dataset="big", split="test", annotations_sha256="ab" * 32) + line([[1, 2, 3]]))
    answers, report = read_predictions(path, annotations, on_unknown="ignore")
    assert answers.query_id.tolist() == ["v#0"]
    assert report.recognised == 'its first line says "truemoment", made for big/test'


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('{"truemoment": 2}\n', ":1: field truemoment: got version 2, expected 1"),
        ('{"truemoment": "1"}\n', ":1: field truemoment: got text, expected a whole number"),
        ('{"truemoment": null}\n', ":1: field truemoment: got null, expected a whole number"),
        (header(annotations_sha256=5), ":1: field annotations_sha256: got a whole number, expected text or null"),
        (header() + header(), ":2: field moments: is missing"),
        (line([[1, 2, 3]]) + header(), ":2: field moments: is missing"),
    ],
)
def test_bad_headers(refused, said, expected):
    assert refused(said + line([[1, 2, 3]])) == expected


@pytest.mark.parametrize(
    ("saliency", "said"),
    [
        (None, ":2: field saliency: is missing, and 1 other entries have it; expected all or none"),
        (["high"], ":2: field saliency[0]: got text, expected a number"),
        (7, ":2: field saliency: got a whole number, expected a list or null"),
    ],
)
def test_bad_ratings_of_clips(refused, saliency, said):
    second = {} if saliency is None else {"saliency": saliency}
    assert refused(line([[1, 2, 3]], saliency=[0.5, 1]) + line([], query_id="v#1", **second)) == said


@pytest.mark.parametrize("content", ["", "\n", "\n \n\r\n", "\ufeff"])
def test_a_file_without_a_line_is_refused_also_when_asked_for_by_name(refused, content):
    assert refused(content, format="native") == ": has no predictions"


# ------------------------------------------------------------------------------------------ malformed


@pytest.mark.parametrize(
    ("moments", "said"),
    [
        ([[1, 2, 0.5], [3, 4]], f": field moments: got moments with and without a score, {THROUGHOUT}"),
        ([[1, 2], [3, 4, 0.5]], f": field moments: got moments with and without a score, {THROUGHOUT}"),
        ([[1, 2, 3, 4]], f": field moments: got a moment of 4 values, {THROUGHOUT}"),
        ([[1, 2, 3], [1, 2, 3, 4]], f": field moments: got a moment of 4 values, {THROUGHOUT}"),
        ([[1]], f": field moments: got a moment of 1 values, {THROUGHOUT}"),
        ([[]], f": field moments: got a moment of 0 values, {THROUGHOUT}"),
        ([1, 2, 3], ": field moments[0]: got a whole number, expected a list"),
        ([["1", 2, 3]], ": field moments[0][0]: got text, expected a number"),
        ([[1, 2, "high"]], ": field moments[0][2]: got text, expected a number"),
        ([[1, None, 3]], ": field moments[0][1]: got null, expected a number"),
        ([[True, 2, 3]], ": field moments[0][0]: got true or false, expected a number"),
        ([{"start_s": 1, "end_s": 2}], ": field moments[0]: got an object, expected a list"),
        (None, ": field moments: got null, expected a list"),
        ("1-2", ": field moments: got text, expected a list"),
        ([[1, 2, 3], [-1, 2, 3]], f": field moments[1].start: got -1 for query 'v#0', {FINITE}{CLIP}"),
        ([[1, -0.25, 3]], f": field moments[0].end: got -0.25 for query 'v#0', {FINITE}{CLIP}"),
    ],
)
def test_bad_moments(refused, moments, said):
    assert refused(line([[1, 2, 3]], query_id="v#1") + line(moments)) == ":2" + said


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("NaN", ":1: got NaN, expected a number"),
        ("Infinity", ":1: got Infinity, expected a number"),
        ("-Infinity", ":1: got -Infinity, expected a number"),
        ("1e999", ":1: field moments[0][0]: number out of range"),
        ("9" * 400, ":1: field moments[0][0]: number out of range"),
        ("1_0", ":1: JSON is malformed: expected ',' or ']' (byte 34), expected JSON"),
    ],
)
def test_numbers_that_are_none(refused, number, said):
    assert refused(line([["X", 2, 3]]).replace('"X"', number)) == said


@pytest.mark.parametrize(
    "about",
    [
        {"query_id": None},
        {"query_id": None, "video_id": "v"},
        {"query_id": None, "sentence": "a door opens"},
        {"query_id": None, "video_id": "v", "sentence": None},
    ],
)
def test_a_line_must_say_whom_it_answers(refused, about):
    assert refused(line([[1, 2, 3]]) + line([[1, 2, 3]], **about)) == ":2" + NO_ID


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (line([]) + '{"query_id": "v#1"}\n', ":2: field moments: is missing"),
        (line([], query_id=7.5), ":1: field query_id: got a number, expected a whole number or text or null"),
        (line([], video_id=7), ":1: field video_id: got a whole number, expected text or null"),
        (line([], sentence=["a"]), ":1: field sentence: got a list, expected text or null"),
        (line([]) + "[1]\n", ":2: got a list, expected an object"),
        (line([[1, 2, 3]])[:-4], ":1: input data was truncated, expected JSON"),
        (line([]) + line([[1, 2, 3]], query_id="v#1")[:-6], ":2: input data was truncated, expected JSON"),
        (line([]) + "junk\n", ":2: JSON is malformed: invalid character (byte 0), expected JSON"),
        (line([]) * 2, ":2: answers query 'v#0' again, expected each query once (first in line 1)"),
    ],
)
def test_bad_lines(refused, content, said):
    assert refused(content) == said


def test_bytes_that_are_not_utf8_name_the_line(refused):
    said = refused(line([]).encode() + b'{"query_id": "v#1\xff", "moments": []}\n')
    assert said.startswith(":2: ")
    assert "utf-8" in said.lower()


def test_very_deep_nesting(refused):
    said = refused(line([]) + '{"query_id": "v#1", "moments": ' + "[" * 100_000)
    assert said == ":2: field moments[0][0]: got a list, expected a number"


def test_a_fault_behind_a_thousand_good_lines_leaves_nothing(refused):
    content = "".join(line([[1, 2, 3]], query_id=f"q{i}") for i in range(1000)) + "{\n"
    assert refused(content).startswith(":1001: ")


# --------------------------------------------------------------------------------------- negative times


def test_negative_times_are_lifted_when_asked(read):
    answers, report = read(line([[-1, 2, 0.5], [-3, 0, 0.25], [1, 2, 0.125]]), on_negative="clip")
    assert answers == {"v#0": [(0.0, 2.0, 0.5), (0.0, 0.0, 0.25), (1.0, 2.0, 0.125)]}
    assert (report.clipped, report.zero_length) == (2, 1)


def test_minus_zero_is_zero(read):
    answers, report = read(line([[-0.0, 2, 0.5]]))
    assert answers == {"v#0": [(0.0, 2.0, 0.5)]}
    assert report.clipped == 0
