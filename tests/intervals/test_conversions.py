"""Frames, inclusive segments and fractions of the duration."""

from __future__ import annotations

import numpy as np

from truemoment.base.intervals import frames_to_seconds, seconds_to_norm, segments_to_seconds


def test_frames_to_seconds():
    # By hand, TACoS' rate: 29.4 frames a second, so frame 294 is second 10.
    assert frames_to_seconds([0, 294], 29.4).tolist() == [0.0, 10.0]
    assert frames_to_seconds([30, 30], [30, 15]).tolist() == [1.0, 2.0]  # a rate each


def test_segments_are_inclusive():
    # DiDeMo: segments of 5 s from 0; [1, 1] is 5 to 10 s, [0, 5] is 0 to 30 s.
    start, end = segments_to_seconds([1, 0], [1, 5], 5.0)
    assert start.tolist() == [5.0, 0.0]
    assert end.tolist() == [10.0, 30.0]


def test_seconds_to_norm():
    # By hand: 5 of 20 s and 30 of 40 s; a time past the end is more than 1.
    value = seconds_to_norm(np.array([5.0, 30.0, 50.0]), np.array([20.0, 40.0, 40.0]))
    assert value.tolist() == [0.25, 0.75, 1.25]
    assert seconds_to_norm(np.array([[5.0, 10.0]]), np.array([[20.0]])).tolist() == [[0.25, 0.5]]
