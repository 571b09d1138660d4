"""The method's own answers on other videos: what a method that ignores the video keeps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations, Predictions, Queries
from truemoment.base.errors import InputError
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measures
from truemoment.evaluation.protocols import get_protocol
from truemoment.studies.audit.own_answers import another_video, moved_answers, own_answers_floors, similar_sentence

MEASURES = parse_measures("R@1,IoU=0.5; R@5,IoU=0.5; mIoU")
DEFAULT = get_protocol("default")


@given(sizes=st.lists(st.integers(1, 6), min_size=2, max_size=12), seed=st.integers(0, 99))
def test_no_query_gets_an_answer_of_its_own_video(sizes, seed):
    video = np.repeat([f"v{k}" for k in range(len(sizes))], sizes)
    rng = np.random.default_rng(seed)
    video = rng.permutation(video)
    if 2 * max(sizes) > len(video):
        with pytest.raises(InputError, match="expected at most half"):
            another_video(video, rng)
        return
    source = another_video(video, rng)
    assert sorted(source) == list(range(len(video)))  # each query's answers are used once
    assert (video[source] != video).all()


@given(data=st.data())
def test_moved_answers_against_a_slow_loop(data):
    lists = data.draw(
        st.lists(st.lists(st.tuples(st.floats(0, 9), st.floats(0, 9)), max_size=3), min_size=2, max_size=5)
    )
    duration_s = np.array(data.draw(st.lists(st.floats(1, 60), min_size=len(lists), max_size=len(lists))))
    source = np.array(data.draw(st.permutations(range(len(lists)))))
    ids = [f"q{k}" for k in range(len(lists))]
    queries = Queries(ids, ids, duration_s, ["x"] * len(ids))
    predictions = Predictions.from_lists({q: [(s, e, 1.0) for s, e in of] for q, of in zip(ids, lists, strict=True)})
    moved = moved_answers(predictions, queries, source, "moved")
    for k in range(len(ids)):
        low, high = moved.offsets[k : k + 2]
        scale = duration_s[k] / duration_s[source[k]]
        assert moved.start_s[low:high].tolist() == pytest.approx([s * scale for s, _ in lists[source[k]]])
        assert moved.end_s[low:high].tolist() == pytest.approx([e * scale for _, e in lists[source[k]]])


@pytest.fixture(scope="module")
def split():
    """60 videos of two queries; what is done decides where the moment lies."""
    rng = np.random.default_rng(2)
    rows = []
    for k in range(120):
        verb, start = (("opens", 0.1), ("closes", 0.6))[int(rng.integers(2))]
        duration_s = float(rng.integers(20, 60))
        start_s = (start + 0.05 * rng.random()) * duration_s
        rows.append(
            (f"v{k // 2}#{k % 2}", f"v{k // 2}", duration_s, f"a person {verb} it", start_s, start_s + 0.3 * duration_s)
        )
    return Annotations.from_rows(rows)


def floors(split, predictions):
    return own_answers_floors(split, predictions, MEASURES, DEFAULT, np.random.default_rng(0))


def test_a_constant_share_keeps_its_whole_score(split):
    queries = split.queries
    constant = Predictions.from_lists(
        {
            q: [(0.1 * d, 0.4 * d, 2.0), (0.6 * d, 0.9 * d, 1.0)]
            for q, d in zip(queries.query_id, queries.duration_s, strict=True)
        }
    )
    scores = evaluate(split, constant, MEASURES, DEFAULT)
    for floor in floors(split, constant):
        assert [floor.scores.value(m) for m in MEASURES] == pytest.approx([scores.value(m) for m in MEASURES])


def test_answers_by_sentence_keep_their_score_on_similar_sentences_only(split):
    # A method that only reads the sentence, and knows where each verb lies in this very split.
    places = {"opens": (0.1, 0.42), "closes": (0.6, 0.92)}
    answers = {}
    for q, d, sentence in zip(split.query_id, split.duration_s, split.sentence, strict=True):
        start, end = places[sentence.split()[2]]
        answers[q] = [(start * d, end * d, 1.0)]
    predictions = Predictions.from_lists(answers)
    ours = evaluate(split, predictions, MEASURES, DEFAULT).value("R@1,IoU=0.5")
    other, similar = (floor.scores.value("R@1,IoU=0.5") for floor in floors(split, predictions))
    assert ours == 1.0
    assert similar == 1.0
    assert other < 0.7  # two verbs: half of the answers fit by chance


def test_a_method_that_looks_loses():
    rng = np.random.default_rng(1)
    rows = []
    for k in range(200):
        start_s = 70 * rng.random()
        rows.append((f"w{k}#0", f"w{k}", 100.0, "a person opens it", start_s, start_s + 20))
    spread = Annotations.from_rows(rows)
    right = Predictions.from_lists(
        {q: [(s, e, 1.0)] for q, s, e in zip(spread.query_id, spread.start_s, spread.end_s, strict=True)}
    )
    # Two moments of 20 s have an IoU above 0.5 if they start less than 20/3 s apart: of two even draws from 0 to 70 s,
    # 1 - (1 - (20/3) / 70)^2 = 18.1 %.
    other = floors(spread, right)[0]
    assert other.scores.value("R@1,IoU=0.5") == pytest.approx(0.181, abs=0.04)
    assert other.spread[0] > 0


def test_the_most_similar_sentence_of_another_video():
    sentences = ["a dog runs", "a cat sleeps", "a dog runs", "the cat sleeps", "zebra"]
    queries = Queries([f"q{k}" for k in range(5)], ["a", "b", "c", "a", "b"], [9.0] * 5, sentences)
    assert similar_sentence(queries).tolist() == [2, 3, 0, 1, -1]


def test_queries_without_a_prediction_stay_empty(split):
    some = Predictions.from_lists({q: [(0.0, 5.0, 1.0)] for q in split.query_id[:60]})
    other, similar = floors(split, some)
    assert (other.predictions.lengths == 0).sum() == 60
    assert len(similar.predictions) == 120
