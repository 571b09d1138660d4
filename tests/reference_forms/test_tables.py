"""Tables and lists of objects: delimiters, encodings, the mapping of fields, and durations from elsewhere."""

import json

import pytest

from truemoment.base.errors import DataWarning, InputError, MissingPackageError, UsageError
from truemoment.data.fields import FieldMap
from truemoment.data.references import parse_fields, read_annotations, read_durations

ROW = ("kitchen#0", "kitchen", 73.1, "opens the fridge", 4.5, 10.25, "")

TABLES = {
    "commas": "video_id,duration_s,sentence,start_s,end_s\nkitchen,73.1,opens the fridge,4.5,10.25\n",
    "semicolons and decimal commas": "Video;Duration;Query;Start;End\nkitchen;73,1;opens the fridge;4,5;10,25\n",
    "tabs": "vid\tduration\tcaption\tstart_time\tend_time\nkitchen\t73.1\topens the fridge\t4.5\t10.25\n",
    "a byte-order mark": "\ufeffvideo_id,duration,sentence,start,end\r\nkitchen,73.1,opens the fridge,4.5,10.25\r\n",
    "Excel's Unicode text": (
        "video\tduration\tsentence\tstart\tend\r\nkitchen\t73,1\topens the fridge\t4,5\t10,25\r\n"
    ).encode("utf-16"),
    "big-endian": b"\xfe\xff"
    + "video,duration,text,begin,stop\nkitchen,73.1,opens the fridge,4.5,10.25\n".encode("utf-16-be"),
    "a list of objects": json.dumps(
        [{"video": "kitchen", "duration": 73.1, "text": "opens the fridge", "start": "4.5", "end": 10.25}]
    ),
    "lines of objects": json.dumps(
        {"video": "kitchen", "duration": 73.1, "query": "opens the fridge", "timestamp": [4.5, 10.25]}
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_as_programs_write_them(read, name):
    assert read("a.table", TABLES[name]) == [ROW]


def test_a_decimal_comma_between_commas_is_refused(put):
    path = put("a.csv", 'video,query,start,end\nv,x,"4,5",10\n')
    with pytest.raises(InputError, match=r":2: field start: got '4,5', expected a number"):
        read_annotations(path)


def test_rows_of_one_id_are_one_query(read):
    table = "query_id,video,query,start,end,annotator\nq1,v,x,1,2,ann\nq2,v,y,3,4,ann\nq1,v,x,5,6,bo\n"
    assert read("a.csv", table) == [
        ("q1", "v", None, "x", 1.0, 2.0, "ann"),
        ("q1", "v", None, "x", 5.0, 6.0, "bo"),
        ("q2", "v", None, "y", 3.0, 4.0, "ann"),
    ]
    with pytest.raises(InputError, match=r":3: field sentence: got 'y', expected 'x' as before for query 'q1'"):
        read("b.csv", "query_id,video,query,start,end\nq1,v,x,1,2\nq1,v,y,3,4\n")


def test_annotators_of_one_sentence_without_ids_are_one_query(read):
    table = "video,query,start,end,annotator\nv,x,1,2,ann\nv,x,5,6,bo\n"
    assert {row[0] for row in read("a.csv", table)} == {"v#0"}
    without = "video,query,start,end\nv,x,1,2\nv,x,5,6\n"
    assert [row[0] for row in read("b.csv", without)] == ["v#0", "v#1"]


def test_splits_of_a_table(put):
    path = put("a.csv", "video,query,start,end,split\nv,x,1,2,train\nw,y,5,6,test\n")
    assert read_annotations(path, "test").query_id.tolist() == ["w#0"]
    with pytest.raises(
        InputError, match="has no queries of split 'tset'; expected one of test, train; did you mean test"
    ):
        read_annotations(path, "tset")


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.bin"
    parquet.write_table(
        pyarrow.table(
            {"video": ["v", "w"], "caption": ["x", "y"], "start": [1.0, 2.0], "end": [3, 4], "other": [0, 0]}
        ),
        path,
    )
    assert read_annotations(path).end_s.tolist() == [3.0, 4.0]
    moments = pyarrow.array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]], pyarrow.list_(pyarrow.list_(pyarrow.float64())))
    parquet.write_table(pyarrow.table({"video": ["v", "w"], "caption": ["x", "y"], "moments": moments}), path)
    assert read_annotations(path).start_s.tolist() == [1.0, 3.0, 5.0]
    parquet.write_table(pyarrow.table({"video": ["v"], "caption": ["x"], "start": ["one"], "end": [2.0]}), path)
    with pytest.raises(InputError, match="field start of row 1: got 'one', expected a number"):
        read_annotations(path)


def test_parquet_without_its_package(put, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackageError, match=r"truemoment\[parquet\]"):
        read_annotations(put("a.parquet", b"PAR1...."))


# ---------------------------------------------------------------------------------------- the mapping

FRAMES = "file,caption,begin,finish,len\nkitchen,opens the fridge,90,300,1800\n"
MAP = "sentence=caption, start_s=begin/30, end_s=finish/30, duration_s=len/30, video_id=file"


def test_columns_are_mapped_with_their_units(read):
    assert read("a.csv", FRAMES, fields=MAP) == [("kitchen#0", "kitchen", 60.0, "opens the fridge", 3.0, 10.0, "")]
    milliseconds = FRAMES.replace("90,300,1800", "3000,10000,60000")
    times = MAP.replace("/30", "*0.001")
    assert read("b.csv", milliseconds, fields=times)[0][2:6] == (60.0, "opens the fridge", 3.0, 10.0)


def test_columns_with_usual_names_need_no_mapping(read):
    assert read("a.csv", FRAMES, fields="end_s=finish/30, start_s=begin/30")[0][4:6] == (3.0, 10.0)


def test_a_mapping_leads_into_objects(read):
    lines = '{"meta": {"clip": "v"}, "info": {"text": "x"}, "spans": [[30, 60]]}\n'
    mapped = read("a.jsonl", lines, fields="video_id=meta.clip, sentence=info.text, moments=spans/30")
    assert mapped == [("v#0", "v", None, "x", 1.0, 2.0, "")]
    pairs = '{"v": "v", "text": "x", "span": [30, 60]}\n'
    mapped = read("b.jsonl", pairs, fields="video_id=v, start_s=span.0/30, end_s=span.1/30")
    assert mapped == [("v#0", "v", None, "x", 1.0, 2.0, "")]


def test_names_in_quotes(read):
    table = "file,caption,start/end,b\nv,x,1,2\n"
    assert read("a.csv", table, fields='start_s="start/end", end_s=b')[0][4:6] == (1.0, 2.0)


def test_an_unknown_column_is_answered_with_the_nearest(put):
    path = put("a.csv", FRAMES)
    with pytest.raises(InputError) as caught:
        read_annotations(path, fields="sentence=capton")
    assert str(caught.value) == (
        f"{path}:1: field --fields: got 'capton' as the column of sentence, the file has file, caption, begin, finish, "
        "len; did you mean 'caption'?"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sentence", "@"),
        ("sentense=caption", "got the field 'sentense', expected one of video_id, sentence,"),
        ("sentense=caption", "did you mean sentence?"),
        ("start_s=a/zero", "got 'zero' after '/' of the field start_s, expected a number above 0"),
        ("start_s=a/0", "expected a number above 0"),
        ("sentence=a/30", "got the unit /30 of the field sentence, which is text"),
        ("start_s=a, start_s=b", "got the field start_s twice, expected it once"),
        ("start_s=", "got no column for the field start_s, expected start_s=COLUMN"),
        ("start_s=__import__('os')/2/3", "expected FIELD=COLUMN"),
    ],
)
def test_a_mapping_that_cannot_be_read(text, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((UsageError, Exception)) as caught:
        parse_fields(text)
    assert (said in str(caught.value)) or said == "@"
    assert len(str(caught.value).splitlines()) == 1


def test_a_mapping_is_kept_in_a_file(tmp_path):
    mapping = parse_fields(f'{MAP}, annotator="by, whom"')
    mapping.save(tmp_path / "map.txt")
    assert (tmp_path / "map.txt").read_text().splitlines()[:2] == ["sentence=caption", "start_s=begin/30"]
    for word in (str(tmp_path / "map.txt"), f"@{tmp_path / 'map.txt'}"):
        assert parse_fields(word) == mapping
    (tmp_path / "map.txt").write_text("# ours\n\nsentence=caption\nstart_s\n")
    with pytest.raises(InputError, match=r"map.txt:4: got 'start_s', expected FIELD=COLUMN"):
        parse_fields(f"@{tmp_path / 'map.txt'}")


def test_other_fields_can_be_mapped():
    # Predictions have a score; the mapping is the same.
    mapping = FieldMap.parse("score=conf*0.01", ("score",), ("score",))
    assert mapping.columns["score"].scaled(50.0) == 0.5


# ---------------------------------------------------------------------------------------- durations

DURATIONS = {
    "a table": "video_id,duration_s\nAAAAA,30.5\n",
    "a list of Charades": "id,subject,length\nAAAAA,x,30.5\n",
    "semicolons": "video;duration\nAAAAA;30,5\n",
    "an object": '{"AAAAA": 30.5}',
    "an object of annotations": '{"AAAAA": {"duration": 30.5, "timestamps": []}}',
    "lines": '{"video_id": "AAAAA", "duration_s": 30.5}\n',
    "a list": '[{"video": "AAAAA", "duration": 30.5}]',
}
CHARADES = "AAAAA 4.0 10.0##person opens the door.\n"


@pytest.mark.parametrize("name", DURATIONS)
def test_durations_from_a_file(read, put, name):
    assert read("a.txt", CHARADES, durations=put("d", DURATIONS[name]))[0][2] == 30.5


def test_durations_of_the_file_itself_are_kept(read):
    assert read("a.csv", TABLES["commas"], durations={"kitchen": 1.0}) == [ROW]


def test_durations_that_are_missing(read):
    two = CHARADES + "BBBBB 1 2##person sits.\n"
    with pytest.warns(DataWarning, match="1 of 2 videos have no duration, such as 'BBBBB'"):
        assert [row[2] for row in read("a.txt", two, durations={"AAAAA": 30.5})] == [30.5, None]
    with pytest.raises(
        InputError, match="got no duration of its 2 videos, such as 'AAAAA'; do --durations or --videos name"
    ):
        read("a.txt", two, durations={"CCCCC": 30.5})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("video,length_in_s\nv,3\n", "got video, length_in_s, expected video_id and duration_s"),
        ("video,duration\nv,three\n", ":2: field duration: got 'three', expected seconds"),
        ("video,duration\nv,3\nv,4\n", ":3: field duration: got 4 for video 'v', which has 3 before"),
        ('{"v": -1}', "got -1 for video 'v', expected seconds above 0"),
        ("video,duration\n", "has no durations"),
    ],
)
def test_durations_that_cannot_be_read(put, content, said):
    with pytest.raises(InputError) as caught:
        read_durations(put("d", content))
    assert said in str(caught.value)
