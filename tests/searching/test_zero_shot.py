"""ZeroShot: MAD's CLIP baseline, against the published steps one by one (specs/clip_zero_shot.md)."""

from __future__ import annotations

import math
import pickle
import sys

import numpy as np
import pytest

from truemoment import Annotations, Grounder, Predictions, Queries
from truemoment.base.errors import InputError, MissingPackageError, UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.baselines.proposals import MultiScale, SlidingWindows, SparseMap, WindowedGrid
from truemoment.evaluation.evaluate import evaluate
from truemoment.media.features import Features
from truemoment.media.features.sentences import SentenceVectors
from truemoment.searching import ZeroShot

pytestmark = pytest.mark.slow


SMALL = WindowedGrid(window_frames=16, stride_frames=8, fps=5.0, n_clips=8, diagonals=(2, 2))


def published(frames, sentence, grid, duration_s, top):
    """Soldelli/MAD's steps as the page states them: every proposal pooled, copies too, and every pair in a loop."""
    answers, sentence = [], sentence.astype(np.float64)
    for start_s, end_s in zip(*grid.moments(duration_s), strict=True):
        first, end = (min(round(grid.fps * t), len(frames)) for t in (start_s, end_s))
        if end > first:
            mean = frames[first:end].astype(np.float64).mean(axis=0)
            cosine = mean @ sentence / max(np.linalg.norm(mean) * np.linalg.norm(sentence), 1e-6)
            answers.append((float(cosine), first, end))
    answers.sort(key=lambda answer: -answer[0])
    kept: list[tuple[float, int, int]] = []
    for score, first, end in answers:
        if len(kept) == top:
            break
        hull = [(max(0, min(end, e) - max(first, s)), max(end, e) - min(first, s)) for _, s, e in kept]
        if all(overlap / length <= 0.3 for overlap, length in hull):
            kept.append((score, first, end))
    return kept


def films(rng, lengths, width=12):
    """Frames in shots of about 3 s, so that proposals differ and neighbours are alike."""
    made = {}
    for number, n_frames in enumerate(lengths):
        shots = rng.normal(size=(n_frames // 15 + 1, width)).repeat(15, axis=0)[:n_frames]
        made[f"film {number}"] = (shots + 0.3 * rng.normal(size=(n_frames, width))).astype(np.float32)
    return made


@pytest.fixture
def asked():
    """Three films at 5 frames a second, twelve sentences of which the films take turns, and their vectors."""
    rng = np.random.default_rng(7)
    frames = films(rng, (300, 17, 123))
    names = [f"film {number % 3}" for number in range(12)]
    duration_s = np.array([len(frames[name]) / 5 for name in names])
    queries = Queries([f"q{n}" for n in range(12)], names, duration_s, [f"sentence {n}" for n in range(12)])
    vectors = SentenceVectors({f"q{n}": rng.normal(size=12).astype(np.float32) for n in range(12)})
    return Features(frames, fps=5.0), vectors, queries


def lists(predictions):
    """(start, end, score) of each query's answers."""
    columns = (predictions.start_s, predictions.end_s, predictions.score)
    parts = [np.split(column, predictions.offsets[1:-1]) for column in columns]
    return {
        query_id: list(zip(*(part[q].tolist() for part in parts), strict=True))
        for q, query_id in enumerate(predictions.query_id)
    }


# ---- The published steps


@pytest.mark.parametrize(
    ("grid", "top"),
    [
        (SMALL, 10),
        (WindowedGrid(32, 12, 5.0, 16, (3, 2)), 100),
        *(pytest.param(*of, marks=pytest.mark.thorough) for of in ((SMALL, 1), (SMALL, 1000), (WindowedGrid(), 10))),
    ],
    ids=str,
)
def test_against_the_published_steps(asked, grid, top):
    frames, sentences, queries = asked
    found = lists(ZeroShot(frames, sentences, grid).ground(queries, top))
    for query_id, video_id, duration_s in zip(queries.query_id, queries.video_id, queries.duration_s, strict=True):
        slow = published(frames[video_id], sentences.by_query[query_id], grid, duration_s, top)
        assert [(s, e) for s, e, _ in found[query_id]] == [(first / 5, end / 5) for _, first, end in slow]
        assert [score for *_, score in found[query_id]] == pytest.approx([score for score, *_ in slow], abs=1e-9)
    assert sum(map(len, found.values())) > 0


def test_the_planted_moment_comes_first():
    # specs/clip_zero_shot.md, 9: frames of one proposal as the sentence, increasing towards the centre; others
    # orthogonal to it. Of a proposal's own frames every part has a cosine of 1: one of these must come first.
    frames = np.zeros((600, 4), dtype=np.float32)
    frames[:, 1:] = np.random.default_rng(0).normal(size=(600, 3))
    frames[200:220] = np.array([1.0, 0, 0, 0]) * (1 + np.minimum(np.arange(20), np.arange(20)[::-1]))[:, None]
    sentences = SentenceVectors({"q": np.array([2.0, 0, 0, 0], dtype=np.float32)})
    queries = Queries(["q"], ["v"], [120.0], ["s"])
    found = ZeroShot(Features({"v": frames}, fps=5.0), sentences).ground(queries, 5)
    assert found.score[0] == pytest.approx(1.0, abs=1e-12)
    assert 40.0 <= found.start_s[0] < found.end_s[0] <= 44.0


def test_frames_in_front_shift_every_answer(asked):
    # specs/clip_zero_shot.md, 9: 64 frames of noise shift proposals by 12.8 s, scores unchanged.
    frames, sentences, queries = asked
    noise = np.random.default_rng(9).normal(size=(64, 12)).astype(np.float32)
    later = Features({name: np.concatenate([noise, frames[name]]) for name in frames}, fps=5.0)
    shifted = Queries(queries.query_id, queries.video_id, queries.duration_s + 12.8, queries.sentence)
    scheme = WindowedGrid()
    plain = ZeroShot(frames, sentences, scheme, nms=1.0).ground(queries, 10**6)
    moved = ZeroShot(later, sentences, scheme, nms=1.0).ground(shifted, 10**6)
    for query_id, before in lists(plain).items():
        after = {(round(s * 5) - 64, round(e * 5) - 64): score for s, e, score in lists(moved)[query_id]}
        for s, e, score in before:
            assert after[round(s * 5), round(e * 5)] == pytest.approx(score, abs=1e-12)


def test_what_lists_keep_to(asked):
    frames, sentences, queries = asked
    for answers in lists(ZeroShot(frames, sentences, SMALL).ground(queries, 100)).values():
        start, end, score = np.array(answers).reshape(-1, 3).T
        iou = temporal_iou(start[:, None], end[:, None], start, end)
        assert np.all((iou <= 0.3 + 1e-12) | np.eye(len(start), dtype=bool))  # specs/clip_zero_shot.md, 9
        assert np.all(np.diff(score) <= 0)
        assert np.all(np.abs(score) <= 1 + 1e-12)


def test_recall_grows_with_k_and_falls_with_theta(asked):
    # specs/clip_zero_shot.md, 9.
    frames, sentences, queries = asked
    rng = np.random.default_rng(11)
    start = rng.random(12) * 0.7 * queries.duration_s
    rows = zip(queries.query_id, queries.video_id, queries.duration_s, queries.sentence, start, start + 4, strict=True)
    annotations = Annotations.from_rows(list(rows))
    measures = [[f"R@{k},IoU={theta}" for theta in (0.1, 0.3, 0.5)] for k in (1, 5, 10, 50, 100)]
    predictions = ZeroShot(frames, sentences, SMALL).ground(queries, 100)
    scores = evaluate(annotations, predictions, "; ".join(measure for row in measures for measure in row), "mad-clip")
    table = np.array([[scores.value(measure) for measure in row] for row in measures])
    assert np.all(np.diff(table, axis=0) >= 0)
    assert np.all(np.diff(table, axis=1) <= 0)
    assert table.max() > table.min()


# ---- Any proposals, any video


@pytest.mark.parametrize("scheme", [SparseMap(16), SlidingWindows()], ids=str)
@pytest.mark.parametrize("fps", [5.0, None])
def test_proposals_that_are_shares_of_the_video(asked, scheme, fps):
    frames, sentences, queries = asked

    class Even(Features):
        """Rows that cover the video evenly."""

    store = Even(dict(frames.by_video), fps=5.0)
    object.__setattr__(store, "fps", fps)
    found = lists(ZeroShot(store, sentences, scheme, nms=1.0).ground(queries, 10**6))
    for query_id, video_id, duration_s in zip(queries.query_id, queries.video_id, queries.duration_s, strict=True):
        sentence = sentences.by_query[query_id].astype(float)
        slow = {}
        for start_s, end_s in zip(*scheme.moments(duration_s), strict=True):
            first = round(start_s * 5)
            mean = frames[video_id][first : max(round(end_s * 5), first + 1)].astype(float).mean(axis=0)
            slow[start_s, end_s] = mean @ sentence / np.linalg.norm(mean) / np.linalg.norm(sentence)
        assert {(s, e): score for s, e, score in found[query_id]} == pytest.approx(slow, abs=1e-9)


def test_a_video_shorter_than_a_window(asked):
    # Abstained from with the tail dropped; with the tail covered the whole video is searched.
    frames, sentences, _ = asked
    queries = Queries(["q0"], ["film 1"], [3.4], ["s"])
    assert ZeroShot(frames, sentences).ground(queries).lengths.tolist() == [0]
    found = ZeroShot(frames, sentences, WindowedGrid(tail="covered"), nms=1.0).ground(queries, 10**6)
    assert (found.start_s.min(), found.end_s.max()) == (0.0, 3.4)


def test_several_scales(asked):
    frames, sentences, queries = asked
    grids = (SMALL, WindowedGrid(64, 32, 5.0, 16, (4, 2), tail="covered"))
    whole = lists(ZeroShot(frames, sentences, MultiScale(grids), nms=1.0).ground(queries, 10**6))
    parts = [lists(ZeroShot(frames, sentences, grid, nms=1.0).ground(queries, 10**6)) for grid in grids]
    for query_id, answers in whole.items():
        found = {(s, e): score for s, e, score in answers}
        assert len(found) == len(answers)  # what two scales propose is answered once
        expected = {(s, e): score for part in parts for s, e, score in part[query_id]}
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("missing", [1, 3, 40])
def test_features_that_end_before_the_video(asked, missing):
    # specs/clip_zero_shot.md, 8.3: a proposal past the last row would be the mean of nothing, and rank first.
    frames, sentences, queries = asked
    shorter = Features({"film 0": frames["film 0"][:-missing]}, fps=5.0)
    queries = Queries(["q0"], ["film 0"], [60.0], ["s"])
    for scheme in (SMALL, SparseMap(16)):
        found = ZeroShot(shorter, sentences, scheme, nms=1.0).ground(queries, 10**6)
        assert len(found.score) > 0
        assert np.all(np.isfinite(found.score))
    assert ZeroShot(shorter, sentences, SMALL).ground(queries, 10**6).end_s.max() <= 60 - missing / 5


def test_a_duration_that_is_not_known(asked):
    frames, sentences, _ = asked
    known, unknown = (Queries(["q0"], ["film 0"], [d], ["s"]) for d in (60.0, math.nan))
    assert lists(ZeroShot(frames, sentences, SMALL).ground(unknown)) == lists(
        ZeroShot(frames, sentences, SMALL).ground(known)
    )
    with pytest.raises(InputError, match=r"^memory: video 'film 0': the duration is not known, and is needed"):
        ZeroShot(frames, sentences, SparseMap(16)).ground(unknown)


def test_zero_frames_score_zero_and_nothing_but_them_is_refused():
    rows, asked = np.zeros((200, 4), dtype=np.float32), Queries(["q"], ["v"], [40.0], ["s"])
    sentences = SentenceVectors({"q": np.ones(4, dtype=np.float32)})
    with pytest.raises(InputError, match=r"memory: video 'v': all 200 rows are 0, so that no moment is nearer than"):
        ZeroShot(Features({"v": rows}, fps=5.0), sentences).ground(asked)
    rows[100:110] = 1.0
    found = ZeroShot(Features({"v": rows}, fps=5.0), sentences).ground(asked)
    assert {score > 0.9 for score, start_s in zip(found.score, found.start_s, strict=True) if start_s == 20} == {True}
    assert set(found.score[(found.end_s <= 20) | (found.start_s >= 22)]) == {0.0}


def test_a_sentence_vector_of_zeros_is_refused(asked):
    frames, _, queries = asked
    vectors = {query_id: np.full(12, float(n != 1), dtype=np.float32) for n, query_id in enumerate(queries.query_id)}
    told = rf"memory: 1 of {len(queries)} sentence vectors are 0, that of query '{queries.query_id[1]}' first"
    with pytest.raises(InputError, match=told):
        ZeroShot(frames, SentenceVectors(vectors), SMALL).ground(queries)


# ---- As a grounder


def test_it_is_a_grounder(asked):
    frames, sentences, queries = asked
    method = ZeroShot(frames, sentences, SMALL)
    assert isinstance(method, Grounder)
    assert method.fit(Annotations.from_rows([])) is method
    predictions = method.ground(queries, 3)
    assert isinstance(predictions, Predictions)
    assert (predictions.name, predictions.query_id.tolist()) == ("CLIP", queries.query_id.tolist())
    assert ZeroShot(frames, sentences, SMALL, name="SigLIP").ground(queries, 1).name == "SigLIP"


def test_one_query_at_a_time_is_all_at_once(asked):
    frames, sentences, queries = asked
    method = ZeroShot(frames, sentences, SMALL)
    whole = lists(method.ground(queries, 7))
    for q in range(len(queries)):
        columns = (queries.query_id, queries.video_id, queries.duration_s, queries.sentence)
        alone = lists(method.ground(Queries(*(column[q : q + 1] for column in columns)), 7))
        assert alone[f"q{q}"] == [pytest.approx(answer, abs=1e-12) for answer in whole[f"q{q}"]]


def test_a_film_is_read_once_whatever_the_order(asked):
    frames, sentences, queries = asked
    read = []

    class Counting(Features):
        def __getitem__(self, video_id):
            read.append(video_id)
            return super().__getitem__(video_id)

    shown = []
    store = Counting(dict(frames.by_video), fps=5.0)
    method = ZeroShot(store, sentences, SMALL, track=lambda videos: (shown.append(video) or video for video in videos))
    read.clear()
    method.ground(queries)
    assert read == ["film 0", "film 1", "film 2"]
    assert shown == [("film 0", 60.0), ("film 1", 3.4), ("film 2", 24.6)]


def test_other_features(asked):
    frames, sentences, queries = asked
    backwards = Features({name: frames[name][::-1] for name in frames}, fps=5.0)
    method = ZeroShot(frames, sentences, SMALL, nms=0.5, name="x")
    again = method.with_features(backwards)
    assert (again.nms, again.name, again.proposals, again.sentences) == (0.5, "x", SMALL, sentences)
    assert lists(again.ground(queries)) == lists(ZeroShot(backwards, sentences, SMALL, nms=0.5).ground(queries))
    assert lists(again.ground(queries)) != lists(method.ground(queries))


def test_it_goes_to_other_processes():
    scheme = MultiScale((SMALL, WindowedGrid(tail="covered")))
    method = ZeroShot(Features({}, fps=5.0), SentenceVectors({}), scheme)
    assert pickle.loads(pickle.dumps(scheme)) == scheme  # noqa: S301 - our own
    assert pickle.loads(pickle.dumps(method.track))([("v", 1.0)]) == [("v", 1.0)]  # noqa: S301 - our own


def test_no_query(asked):
    frames, sentences, _ = asked
    assert len(ZeroShot(frames, sentences).ground(Queries([], [], [], []))) == 0


def test_on_a_device(asked):
    pytest.importorskip("torch")
    frames, sentences, queries = asked
    plain, placed = (ZeroShot(frames, sentences, SMALL, device=device).ground(queries, 20) for device in (None, "cpu"))
    assert np.array_equal(placed.start_s, plain.start_s)
    assert placed.score == pytest.approx(plain.score, abs=1e-12)
    backwards = {name: frames[name][::-1] for name in frames}  # neither in order nor writeable, as memory maps may be
    for array in backwards.values():
        array.flags.writeable = False
    scheme = WindowedGrid(16, 8, 5.0, 16, (2, 2), tail="covered")
    plain, placed = (
        ZeroShot(Features(backwards, fps=5.0), sentences, scheme, device=device).ground(queries, 20)
        for device in (None, "cpu")
    )
    assert np.array_equal(placed.start_s, plain.start_s)


# ---- What cannot be


def message(function, error=InputError):
    with pytest.raises(error) as caught:
        function()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_other_frames_a_second(asked):
    frames, sentences, _ = asked
    assert message(lambda: ZeroShot(frames, sentences, WindowedGrid(fps=2.0)), UsageError) == (
        "memory: got 5 rows a second and proposals at 2 frames a second, expected the same; "
        "windowed-grid:fps=5 would fit"
    )


def test_rows_that_state_no_rate_and_do_not_fit(asked):
    frames, sentences, _ = asked
    object.__setattr__(frames, "fps", None)
    queries = Queries(["q0"], ["film 0"], [150.0], ["s"])
    assert message(lambda: ZeroShot(frames, sentences).ground(queries)) == (
        "memory: video 'film 0': got 300 rows for 150 s, expected about 750: the proposals are at 5 frames a second"
    )
    fitting = Queries(["q0"], ["film 0"], [59.0], ["s"])
    assert ZeroShot(frames, sentences).ground(fitting, 5).lengths.tolist() == [5]


def test_videos_without_frames(asked):
    frames, sentences, queries = asked
    few = Features({"film 1": frames["film 1"]}, fps=5.0)
    assert message(lambda: ZeroShot(few, sentences).ground(queries)) == (
        "memory: 2 of 3 videos have no frame vectors: 'film 0', 'film 2'"
    )


def test_queries_without_a_vector(asked):
    frames, _, queries = asked
    sentences = SentenceVectors({"q3": np.ones(12, dtype=np.float32)})
    assert "'q0'" in message(lambda: ZeroShot(frames, sentences).ground(queries))


def test_other_dimensions(asked):
    frames, _, queries = asked
    sentences = SentenceVectors({f"q{n}": np.ones(7, dtype=np.float32) for n in range(12)})
    assert message(lambda: ZeroShot(frames, sentences).ground(queries)) == (
        "memory: got sentence vectors of 7 numbers and frame vectors of 12 (memory), expected both of one encoder"
    )


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_frames_that_are_not_finite(asked, wrong):
    frames, sentences, queries = asked
    frames["film 2"][3, 5] = wrong
    assert message(lambda: ZeroShot(frames, sentences).ground(queries)) == (
        "memory: video 'film 2': 1 of 123 rows have numbers that are not finite"
    )


def test_a_video_without_a_duration_that_has_no_rows_a_second(asked):
    frames, sentences, _ = asked
    object.__setattr__(frames, "fps", None)
    queries = Queries(["q0"], ["film 0"], [math.nan], ["s"])
    assert "the duration is not known" in message(lambda: ZeroShot(frames, sentences).ground(queries))


@pytest.mark.parametrize("nms", [-0.1, 1.1, math.nan])
def test_impossible_suppression(asked, nms):
    frames, sentences, _ = asked
    assert "expected 0 to 1" in message(lambda: ZeroShot(frames, sentences, nms=nms), UsageError)


def test_no_answer_asked_for(asked):
    frames, sentences, queries = asked
    assert (
        message(lambda: ZeroShot(frames, sentences).ground(queries, 0), UsageError) == "got top=0, expected 1 or more"
    )


@pytest.mark.parametrize("device", ["cuda:99", "nonsense"])
def test_a_device_that_is_not_there(asked, device):
    pytest.importorskip("torch")
    frames, sentences, queries = asked
    said = message(lambda: ZeroShot(frames, sentences, SMALL, device=device).ground(queries), UsageError)
    assert said.startswith(f"device {device!r} cannot be used (")


def test_a_device_without_pytorch(asked, monkeypatch):
    frames, sentences, queries = asked
    monkeypatch.setitem(sys.modules, "torch", None)
    said = message(lambda: ZeroShot(frames, sentences, SMALL, device="cpu").ground(queries), MissingPackageError)
    assert said == "scoring on a device needs the package torch: pip install 'truemoment[search]'"
