"""Frame features: what they are made of, and what perception means."""

import dataclasses
import functools
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import InputError
from truemoment.worlds import Events, Features, make_world
from truemoment.worlds.features import coverage, frame_features, frames_of, prototypes


def events_of(rows):
    """Events of rows (video, action, object, start_s, end_s)."""
    video, action, thing, start_s, end_s = (np.array(column) for column in zip(*rows, strict=True))
    return Events(video, action, thing, np.ones(len(rows), dtype=bool), start_s, end_s)


def test_clean_features_are_the_sum_of_the_prototypes():
    # Frames of half a second. Event 1 from 0.25 to 1.0: half of frame 0, all of frame 1; event 2 in frames 1 and 2.
    of_action, of_object = np.eye(4)[:2], np.eye(4)[2:]
    events = events_of([(0, 0, 0, 0.25, 1.0), (0, 1, 0, 0.5, 1.5)])
    (frames,) = frame_features(
        events, np.array([2.0]), of_action, of_object, fps=2.0, perception=1.0, rng=np.random.default_rng(0)
    )
    assert frames.tolist() == [[0.5, 0, 0.5, 0], [1, 1, 2, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    assert frames.dtype == np.float32


@given(st.lists(st.tuples(st.floats(0, 30), st.floats(0, 10)), min_size=1, max_size=5), st.floats(0.2, 10))
def test_coverage_is_the_overlap_with_each_frame(moments, fps):
    start = np.array([s for s, _ in moments])
    end = np.array([s + length for s, length in moments])
    n_frames = int(frames_of(np.array([end.max()]), fps)[0])
    found = coverage(start, end, n_frames, fps)
    for row, (low, high) in enumerate(zip(start, end, strict=True)):
        for frame, (left, right) in enumerate(pairwise(np.arange(n_frames + 1) / fps)):
            part = max(min(high, right) - max(low, left), 0.0) * fps
            assert found[row, frame] == pytest.approx(part, rel=0, abs=1e-9)
    # Every moment lies within the frames, so its whole length is counted.
    assert found.sum(axis=1) == pytest.approx((end - start) * fps, rel=1e-9, abs=1e-6)


def test_prototypes_are_unit_vectors():
    vectors = prototypes(60, 8, np.random.default_rng(0))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(60))


def signal_and_features(perception, seed=0, **dials):
    """Clean signal and features of all frames of a world."""
    return tuple(every_frame(of, seed, **dials) for of in (1.0, perception))


@functools.cache
def every_frame(perception, seed, **dials):
    features = make_world(60, perception=perception, seed=seed, **dials).features
    return np.concatenate([features[video_id] for video_id in features]).astype(float)


def test_perception_mixes_signal_and_noise():
    signal, half = signal_and_features(0.5)
    _, quarter = signal_and_features(0.25)
    _, noise = signal_and_features(0.0)
    # features = p signal + (1 - p) noise, and the noise drawn is the same for every p (float32 arithmetic).
    np.testing.assert_allclose(half, 0.5 * signal + 0.5 * noise, rtol=0, atol=1e-5)
    np.testing.assert_allclose(quarter, 0.25 * signal + 0.75 * noise, rtol=0, atol=1e-5)
    # Standard normal: mean 0, standard deviation 1, to four standard errors.
    assert abs(noise.mean()) < 4 / np.sqrt(noise.size)
    assert abs(noise.std() - 1) < 4 / np.sqrt(2 * noise.size)


def test_signal_to_noise_ratio_is_as_stated():
    # Along its own direction a prototype stands in one frame at perception, the noise at 1 - perception.
    vectors = prototypes(2, 16, np.random.default_rng(1))
    events = events_of([(video, 0, 0, 0.0, 1000.0) for video in range(4)])
    for perception, ratio in ((0.25, 1 / 3), (0.5, 1.0), (0.75, 3.0)):
        frames = np.concatenate(
            frame_features(
                events,
                np.full(4, 1000.0),
                vectors[:1],
                np.zeros((1, 16)),
                fps=2.0,
                perception=perception,
                rng=np.random.default_rng(0),
            )
        )
        along = frames @ vectors[0]
        error = 4 * np.sqrt((1 + ratio**2 / 2) / len(along))  # delta method for mean / standard deviation
        assert abs(along.mean() / along.std() - ratio) < error


def test_correlation_with_the_events_rises_with_perception():
    found = []
    for perception in (0.0, 0.25, 0.5, 0.75, 1.0):
        signal, seen = signal_and_features(perception)
        found.append(np.corrcoef(signal.ravel(), seen.ravel())[0, 1])
    assert np.all(np.diff(found) > 0)
    assert abs(found[0]) < 4 / np.sqrt(signal.size)
    assert found[-1] == pytest.approx(1)


def test_without_perception_features_know_nothing_of_the_events():
    # Other priors put every event elsewhere, and the features stay as they are, bit by bit.
    one, other = (make_world(10, perception=0.0, location_prior=p, query_prior=1 - p).features for p in (0.0, 1.0))
    assert all(np.array_equal(one[video_id], other[video_id]) for video_id in one)


def test_frames_cover_the_duration():
    assert frames_of(np.array([10.0, 10.01, 10.5, 0.1]), 2.0).tolist() == [20, 21, 21, 1]
    # 0.1 s x 30 is 3.0000000000000004: rounding adds no frame.
    assert frames_of(np.array([0.1]), 30.0).tolist() == [3]


def frames(*shape):
    return np.zeros(shape, dtype=np.float32)


@pytest.mark.parametrize(
    ("by_video", "fps", "said"),
    [
        ({"v": frames(3, 2)}, 0.0, "field fps: got 0.0, expected frames a second above 0"),
        ({"v": frames(3, 2)}, 1e300, "field fps: got 1e+300, expected frames a second above 0, 1,000,000 at most"),
        ({"v": frames(3, 2)}, float("nan"), "field fps: got nan, expected frames a second above 0"),
        ({"v": frames(3)}, 1.0, "field features: got shape (3,) for video 'v', expected (frames, numbers)"),
        ({"v": frames(0, 2)}, 1.0, "field features: got shape (0, 2) for video 'v', expected (frames, numbers)"),
        ({"v": frames(1, 2), "w": frames(1, 3)}, 1.0, "got shape (1, 3) for video 'w', expected (frames, 2)"),
    ],
)
def test_refused_features(by_video, fps, said):
    with pytest.raises(InputError) as caught:
        Features(by_video, fps)
    assert said in str(caught.value)


def test_features_as_a_mapping():
    features = Features({"v": frames(4, 2), "w": frames(3, 2)}, 2.0)
    assert (list(features), len(features), features.n_dimensions) == (["v", "w"], 2, 2)
    assert "v" in features
    assert "x" not in features
    with pytest.raises(InputError, match="there are no features of video 'x'"):
        features["x"]
    with pytest.raises(TypeError):
        features.by_video["x"] = frames(1, 2)
    assert Features({}, 1.0).n_dimensions == 0
    shuffled = dataclasses.replace(features, by_video={"v": features["v"][::-1]})
    assert (list(shuffled), shuffled.fps) == (["v"], 2.0)
