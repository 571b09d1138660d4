"""Retrieval: exact in one video, exact after a first look in many."""

import sys

import numpy as np
import pytest

from truemoment.base.errors import InputError, MissingPackageError, UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.base.records import Queries
from truemoment.evaluation.grounders import Grounder
from truemoment.media.features.sentences import SentenceStore
from truemoment.searching import ZeroShot
from truemoment.searching.index import Index
from truemoment.searching.layout import NORMS, ROWS, VIDEOS, folder_name
from truemoment.searching.retrieval import (
    EncodedSentences,
    FirstStage,
    FoundMoment,
    IndexSearch,
    first_stage_recall,
    search_index,
)
from truemoment.searching.writing import IndexWriter, VideoFile

RED = np.array([[1.0, 0.0, 0.0]], dtype=np.float32)


@pytest.fixture
def collection(tmp_path, settings):
    """Write an index of drawn rows: collection(n_videos, n_frames) with unit rows of 16 numbers that drift slowly."""

    def make(n_videos, n_frames, seed=0):
        rng = np.random.default_rng(seed)
        with IndexWriter(tmp_path / "drawn", settings(n_dimensions=16)) as writer:
            for v in range(n_videos):
                shots = np.repeat(rng.standard_normal((n_frames // 10 + 1, 16)), 10, axis=0)[:n_frames]
                film = VideoFile(f"v{v:03}", tmp_path / f"v{v:03}.mp4", str(v))
                writer.keep_part(film, n_frames, 0, shots + 0.3 * rng.standard_normal((n_frames, 16)))
                writer.finish(film, n_frames, n_frames, n_frames / 2)
        return Index(tmp_path / "drawn")

    return make


def slow_search(index, vector, top, nms):
    """Pool each candidate moment of each video, rank all, and suppress one by one."""
    ranked = []
    for name in index:
        rows = index[name].astype(np.float64)
        first, end = index.spans(name)
        for a, b in zip(first.tolist(), end.tolist(), strict=True):
            mean = rows[a:b].mean(axis=0)
            score = mean @ vector / max(np.linalg.norm(mean) * np.linalg.norm(vector), 1e-6)
            ranked.append((-round(score, 6), name, a - b, a, b))
    ranked.sort(key=lambda of: of[0])
    kept = []
    for _, name, _, a, b in ranked:
        overlaps = (max(0, min(b, d) - max(a, c)) / (max(b, d) - min(a, c)) for other, c, d in kept if other == name)
        if all(iou <= nms for iou in overlaps):
            kept.append((name, a, b))
        if len(kept) == top:
            break
    return kept


@pytest.mark.parametrize("nms", [0.0, 0.3, 1.0])
def test_all_videos_exactly_as_pooling_each_moment(collection, nms):
    index = collection(3, 150)
    vectors = np.random.default_rng(1).standard_normal((4, 16)).astype(np.float32)
    found = search_index(index, vectors, 7, nms=nms, half_s=0)
    for vector, of_sentence in zip(vectors, found, strict=True):
        expected = slow_search(index, vector.astype(np.float64), 7, nms)
        assert [(of.video_id, of.start_s * 2, of.end_s * 2) for of in of_sentence] == expected
        scores = [of.score for of in of_sentence]
        assert scores == sorted(scores, reverse=True)


def test_the_red_moments_are_found(index):
    found = search_index(index, RED, 2)[0]
    assert {of.video_id for of in found} <= {"a", "c"}
    for name, start_s, end_s in (("a", 20.0, 28.0), ("c", 34.0, 42.0)):
        best = search_index(index, RED, 1, videos=[name])[0][0]
        assert temporal_iou(*(np.array(t) for t in (best.start_s, best.end_s, start_s, end_s))) > 0.7
    only = search_index(index, RED, 5, videos=["b"])[0]
    assert {of.video_id for of in only} == {"b"}
    assert only[0].score < found[0].score


def test_of_equal_moments_the_longest_comes_first(index):
    """Blue stays for the last 12 s of a: of all its equal parts the longest of the grid is told."""
    best = search_index(index, np.array([[0.0, 0.0, 1.0]]), 1, videos=["a"])[0][0]
    assert best.end_s - best.start_s >= 8
    assert best.end_s <= 40.0


@pytest.mark.parametrize("apart_s", [0.0, 2.0, 5.0])
def test_moments_that_are_apart(collection, apart_s):
    """A slow walk down the ranked list, that keeps what is far enough from all kept ones of its video."""
    index = collection(2, 150)
    vector = np.random.default_rng(5).standard_normal(16).astype(np.float32)
    everything = search_index(index, vector, 10_000, nms=1.0)[0]
    kept = []
    for of in everything:
        near = (k for k in kept if k.video_id == of.video_id)
        if all(max(k.start_s - of.end_s, of.start_s - k.end_s) >= apart_s for k in near):
            kept.append(of)
    assert search_index(index, vector, 8, apart_s=apart_s)[0] == kept[:8]


def test_no_moment_ends_after_its_video(tmp_path, settings):
    with IndexWriter(tmp_path / "index", settings()) as writer:
        film = VideoFile("short", tmp_path / "short.mp4", "0")
        writer.keep_part(film, 9, 0, np.eye(9, 3))
        writer.finish(film, 9, 9, 4.2)  # the last frame is cut short
    found = search_index(Index(tmp_path / "index"), RED, 100, nms=1.0)[0]
    assert max(of.end_s for of in found) == 4.2


@pytest.mark.slow
def test_candidates_of_a_first_look(collection):
    """With as many candidates as videos nothing is lost; with fewer, only moments of videos that were left out."""
    index = collection(30, 120)
    vectors = np.random.default_rng(2).standard_normal((5, 16)).astype(np.float32)
    exact = search_index(index, vectors, 5)
    assert search_index(index, vectors, 5, candidates=30) == exact
    chosen = FirstStage(index).best_videos(vectors, 4)
    for s, found in enumerate(search_index(index, vectors, 5, candidates=4)):
        assert len(chosen[s]) == 4
        assert {of.video_id for of in found} <= chosen[s]
        assert found == search_index(index, vectors[[s]], 5, videos=chosen[s])[0]


def test_the_first_look_takes_the_videos_of_the_best_pieces(collection):
    index = collection(30, 120)
    vectors = np.random.default_rng(3).standard_normal((3, 16)).astype(np.float32)
    best = {name: index.pieces(name).astype(np.float64) @ vectors.T.astype(np.float64) for name in index}
    chosen = FirstStage(index).best_videos(vectors, 6)
    for s in range(3):
        ranked = sorted(index, key=lambda name: -best[name][:, s].max())
        assert chosen[s] == set(ranked[:6])


def test_videos_are_found_behind_many_pieces_of_one(collection, monkeypatch):
    monkeypatch.setattr("truemoment.searching.first_stage.PIECES_AT_FIRST", 3)
    index = collection(12, 400)
    chosen = FirstStage(index).best_videos(np.ones((2, 16), dtype=np.float32), 10)
    assert [len(names) for names in chosen] == [10, 10]


@pytest.mark.slow
def test_recall_of_the_first_look(collection):
    index = collection(30, 120)
    vectors = np.random.default_rng(4).standard_normal((8, 16)).astype(np.float32)
    recalls = [first_stage_recall(index, vectors, n) for n in (1, 5, 15, 30)]
    assert recalls == sorted(recalls)
    assert recalls[-1] == 1.0
    assert 0 < recalls[0] < 1
    exact = search_index(index, vectors, 5, half_s=0)
    chosen = FirstStage(index).best_videos(vectors, 5)
    hits = [of.video_id in chosen[s] for s, found in enumerate(exact) for of in found]
    assert recalls[1] == sum(hits) / len(hits)


def test_zero_shot_on_an_index_answers_alike(index, colours):
    """The grounder of the same formula, on the index as a feature store."""
    queries = Queries(["q0", "q1"], ["a", "c"], np.array([40.0, 60.0]), ["red", "red"])
    sentences = EncodedSentences(colours.Colours())
    assert isinstance(sentences, SentenceStore)
    answers = ZeroShot(index, sentences, index.proposals).ground(queries, top=1)
    for q, name in enumerate(("a", "c")):
        found = search_index(index, RED, 1, videos=[name], half_s=0)[0][0]
        assert answers.score[q] == pytest.approx(found.score, abs=1e-5)


@pytest.mark.parametrize("half_s", [0.0, 0.5])
def test_the_grounder_answers_what_a_search_of_the_video_finds(index, colours, half_s):
    queries = Queries(["q0", "q1", "q2"], ["c", "a", "c"], np.full(3, np.nan), ["red", "red", "green"])
    method = IndexSearch(index, EncodedSentences(colours.Colours()), half_s=half_s)
    assert isinstance(method, Grounder)
    answers = method.fit(None).ground(queries, top=3)
    for q, (name, vector) in enumerate((("c", RED), ("a", RED), ("c", RED[:, [1, 0, 2]]))):
        k = slice(answers.offsets[q], answers.offsets[q + 1])
        found = list(zip(answers.start_s[k], answers.end_s[k], answers.score[k], strict=True))
        assert found == [of[1:4] for of in search_index(index, vector, 3, videos=[name], half_s=half_s)[0]]
    with pytest.raises(InputError, match="there are no features of video 'x'"):
        method.ground(Queries(["q"], ["x"], np.array([9.0]), ["red"]))


def test_sentences_are_encoded_once_each(colours):
    asked = []

    class Counted(colours.Colours):
        def sentences(self, texts):
            asked.extend(texts)
            return super().sentences(texts)

    queries = Queries(["1", "2", "3"], ["v"] * 3, np.full(3, 9.0), ["red", "blue", "red"])
    vectors = EncodedSentences(Counted()).vectors(queries)
    assert vectors.tolist() == [[1, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert sorted(asked) == ["blue", "red"]


def test_only_a_first_look_needs_faiss(index, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    assert search_index(index, RED, 1, candidates=3)
    with pytest.raises(MissingPackageError, match=r"needs the package faiss-cpu: pip install 'truemoment\[search\]'"):
        search_index(index, RED, 1, candidates=2)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_told(index, wrong):
    path = index.path / VIDEOS / folder_name("a") / ROWS
    rows = np.load(path)
    rows[5] = wrong
    np.save(path, rows)
    with pytest.raises(
        InputError, match=r"features\.npy: contains numbers that are not finite; delete its folder and ind"
    ):
        search_index(index, RED, 1)
    assert search_index(index, RED, 1, videos=["b", "c"])


@pytest.mark.parametrize(
    "damage",
    [
        np.zeros_like,
        lambda norms: 3 * norms,
        lambda norms: np.where(np.arange(len(norms)) == 1, np.inf, norms),  # not one that is held against its rows
        lambda norms: np.where(np.arange(len(norms)) == 1, -norms, norms),
    ],
)
def test_norms_of_other_rows_are_told(index, damage):
    path = index.path / VIDEOS / folder_name("a") / NORMS
    np.save(path, damage(np.load(path)))
    with pytest.raises(
        InputError, match=r"norms\.npy: contains other lengths than the moments of features\.npy have; delete"
    ):
        search_index(index, RED, 1)


def test_no_cosine_is_larger_than_1(index):
    """One norm that is not among those that are looked at."""
    path = index.path / VIDEOS / folder_name("a") / NORMS
    norms = np.load(path)
    norms[1] = 0.0
    np.save(path, norms)
    index.check("a")
    with pytest.raises(InputError, match="field a: gives scores beyond 1: its norms are damaged; delete its folder"):
        search_index(index, np.array([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]), 1)


def test_a_video_is_checked_once(index, monkeypatch):
    first = search_index(index, RED, 3)
    monkeypatch.setattr("truemoment.searching.index.all_finite", None)
    assert search_index(index, RED, 3) == first


def test_tables_of_another_kind_are_told(index):
    path = index.path / VIDEOS / folder_name("a") / NORMS
    np.save(path, np.load(path).astype(np.float64))
    with pytest.raises(InputError, match="contains float64"):
        search_index(index, RED, 1)


@pytest.mark.parametrize(
    ("vectors", "options", "told"),
    [
        (np.ones((1, 4)), {}, "got sentence vectors of 4 numbers, but index:index#"),
        (np.array([[1.0, np.nan, 0.0]]), {}, "got sentence vectors with numbers that are not finite"),
        (RED, {"top": 0}, "got top=0"),
        (RED, {"nms": 1.5}, r"nms=1\.5"),
        (RED, {"candidates": 0}, "0 candidates"),
        (RED, {"apart_s": -1.0}, "got moments -1 s apart"),
    ],
)
def test_impossible_searches_are_refused(index, vectors, options, told):
    with pytest.raises(UsageError, match=told):
        search_index(index, vectors, **options)


def test_found_is_a_plain_value():
    expected = {
        "video_id": "v",
        "start_s": 1.0,
        "end_s": 2.0,
        "score": 0.5,
        "match": 0.9,
        "parts": (),
        "copies": 0,
        "ranks": (),
    }
    expected |= {"why": "seen", "quote": None}
    assert FoundMoment("v", 1.0, 2.0, 0.5, 0.9)._asdict() == expected
