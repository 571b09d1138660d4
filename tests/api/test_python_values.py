"""Predictions and annotations of Python values: every shape gives the figures of the records."""

import numpy as np
import pytest

import truemoment as tm
from truemoment.base.errors import InputError, MatchError, UsageError

ROWS = [
    {"query_id": "v#0", "video_id": "v", "duration_s": 30.0, "sentence": "a door opens", "moments": [[2.0, 6.0]]},
    {"query_id": "w#0", "video_id": "w", "duration_s": 20.0, "sentence": "a dog runs", "moments": [[5.0, 10.0]]},
]
LISTS = {"v#0": [(2.0, 5.0, 0.9), (0.0, 1.0, 0.1)], "w#0": [(0.0, 5.0, 0.5)]}
MOMENTS = [(query_id, *moment) for query_id, moments in LISTS.items() for moment in moments]
COLUMNS = {name: [row[at] for row in MOMENTS] for at, name in enumerate(("query_id", "start_s", "end_s", "score"))}
MEASURES = "R@1,IoU=0.5; mIoU"


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


def test_queries_without_an_id_are_numbered_within_their_video():
    rows = [{name: value for name, value in row.items() if name != "query_id"} for row in (*ROWS, ROWS[0])]
    made = tm.evaluate(LISTS, annotations=rows, measures=MEASURES)
    assert made.query_id.tolist() == ["v#0", "w#0"]


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
        (tm.Annotations.from_rows([("v#0", "v", 30.0, "a", 2.0, 6.0)]), ROWS, UsageError, "predictions: got annotations, expected predictions first"),
        (LISTS, tm.Predictions.from_lists(LISTS), UsageError, "annotations: got predictions, expected predictions first"),
        (LISTS, [], InputError, "has no queries"),
        ({"x#0": [(1, 2)]}, ROWS, MatchError, "no query"),
        ([[(1, 2)]], ROWS, MatchError, "got 1 lists of moments, expected one a query, 2"),
        ({"v#0": [(1, 2, 3, 4)]}, ROWS, InputError, "expected moments .start_s, end_s. or"),
        ({"v#0": "soon"}, ROWS, InputError, "expected moments"),
        ([{"query_id": "v#0", "start": 1, "finish": 2}], ROWS, InputError, "predictions: field end_s: is missing: got query_id, start"),
        ([{"query_id": "v#0", "start": "x", "end": 2}], ROWS, InputError, "predictions, row 0: field start: got 'x', expected"),
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
