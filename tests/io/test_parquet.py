"""Parquet with the native columns: values, columns of other types, and the optional package missing."""

import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from truemoment import Annotations, Predictions
from truemoment.base.errors import InputError, MissingFileError, MissingPackageError
from truemoment.data.formats import read_predictions, write_predictions
from truemoment.data.formats.footer import read_footer

MOMENT = pa.struct([("start_s", pa.float64()), ("end_s", pa.float64()), ("score", pa.float64())])
SPLIT = "; is it the right dataset and split?"


def moment(start_s, end_s, score=0.5):
    return {"start_s": start_s, "end_s": end_s, "score": score}


def lists_of(*rows, kind=MOMENT):
    return pa.array(list(rows), pa.list_(kind))


ONE = lists_of([moment(1.0, 2.0)])


@pytest.fixture
def put(tmp_path):
    """Write columns to a file; `said` stands in its metadata."""

    def write(columns, *, said=None, **options):
        path = tmp_path / "p.parquet"
        table = pa.table(columns)
        if said is not None:
            table = table.replace_schema_metadata({b"truemoment": said})
        pq.write_table(table, path, **options)
        return path

    return write


@pytest.fixture
def read_columns(put, annotations, lists):
    """Write columns and read them as predictions."""

    def run(columns, *, said=None, against=annotations, on_negative="refuse", **options):
        predictions, report = read_predictions(put(columns, said=said, **options), against, on_negative=on_negative)
        return lists(predictions), report

    return run


@pytest.fixture
def refused_columns(put, annotations):
    """Write columns that must be refused; return what is said behind the file's name."""

    def run(columns, *, said=None):
        path = put(columns, said=said)
        with pytest.raises(InputError) as caught:
            read_predictions(path, annotations)
        text = str(caught.value)
        assert text.startswith(str(path))
        assert len(text.splitlines()) == 1
        return text.removeprefix(str(path))

    return run


# -------------------------------------------------------------------------------------------- values


def test_values(read_columns):
    answers, report = read_columns(
        {"query_id": ["v#1", "v#0"], "moments": lists_of([], [moment(3, 4, 0.25), moment(1, 2.5, 0.75)])}
    )
    assert answers == {"v#0": [(3.0, 4.0, 0.25), (1.0, 2.5, 0.75)], "v#1": []}
    assert (report.format, report.recognised) == ("parquet", "it begins with PAR1")
    assert (report.rows, report.by_id, report.empty, report.missing, report.reordered) == (2, 2, 1, 1, 1)


def test_without_scores_the_order_is_the_rank(read_columns):
    kind = pa.struct([("start_s", pa.float64()), ("end_s", pa.float64())])
    rows = lists_of([{"start_s": 1, "end_s": 2}, {"start_s": 3, "end_s": 4}], [{"start_s": 5, "end_s": 6}], kind=kind)
    answers, _ = read_columns({"query_id": ["v#0", "v#1"], "moments": rows})
    assert answers == {"v#0": [(1.0, 2.0, 0.0), (3.0, 4.0, -1.0)], "v#1": [(5.0, 6.0, 0.0)]}


@pytest.mark.parametrize(
    "kind",
    [
        pa.struct([("start_s", pa.float32()), ("end_s", pa.float32()), ("score", pa.float32())]),
        pa.struct([("start_s", pa.int64()), ("end_s", pa.int32()), ("score", pa.int8())]),
        pa.struct(
            [("score", pa.float64()), ("label", pa.string()), ("end_s", pa.float64()), ("start_s", pa.float64())]
        ),
    ],
)
def test_other_numbers_order_and_fields(read_columns, kind):
    rows = pa.array([[{"start_s": 1, "end_s": 2, "score": 3}]], pa.list_(kind))
    assert read_columns({"query_id": ["v#0"], "moments": rows})[0] == {"v#0": [(1.0, 2.0, 3.0)]}


@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
@pytest.mark.parametrize("ragged", [pa.list_(MOMENT), pa.large_list(MOMENT)])
def test_other_columns_of_text_and_lists(read_columns, text, ragged):
    ids = pa.array(["v#0"]).dictionary_encode() if pa.types.is_dictionary(text) else pa.array(["v#0"], text)
    assert read_columns({"query_id": ids, "moments": ONE.cast(ragged)})[0] == {"v#0": [(1.0, 2.0, 0.5)]}


def test_several_row_groups(read_columns):
    rows = lists_of([moment(1, 2)], [moment(3, 4), moment(5, 6)], [])
    answers, _ = read_columns({"query_id": ["w#0", "v#0", "v#1"], "moments": rows}, row_group_size=1)
    assert answers == {"v#0": [(3.0, 4.0, 0.5), (5.0, 6.0, 0.5)], "v#1": [], "w#0": [(1.0, 2.0, 0.5)]}


def test_by_video_and_sentence(read_columns):
    answers, report = read_columns(
        {"query_id": pa.array([None], pa.string()), "video_id": ["v"], "sentence": ["A door opens."], "moments": ONE}
    )
    assert answers == {"v#1": [(1.0, 2.0, 0.5)]}
    assert (report.by_text, report.text_differs) == (1, 1)


def test_by_video_and_sentence_without_a_column_of_ids(read_columns):
    # As in native JSON Lines and CSV, "the same columns" (DESIGN.md, native prediction file).
    assert read_columns({"video_id": ["v"], "sentence": ["a door opens"], "moments": ONE})[0] == {"v#1": [(1, 2, 0.5)]}


def test_a_file_without_rows(read_columns):
    answers, report = read_columns({"query_id": pa.array([], pa.string()), "moments": lists_of()})
    assert answers == {}
    assert (report.rows, report.missing) == (0, 3)


def test_negative_times_are_lifted_when_asked(read_columns):
    rows = {"query_id": ["v#0"], "moments": lists_of([moment(-1, 2)])}
    answers, report = read_columns(rows, on_negative="clip")
    assert answers == {"v#0": [(0.0, 2.0, 0.5)]}
    assert report.clipped == 1


def test_the_footer_says_what_pyarrow_reads_in_it(put):
    path = put({"query_id": ["v#0", "v#1"], "moments": lists_of([moment(1, 2)] * 3, [])}, row_group_size=1)
    metadata = pq.read_metadata(path)
    columns = [metadata.row_group(g).column(c) for g in range(2) for c in range(metadata.num_columns)]
    assert len(columns) == 8
    assert read_footer(path) == [
        (of.path_in_schema, of.physical_type == "BYTE_ARRAY", of.num_values, of.total_uncompressed_size)
        for of in columns
    ]


# ------------------------------------------------------------------------------------------ malformed

EXPECTED = "expected a list of structs with start_s, end_s and score"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"query_id": ["v#0"]}, ": got columns query_id, expected moments, and query_id or video_id and sentence"),
        ({"a": [1], "b": [2]}, ": got columns a, b, expected moments, and query_id or video_id and sentence"),
        ({"query_id": ["v#0"], "moments": ["1-2"]}, f": field moments: got string, {EXPECTED}"),
        (
            {"query_id": ["v#0"], "moments": pa.array([[1.0, 2.0]], pa.list_(pa.field("element", pa.float64())))},
            f": field moments: got list<element: double>, {EXPECTED}",
        ),
        (
            {"query_id": ["v#0", "v#1"], "moments": lists_of([], None)},
            ": field moments: got null, expected a list (empty for an abstention)",
        ),
        (
            {"query_id": ["v#0"], "moments": lists_of([moment(None, 2)])},
            ": field moments.start_s: got null, expected numbers",
        ),
        (
            {"query_id": ["v#0"], "moments": lists_of([moment(1, 2), None])},
            ": field moments.start_s: got null, expected numbers",
        ),
        (
            {"query_id": ["v#0"], "moments": lists_of([moment(1, 2, None)])},
            ": field moments.score: got null, expected numbers",
        ),
        (
            {"query_id": ["v#0"], "moments": pa.array([[moment(1, "2")]])},
            ": field moments.end_s: got string, expected numbers",
        ),
        (
            {"query_id": ["v#0"], "moments": pa.array([[moment(True, 2)]])},
            ": field moments.start_s: got bool, expected numbers",
        ),
        ({"query_id": [1], "moments": ONE}, ": field query_id: got 1, expected text"),
        ({"query_id": [b"v#0"], "moments": ONE}, ": field query_id: got b'v#0', expected text"),
        ({"query_id": ["v#0"], "sentence": [3], "moments": ONE}, ": field sentence: got 3, expected text"),
        (
            {"query_id": ["v#0"], "video_id": ["w"], "moments": ONE},
            ": got video 'w' for query 'v#0', expected 'v'" + SPLIT,
        ),
        (
            {"query_id": ["v#1", "v#0"], "moments": lists_of([], [moment(1, 2), moment(-1, 2)])},
            ": field moments[1].start: got -1 for query 'v#0', expected seconds from 0 to 1e+08; "
            "--on-negative clip lifts negative times to 0",
        ),
        (
            {"query_id": ["v#0"], "moments": lists_of([moment(1, float("inf"))])},
            ": field moments[0].end: got inf for query 'v#0', expected seconds from 0 to 1e+08",
        ),
        (
            {"query_id": ["v#0"], "moments": lists_of([moment(float("nan"), 2)])},
            ": field moments[0].start: got nan for query 'v#0', expected seconds from 0 to 1e+08",
        ),
        (
            {"query_id": ["v#0"] * 2, "moments": lists_of([], [])},
            ": answers query 'v#0' again, expected each query once",
        ),
        (
            {"query_id": ["v#0"], "moments": ONE, "saliency": [1.0]},
            ": field saliency: got double, expected a list of numbers",
        ),
        ({"query_id": ["v#0"], "moments": ONE, "saliency": [["a"]]}, ": field saliency: got string, expected numbers"),
        (
            {"query_id": ["v#0", "v#1"], "moments": lists_of([], []), "saliency": [[1.0], None]},
            ": field saliency: got null, expected a list of numbers for every query",
        ),
        (
            {"query_id": ["v#0"], "moments": ONE, "saliency": [[float("nan")]]},
            ": field saliency: got a number that is not finite",
        ),
    ],
)
def test_bad_columns(refused_columns, columns, said):
    assert refused_columns(columns) == said


def test_a_score_that_is_no_number_names_file_and_row(refused_columns):
    columns = {"query_id": ["v#1", "v#0"], "moments": lists_of([], [moment(1, 2, float("nan"))])}
    assert refused_columns(columns).startswith(": field moments[0].score: got nan for query 'v#0'")


def test_a_row_that_names_no_query(refused_columns):
    columns = {"query_id": pa.array(["v#0", None]), "video_id": ["v", "v"], "moments": lists_of([], [])}
    assert refused_columns(columns) == ": field query_id: is missing, expected it or video_id and sentence"


def test_two_columns_of_one_name(annotations, tmp_path):
    path = tmp_path / "p.parquet"
    pq.write_table(
        pa.Table.from_arrays([pa.array(["v#0"])] * 2 + [ONE], names=["query_id", "query_id", "moments"]), path
    )
    with pytest.raises(InputError, match=r"p\.parquet: field query_id: appears twice, expected each"):
        read_predictions(path, annotations)


@pytest.mark.parametrize("keep", [4, 8, 50, -1, -8, -30])
def test_a_truncated_file(put, annotations, keep):
    path = put({"query_id": ["v#0"], "moments": ONE})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError) as caught:
        read_predictions(path, annotations)
    assert str(caught.value).startswith(f"{path}: cannot be read as Parquet (")
    assert len(str(caught.value).splitlines()) == 1


def test_text_asked_for_as_parquet(refused):
    assert refused("hello\n" * 9, format="parquet").startswith(": cannot be read as Parquet (")


def test_no_file_and_a_folder(tmp_path, annotations):
    with pytest.raises(MissingFileError) as missing:
        read_predictions(tmp_path / "none.parquet", annotations, format="parquet")
    assert str(missing.value) == f"{tmp_path / 'none.parquet'}: no such file"
    with pytest.raises(InputError) as folder:
        read_predictions(tmp_path, annotations, format="parquet")
    assert str(folder.value) == f"{tmp_path}: is a folder, expected a file"


# ------------------------------------------------------------------------------------------- metadata


def test_metadata_of_these_annotations(read_columns, annotations):
    said = json.dumps({"truemoment": 1, "annotations_sha256": annotations.sha256}).encode()
    assert read_columns({"query_id": ["v#0"], "moments": ONE}, said=said)[0] == {"v#0": [(1.0, 2.0, 0.5)]}


def test_metadata_of_other_annotations(refused_columns, annotations):
    said = json.dumps({"truemoment": 1, "dataset": "tacos", "split": "val", "annotations_sha256": "ab" * 32}).encode()
    assert refused_columns({"query_id": ["v#0"], "moments": ONE}, said=said).startswith(
        ": field annotations_sha256: was made for annotations abababab (tacos/val), these are "
        f"{annotations.sha256[:8]} (small/test)"
    )


@pytest.mark.parametrize("said", [b"{", b"[]", b"\xff", b"", b'{"truemoment": 1, "annotations_sha256": 5}'])
def test_metadata_that_is_none_of_ours(refused_columns, said):
    assert "\n" not in refused_columns({"query_id": ["v#0"], "moments": ONE}, said=said)


def test_metadata_of_another_version(refused_columns):
    # As the first line of a native file.
    said = refused_columns({"query_id": ["v#0"], "moments": ONE}, said=b'{"truemoment": 2}')
    assert said.endswith("field truemoment: got version 2, expected 1")


def test_what_is_written(tmp_path, annotations):
    path = tmp_path / "p.parquet"
    write_predictions(path, Predictions.from_lists({"v#0": [(1, 2, 0.5)], "w#0": []}), annotations, format="parquet")
    table = pq.read_table(path)
    assert table.to_pylist() == [
        {
            "query_id": "v#0",
            "video_id": "v",
            "sentence": "A man's dog, barking.",
            "moments": [{"start_s": 1.0, "end_s": 2.0, "score": 0.5}],
        },
        {"query_id": "w#0", "video_id": "w", "sentence": "Die Tür geht auf 🚪", "moments": []},
    ]
    assert json.loads(table.schema.metadata[b"truemoment"]) == {
        "truemoment": 1,
        "dataset": "small",
        "split": "test",
        "annotations_sha256": annotations.sha256,
    }


# ------------------------------------------------------------------------------------ without pyarrow


@pytest.fixture
def no_pyarrow(monkeypatch):
    """Stand in a world where pyarrow is not installed: None in sys.modules makes its import fail."""
    for name in [name for name in sys.modules if name == "pyarrow" or name.startswith("pyarrow.")]:
        monkeypatch.setitem(sys.modules, name, None)


SAID = "reading and writing Parquet needs the package pyarrow: pip install 'truemoment[parquet]'"


@pytest.mark.usefixtures("no_pyarrow")
def test_writing_without_the_package_names_the_install_line(tmp_path, annotations):
    path = tmp_path / "p.parquet"
    with pytest.raises(MissingPackageError) as caught:
        write_predictions(path, Predictions.from_lists({}), annotations, format="parquet")
    assert str(caught.value) == SAID
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", ["parquet", None])
def test_reading_without_the_package_names_the_install_line(put, annotations, request, format):  # noqa: A002
    path = put({"query_id": ["v#0"], "moments": ONE})
    request.getfixturevalue("no_pyarrow")
    with pytest.raises(MissingPackageError) as caught:
        read_predictions(path, annotations, format=format)
    assert str(caught.value) == SAID


@pytest.mark.usefixtures("no_pyarrow")
def test_other_formats_need_no_package(read):
    assert read('{"query_id": "v#0", "moments": []}\n')[0] == {"v#0": []}


def test_ids_of_any_text(tmp_path, lists):
    ids = ["", " ", "a\nb", "ü/ñ#0", "🚪", 'q"uote', "null"]
    annotations = Annotations.from_rows([(q, "v", 9.0, f"s{i}", 1.0, 2.0) for i, q in enumerate(ids)])
    predictions = Predictions.from_lists({q: [(1.0, 2.0, float(i))] for i, q in enumerate(ids)})
    write_predictions(tmp_path / "p.parquet", predictions, annotations, format="parquet")
    found, _ = read_predictions(tmp_path / "p.parquet", annotations)
    assert lists(found) == lists(predictions)
