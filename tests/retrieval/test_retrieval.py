"""RightPlaces clips by text and texts by clip: places, measures, chance, ties, clips and their vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations
from truemoment.base.errors import InputError, MeasureError
from truemoment.base.records import Queries, as_strings
from truemoment.media.features.base import Features
from truemoment.searching.clips import ranking
from truemoment.searching.clips.blind import by_lengths
from truemoment.searching.clips.chance import chance
from truemoment.searching.clips.clip_frames import pooled_clips, thin_rows
from truemoment.searching.clips.clips import clips_of
from truemoment.searching.clips.measures import parse_retrieval_measures, ranks, recall_of_each
from truemoment.searching.clips.ranking import RightPlaces, Similarities, places_both_ways
from truemoment.searching.clips.results import evaluate_retrieval
from truemoment.searching.clips.similarity_file import read_similarities, write_similarities
from truemoment.searching.unit_vectors import unit
from truemoment.worlds import FilmSettings, make_films

MEASURES = parse_retrieval_measures("t2c:R@1; t2c:R@3; t2c:MdR; t2c:MnR; t2c:MRR; c2t:R@1; c2t:R@3; c2t:MdR; c2t:MnR")


@st.composite
def rankings(draw):
    """Similarities of few values, so that ties are common, and the clip of each text; every clip has a text."""
    n_clips = draw(st.integers(1, 5))
    n_more = draw(st.integers(0, 4))
    clip_of = np.array([*range(n_clips), *(draw(st.integers(0, n_clips - 1)) for _ in range(n_more))])
    values = st.lists(st.integers(0, 3), min_size=n_clips, max_size=n_clips)
    rows = [draw(values) for _ in clip_of]
    return np.array(rows, dtype=np.float32) / 4, clip_of


@given(rankings())
def test_places_against_a_slow_loop(case):
    matrix, clip_of = case
    to_clip, to_text = places_both_ways(Similarities.of_matrix(matrix), clip_of)
    for text, clip in enumerate(clip_of):
        others = np.delete(matrix[text], clip)
        assert to_clip.greater[text] == (others > matrix[text, clip]).sum()
        assert to_clip.equal[text] == (others == matrix[text, clip]).sum()
    for clip in range(matrix.shape[1]):
        own, others = matrix[clip_of == clip, clip], matrix[clip_of != clip, clip]
        assert to_text.greater[clip] == (others > own.max()).sum()
        assert to_text.equal[clip] == (others == own.max()).sum()


@given(rankings(), st.integers(1, 4))
def test_blocks_change_nothing(case, width):
    matrix, clip_of = case
    whole = places_both_ways(Similarities.of_matrix(matrix), clip_of)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "BLOCK", width)
        parts = places_both_ways(Similarities.of_matrix(matrix), clip_of)
    for one, other in zip(whole, parts, strict=True):
        assert (one.greater.tolist(), one.equal.tolist()) == (other.greater.tolist(), other.equal.tolist())


@given(rankings(), st.randoms(use_true_random=False))
def test_the_order_of_clips_does_not_matter(case, random):
    matrix, clip_of = case
    order = list(range(matrix.shape[1]))
    random.shuffle(order)
    new_row = np.argsort(order)
    one = places_both_ways(Similarities.of_matrix(matrix), clip_of)[0]
    other = places_both_ways(Similarities.of_matrix(matrix[:, order]), new_row[clip_of])[0]
    assert (one.greater.tolist(), one.equal.tolist()) == (other.greater.tolist(), other.equal.tolist())


@given(st.integers(0, 5), st.integers(0, 5), st.integers(1, 8))
def test_ties_by_lot_are_the_mean_over_all_orders(greater, equal, k):
    # The right item is equally likely in each of the e + 1 places.
    places = RightPlaces(np.array([greater]), np.array([equal]), 20)
    orders = [greater + place < k for place in range(equal + 1)]
    assert recall_of_each(places, k)[0] == pytest.approx(np.mean(orders))
    assert recall_of_each(places, k, "best")[0] == orders[0]
    assert recall_of_each(places, k, "worst")[0] == orders[-1]
    assert ranks(places)[0] == pytest.approx(np.mean([1 + greater + place for place in range(equal + 1)]))


def test_a_matrix_by_hand():
    # Text 0: its clip is first. Text 1: ties with one other. Text 2: two clips above, so rank 3.
    matrix = np.array([[0.9, 0.1, 0.2], [0.5, 0.5, 0.1], [0.7, 0.6, 0.3]], dtype=np.float32)
    videos = as_strings(["a", "b", "c"], "video_id")
    found = evaluate_retrieval(Similarities.of_matrix(matrix), np.arange(3), videos, MEASURES)
    values = {str(of.measure): (of.value, of.best, of.worst, of.clip4clip) for of in found.figures}
    assert values["t2c:R@1"] == pytest.approx((1.5 / 3, 2 / 3, 1 / 3, 2 / 4))  # clip4clip: 4 entries, ranks 1, 1, 2, 3
    assert values["t2c:R@3"] == pytest.approx((1, 1, 1, 1))
    assert values["t2c:MdR"] == pytest.approx((1.5, 1, 2, 1.5))  # ranks 1, 1.5, 3
    assert values["t2c:MnR"] == pytest.approx((5.5 / 3, 5 / 3, 6 / 3, 7 / 4))
    assert values["c2t:R@1"] == pytest.approx((2 / 3, 2 / 3, 2 / 3, 2 / 3))  # text 2 is above for clip 1
    assert found.n_added == (1, 0)


def test_the_evaluator_in_circulation_on_rounded_similarities():
    # Specification, section 2: on 1,000 texts with ties of about 10, it counts ten times as many "queries".
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(1000, 1000)) * 0.2
    matrix[np.arange(1000), np.arange(1000)] += 0.5
    rounded = np.round(matrix, 1).astype(np.float32)
    found = evaluate_retrieval(
        Similarities.of_matrix(rounded),
        np.arange(1000),
        as_strings(map(str, range(1000)), "video_id"),
        parse_retrieval_measures("t2c:R@1"),
        resamples=10,
    )
    (figure,) = found.figures
    assert figure.worst < figure.value < figure.best
    assert figure.clip4clip < figure.worst / 2
    assert found.n_added[0] > 5000


@pytest.mark.parametrize(
    ("measure", "expected"), [("t2c:R@1", 0.001), ("t2c:R@10", 0.01), ("t2c:MdR", 500.5), ("t2c:MnR", 500.5)]
)
def test_chance_of_a_thousand(measure, expected):
    # Specification, section 2: 0.1, 1.0 %, MdR 500.5.
    assert chance(*parse_retrieval_measures(measure), 1000, np.ones(1000, dtype=int)) == pytest.approx(expected)


def test_chance_with_several_texts_against_draws():
    rng = np.random.default_rng(0)
    n_right = np.array([1, 1, 2, 4])
    first = np.array([[rng.permutation(30)[:m].min() for m in n_right] for _ in range(4000)])
    assert chance(*parse_retrieval_measures("c2t:R@5"), 30, n_right) == pytest.approx((first < 5).mean(), abs=0.02)
    assert chance(*parse_retrieval_measures("c2t:MnR"), 30, n_right) == pytest.approx((first + 1).mean(), abs=0.3)


def test_intervals_resample_videos():
    # One video has all hits, the other none: intervals of queries would be narrow, those of videos span everything.
    matrix = np.eye(40, dtype=np.float32)
    matrix[20:] = np.roll(np.eye(40, dtype=np.float32), 1, axis=1)[20:]
    videos = as_strings(["right"] * 20 + ["wrong"] * 20, "video_id")
    found = evaluate_retrieval(
        Similarities.of_matrix(matrix), np.arange(40), videos, parse_retrieval_measures("t2c:R@1")
    )
    assert found.figures[0].value == 0.5
    assert found.figures[0].ci95.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("text", ["R@1", "t2c:R@0", "t2v:R@1", "t2c:R@1,IoU=0.5", ""])
def test_a_measure_that_does_not_exist(text):
    with pytest.raises(MeasureError, match=r"expected t2c: or c2t: with R@K"):
        parse_retrieval_measures(text)


def test_a_similarity_that_is_no_number():
    matrix = np.eye(3, dtype=np.float32)
    matrix[1, 2] = np.nan
    with pytest.raises(InputError, match=r"similarity of text 1 and clip 2: got nan, expected a number"):
        places_both_ways(Similarities.of_matrix(matrix), np.arange(3))


@pytest.fixture
def annotations():
    """Three moments of two videos, a verbatim sentence, and two clips that overlap by 90 %."""
    return Annotations.from_rows(
        [
            ("v#0", "v", 30.0, "a door opens", 0.0, 10.0),
            ("v#1", "v", 30.0, "a door opens", 1.0, 10.0),
            ("w#0", "w", 8.0, "it rains", 7.9, 8.0),
        ]
    )


def test_clips_of_annotations(annotations):
    clips = clips_of(annotations, margin_s=2.0)
    assert clips.start_s.tolist() == pytest.approx([0.0, 0.0, 5.9])
    assert clips.end_s.tolist() == pytest.approx([12.0, 12.0, 8.0])
    assert clips.n_same_text == 2
    assert clips_of(annotations).overlapping.tolist() == [True, True, False]


def test_two_texts_of_one_clip_are_two_queries():
    rows = [("v#0", "v", 30.0, "a door opens", 0.0, 10.0), ("v#1", "v", 30.0, "SOMEONE enters", 0.0, 10.0)]
    clips = clips_of(Annotations.from_rows([*rows, ("w#0", "w", 8.0, "it rains", 1.0, 8.0)]))
    assert (len(clips), clips.n_texts) == (2, 3)
    queries = clips.queries()  # what a hunt found: a clip with two texts ended with an error about shapes
    assert queries.video_id.tolist() == ["v", "v", "w"]
    assert queries.duration_s.tolist() == [30.0, 30.0, 8.0]


def test_the_vector_of_a_clip_is_the_mean_of_its_frames(annotations):
    rng = np.random.default_rng(0)
    store = Features({of: rng.normal(size=(n, 4)).astype(np.float32) for of, n in (("v", 60), ("w", 16))}, fps=2.0)
    vectors, n_short = pooled_clips(store, clips_of(annotations))
    frames = store["v"][0:20:2]  # 10 s at 2 a second, thinned to one a second
    mean = (frames / np.linalg.norm(frames, axis=1, keepdims=True)).mean(axis=0)
    assert vectors[0] == pytest.approx(mean / np.linalg.norm(mean), rel=1e-5)
    assert n_short == 1  # 0.1 s has no frame that begins in it
    assert vectors[2] == pytest.approx(store["w"][15] / np.linalg.norm(store["w"][15]), rel=1e-5)
    with pytest.raises(InputError, match=r"1 of 2 videos have no features, e.g. 'w'"):
        pooled_clips(Features({"v": store["v"]}, fps=2.0), clips_of(annotations))


@given(st.integers(0, 500), st.integers(0, 500), st.sampled_from([0.5, 1.0, 5.0]))
def test_thinned_rows_are_in_the_clip(first, length, fps):
    rows = thin_rows(first, first + length, fps)
    assert 1 <= len(rows) <= 12
    assert rows[0] == first
    assert (np.diff(rows) > 0).all()
    assert rows[-1] < first + max(length, 1)


def test_the_blind_floor_finds_long_clips_for_long_sentences():
    rng = np.random.default_rng(0)

    def split(name, n):
        words = rng.integers(2, 30, n)
        ends = words * (1 + 0.02 * rng.random(n))
        rows = [(f"{name}{k}", f"{name}{k}", 60.0, " ".join(["word"] * words[k]), 0.0, ends[k]) for k in range(n)]
        return Annotations.from_rows(rows)

    clips = clips_of(split("test", 60))
    found = evaluate_retrieval(
        by_lengths(split("train", 300), clips), clips.clip_of, clips.video_id, parse_retrieval_measures("t2c:R@10")
    )
    assert found.figures[0].value > 3 * found.figures[0].chance


def test_a_file_of_similarities(tmp_path):
    matrix = np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)
    write_similarities(tmp_path / "s.npz", matrix, np.array([0, 1, 1]), as_strings(["a", "b"], "video_id"))
    read = read_similarities(tmp_path / "s.npz")
    assert read.similarities.block(slice(None)).tolist() == matrix.tolist()
    assert (read.clip_of.tolist(), read.video_id.tolist()) == ([0, 1, 1], ["a", "b"])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"scores": np.eye(2)}, "found scores, expected an array named similarity, or texts and clips"),
        ({"similarity": np.ones((2, 3))}, "found 2 texts and 3 clips, expected as many, or clip_of"),
        ({"similarity": np.ones(4)}, "found 4 numbers of type float64, expected texts x clips of floating point"),
        ({"similarity": np.ones((2, 2), dtype=int)}, "expected texts x clips of floating point"),
        ({"similarity": np.eye(2), "clip_of": np.array([0, 2])}, "found 2, expected a row of the 2 clips, from 0"),
        ({"similarity": np.eye(2), "clip_of": np.array([0.5, 1])}, "expected a clip for each text"),
        ({"similarity": np.array([[{}]], dtype=object)}, "contains Python objects"),
    ],
)
def test_a_broken_file_of_similarities(tmp_path, arrays, message):
    np.savez(tmp_path / "s.npz", **arrays)
    with pytest.raises(InputError) as caught:
        read_similarities(tmp_path / "s.npz")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("nearness", [0.0, 1.0])
def test_zero_shot_on_a_thousand_simulated_clips(nearness):
    # Specification, section 8.3: chance within three standard errors at nearness 0, R@1 of 0.98 or more at 1.
    settings = FilmSettings(minutes=100, n_sentences=200, nearness=nearness, n_dimensions=128)
    films = make_films({"test": 5}, settings, np.random.default_rng(0))
    clips = clips_of(films.annotations("test"))
    vectors, _ = pooled_clips(films, clips)
    queries = Queries(clips.text_id, clips.video_id, clips.duration_s, clips.sentence)
    texts = unit(films.vectors(queries))
    found = evaluate_retrieval(
        Similarities.of_vectors(texts, vectors),
        clips.clip_of,
        clips.video_id,
        parse_retrieval_measures("t2c:R@1; t2c:R@5; t2c:R@10"),
        resamples=10,
    )
    values = [figure.value for figure in found.figures]
    if nearness:
        assert values[0] >= 0.98
    else:
        n = len(clips)
        assert n > 900
        for value, k in zip(values, (1, 5, 10), strict=True):
            assert abs(value - k / n) < 3 * np.sqrt(k / n * (1 - k / n) / n)
