"""CSV: headings in use, values, and the exact line said of a bad file."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations, Predictions
from truemoment.base.boundary.text import from_cell, no_formula
from truemoment.base.errors import InputError
from truemoment.data.formats import read_predictions, write_predictions

SPLIT = "; is it the right dataset and split?"


def csv(*rows, header="query_id,start,end,score"):
    return "\n".join([header, *rows]) + "\n"


@pytest.fixture
def read_csv(read):
    return lambda content, **options: read(content, "p.csv", **options)


@pytest.fixture
def refused_csv(refused):
    return lambda content, **options: refused(content, "p.csv", **options)


# -------------------------------------------------------------------------------------------- values


def test_values(read_csv):
    answers, report = read_csv(csv("v#0,1,2,0.5", "v#0,3.25,4,0.75", "v#1,0,1e1,-2"))
    assert answers == {"v#0": [(1.0, 2.0, 0.5), (3.25, 4.0, 0.75)], "v#1": [(0.0, 10.0, -2.0)]}
    assert (report.format, report.recognised) == ("csv", "its headings are query_id,start,end,score")
    assert (report.rows, report.moments, report.by_id, report.reordered) == (2, 3, 2, 1)


@pytest.mark.parametrize(
    "header",
    [
        "query_id,start_s,end_s,score",
        "qid,start,end,confidence",
        "QID,Start_Time,END_TIME,Score",
        " query_id , start , end , score ",
        '"query_id","start","end","score"',
        "\ufeffquery_id,start,end,score",
    ],
)
def test_headings_in_use(read_csv, header):
    assert read_csv(csv("v#1,1,2,0.5", header=header))[0] == {"v#1": [(1.0, 2.0, 0.5)]}


@pytest.mark.parametrize(
    "header",
    ["video,query,start,end", "vid,description,start,end", "video_id,sentence,start_s,end_s", "Video,Query,Start,End"],
)
def test_by_video_and_sentence(read_csv, header):
    answers, report = read_csv(csv("v,a door opens,1,2", header=header))
    assert answers == {"v#1": [(1.0, 2.0, 0.0)]}
    assert report.by_text == 1


def test_columns_in_any_order_and_others_beside_them(read_csv):
    assert read_csv(csv("2,note,v#1,0.5,1", header="end,comment,query_id,score,start"))[0] == {"v#1": [(1.0, 2.0, 0.5)]}


def test_quoted_commas_and_quotes(read_csv):
    content = csv('v,"A man\'s dog, barking.",1,2', 'v,"a door ""opens""",3,4', header="video,query,start,end")
    answers, report = read_csv(content)
    assert answers == {"v#0": [(1.0, 2.0, 0.0)], "v#1": [(3.0, 4.0, 0.0)]}
    assert (report.by_text, report.text_differs) == (2, 1)


def test_rows_of_a_query_need_not_stand_together(read_csv):
    content = csv("v#0,1,2", "v#1,1,2", "v#0,3,4", header="query_id,start,end")
    assert read_csv(content)[0] == {"v#0": [(1.0, 2.0, 0.0), (3.0, 4.0, -1.0)], "v#1": [(1.0, 2.0, 0.0)]}


@pytest.mark.parametrize(
    "content",
    [csv("v#1,1,2,0.5").replace("\n", "\r\n"), csv("", "v#1,1,2,0.5", "", ""), csv("v#1,1,2,0.5").rstrip("\n")],
    ids=["CRLF", "blank lines", "no last line end"],
)
def test_line_ends(read_csv, content):
    assert read_csv(content)[0] == {"v#1": [(1.0, 2.0, 0.5)]}


def test_packed(read):
    assert read(gzip.compress(csv("v#1,1,2,0.5").encode()), "p.csv.gz")[0] == {"v#1": [(1.0, 2.0, 0.5)]}


def test_another_name(read):
    answers, report = read(csv("v#1,1,2,0.5"), "p.txt")
    assert answers == {"v#1": [(1.0, 2.0, 0.5)]}
    assert report.format == "csv"


def test_blanks_around_numbers(read_csv):
    assert read_csv(csv("v#1, 1 ,\t2,0.5 "))[0] == {"v#1": [(1.0, 2.0, 0.5)]}


# ------------------------------------------------------------------------------------------ malformed

EXPECTED = (
    'expected start, end, query_id (or video_id, sentence); --prediction-fields "start_s=begin" names another column'
)


@pytest.mark.parametrize(
    ("header", "came"),
    [
        ("query_id,start", "query_id, start"),
        ("start,end", "start, end"),
        ("video,start,end", "video, start, end"),
        ("query,start,end", "query, start, end"),
        ("query_id|start|end", "query_id|start|end"),
        ("a,b", "a, b"),
    ],
)
def test_bad_headings(refused_csv, header, came):
    assert refused_csv(csv("v#0,1,2", header=header), format="csv") == f":1: got headings {came}, {EXPECTED}"


@pytest.mark.parametrize("header", ["query_id,start,start,end", "query_id,start,start_s,end", "qid,query_id,start,end"])
def test_two_headings_of_one_meaning_are_refused(refused_csv, header):
    # Which column was meant is a guess, and a guess in silence shifts every answer.
    assert refused_csv(csv("v#1,1,2,3", header=header)).startswith(":1: ")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("v#0,1,2", ":3: got 3 values, expected 4 as in the headings"),
        ("v#0,1,2,3,4", ":3: got 5 values, expected 4 as in the headings"),
        ("v#0,a man, 1,2,3", ":3: got 5 values, expected 4 as in the headings"),
        ("   ", ":3: got 1 values, expected 4 as in the headings"),
        ("v#0,x,2,3", ":3: field start: got 'x', expected a number"),
        ("v#0,1,,3", ":3: field end: got '', expected a number"),
        ("v#0,1,2,", ":3: field score: got '', expected a number"),
        ("v#0,nan,2,3", ":3: field start: got 'nan', expected a number"),
        ("v#0,1,inf,3", ":3: field end: got 'inf', expected a number"),
        ("v#0,1,2,-Infinity", ":3: field score: got '-Infinity', expected a number"),
        ("v#0,1e999,2,3", ":3: field start: got '1e999', expected a number"),
        ("v#0,0:12,2,3", ":3: field start: got '0:12', expected a number"),
        ('v#0,"1,5",2,3', ":3: field start: got '1,5', expected a number"),
        ("v#0," + "9" * 60 + "x,2,3", f":3: field start: got '{'9' * 40}', expected a number"),
        (
            "v#0,-1,2,3",
            ":3: field start: got -1 for query 'v#0', expected seconds from 0 to 1e+08; "
            "--on-negative clip lifts negative times to 0",
        ),
        (
            "w,1,2,3",
            ":3: 1 of 2 rows belong to no query of small/test, the first is query 'w'"
            + SPLIT
            + " --on-unknown ignore leaves them out",
        ),
        ('"v#0,1,2,3', ":3: unexpected end of data, expected CSV"),
        ('"v#0"x,1,2,3', ":3: ',' expected after '\"', expected CSV"),
    ],
)
def test_bad_rows(refused_csv, row, said):
    assert refused_csv(csv("v#1,1,2,0.5", row)) == said


def test_a_later_moment_of_a_query_names_its_own_line(refused_csv):
    # The row is at line 4, though the query's first row is at line 2.
    assert refused_csv(csv("v#1,1,2,0.5", "v#0,1,2,0.5", "v#1,-3,2,0.5")).startswith(":4: ")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (csv(), ": has no predictions"),
        (csv("", ""), ": has no predictions"),
        ("", ": is empty, expected predictions"),
        ("\n\n", ": is empty, expected predictions"),
    ],
)
def test_files_without_rows(refused_csv, content, said):
    assert refused_csv(content) == said


def test_a_row_that_names_no_query(refused_csv):
    assert (
        refused_csv(csv("v#1,1,2,0.5", ",1,2,0.5"))
        == ":3: field query_id: is missing, expected it or video_id and sentence"
    )


def test_one_id_with_two_videos(refused_csv):
    content = csv("v#0,v,1,2", "v#0,w,1,2", header="query_id,video_id,start,end")
    assert refused_csv(content) == ":3: got video 'w' for query 'v#0', expected 'v'" + SPLIT


def test_bytes_that_are_not_utf8(refused_csv):
    refused = refused_csv(csv("v#0,1,2,3").encode() + b"v#1\xff,1,2,3\n")
    assert refused == ":3: got byte 0xff, expected UTF-8 text; save it as UTF-8"


def test_a_field_without_end(refused_csv):
    # Python's csv reads no field over 131,072 characters (csv.field_size_limit).
    said = refused_csv(csv("v#0,1,2,3", '"' + "x" * 200_000 + '",1,2,3'))
    assert said == ":3: field larger than field limit (131072), expected CSV"


def test_a_zero_byte(refused_csv):
    assert refused_csv(csv("v#1\0,1,2,3")).startswith(":2: ")


# -------------------------------------------------------------------------------------------- writing


def test_what_is_written(tmp_path, annotations):
    path = tmp_path / "p.csv"
    write_predictions(path, Predictions.from_lists({"v#0": [(0.1, 2, 0.5), (3, 4, 0.25)]}), annotations, format="csv")
    assert path.read_text() == (
        "query_id,video_id,sentence,start_s,end_s,score\n"
        'v#0,v,"A man\'s dog, barking.",0.1,2.0,0.5\n'
        'v#0,v,"A man\'s dog, barking.",3.0,4.0,0.25\n'
    )


def test_an_abstention_cannot_be_written(tmp_path, annotations):
    path = tmp_path / "p.csv"
    path.write_text("old")
    with pytest.raises(InputError) as caught:
        write_predictions(path, Predictions.from_lists({"v#0": [(1, 2)], "v#1": []}), annotations, format="csv")
    assert (
        str(caught.value) == f"{path}: format csv cannot represent an abstention (query 'v#1'); write native or parquet"
    )
    assert path.read_text() == "old"


def test_a_query_that_the_annotations_lack_cannot_be_written(tmp_path, annotations):
    path = tmp_path / "p.csv"
    with pytest.raises(InputError) as caught:
        write_predictions(path, Predictions.from_lists({"other": [(1, 2)]}), annotations, format="csv")
    assert "'other'" in str(caught.value)
    assert not path.exists()


# ------------------------------------------------------------------------------------------ formulas

ATTACKS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "'=1", "''=1", "'plain", "-x7_Q"]


def test_a_spreadsheet_computes_no_text_and_reading_gives_it_back(tmp_path):
    rows = [(f"{attack}#{n}", attack, 30.0, f"{attack} {n}", 1.0, 2.0) for n, attack in enumerate(ATTACKS)]
    annotations = Annotations.from_rows(rows, split="test")
    predictions = Predictions.from_lists({row[0]: [(1.0, 2.0, 0.5)] for row in rows})
    write_predictions(tmp_path / "p.csv", predictions, annotations, format="csv")
    cells = [line.split(",")[0] for line in (tmp_path / "p.csv").read_text().splitlines()[1:]]
    assert [cell[:2] for cell in cells] == ["'=", "'+", "'-", "'@", "'\t", "''", "''", "'p", "-x"]
    again, report = read_predictions(tmp_path / "p.csv", annotations)
    assert report.unmatched == 0
    assert again.query_id.tolist() == [row[0] for row in rows]


@given(st.text())
def test_a_cell_gives_its_text_back(text):
    cell = no_formula(text)
    assert from_cell(cell) == text
    assert not cell.startswith(("=", "@", "\t", "\r"))
