"""The short-video setting: every moment goes where it overlaps most, and no row is lost, doubled or moved."""

import math
from fractions import Fraction
from itertools import pairwise

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations
from truemoment.base.errors import InputError, UsageError
from truemoment.baselines import Oracle, PredictAll, RandomChance
from truemoment.baselines.proposals import WindowedGrid
from truemoment.evaluation.evaluate import evaluate
from truemoment.media.features import Features, FeatureStore, HDF5Store
from truemoment.media.features.base import edges_of
from truemoment.searching import ZeroShot
from truemoment.searching.chunks import (
    LENGTHS_S,
    PROTOCOL,
    chunk_annotations,
    cut_video,
    ground_chunks,
    length_sweep,
    most_overlapped,
)
from truemoment.worlds.films import FilmSettings, make_films

pytestmark = pytest.mark.slow

tenths = st.integers(0, 700)


def slowly(start, end, duration, length):
    """MAD, section 4.2, in fractions of tenths: the chunk of largest overlap, the first on a tie.

    A moment that overlaps none goes to the chunk in which it starts, or else the last.
    """
    n_chunks = max(math.ceil(Fraction(duration, length)), 1)
    overlaps = []
    for k in range(n_chunks):
        low, high = k * length, min((k + 1) * length, duration)
        overlaps.append(max(min(end, high) - max(start, low), 0))
    if max(overlaps) > 0:
        return overlaps.index(max(overlaps))
    return min(max(start, 0) // length, n_chunks - 1)


@given(tenths, tenths, st.integers(1, 600), st.integers(1, 200))
def test_the_chunk_of_largest_overlap(start, end, duration, length):
    found = most_overlapped(np.array([start / 10]), np.array([end / 10]), np.array([duration / 10]), length / 10)
    assert found.tolist() == [slowly(start, end, duration, length)]


@given(st.integers(1, 600), st.integers(1, 200))
def test_chunks_make_up_the_film(duration, length):
    chunks = cut_video("film", duration / 10, length / 10)
    assert (chunks[0].start_s, chunks[-1].end_s) == (0.0, duration / 10)
    assert len(chunks) == math.ceil(Fraction(duration, length))
    for chunk, behind in pairwise(chunks):
        assert chunk.end_s == behind.start_s
        assert chunk.end_s - chunk.start_s == pytest.approx(length / 10, abs=1e-9)
    assert 0 < chunks[-1].end_s - chunks[-1].start_s <= length / 10 + 1e-9
    assert len({chunk.video_id for chunk in chunks}) == len(chunks)


@given(st.lists(st.tuples(tenths, st.integers(1, 300)), min_size=1, max_size=8), st.integers(1, 200))
def test_moments_move_to_their_chunk_and_stay_whole(moments, length):
    duration = 500
    rows = [(str(k), "film", duration / 10, f"s{k}", s / 10, (s + n) / 10) for k, (s, n) in enumerate(moments)]
    films = Annotations.from_rows(rows, dataset="mad", split="test")
    chunks = chunk_annotations(films, length / 10)
    asked = chunks.annotations
    assert (asked.dataset, asked.split) == ("mad", "test")
    for name in ("query_id", "sentence", "annotator"):
        assert getattr(asked, name).tolist() == getattr(films, name).tolist()
    n_cut = 0
    for k, (start, n) in enumerate(moments):
        end = start + n
        number = slowly(start, end, duration, length)
        low, high = number * length, min((number + 1) * length, duration)
        n_cut += (start < low and number > 0) or (end > high and high < duration)  # out of the film is no cut
        assert asked.video_id[k] == f"film[{low / 10:g}-{high / 10:g}]"
        assert asked.duration_s[k] == pytest.approx((high - low) / 10, abs=1e-9)
        assert (asked.start_s[k], asked.end_s[k]) == pytest.approx(((start - low) / 10, (end - low) / 10), abs=1e-9)
    assert chunks.n_cut == n_cut


def test_by_hand():
    # Three minutes: a moment astride the cut at 180 s goes where more of it lies; on a tie, the first.
    rows = [
        ("0", "film", 400.0, "a", 177.0, 182.0),
        ("1", "film", 400.0, "b", 178.0, 183.0),
        ("2", "film", 400.0, "c", 178.0, 182.0),
        ("3", "film", 400.0, "d", 359.0, 403.0),
        ("4", "other", 90.0, "e", 10.0, 20.0),
    ]
    chunks = chunk_annotations(Annotations.from_rows(rows), 180.0)
    asked = chunks.annotations
    first, second, last, other = "film[0-180]", "film[180-360]", "film[360-400]", "other[0-90]"
    assert asked.video_id.tolist() == [first, second, first, last, other]
    assert asked.start_s.tolist() == [177.0, -2.0, 178.0, -1.0, 10.0]
    assert asked.end_s.tolist() == [182.0, 3.0, 182.0, 43.0, 20.0]
    assert asked.duration_s.tolist() == [180.0, 180.0, 180.0, 40.0, 90.0]
    assert (chunks.n_cut, list(chunks.by_video)) == (4, [first, second, last, other])


def test_several_references_and_none():
    nan = float("nan")
    rows = [
        ("0", "film", 40.0, "a", 12.0, 14.0, "ann"),
        ("0", "film", 40.0, "a", 22.0, 29.0, "bob"),
        ("1", "film", 40.0, "b", nan, nan, "ann"),
    ]
    asked = chunk_annotations(Annotations.from_rows(rows), 20.0).annotations
    assert asked.video_id.tolist() == ["film[0-20]"] * 3
    assert asked.start_s[:2].tolist() == [12.0, 22.0]  # the second row goes where the first one goes, and lies behind
    assert asked.end_s[:2].tolist() == [14.0, 29.0]
    assert asked.without_moment.tolist() == [False, True]


def test_whole_films_stay_as_they_are():
    rows = [("0", "film", 400.0, "a", -1.0, 182.0), ("1", "film", 400.0, "b", 390.0, 500.0)]
    films = Annotations.from_rows(rows)
    for length_s in (math.inf, 400.0, 1000.0):
        chunks = chunk_annotations(films, length_s)
        assert (chunks.n_cut, list(chunks.by_video)) == (0, ["film[0-400]"])
        assert chunks.annotations.start_s.tolist() == films.start_s.tolist()
        assert chunks.annotations.end_s.tolist() == films.end_s.tolist()


def test_lengths_and_durations_that_make_no_sense():
    films = Annotations.from_rows([("0", "film", 40.0, "a", 1.0, 2.0)])
    for length_s in (0.0, -1.0, math.nan):
        with pytest.raises(UsageError, match="expected a length above 0"):
            chunk_annotations(films, length_s)
    unknown = Annotations.from_rows([("0", "film", math.nan, "a", 1.0, 2.0)])
    with pytest.raises(InputError, match="the duration of 'film' is not known"):
        chunk_annotations(unknown, 180.0)


# ------------------------------------------------------------------------------------------- features


def store_of(n_rows, fps=5.0):
    return Features({"film": np.arange(n_rows, dtype=np.float32)[:, None]}, fps=fps)


def of_duration(duration_s, *films):
    return Annotations.from_rows([(film, film, duration_s, "a", 0.0, 1.0) for film in films or ("film",)])


@given(st.integers(1, 400), st.integers(1, 90), st.integers(-2, 2))
def test_rows_of_the_chunks_are_those_of_the_film(n_rows, length_rows, off):
    """Films end a few rows before or behind their duration; no row within is lost, doubled or at another time."""
    duration_s = max(n_rows + off, 1) / 5
    store, length_s = store_of(n_rows), length_rows / 5
    chunks = chunk_annotations(of_duration(duration_s), length_s)
    features = chunks.features(store)
    assert isinstance(features, FeatureStore)
    seen = []
    for video_id in features:
        chunk, rows = chunks.by_video[video_id], features[video_id]
        edges = features.edges_s(video_id, chunk.end_s - chunk.start_s)
        assert len(edges) == len(rows) + 1
        for row, (low, high) in zip(rows.ravel().tolist(), pairwise(edges), strict=True):
            assert (row / 5, (row + 1) / 5) == pytest.approx((chunk.start_s + low, chunk.start_s + high), abs=1e-9)
        seen.extend(rows.ravel())
    assert seen == list(range(min(n_rows, max(n_rows + off, 1))))
    assert len(features) == len(list(features))


def test_what_a_chunked_store_says_of_itself():
    features = chunk_annotations(of_duration(20.0), 8.0).features(store_of(100))
    assert (features.name, features.n_dimensions, features.fps) == ("memory (chunks of 8 s)", 1, 5.0)
    assert "film[0-8]" in features
    assert "film" not in features
    assert 3 not in features
    with pytest.raises(InputError, match=r"memory \(chunks of 8 s\): has no rows of 'film\[0-9\]'"):
        features["film[0-9]"]


def test_a_chunk_behind_the_last_row():
    features = chunk_annotations(of_duration(16.4), 8.0).features(store_of(80))
    assert list(features) == ["film[0-8]", "film[8-16]"]
    assert "film[16-16.4]" not in features
    for ask in (features.__getitem__, lambda name: features.edges_s(name, 0.4)):
        with pytest.raises(InputError, match=r"has no rows of 'film\[16-16.4\]'"):
            ask("film[16-16.4]")


def write_film(path):
    with h5py.File(path, "w") as file:
        file["film"] = np.ones((100, 2), dtype=np.float32)
    return path


def test_cuts_through_a_row_are_refused(tmp_path):
    chunks = chunk_annotations(of_duration(20.0), 8.1)
    with pytest.raises(UsageError, match=r"got chunks of 8.1 s at 5 rows a second, expected whole rows: 8 or 8.2 s"):
        chunks.features(store_of(100))
    with pytest.raises(UsageError, match=r"expected whole rows: 0.2 or 0.2 s"):
        chunk_annotations(of_duration(20.0), 0.05).features(store_of(100))

    even = HDF5Store(write_film(tmp_path / "f.h5"))
    with pytest.raises(InputError, match=r"f\.h5#.* states no rows a second"):
        chunks.features(even)


def test_a_film_is_read_once_whatever_the_order_of_its_queries():
    read = []

    class Counting(Features):
        def __getitem__(self, video_id):
            read.append(video_id)
            return super().__getitem__(video_id)

        def edges_s(self, video_id, duration_s):
            return edges_of(len(self.by_video[video_id]), self.fps, duration_s)

    rows = {name: np.ones((3000, 2), dtype=np.float32) for name in "ab"}
    queries = [(f"{n}", "ab"[n % 2], 600.0, "s", 40.0 * n, 40.0 * n + 4) for n in range(10)]
    sentences = make_films(
        {"test": 1}, FilmSettings(minutes=1, n_sentences=30, n_dimensions=2), np.random.default_rng(0)
    )
    found = ground_chunks(
        Annotations.from_rows(queries), Counting(rows, fps=5.0), 60.0, lambda features: ZeroShot(features, sentences)
    )
    assert read == ["a", "b"]
    assert found.scores.query_id.tolist() == [query[0] for query in queries]


# ------------------------------------------------------------------------------------------- methods


@pytest.fixture(scope="module")
def films():
    settings = FilmSettings(minutes=8, n_sentences=50, n_dimensions=32, nearness=0.3)
    return make_films({"test": 2}, settings, np.random.default_rng(0))


def test_the_whole_film_is_the_film(films):
    test = films.annotations("test")
    at = ground_chunks(test, films, math.inf, lambda features: ZeroShot(features, films))
    plain = evaluate(test, ZeroShot(films, films).ground(test.queries, 100), protocol=PROTOCOL)
    assert np.array_equal(at.scores.numerator, plain.numerator)
    assert (at.n_without_rows, at.chunks.n_cut) == (0, 0)


def test_short_videos_are_easier(films):
    # MAD, section 4.2: "performance steadily drops as the window length increases".
    test = films.annotations("test")
    told = []
    found = length_sweep(
        test,
        films,
        lambda features: ZeroShot(features, films, WindowedGrid(tail="covered")),
        lengths_s=(30.0, 60.0, 120.0, math.inf),
        measures="R@1,IoU=0.1; R@5,IoU=0.1",
        on_status=told.append,
    )
    assert told == ["chunks of 30 s", "chunks of 60 s", "chunks of 120 s", "whole videos"]
    assert [at.chunks.length_s for at in found] == [30.0, 60.0, 120.0, math.inf]
    assert all(len(at.scores.query_id) == test.n_queries for at in found)
    for measure in ("R@1,IoU=0.1", "R@5,IoU=0.1"):
        values = [at.scores.value(measure) for at in found]
        assert sorted(values, reverse=True) == values
        assert len(set(values)) == len(values)


@pytest.mark.thorough
def test_the_ceiling_falls_as_far_as_published():
    """MAD, Tables 2 and 3: from whole films to chunks of three minutes the Oracle loses 0.00, 0.12 and 0.57 points.

    It would lose 0.03, 0.07 and 0.22 if moments were cut to their chunk.
    """
    films = make_films({"test": 16}, FilmSettings(n_dimensions=2), np.random.default_rng(0)).annotations("test")
    assert films.n_queries > 10_000
    lost = []
    for iou in (0.1, 0.3, 0.5):
        whole, chunks = (
            evaluate(asked, Oracle(asked, WindowedGrid()).ground(asked.queries), f"R@1,IoU={iou}", "mad-clip")
            for asked in (films, chunk_annotations(films, 180.0).annotations)
        )
        lost.append(100 * (whole.value(f"R@1,IoU={iou}") - chunks.value(f"R@1,IoU={iou}")))
    assert lost == pytest.approx([0.00, 0.12, 0.57], abs=0.2)


def test_what_no_window_covers_is_lost_to_short_chunks(films):
    """Of 150 rows a window of 128 and a stride of 64 leave 22, of 900 rows 4; covered, none."""
    chunks = chunk_annotations(films.annotations("test"), 30.0).annotations
    found = {}
    for tail in ("dropped", "covered"):
        grid = WindowedGrid(tail=tail)
        assert (150 - grid.spans(150)[1].max(), 900 - grid.spans(900)[1].max()) == ((22, 4), (0, 0))[tail == "covered"]
        answers = Oracle(chunks, grid).ground(chunks.queries)
        found[tail] = evaluate(chunks, answers, "R@1,IoU=0.5", "mad-clip").value("R@1,IoU=0.5")
    assert found["dropped"] < 0.9 < found["covered"]


def test_the_sweep_goes_from_half_a_minute_to_the_whole_film():
    assert (LENGTHS_S[0], LENGTHS_S[-1]) == (30.0, math.inf)
    assert list(LENGTHS_S) == sorted(LENGTHS_S)
    assert 180.0 in LENGTHS_S


def test_lists_shorter_than_100_are_scored_as_they_are(films):
    """A chunk of 30 s has few proposals that overlap little; what is not there is missed (spec, section 8.5)."""
    chunks = chunk_annotations(films.annotations("test"), 30.0)
    features = chunks.features(films)
    answers = ZeroShot(features, films).ground(chunks.annotations.queries, 100)
    assert answers.lengths.max() < 100
    scores = evaluate(chunks.annotations, answers, "R@100,IoU=0.5; R@50,IoU=0.5", PROTOCOL)
    slow = []
    for q, query_id in enumerate(chunks.annotations.query_id):
        row = answers.rows_of([query_id])[0]
        span = slice(answers.offsets[row], answers.offsets[row + 1])
        a, b = np.float32(chunks.annotations.start_s[q]), np.float32(chunks.annotations.end_s[q])
        slow.append(
            any(
                (min(e, b) - max(s, a)) / (max(e, b) - min(s, a)) > np.float32(0.5)
                for s, e in zip(np.float32(answers.start_s[span]), np.float32(answers.end_s[span]), strict=True)
            )
        )
    assert scores.value("R@100,IoU=0.5") == pytest.approx(np.mean(slow), abs=1e-12)
    assert 0 < np.mean(slow) < 1


def test_queries_behind_the_last_row_count_as_missed():
    # PredictAll would hit both moments, each of which is its whole chunk, but one chunk has no row.
    rows = [("0", "film", 181.0, "a", 0.0, 180.0), ("1", "film", 181.0, "b", 180.0, 181.0)]
    store = store_of(900)  # 180 s
    at = ground_chunks(Annotations.from_rows(rows), store, 180.0, lambda _: PredictAll(), measures="R@1,IoU=0.5")
    assert at.n_without_rows == 1
    assert at.scores.value("R@1,IoU=0.5") == 0.5


def test_a_film_without_features_is_told():
    with pytest.raises(InputError, match="no features of video 'other'"):
        ground_chunks(of_duration(20.0, "film", "other"), store_of(100), 8.0, lambda _: RandomChance())


def test_chance_rises_as_chunks_get_shorter_and_the_ceiling_stays(films):
    chunks = chunk_annotations(films.annotations("test"), 180.0).annotations
    grid = WindowedGrid()
    of_chunks = RandomChance(grid, np.random.default_rng(0)).ground(chunks.queries, 100)
    of_films = RandomChance(grid, np.random.default_rng(0)).ground(films.annotations("test").queries, 100)
    values = [
        evaluate(asked, answers, "R@100,IoU=0.3", "mad-clip").value("R@100,IoU=0.3")
        for asked, answers in ((chunks, of_chunks), (films.annotations("test"), of_films))
    ]
    assert values[0] > values[1] + 0.1
    ceiling = evaluate(chunks, Oracle(chunks, grid).ground(chunks.queries), "R@1,IoU=0.5", "mad-clip")
    assert ceiling.value("R@1,IoU=0.5") > 0.9
