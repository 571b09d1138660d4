"""Videos in which moments move: features, references and durations change together."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import Annotations, Predictions, read_annotations
from truemoment.base.errors import InputError, UsageError
from truemoment.evaluation.evaluate import evaluate
from truemoment.media.features import Features, OwnStore
from truemoment.media.features.base import edges_of
from truemoment.media.features.moving import CONCATENATED, MOVES, NOISE, TRUNCATED, MovedFeatures, write_moved


@dataclasses.dataclass(frozen=True)
class Even(Features):
    """Features whose rows cover each video evenly."""

    fps: None = None

    def __post_init__(self):
        """Check nothing."""

    def edges_s(self, video_id, duration_s):
        """Return the edges of the rows."""
        return edges_of(len(self[video_id]), None, duration_s)


def drawn(seed, fps):
    """Return features of some videos, and annotations of them; moments lie in their videos."""
    rng, by_video, rows = np.random.default_rng(seed), {}, []
    for v in range(int(rng.integers(2, 6))):
        n_rows = int(rng.integers(1, 40))
        duration_s = float(rng.uniform(1, 90)) if fps is None else n_rows / fps + float(rng.uniform(-0.5, 2) / fps)
        by_video[f"v{v}"] = rng.normal(rng.uniform(-5, 5), 2, (n_rows, 3)).astype(np.float32)
        for q in range(int(rng.integers(1, 4))):
            start, end = np.sort(rng.uniform(0, duration_s, 2))
            rows.append((f"v{v}#{q}", f"v{v}", duration_s, "a door opens", start, end))
    store = Even(by_video) if fps is None else Features(by_video, fps)
    return store, Annotations.from_rows(rows)


worlds = st.tuples(st.integers(0, 10_000), st.sampled_from([None, 0.5, 2.0, 3.0]), st.sampled_from(MOVES))


@given(worlds)
def test_references_move_back_to_where_they_were(world):
    seed, fps, move = world
    store, original = drawn(seed, fps)
    features, moved = MovedFeatures.of(store, original, move, seed)
    shift_s = np.array([features.edits[video_id].shift_s for video_id in original.video_id])
    assert moved.start_s - shift_s == pytest.approx(original.start_s, abs=1e-12)
    assert moved.end_s - shift_s == pytest.approx(original.end_s, abs=1e-12)
    assert moved.query_id.tolist() == original.query_id.tolist()
    again, repeated = MovedFeatures.of(store, original, move, seed)
    assert repeated.sha256 == moved.sha256
    assert all(np.array_equal(again[video_id], features[video_id]) for video_id in features)


@given(worlds)
def test_every_moment_is_in_its_video_and_shows_its_own_rows(world):
    """A row whose middle lies in the moved moment is the row that showed this time before."""
    seed, fps, move = world
    store, original = drawn(seed, fps)
    features, moved = MovedFeatures.of(store, original, move, seed)
    assert np.all(moved.start_s >= -1e-9)
    assert np.all(moved.end_s <= moved.duration_s + 1e-9)
    for r, video_id in enumerate(original.video_id):
        old = store.edges_s(video_id, float(original.duration_s[r]))
        new = features.edges_s(video_id, float(moved.duration_s[r]))
        rows, changed = store[video_id], features[video_id]
        assert len(changed) == len(new) - 1 == features.edits[video_id].n_rows
        for row in np.flatnonzero((new[:-1] >= moved.start_s[r]) & (new[1:] <= moved.end_s[r])):
            time_s = (new[row] + new[row + 1]) / 2 - moved.start_s[r] + original.start_s[r]
            at = min(int(np.searchsorted(old, time_s)) - 1, len(rows) - 1)
            assert np.array_equal(changed[row], rows[at])


@given(worlds)
def test_a_perfect_method_stays_perfect(world):
    seed, fps, move = world
    store, original = drawn(seed, fps)
    _, moved = MovedFeatures.of(store, original, move, seed)
    times = zip(moved.query_id, np.maximum(moved.start_s, 0), moved.end_s, strict=True)
    perfect = Predictions.from_lists({query_id: [(start_s, end_s)] for query_id, start_s, end_s in times})
    assert evaluate(moved, perfect, "mIoU").value("mIoU") == pytest.approx(1, abs=1e-6)


@given(st.integers(0, 10_000), st.sampled_from([None, 2.0]))
def test_joined_videos_keep_their_lengths(seed, fps):
    """Whole rows: each of the two is longer or shorter by a row of the video at most."""
    store, original = drawn(seed, fps)
    features, moved = MovedFeatures.of(store, original, CONCATENATED, seed)
    duration_s = dict(zip(original.video_id, original.duration_s, strict=True))
    lengths = {video_id: float(store.edges_s(video_id, duration_s[video_id])[-1]) for video_id in features}
    for video_id, joined_s in zip(moved.video_id, moved.duration_s, strict=True):
        edit = features.edits[video_id]
        row_s = lengths[video_id] / len(store[video_id])
        assert edit.other != video_id
        own_s = max(lengths[video_id], duration_s[video_id])
        assert joined_s == pytest.approx(own_s + max(lengths[edit.other], row_s), abs=1.5 * row_s)
        if fps is not None:  # on one clock the rows of the other video are there as they are
            other = features[video_id][: edit.before] if edit.before else features[video_id][-edit.after :]
            assert np.array_equal(other, store[edit.other])


def test_the_other_video_comes_first_in_half_of_the_videos():
    original = Annotations.from_rows([(f"{v}#0", f"{v}", 4.0, "a door opens", 0, 1) for v in range(400)])
    store = Features({f"{v}": np.full((4, 1), v, np.float32) for v in range(400)}, 1.0)
    features, moved = MovedFeatures.of(store, original, CONCATENATED)
    # 400 fair coins: a standard deviation of 10, five of them.
    assert abs(int((moved.start_s == 4.0).sum()) - 200) < 50
    assert set(moved.start_s) == {0.0, 4.0}
    assert len({edit.other for edit in features.edits.values()}) > 200  # 1 - 1/e of 400 by even draws: 253


def test_noise_is_as_the_authors_count_it_and_looks_like_the_video():
    """75 rows in 30.6 s and 10 s of noise: round(10 / 30.6 x 75) = 25 rows, 10.2 s (their charades.py at f2cf09f)."""
    rows = np.random.default_rng(0).normal([4.0, -2.0], [0.5, 3.0], (75, 2)).astype(np.float32)
    original = Annotations.from_rows([("v#0", "v", 30.6, "a door opens", 2.0, 5.0)])
    features, moved = MovedFeatures.of(Even({"v": rows}), original, f"{NOISE}:10")
    assert (moved.start_s[0], moved.end_s[0], moved.duration_s[0]) == pytest.approx((12.2, 15.2, 40.8))
    assert np.array_equal(features["v"][25:], rows)
    features, _ = MovedFeatures.of(Even({"v": rows}), original, f"{NOISE}:10000")
    noise = features["v"][:-75]
    # 24,510 draws: the standard error of a mean is 3.0 / sqrt(24,510) = 0.02 at most; five of them.
    assert noise.mean(axis=0) == pytest.approx(rows.mean(axis=0), abs=0.1)
    assert noise.std(axis=0) == pytest.approx(rows.std(axis=0), rel=0.03)
    other, _ = MovedFeatures.of(Even({"v": rows}), original, f"{NOISE}:10", seed=1)
    assert not np.array_equal(other["v"][:25], features["v"][:25])


def test_noise_is_a_third_of_the_median_video_unless_given():
    original = Annotations.from_rows([(f"{v}#0", v, s, "a door opens", 0, 1) for v, s in (("a", 12.0), ("b", 36.0))])
    store = Features({"a": np.zeros((12, 1), np.float32), "b": np.zeros((36, 1), np.float32)}, 1.0)
    assert MovedFeatures.of(store, original, NOISE)[1].start_s.tolist() == [8.0, 8.0]


def test_both_ends_are_cut_and_a_full_video_is_not():
    store = Features({"v": np.arange(10, dtype=np.float32)[:, None]}, 1.0)
    inside = Annotations.from_rows([("v#0", "v", 10.0, "a door opens", 4.5, 5.5), ("v#1", "v", 10.0, "it", 2.5, 3.0)])
    shown = {tuple(MovedFeatures.of(store, inside, TRUNCATED, seed)[0]["v"].ravel().tolist()) for seed in range(60)}
    # Rows 0 and 1 end before the first moment, rows 6 to 9 begin after the last one: any of them may be the cut.
    ends = [(1, 10), (2, 10), (0, 6), (0, 7), (0, 8), (0, 9)]
    assert shown == {tuple(map(float, range(*end))) for end in ends}
    full = Annotations.from_rows([("v#0", "v", 10.0, "a door opens", 0.5, 9.5)])
    assert MovedFeatures.of(store, full, TRUNCATED)[1].sha256 == full.sha256
    nan = float("nan")
    nothing = Annotations.from_rows([("v#0", "v", 10.0, "a door opens", nan, nan)])
    assert MovedFeatures.of(store, nothing, TRUNCATED)[1].sha256 == nothing.sha256


@pytest.mark.parametrize(
    ("move", "message"),
    [
        ("cut", "unknown change 'cut', expected one of prepended-noise, truncated"),
        ("truncated:3", "unknown change 'truncated:3'"),
        ("prepended-noise:long", "prepended-noise:long: got 'long', expected seconds above 0"),
        ("prepended-noise:nan", "prepended-noise:nan: got 'nan'"),
        ("prepended-noise:-1", "prepended-noise:-1: got '-1'"),
        (CONCATENATED, "concatenated: own/all has one video, expected two or more"),
    ],
)
def test_what_cannot_be_changed_is_refused(move, message):
    store = Features({"v": np.zeros((3, 1), np.float32)}, 1.0)
    with pytest.raises(UsageError) as caught:
        MovedFeatures.of(store, Annotations.from_rows([("v#0", "v", 3.0, "it", 0, 1)]), move)
    assert str(caught.value).startswith(message)


def test_videos_without_a_duration_or_features_are_refused():
    store = Features({"v": np.zeros((3, 1), np.float32)}, 1.0)
    with pytest.raises(InputError, match="found nan for video 'v', expected seconds above 0"):
        MovedFeatures.of(store, Annotations.from_rows([("v#0", "v", float("nan"), "it", 0, 1)]), TRUNCATED)
    with pytest.raises(InputError, match="no features of video 'w'"):
        MovedFeatures.of(store, Annotations.from_rows([("w#0", "w", 3.0, "it", 0, 1)]), TRUNCATED)
    with pytest.raises(UsageError, match="got seed -1"):
        MovedFeatures.of(store, Annotations.from_rows([("v#0", "v", 3.0, "it", 0, 1)]), TRUNCATED, -1)


def test_a_folder_of_changed_videos_is_read_as_it_was_made(tmp_path):
    features, moved = MovedFeatures.of(*drawn(7, 2.0), CONCATENATED)
    write_moved(tmp_path / "joined", features, moved)
    assert read_annotations(tmp_path / "joined" / "annotations.jsonl").sha256 == moved.sha256
    stored = OwnStore(tmp_path / "joined" / "features")
    assert list(stored) == list(features)
    assert all(np.array_equal(stored[video_id], features[video_id]) for video_id in features)
