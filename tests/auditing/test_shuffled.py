"""The randomised-video check and what shuffles videos for it, against slow loops."""

from __future__ import annotations

import hashlib
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations, Predictions, read_predictions
from truemoment.base.errors import UsageError
from truemoment.data.datasets import load_annotations
from truemoment.studies.audit.shuffled import (
    compare_shuffled,
    generator_of,
    segment_order,
    shuffle_features,
    shuffle_segments,
)

nan = float("nan")


def two_worlds(world, seed):
    """A world and other answers to its queries."""
    w, other = world(seed), world(seed + 1_000_000)
    return w, other


@pytest.mark.parametrize("seed", range(6))
def test_displacement_against_a_slow_loop(world, seed):
    # Hidden Challenges, supplement: |s - s'| and |e - e'| of the first answers, over the video's duration.
    w, other = two_worlds(world, seed)
    moved = compare_shuffled(w.annotations, w.predictions, other.predictions)
    n_left_out, within, unchanged = 0, 0, 0
    for row, query in enumerate(w.references):
        before, after = w.ranked(query), other.ranked(query)
        if not before or not after:
            assert np.isnan([moved.d_start[row], moved.d_end[row]]).all()
            n_left_out += 1
            continue
        d_start, d_end = (abs(one - two) / w.duration[query] for one, two in zip(before[0], after[0], strict=True))
        assert (moved.d_start[row], moved.d_end[row]) == pytest.approx((float(d_start), float(d_end)), rel=1e-15)
        assert moved.unchanged[row] == (before[0] == after[0])
        unchanged += before[0] == after[0]
        within += d_start + d_end < Fraction(1, 2)
    assert sum(moved.left_out.values()) == n_left_out > 0
    n_compared = len(w.references) - n_left_out
    assert moved.compared.sum() == n_compared > 0
    assert moved.share_unchanged == unchanged / n_compared
    assert moved.share_within(0.5) == within / n_compared


@given(st.integers(0, 10_000))
@pytest.mark.slow
def test_nothing_moves_between_a_file_and_itself(world, seed):
    w = world(seed)
    moved = compare_shuffled(w.annotations, w.predictions, w.predictions)
    assert np.all(moved.d_start[moved.compared] == 0)
    assert np.all(moved.d_end[moved.compared] == 0)
    assert (moved.share_unchanged, moved.share_within(), moved.share_within(1e-12)) == (1, 1, 1)
    silent = sum(not w.ranked(query) for query in w.references)
    assert moved.left_out == ({"answered on neither video": silent} if silent else {})


@given(st.integers(0, 10_000), st.floats(0.01, 2), st.floats(0.01, 2))
@pytest.mark.slow
def test_displacement_is_symmetric_and_shares_rise_with_the_bound(world, seed, one, other):
    w, second = two_worlds(world, seed)
    there, back = (compare_shuffled(w.annotations, *pair) for pair in (
        (w.predictions, second.predictions), (second.predictions, w.predictions)))  # fmt: skip
    assert np.array_equal(there.d_start, back.d_start, equal_nan=True)
    assert np.array_equal(there.shift_end_norm, -back.shift_end_norm, equal_nan=True)
    assert there.share_unchanged <= there.share_within(min(one, other)) <= there.share_within(max(one, other))


def test_unchanged_and_slightly_changed_by_hand(one_video):
    # Video of 40 s: 2 s and 2 s are 0.05 + 0.05, which is not below 0.1; opposite ways they would cancel signed.
    before = {"same": [(4.0, 8.0)], "slight": [(4.0, 8.0)], "bound": [(4.0, 8.0)], "far": [(4.0, 8.0)]}
    after = {"same": [(4.0, 8.0)], "slight": [(3.0, 9.0)], "bound": [(2.0, 10.0)], "far": [(24.0, 28.0)]}
    annotations, original = one_video({query: [(0, 5)] for query in before}, before)
    moved = compare_shuffled(annotations, original, Predictions.from_lists(after))
    assert moved.d_start.tolist() == [0, 0.025, 0.05, 0.5]
    assert moved.shift_start_norm.tolist() == [0, -0.025, -0.05, 0.5]
    assert (moved.share_unchanged, moved.share_within(), moved.share_within(0.05)) == (0.25, 0.5, 0.25)
    assert moved.left_out == {}


def test_what_is_left_out_is_counted():
    rows = [
        (q, q, nan if q == "unknown" else 10.0, "s", 0, 5) for q in ("both", "old", "new", "no", "unknown", "empty")
    ]
    original = {"both": [(0.0, 1.0)], "old": [(0.0, 1.0)], "unknown": [(0.0, 1.0)], "empty": [], "other": [(0.0, 1.0)]}
    shuffled = {"both": [(0.0, 2.0)], "new": [(0.0, 1.0)], "unknown": [(0.0, 1.0)], "empty": [(0.0, 1.0)]}
    moved = compare_shuffled(Annotations.from_rows(rows), *map(Predictions.from_lists, (original, shuffled)))
    assert moved.compared.tolist() == [True, False, False, False, False, False]
    assert moved.d_end[0] == 0.1
    assert moved.unchanged.tolist() == [False] * 6
    assert moved.left_out == {
        "answered on neither video": 1,
        "answered on the original video only": 1,
        "answered on the shuffled video only": 2,
        "duration not known": 1,
        "not a query of the annotations": 1,
    }


def test_first_by_score_or_in_the_order_of_the_file(one_video):
    answers = {"q": [(0.0, 10.0, 0.1), (20.0, 30.0, 0.9)]}
    annotations, original = one_video({"q": [(0, 5)]}, answers)
    shuffled = Predictions.from_lists({"q": [(0.0, 10.0, 0.9)]})
    assert compare_shuffled(annotations, original, shuffled).d_start.tolist() == [0.5]
    assert compare_shuffled(annotations, original, shuffled, ranking="file").d_start.tolist() == [0]


def test_no_duration_no_share():
    annotations = Annotations.from_rows([("q", "v", nan, "s", 0, 5)])
    answers = Predictions.from_lists({"q": [(0.0, 1.0)]})
    moved = compare_shuffled(annotations, answers, answers)
    assert np.isnan([moved.share_unchanged, moved.share_within()]).all()
    density = moved.density(3)
    assert density.counts.sum() == 0
    assert np.isnan(density.density).all()


def test_nothing_in_common_no_share(one_video):
    annotations, answers = one_video({"q": [(0, 5)]}, {"q": [(0.0, 1.0)]})
    moved = compare_shuffled(annotations, answers, Predictions.from_lists({"q": []}))
    assert np.isnan([moved.share_unchanged, moved.share_within()]).all()
    assert moved.left_out == {"answered on the original video only": 1}


def test_refusals(one_video):
    annotations, answers = one_video({"q": [(0, 5)]}, {"q": [(0.0, 1.0)]})
    with pytest.raises(UsageError, match="got ranking='best', expected score or file"):
        compare_shuffled(annotations, answers, answers, ranking="best")
    moved = compare_shuffled(annotations, answers, answers)
    for bound in (0, -1, nan):
        with pytest.raises(UsageError, match="expected a fraction of the video above 0"):
            moved.share_within(bound)
    with pytest.raises(UsageError, match="got 0 cells, expected 1 or more"):
        moved.density(0)


def test_density_counts_cells(world):
    w, other = two_worlds(world, 3)
    moved = compare_shuffled(w.annotations, w.predictions, other.predictions)
    grid = moved.density(4)
    expected = Counter(
        (min(int(s * 4), 3), min(int(e * 4), 3))  # moves by more than the video stand in the last cell
        for s, e in zip(moved.d_start[moved.compared].tolist(), moved.d_end[moved.compared].tolist(), strict=True)
    )
    assert {(i, j): grid.counts[i, j] for i in range(4) for j in range(4) if grid.counts[i, j]} == expected
    assert grid.bounds.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert grid.density.sum() / 16 == pytest.approx(1, rel=1e-15)
    assert np.array_equal(grid.density > 0, grid.counts > 0)


# ---- Shuffling


@given(st.integers(0, 60), st.integers(1, 20), st.integers(0, 1000))
def test_segments_move_whole(n_rows, segment_rows, seed):
    order = shuffle_segments(n_rows, np.random.default_rng(seed), segment_rows=segment_rows).tolist()
    assert sorted(order) == list(range(n_rows))
    segments = [list(range(low, min(low + segment_rows, n_rows))) for low in range(0, n_rows, segment_rows)]
    rest = list(order)
    while rest:  # each segment follows the other in one piece
        segment = segments[rest[0] // segment_rows]
        assert rest[: len(segment)] == segment
        rest = rest[len(segment) :]
    assert (order == list(range(n_rows))) == (len(segments) < 2)


def test_every_other_order_is_equally_likely():
    rng = np.random.default_rng(0)
    counts = Counter(tuple(shuffle_segments(3, rng, segment_rows=1).tolist()) for _ in range(5000))
    assert len(counts) == 5  # of 3! orders all but the original
    # 5,000 draws of 5: 1,000 each, standard deviation sqrt(5000 x 0.2 x 0.8) = 28; five of them.
    assert all(abs(count - 1000) < 5 * 28.3 for count in counts.values())


def test_features_do_not_depend_on_the_company():
    videos = {f"v{k}": np.arange(40.0).reshape(20, 2) + 100 * k for k in range(6)}
    shuffled = shuffle_features(videos, np.random.default_rng(3), segment_rows=3)
    backwards = shuffle_features(dict(reversed(videos.items())), np.random.default_rng(3), segment_rows=3)
    alone = shuffle_features({"v4": videos["v4"]}, np.random.default_rng(3), segment_rows=3)
    other = shuffle_features(videos, np.random.default_rng(4), segment_rows=3)
    assert list(shuffled) == list(videos)
    for video_id, table in videos.items():
        assert np.array_equal(shuffled[video_id], backwards[video_id])
        assert sorted(shuffled[video_id].tolist()) == table.tolist()
        assert not np.array_equal(shuffled[video_id], table)
        assert table[0].tolist() == [table[0, 0], table[0, 0] + 1]  # what was handed over stays as it was
    assert np.array_equal(alone["v4"], shuffled["v4"])
    orders = {tuple((shuffled[v][:, 0] - 100 * k).tolist()) for k, v in enumerate(videos)}
    assert len(orders) > 1  # videos are not all shuffled alike
    assert any(not np.array_equal(other[v], shuffled[v]) for v in videos)


def test_the_generator_of_a_video_is_as_documented():
    # Seeded by the given numbers and the first 16 bytes of the SHA-256 of the id, as one number.
    digest = hashlib.sha256("vidéo".encode()).hexdigest()[:32]
    expected = np.random.default_rng([7, 8, int(digest, 16)]).integers(1 << 60, size=3)
    assert generator_of("vidéo", [7, 8]).integers(1 << 60, size=3).tolist() == expected.tolist()
    assert generator_of("other", [7, 8]).integers(1 << 60) != expected[0]
    # shuffle_features draws those numbers from its generator.
    seed = np.random.default_rng(5).integers(2**63, size=2).tolist()
    order = shuffle_segments(9, generator_of("v", seed), segment_rows=2)
    features = np.arange(9.0)[:, None]
    assert np.array_equal(
        shuffle_features({"v": features}, np.random.default_rng(5), segment_rows=2)["v"], features[order]
    )


@given(st.integers(1, 4000), st.integers(1, 300), st.integers(0, 100))
def test_segments_of_a_video_cover_it(duration, segment, seed):
    duration_s, segment_s = duration / 10, segment / 10  # tenths, which float64 does not hold exactly
    order = segment_order(duration_s, segment_s, np.random.default_rng(seed))
    in_time = sorted(order)
    assert len(order) == -(-duration // segment)  # no segment more for rounding
    assert (in_time[0][0], in_time[-1][1]) == (0, duration_s)
    assert all(one[1] == other[0] for one, other in pairwise(in_time))
    assert all(end - start == pytest.approx(segment_s, abs=1e-9) for start, end in in_time[:-1])
    assert 0 < in_time[-1][1] - in_time[-1][0] <= segment_s + 1e-9
    assert (order == in_time) == (len(order) == 1)


def test_rounding_makes_no_segment():
    assert 2.1 / 0.3 > 7  # 7.000000000000001 in float64
    assert len(segment_order(2.1, 0.3, np.random.default_rng(0))) == 7


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: shuffle_segments(-1, rng, segment_rows=1), "got -1 rows and 1 a segment, expected 0 or more"),
        (lambda rng: shuffle_segments(5, rng, segment_rows=0), "got 5 rows and 0 a segment, expected 0 or more"),
        (lambda rng: shuffle_features({"v": np.zeros((2, 2))}, rng, segment_rows=0), "got 2 rows and 0 a segment"),
        (lambda rng: segment_order(0.0, 1.0, rng), "got 0.0 s and 1.0 s a segment, expected seconds above 0"),
        (lambda rng: segment_order(9.0, nan, rng), "got 9.0 s and nan s a segment, expected seconds above 0"),
        (lambda rng: segment_order(float("inf"), 1.0, rng), "got inf s and 1.0 s a segment"),
    ],
)
def test_shuffling_refuses(call, message):
    with pytest.raises(UsageError) as caught:
        call(np.random.default_rng(0))
    assert str(caught.value).startswith(message)


# ---- Real files


@pytest.mark.data
def test_a_published_run_against_itself_and_against_one_moved(data_dir):
    annotations = load_annotations("charades-cd", "test-ood", data_dir=data_dir)
    answers, _ = read_predictions(data_dir / "predictions" / "hao2022_charades_cd_test_ood.json", annotations)
    moved = compare_shuffled(annotations, answers, answers)
    assert (moved.share_unchanged, moved.left_out, int(moved.compared.sum())) == (1, {}, 3375)
    # Every third query moved by 8 % of its video at both ends: 0.16 together, beyond "slightly".
    duration_s = dict(zip(annotations.query_id, annotations.duration_s, strict=True))
    by = np.array([0.08 * duration_s[q] * (k % 3 == 0) for k, q in enumerate(answers.query_id)])
    other = Predictions(answers.query_id, answers.offsets, answers.start_s + by, answers.end_s + by, answers.score)
    moved = compare_shuffled(annotations, answers, other)
    assert moved.share_unchanged == moved.share_within() == 2250 / 3375
    assert moved.share_within(0.17) == 1
    assert moved.d_start[~moved.unchanged] == pytest.approx(0.08, rel=1e-12)
