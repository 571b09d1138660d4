"""The order of a file's rows never matters where they are matched by id or by a text that is unique."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations
from truemoment.data.formats import read_predictions

pytestmark = pytest.mark.slow


MOMENTS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 3)).map(lambda m: (m[0] / 4, m[1] / 4, m[2] / 4)),
    max_size=4,
)


@st.composite
def shuffled_worlds(draw):
    """Annotations whose sentences are unique within their video, a row for some queries, and two orders."""
    n = draw(st.integers(1, 8))
    queries = [(f"v{i % 3}#{i // 3}", f"v{i % 3}", f"Sentence, number {i // 3}!") for i in range(n)]
    annotations = Annotations.from_rows([(q, v, 10.0, s, 1.0, 2.0) for q, v, s in queries])
    answered = draw(st.lists(st.sampled_from(queries), unique=True, max_size=n))
    rows = [(*query, draw(MOMENTS)) for query in answered]
    return annotations, rows, draw(st.permutations(rows))


def by_id(query_id, video, sentence, moments):
    del video, sentence
    return {"query_id": query_id, "moments": moments}


def by_id_with_sentence(query_id, video, sentence, moments):
    return {"query_id": query_id, "video_id": video, "sentence": sentence.upper(), "moments": moments}


def by_text(query_id, video, sentence, moments):
    del query_id
    return {"video_id": video, "sentence": sentence.lower(), "moments": moments}


@pytest.fixture(scope="session")
def answers(tmp_path_factory, lists):
    """Write JSON rows in an order and return answers and report."""
    folder = tmp_path_factory.mktemp("shuffled")

    def run(annotations, entries):
        path = folder / "p.jsonl"
        path.write_text("".join(json.dumps(entry) + "\n" for entry in [{"truemoment": 1}, *entries]))
        predictions, report = read_predictions(path, annotations)
        return lists(predictions), report

    return run


@pytest.mark.parametrize("written", [by_id, by_id_with_sentence, by_text])
@given(world=shuffled_worlds())
def test_json_lines(answers, written, world):
    annotations, rows, shuffled = world
    found, report = answers(annotations, [written(*row) for row in shuffled])
    # By hand: each query's own list, in the order of the annotations.
    filed = {query_id: [tuple(m) for m in moments] for query_id, _, _, moments in rows}
    assert found == {q: filed[q] for q in annotations.queries.query_id if q in filed}
    assert list(found) == [q for q in annotations.queries.query_id if q in filed]
    assert report.by_position == report.shared == report.unmatched == 0
    assert report == answers(annotations, [written(*row) for row in rows])[1]


@given(world=shuffled_worlds(), draw=st.data())
def test_csv(tmp_path_factory, lists, world, draw):
    # Rows of one query keep their order among themselves: without scores it is their rank.
    annotations, rows, _ = world
    flat = [(query_id, *moment[:2]) for query_id, _, _, moments in rows for moment in moments]
    if not flat:
        return
    places = draw.draw(st.permutations([query_id for query_id, *_ in flat]))
    left = {query_id: [row for row in flat if row[0] == query_id] for query_id, *_ in flat}
    path = tmp_path_factory.mktemp("csv") / "p.csv"
    lines = [",".join(map(str, left[query_id].pop(0))) for query_id in places]
    path.write_text("query_id,start,end\n" + "\n".join(lines) + "\n")
    found, _ = read_predictions(path, annotations)
    filed = {q: [(s, e, -float(rank)) for rank, (s, e, _) in enumerate(m)] for q, _, _, m in rows if m}
    assert lists(found) == filed
