"""Predictions and annotations of Python values: every shape gives the figures of the records."""

import json

import numpy as np
import pytest

import truemoment as tm
from truemoment.base.errors import InputError, MatchError, MissingFileError, UsageError
from truemoment.data import python_values
from truemoment.studies.audit.request import AuditRequest

ROWS = [
    {"query_id": "v#0", "video_id": "v", "duration_s": 30.0, "sentence": "a door opens", "moments": [[2.0, 6.0]]},
    {"query_id": "w#0", "video_id": "w", "duration_s": 20.0, "sentence": "a dog runs", "moments": [[5.0, 10.0]]},
]
LISTS = {"v#0": [(2.0, 5.0, 0.9), (0.0, 1.0, 0.1)], "w#0": [(0.0, 5.0, 0.5)]}
MOMENTS = [(query_id, *moment) for query_id, moments in LISTS.items() for moment in moments]
COLUMNS = {name: [row[at] for row in MOMENTS] for at, name in enumerate(("query_id", "start_s", "end_s", "score"))}
LISTS_AS_RECORD = tm.Predictions.from_lists(LISTS)
LISTS_TWICE = [list(LISTS.values()), list(LISTS.values())]
ROWS_OF_QVH = [{"qid": 1, "query": "a", "vid": "v", "duration": 9, "relevant_windows": [[0, 4]]}]
MEASURES = "R@1,IoU=0.5; mIoU"


def without(row, name):
    return {column: value for column, value in row.items() if column != name}


PLAIN = [{**without(row, "moments"), "start_s": row["moments"][0][0], "end_s": row["moments"][0][1]} for row in ROWS]


def figures(predictions, annotations):
    scores = tm.evaluate(predictions, annotations=annotations, measures=MEASURES)
    return [scores.value(measure) for measure in scores.measures]


RIGHT = [0.5, 0.375]
"""By hand: IoU 3 / 4 and 0."""


@pytest.fixture
def annotations():
    return tm.Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 6.0), ("w#0", "w", 20.0, "", 5.0, 10.0)])


def table_of(package):
    frame = pytest.importorskip(package)
    return frame.table(COLUMNS) if package == "pyarrow" else frame.DataFrame(COLUMNS)


def shapes():
    yield "lists by query", LISTS
    yield "arrays by query", {query_id: np.array(moments) for query_id, moments in LISTS.items()}
    yield "columns", COLUMNS
    yield "rows of moments", [dict(zip(COLUMNS, row, strict=True)) for row in MOMENTS]
    yield "rows of queries", [{"qid": query_id, "moments": moments} for query_id, moments in LISTS.items()]
    yield "one list a query", [LISTS["v#0"], LISTS["w#0"]]
    yield "one moment a query", np.array([[2.0, 5.0], [0.0, 5.0]])
    yield (
        "names of CSV headings",
        [
            {"Video": "v", "query": "a door opens", "start": "2", "end": 5},
            {"Video": "w", "query": "a dog runs", "start": 0, "end": 5},
        ],
    )


@pytest.mark.parametrize(("name", "value"), [pytest.param(*shape, id=shape[0]) for shape in shapes()])
def test_predictions(name, value):
    assert figures(value, ROWS) == pytest.approx(RIGHT, abs=1e-12), name


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_predictions_of_a_data_frame(package):
    assert figures(table_of(package), ROWS) == pytest.approx(RIGHT, abs=1e-12)


@pytest.mark.parametrize(
    "value",
    [
        ROWS,
        {name: [row[name] for row in ROWS] for name in ROWS[0]},
        [{**row, "start_s": row["moments"][0][0], "end_s": row["moments"][0][1], "moments": None} for row in ROWS],
        {"v#0": [2.0, 6.0], "w#0": [[5.0, 10.0]]},
    ],
    ids=["rows", "columns", "rows with moments", "lists by query"],
)
def test_annotations(value):
    if value and isinstance(value, list) and value[0]["moments"] is None:
        value = [{name: entry for name, entry in row.items() if name != "moments"} for row in value]
    assert figures(LISTS, value) == pytest.approx(RIGHT, abs=1e-12)


def test_arrays_on_both_sides_as_in_mir_eval():
    assert figures(np.array([[2.0, 5.0], [0.0, 5.0]]), np.array([[2.0, 6.0], [5.0, 10.0]])) == pytest.approx(RIGHT)


@pytest.mark.parametrize(
    "rows",
    [
        PLAIN,
        [without(row, "query_id") for row in (*PLAIN, PLAIN[0])],  # a sentence that is asked twice is two queries
        [{**row, "annotator": name} for row in PLAIN for name in ("a", "b")],
        [{**row, "split": split} for row, split in zip(PLAIN, ("train", "test"), strict=True)],
    ],
    ids=["ids", "no ids", "annotators", "splits"],
)
def test_a_table_is_read_as_its_csv_file_is(rows, tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    split = "test" if "split" in rows[0] else None
    expected = tm.read_annotations(tmp_path / "a.csv", split)
    for value in (rows, pandas.DataFrame(rows)):
        made = python_values.annotations_of(value, split)
        assert (made.sha256, made.split) == (expected.sha256, expected.split)


def test_columns_are_mapped_as_those_of_files():
    rows = [
        {"file": "v", "caption": "a", "begin": 60, "end": 180},
        {"file": "w", "caption": "b", "begin": 0, "end": 300},
    ]
    fields = "sentence=caption, start_s=begin/30, end_s=end/30, video_id=file"
    scores = tm.evaluate({"v#0": [(2, 5)], "w#0": [(0, 5)]}, annotations=rows, fields=fields, measures=MEASURES)
    assert scores.value(scores.measures[1]) == (0.75 + 0.5) / 2  # by hand: 3 / 4 of 2 to 6 s, 5 / 10 of 0 to 10 s


def test_a_table_that_has_no_values_for_a_query():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(PLAIN).astype({"start_s": "Float64", "end_s": "Float64"})
    frame.loc[1, ["start_s", "end_s"]] = pandas.NA
    assert python_values.annotations_of(frame).without_moment.tolist() == [False, True]


def test_records_and_files_are_as_before(annotations, tmp_path):
    predictions = tm.Predictions.from_lists(LISTS)
    file = tmp_path / "p.jsonl"
    tm.write_predictions(file, predictions, annotations)
    assert figures(predictions, annotations) == figures(file, annotations) == pytest.approx(RIGHT)


def test_audit_takes_rows():
    with pytest.raises(UsageError, match="a verdict needs 200 or more"):
        tm.audit(LISTS, annotations=ROWS, resamples=100)


@pytest.mark.parametrize(
    ("predictions", "references", "error", "words"),
    [
        (
            tm.Annotations.from_rows([("v#0", "v", 30.0, "a", 2.0, 6.0)]),
            ROWS,
            UsageError,
            "predictions: got annotations, expected predictions first",
        ),
        (
            LISTS,
            tm.Predictions.from_lists(LISTS),
            UsageError,
            "annotations: got predictions, expected predictions first",
        ),
        (
            PLAIN,
            [{**row, "score": 0.5} for row in PLAIN],
            UsageError,
            "annotations: got predictions .column score., exp",
        ),
        (PLAIN, [without(without(row, "sentence"), "duration_s") for row in PLAIN], MatchError, "annotations swapped"),
        (ROWS_OF_QVH, ROWS, UsageError, "predictions: got references .column relevant_windows., expected predictions"),
        (
            LISTS,
            [{**PLAIN[0], "end_s": "x"}],
            InputError,
            "annotations, row 0: field end_s: got 'x', expected a number",
        ),
        (LISTS, [*PLAIN, without(PLAIN[0], "video_id")], InputError, "annotations, row 2: field video_id: got nothing"),
        (
            LISTS,
            [without(PLAIN[0], "end_s")],
            InputError,
            "annotations: has no column for end_s, got query_id, video_id",
        ),
        (LISTS, {"query_id": "v#0", "start": 1, "end": 2}, InputError, "field query_id: got 'v#0', expected a column"),
        (
            [{"query_id": "v#0", "start": None, "end": 2}],
            ROWS,
            InputError,
            "row 0: field start: got no value, expected",
        ),
        ([{"query_id": "v#0", "start": -1, "end": 2}], ROWS, InputError, "predictions, row 0: .*got -1"),
        (LISTS, [], InputError, "has no queries"),
        ({"x#0": [(1, 2)]}, ROWS, MatchError, "no query"),
        ([[(1, 2)]], ROWS, MatchError, "got 1 lists of moments, expected one a query, 2"),
        ({"v#0": [(1, 2, 3, 4)]}, ROWS, InputError, "expected moments .start_s, end_s. or"),
        ({"v#0": "soon"}, ROWS, InputError, "expected moments"),
        (
            [{"query_id": "v#0", "start": 1, "till": 2}],
            ROWS,
            InputError,
            "predictions: field end_s: is missing: got query_id, start",
        ),
        (
            [{"query_id": "v#0", "start": "x", "end": 2}],
            ROWS,
            InputError,
            "predictions, row 0: field start: got 'x', expected",
        ),
        ([{"start": 1, "end": 2}], ROWS, InputError, "row 0: field query_id: is missing, expected it or video_id"),
        ({"query_id": ["v#0"], "start": [1, 2], "end": [2]}, ROWS, InputError, "expected as many in each"),
        (3, ROWS, UsageError, "got int, expected a path"),
    ],
)
def test_a_wrong_value_is_named(predictions, references, error, words):
    with pytest.raises(error, match=words):
        figures(predictions, references)


def in_frames(moments):
    return {query_id: [(30 * start, 30 * end) for start, end, _ in rows] for query_id, rows in moments.items()}


def test_the_axis_is_that_of_the_options():
    scores = tm.evaluate(in_frames(LISTS), annotations=ROWS, measures=MEASURES, axis="fps=30")
    assert [scores.value(measure) for measure in scores.measures] == pytest.approx(RIGHT, abs=1e-12)


def test_unknown_queries_are_ignored_on_request():
    with_another = {**LISTS, "x#0": [(1, 2)]}
    scores = tm.evaluate(with_another, annotations=ROWS, measures=MEASURES, on_unknown="ignore")
    assert scores.value(scores.measures[0]) == RIGHT[0]


def test_an_audit_refuses_frames_as_it_does_in_files():
    rows = [{"video_id": f"v{n}", "sentence": "s", "duration_s": 30.0, "moments": [[n, n + 9.0]]} for n in range(20)]
    predictions = [[(30 * n, 30 * n + 270)] for n in range(20)]
    with pytest.raises(InputError, match=r"predictions: the times look like frames at 30 .*--axis fps=30"):
        tm.audit(predictions, annotations=rows)


def test_methods_of_a_comparison_are_values_and_a_list_of_tables_is_their_runs():
    frame = table_of("pandas")
    found = tm.compare(
        {"ours": [frame, LISTS_AS_RECORD], "base": COLUMNS, "other": {"v#0": [(2, 6)]}},
        annotations=ROWS,
        measures="mIoU",
        resamples=20,
        permutations=9,
    )
    runs = {method: [run.source["path"] for run in runs] for method, runs in found.compared.runs.items()}
    assert runs == {"ours": ["ours, run 1", "ours, run 2"], "base": ["base"], "other": ["other"]}
    assert "ours, run 2 and ours, run 1 are identical" in " ".join(str(found).split())
    assert found.table()["difference"][0] == 0.0


@pytest.mark.parametrize(
    ("predictions", "words"),
    [
        ({"ours": LISTS}, "predictions: got 1 method, expected those of two methods or more by name"),
        (LISTS_TWICE, "predictions: got list, expected those of two methods"),
        ({"ours": LISTS, "base": [{"query_id": "v#0", "start": "x", "end": 2}]}, "base, row 0: field start: got 'x'"),
    ],
)
def test_a_comparison_names_the_method_of_a_wrong_value(predictions, words):
    with pytest.raises((InputError, UsageError), match=words):
        tm.compare(predictions, annotations=ROWS)


def test_people_and_systems_are_values():
    rows = [{**row, "annotator": name} for row in PLAIN for name in ("a", "b", "c")]
    found = tm.humans({"ours": LISTS}, annotations=rows, measures="mIoU", draws=5, resamples=20, permutations=9)
    values = [row["value"] for row in found.rows() if (row["who"], row["against"]) == ("ours", "nearest")]
    assert values == [RIGHT[1]]
    people = tm.humans(annotations=rows, measures="mIoU", draws=5, resamples=20).rows()
    assert {row["value"] for row in people} == {1.0}  # all three marked the same moments
    three = [{**row, "moments": 3 * row["moments"], "annotators": ["a", "b", "c"]} for row in ROWS]  # as in our files
    assert tm.humans(annotations=three, measures="mIoU", draws=5, resamples=20).rows() == people
    three[1]["annotators"].pop()
    with pytest.raises(InputError, match=r"row 1: field annotators: got \['a', 'b'\], expected 3 names, one a moment"):
        tm.humans(annotations=three)


def test_a_table_has_its_other_splits_as_a_file_does(tmp_path):
    """Baselines learn from the rows of split train; a study finds the other splits by name."""
    rows = [
        {"query_id": f"v{n}#0", "video_id": f"v{n}", "duration_s": 30.0, "sentence": "a door opens"}
        | {"moments": [[n % 20, n % 20 + 5.0]], "split": ("train", "val", "test")[n % 3]}
        for n in range(60)
    ]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    learned = [tm.baseline("best-constant", annotations=given, split="test") for given in (rows, file)]
    documents = [baseline.document() for baseline in learned]
    assert documents[0]["fitted_on"] == "own/train"
    assert documents[0]["fitted_on_sha256"] == documents[1]["fitted_on_sha256"]
    assert [figure["value"] for figure in documents[0]["measures"]] == learned[1].to_pandas()["value"].tolist()
    request = AuditRequest(learned[0].predictions, annotations=rows, split="test", fit_split="val")
    assert request.training(request.origin, request.reference()).split == "val"
    assert [split.split for split in request.source.other_splits(None)] == ["train", "val"]
    with pytest.raises(UsageError, match="got annotations and a dataset"):
        AuditRequest(learned[0].predictions, annotations=rows, dataset="charades-sta", split="test")


def test_the_name_of_a_dataset_is_answered_with_its_keyword():
    with pytest.raises(MissingFileError, match=r"Charades_STA: no such file; .*dataset='charades-sta'"):
        tm.evaluate(LISTS, annotations="Charades_STA")
    with pytest.raises(UsageError, match=r"unknown dataset .*expected the option --annotations"):
        tm.evaluate(LISTS, dataset=__file__, split="test")


def test_biases_of_a_table_with_splits():
    polars = pytest.importorskip("polars")
    rows = [{**PLAIN[n % 2], "query_id": f"q{n}", "split": ("train", "test")[n % 3 == 0]} for n in range(12)]
    columns = tm.bias(annotations=polars.DataFrame(rows), permutations=5, draws=5).table()
    assert (columns["split"], columns["n_queries"]) == (["train", "test"], [8, 4])
    assert tm.bias(annotations=rows, split="test", permutations=5, draws=5).table()["split"] == ["test"]
