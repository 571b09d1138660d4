"""Predictions and annotations of any size for the benchmarks, the same for the same seed."""

from __future__ import annotations

import numpy as np

from truemoment.base.records import Annotations, Predictions, as_strings


def film_world(
    n_queries: int, n_answers: int, *, n_videos: int = 112, seed: int = 0
) -> tuple[Annotations, Predictions]:
    """One reference a query in films of about 110 minutes, `n_answers` ranked moments of some seconds each."""
    rng = np.random.default_rng(seed)
    video = np.sort(rng.integers(0, n_videos, n_queries))
    duration_s = np.round(rng.uniform(5400, 7800, n_videos), 2)[video]
    start_s = np.round(rng.uniform(0, duration_s - 30), 2)
    end_s = np.round(start_s + rng.exponential(4.0, n_queries) + 0.5, 2)
    ids = np.array([f"q{row}" for row in range(n_queries)], dtype=object)
    videos = np.array([f"film{row:04d}" for row in video], dtype=object)
    sentences = np.array([f"someone does thing number {row}" for row in range(n_queries)], dtype=object)
    names = np.array([""] * n_queries, dtype=object)
    annotations = Annotations(ids, videos, duration_s, sentences, start_s, end_s, names, "films", "test")
    near = rng.random((n_queries, n_answers)) < 0.1
    offset = np.where(near, rng.normal(0, 3, near.shape), rng.uniform(-3000, 3000, near.shape))
    first = np.round(np.clip(start_s[:, None] + offset, 0, None), 2)
    last = np.round(first + rng.exponential(6.0, near.shape) + 0.4, 2)
    score = -np.sort(-np.round(rng.random(near.shape), 4), axis=1)
    offsets = np.arange(n_queries + 1, dtype=np.int64) * n_answers
    predictions = Predictions(as_strings(ids, "query_id"), offsets, first.ravel(), last.ravel(), score.ravel(), "films")
    return annotations, predictions
