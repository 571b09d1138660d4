"""Scores with given per-query statistics."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment import Scores, get_protocol, parse_measures


def make_scores(video_id, numerator, weight=None, measures="mIoU"):
    """Scores with given per-query statistics, of shape (Q,) or (M, Q)."""
    numerator = np.atleast_2d(np.array(numerator, float))
    weight = np.ones_like(numerator) if weight is None else np.atleast_2d(np.array(weight, float))
    parsed = parse_measures(measures)
    return Scores(
        measures=parsed,
        protocol=get_protocol("default"),
        query_id=np.array([f"q{i}" for i in range(len(video_id))], dtype=object),
        video_id=np.array(video_id, dtype=object),
        numerator=numerator,
        weight=weight,
        on_threshold=np.full(len(parsed), -1),
        dataset="made",
        split="test",
    )


@pytest.fixture(scope="session")
def made_scores():
    """Give the maker of scores: made_scores(video_id, numerator, weight, measures)."""
    return make_scores
