"""The discount for short moments, and the median scores of an index."""

import numpy as np
import pytest
from drawn_indexes import N_DIMENSIONS, sentences_near
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from truemoment.searching import index as index_module
from truemoment.searching.discount import HALF_S, discount
from truemoment.searching.index import Index
from truemoment.searching.median_scores import median_scores
from truemoment.searching.retrieval import moment_scores, search_index
from truemoment.searching.writing import IndexWriter, VideoFile

COSINES = arrays.arrays(np.float64, (3, 5), elements=st.floats(-1, 1))
MEDIANS = arrays.arrays(np.float64, 3, elements=st.floats(-1, 1))
LENGTHS = arrays.arrays(np.float64, 5, elements=st.floats(0.05, 1000))


@given(COSINES, MEDIANS, LENGTHS, st.floats(0, 10), st.permutations(range(5)))
def test_no_score_is_above_the_cosine_and_order_does_not_matter(cosine, median, length_s, half_s, order):
    found = discount(cosine, median, length_s, half_s)
    assert (found <= cosine).all()
    assert (
        found >= np.minimum(cosine, median[:, None]) - 1e-12
    ).all()  # at most all of what is above the median is lost
    assert np.array_equal(discount(cosine[:, order], median, length_s[order], half_s), found[:, order])
    assert np.array_equal(discount(cosine, median, length_s, 0.0), cosine)


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0.05, 100), st.floats(0.05, 10))
def test_the_formula_one_moment_at_a_time(cosine, median, length_s, half_s):
    """The formula of the module's docstring: half of what is above the median is lost at length h."""
    lost = max(cosine - median, 0) / (1 + (length_s / half_s) ** 2)
    found = discount(np.array([[cosine]]), np.array([median]), np.array([length_s]), half_s)
    assert found[0, 0] == pytest.approx(cosine - lost, abs=1e-12)
    at_half = discount(np.array([[cosine]]), np.array([median]), np.array([half_s]), half_s)[0, 0]
    assert at_half == pytest.approx(cosine - max(cosine - median, 0) / 2, abs=1e-12)


@pytest.fixture
def drawn(draw):
    return draw(12)


def test_scores_of_an_index_are_the_cosine_or_less(drawn):
    """The rule that ends a search compares with pieces by their cosine."""
    vectors = sentences_near(drawn, 6)
    medians = median_scores(drawn, vectors)
    for name in drawn:
        plain = moment_scores(drawn, name, vectors, medians, half_s=0.0)
        assert (moment_scores(drawn, name, vectors, medians) <= plain).all()
        assert np.array_equal(moment_scores(drawn, name, vectors, [0.0] * 6, half_s=0.0), plain)


def test_a_moment_of_its_own_has_the_score_of_a_candidate(drawn):
    vectors = sentences_near(drawn, 2)
    medians = median_scores(drawn, vectors)
    first, end = drawn.spans("v003")
    some = np.array([0, 7, len(first) - 1])
    expected = moment_scores(drawn, "v003", vectors, medians)[:, some]
    found = moment_scores(drawn, "v003", vectors, medians, spans=(first[some], end[some]))
    assert found == pytest.approx(expected, abs=2e-6)  # rounding of norms that an index stores


def test_the_median_is_that_of_all_pieces(drawn):
    vectors = sentences_near(drawn, 3)
    pieces = np.concatenate([drawn.pieces(name).astype(np.float64) for name in drawn])
    expected = np.median(pieces @ (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).T, axis=0)
    assert median_scores(drawn, vectors) == pytest.approx(expected.tolist(), abs=1e-6)
    assert median_scores(drawn, np.zeros(N_DIMENSIONS)) == [0.0]


def test_a_large_index_is_sampled(drawn, monkeypatch):
    assert len(Index(drawn.path).piece_sample) == 12 * 15
    monkeypatch.setattr(index_module, "SAMPLED_VIDEOS", 4)
    monkeypatch.setattr(index_module, "SAMPLED_PIECES", 20)
    sample = Index(drawn.path).piece_sample
    names = [f"v{number:03}" for number in (0, 3, 6, 9)]  # 4 of 12 videos, evenly
    at = [0, 3, 6, 9, 12]  # 5 of the 15 pieces of 60 s, evenly
    assert np.array_equal(sample, np.concatenate([drawn.pieces(name)[at] for name in names]).astype(np.float32))


@pytest.mark.parametrize("vector", [np.eye(N_DIMENSIONS)[0], np.zeros(N_DIMENSIONS)])
def test_of_equal_scores_the_longest_moment_is_first(tmp_path, settings, vector):
    with IndexWriter(tmp_path / "still", settings(n_dimensions=N_DIMENSIONS)) as writer:
        film = VideoFile("still", tmp_path / "still.mp4", "0")
        writer.keep_part(film, 60, 0, np.ones((60, N_DIMENSIONS)))
        writer.finish(film, 60, 60, 30.0)
    index = Index(tmp_path / "still")
    found = search_index(index, vector[None].astype(np.float32), 3)[0]
    assert found[0].end_s - found[0].start_s >= 16  # of equal cosines the longest moment of a window


def test_short_pieces_of_a_moment_do_not_come_first(tmp_path, settings):
    """What rows have of the sentence scatters; a moment of 10 s has more of it: the best second is not the answer."""
    rng = np.random.default_rng(0)
    rows = np.zeros((240, N_DIMENSIONS))
    rows[:, 0], rows[:, 1] = 0.1 * rng.standard_normal(240), 3.0
    rows[100:120, 0] += 3.0
    with IndexWriter(tmp_path / "index", settings(n_dimensions=N_DIMENSIONS)) as writer:
        film = VideoFile("v", tmp_path / "v.mp4", "0")
        writer.keep_part(film, 240, 0, rows)
        writer.finish(film, 240, 240, 120.0)
    index, vector = Index(tmp_path / "index"), np.eye(N_DIMENSIONS, dtype=np.float32)[:1]
    (plain,), (fair,) = (search_index(index, vector, 1, half_s=half_s)[0] for half_s in (0.0, HALF_S))
    assert plain.end_s - plain.start_s < fair.end_s - fair.start_s
    assert (fair.start_s, fair.end_s) == pytest.approx((50.0, 60.0), abs=1.0)
    assert fair.score < plain.score
