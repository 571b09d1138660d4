"""Scores with given per-query statistics, and two systems on videos whose queries depend on each other."""

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
    )


@pytest.fixture(scope="session")
def made_scores():
    """Give the maker of scores: made_scores(video_id, numerator, weight, measures)."""
    return make_scores


@pytest.fixture(scope="session")
def two_systems():
    """Give a maker of two systems' scores on videos of three queries each.

    The difference on a query is `shift` + a draw of its video + a draw of its own, both of standard deviation 0.1, so
    a figure's difference has the standard error sqrt((0.01 + 0.01 / 3) / V) and the expectation `shift`.
    """

    def make(rng: np.random.Generator, n_videos: int, shift: float):
        video = np.repeat(np.arange(n_videos), 3)
        common = rng.normal(0.5, 0.3, len(video))
        difference = shift + rng.normal(0, 0.1, n_videos)[video] + rng.normal(0, 0.1, len(video))
        names = [f"v{v}" for v in video]
        return make_scores(names, common + difference), make_scores(names, common)

    return make
