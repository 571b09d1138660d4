"""Decoding: against a slow loop written from greedy suppression's definition, in exact fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Predictions
from truemoment.baselines.proposals import SparseMap
from truemoment.learning.models.decoding import ScoredMoments, as_predictions, decode, grid_note, on_grid


def cells_of(proposals, scores):
    """Return the cells of a map as shares of the video (2D-TAN: cell (a, b) covers a / N to (b + 1) / N), scored."""
    first, last = proposals.cells
    return ScoredMoments(first / proposals.n_clips, (last + 1) / proposals.n_clips, scores)


def slow(scores, cells, nms, top):
    """Take the best candidate left; drop those whose IoU with it is above the threshold; again."""
    left = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
    kept = []
    while left and len(kept) < top:
        best = left.pop(0)
        kept.append(best)
        a, b = cells[best]

        def iou(at, a=a, b=b):
            c, d = cells[at]
            overlap = min(b, d) - max(a, c) + 1
            return Fraction(max(overlap, 0), (b - a + 1) + (d - c + 1) - max(overlap, 0))

        left = [at for at in left if iou(at) <= nms]
    return kept


@given(
    st.integers(1, 9),
    st.integers(1, 6),
    st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(9, 20), Fraction(1, 2), Fraction(2, 3), Fraction(1)]),
    st.integers(0, 10_000),
)
def test_decoding_is_greedy_suppression(n_clips, top, nms, seed):
    proposals = SparseMap(n_clips)
    rng = np.random.default_rng(seed)
    scores = (rng.integers(0, 6, (3, len(proposals.cells[0]))) / 8).astype(np.float32)  # with ties
    cells = list(zip(*(column.tolist() for column in proposals.cells), strict=True))
    shared = cells_of(proposals, scores)
    of_each = ScoredMoments(*(np.tile(column, (3, 1)) for column in (shared.start, shared.end)), scores)
    expected = [slow(row.tolist(), cells, nms, top) for row in scores]
    for found in (shared, of_each):
        chosen = decode(found, nms=float(nms), top=top)
        assert [row[row >= 0].tolist() for row in chosen] == expected


def test_a_cell_stands_for_its_share_of_the_video():
    """2D-TAN: cell (a, b) covers a / N to (b + 1) / N of the video."""
    proposals = SparseMap(4)
    scores = np.zeros((1, 10), dtype=np.float32)
    scores[0, list(zip(*proposals.cells, strict=True)).index((1, 2))] = 1
    found = as_predictions(np.array(["q"]), cells_of(proposals, scores), np.array([20.0]), nms=1.0, top=1, name="m")
    assert (found.start_s.tolist(), found.end_s.tolist(), found.score.tolist()) == ([5.0], [15.0], [1.0])


def test_fractions_do_not_depend_on_the_duration_and_seconds_scale_with_it():
    proposals = SparseMap(8)
    scores = np.random.default_rng(0).random((1, 36), dtype=np.float32)
    short, long = (
        as_predictions(np.array(["q"]), cells_of(proposals, scores), np.array([of]), nms=0.5, top=5, name="m")
        for of in (8.0, 80.0)
    )
    np.testing.assert_allclose(10 * short.start_s, long.start_s)
    np.testing.assert_allclose(10 * short.end_s, long.end_s)


def test_moments_are_clipped_to_the_video_and_absent_candidates_are_left_out():
    start, end = np.array([[-0.25, 0.5, 0.75]]), np.array([[0.25, 0.25, 1.5]])  # the second is swapped
    found = ScoredMoments(start, end, np.array([[0.3, 0.2, 0.1]], dtype=np.float32))
    answers = as_predictions(np.array(["q"]), found, np.array([8.0]), nms=0.5, top=5, name="m")
    assert answers.start_s.tolist() == [0.0, 4.0, 6.0]
    assert answers.end_s.tolist() == [2.0, 4.0, 8.0]
    absent = ScoredMoments(start, end, np.array([[0.3, -np.inf, -np.inf]], dtype=np.float32))
    assert as_predictions(np.array(["q"]), absent, np.array([8.0]), nms=0.5, top=5, name="m").lengths.tolist() == [1]


def test_ends_are_rounded_to_a_grid_after_ranking():
    """detr.md, 7.2 and 12.7: the nearest multiple, halves to even; what becomes empty stays, and is counted."""
    lists = {"a": [(4.9, 5.1, 0.9), (1.0, 3.0, 0.8), (0.0, 149.0, 0.1)], "b": [(5.0, 7.0, 0.2)]}
    answers = Predictions.from_lists(lists)
    rounded = on_grid(answers, 2.0)
    assert list(zip(rounded.start_s.tolist(), rounded.end_s.tolist(), strict=True)) == [
        *((4.0, 6.0), (0.0, 4.0), (0.0, 148.0)),  # 1, 5 and 149 lie in the middle of two multiples
        (4.0, 8.0),
    ]
    np.testing.assert_array_equal(rounded.score, answers.score)
    assert on_grid(answers, None) is answers
    assert grid_note(rounded, 2.0) == ()
    empty = on_grid(answers, 10.0)
    assert (empty.start_s == empty.end_s).tolist() == [False, True, False, False]
    assert grid_note(empty, 10.0) == ("1 of 4 moments are empty: their ends were rounded to 10 s",)
    assert grid_note(empty, None) == ()
