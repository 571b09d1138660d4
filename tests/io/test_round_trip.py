"""Written and read again, predictions are the same: native, CSV and Parquet."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations, Predictions
from truemoment.base.errors import TrueMomentError
from truemoment.data.formats import read_predictions, write_predictions

pytestmark = pytest.mark.slow


# Any text that UTF-8 can hold: blanks, commas, quotes, line ends, other scripts, emoji.
TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
IDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
TIME = st.floats(0, 1e8) | st.sampled_from([0.0, 1e-300, 0.1, 1 / 3, 1e8])  # up to MAX_TIME_S of records.py
SCORE = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.5, 1.0, -0.0])
MOMENT = st.tuples(TIME, TIME, SCORE)


@st.composite
def worlds(draw, *, empty=True):
    """Annotations with odd ids and sentences, and predictions for some of their queries, in any order."""
    ids = draw(st.lists(IDS, min_size=1, max_size=6, unique=True))
    annotations = Annotations.from_rows(
        [(query_id, draw(TEXT), 30.0, draw(TEXT), 1.0, 2.0) for query_id in ids],
        dataset=draw(TEXT),
        split=draw(TEXT),
    )
    answered = draw(st.permutations(ids))[: draw(st.integers(0 if empty else 1, len(ids)))]
    moments = st.lists(MOMENT, min_size=0 if empty else 1, max_size=5)
    return annotations, Predictions.from_lists({query_id: draw(moments) for query_id in answered})


def same(one, other):
    """Whether two lists of answers agree to the last bit, a zero's sign included."""
    return list(one) == list(other) and all(
        np.array_equal(np.array(one[q]).view(np.int64), np.array(other[q]).view(np.int64)) for q in one
    )


@pytest.fixture(scope="session")
def through(tmp_path_factory, lists):
    """Write and read again; return what was filed and what was found, in the order of the annotations."""
    folder = tmp_path_factory.mktemp("round-trip")

    def run(world, format_name):
        annotations, predictions = world
        path = folder / f"p.{format_name}"
        write_predictions(path, predictions, annotations, format=format_name)
        found, report = read_predictions(path, annotations)
        filed = lists(predictions)
        wanted = {q: filed[q] for q in annotations.queries.query_id if q in filed}
        assert same(lists(found), wanted)
        assert report.format == format_name
        assert report.by_id == report.rows == len(predictions)
        assert report.unmatched == report.text_differs == 0
        assert report.missing == annotations.n_queries - len(predictions)
        return path

    return run


@given(worlds())
def test_native(through, world):
    path = through(world, "native")
    annotations, predictions = world
    rows = [json.loads(text) for text in path.read_text(encoding="utf-8").split("\n")[:-1]]
    assert rows[0] == {
        "truemoment": 1,
        "dataset": annotations.dataset,
        "split": annotations.split,
        "annotations_sha256": annotations.sha256,
    }
    assert [row["query_id"] for row in rows[1:]] == predictions.query_id.tolist()


@given(worlds())
def test_parquet(through, world):
    through(world, "parquet")


@given(worlds(empty=False))
def test_csv(through, world):
    through(world, "csv")


@given(worlds(empty=False), st.sampled_from(["native", "parquet", "csv"]))
def test_a_second_writing_gives_the_same_bytes(tmp_path_factory, world, format_name):
    annotations, predictions = world
    folder = tmp_path_factory.mktemp("twice")
    write_predictions(folder / "a", predictions, annotations, format=format_name)
    write_predictions(folder / "b", predictions, annotations, format=format_name)
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()


@pytest.mark.parametrize("format_name", ["native", "parquet", "csv"])
@pytest.mark.parametrize("score", [1.7976931348623157e308, -1.7976931348623157e308, 5e-324])
def test_the_largest_and_smallest_scores(through, annotations, format_name, score):
    through((annotations, Predictions.from_lists({"v#0": [(1.0, 2.0, score)]})), format_name)


@pytest.mark.parametrize("score", [float("inf"), float("-inf"), float("nan")])
def test_a_score_that_no_format_can_hold_never_reaches_one(score):
    # JSON has no infinity (RFC 8259, section 6), so a file would silently lose it.
    with pytest.raises(TrueMomentError):
        Predictions.from_lists({"v#0": [(1.0, 2.0, score)]})


@pytest.mark.parametrize("format_name", ["native", "parquet"])
def test_nothing_but_abstentions(tmp_path, annotations, lists, format_name):
    path = tmp_path / "p"
    write_predictions(path, Predictions.from_lists({"v#0": [], "v#1": []}), annotations, format=format_name)
    found, report = read_predictions(path, annotations)
    assert lists(found) == {"v#0": [], "v#1": []}
    assert (report.empty, report.missing, report.moments) == (2, 1, 0)


@pytest.mark.parametrize("format_name", ["native", "parquet", "csv"])
def test_a_writing_that_fails_leaves_the_old_file(tmp_path, annotations, format_name, monkeypatch):
    path = tmp_path / "p"
    path.write_text("old")

    def fail(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("truemoment.base.boundary.own_path.os.replace", fail)  # interrupted at the last moment
    with pytest.raises(KeyboardInterrupt):
        write_predictions(path, Predictions.from_lists({"v#0": [(1, 2)]}), annotations, format=format_name)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["p"]
