"""Shared parts of baselines: locations as shares of the video, and predictions from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from truemoment.base.density import Density
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import TIE, Bools, Floats, Ints, first_kept, seconds_to_norm, suppress
from truemoment.base.records import Annotations, Predictions, Queries, Strings, numbers_of

NMS_THRESHOLD = 0.45
"""NMS threshold of predictions (blind baselines of Hidden Challenges)."""


def locations(annotations: Annotations) -> tuple[Floats, Ints]:
    """Return reference moments as shares of their videos, clipped to [0, 1], (N, 2), and their rows of the annotations.

    Rows without a duration or a moment, and moments outside the video, are left out.
    """
    has_duration = annotations.duration_s > 0
    duration_s = np.where(has_duration, annotations.duration_s, 1.0)
    start, end = (np.clip(seconds_to_norm(t, duration_s), 0, 1) for t in (annotations.start_s, annotations.end_s))
    row = np.flatnonzero(has_duration & (end > start))
    if len(row) == 0:
        raise InputError(
            f"{annotations.dataset}/{annotations.split}: no moment within a video of known duration to learn from"
        )
    return np.stack([start[row], end[row]], axis=1), row


def fit_density(points: Floats, train: Annotations, *, bandwidth: float | None = None) -> Density:
    """Fit a density to locations of `train`, (N, 2)."""
    try:
        return Density.fit(points, bandwidth=bandwidth)
    except InputError as error:
        raise InputError(
            f"{train.dataset}/{train.split}: {error}; a density needs moments of several starts and ends"
        ) from None


def deal_folds(video_id: Strings, n_folds: int, rng: np.random.Generator) -> Ints:
    """Distribute whole videos over folds of equal size; return the fold of each row, (N,)."""
    video = numbers_of(video_id)
    n_videos = int(video.max(initial=-1)) + 1
    return np.asarray((rng.permutation(n_videos) % n_folds)[video])


class LearnsNothing:
    """A baseline that has nothing to fit."""

    def fit(self, train: Annotations, val: Annotations | None = None) -> Self:
        """Return itself."""
        del train, val
        return self


def require_durations(queries: Queries, name: str) -> None:
    """Refuse a query whose video has no known duration."""
    unknown = queries.query_id[~(queries.duration_s > 0)]
    if len(unknown):
        raise InputError(
            f"{name} needs every video's duration, and that of query {unknown[0]!r} is not known",
            hint="give durations: --durations FILE or --videos DIR",
        )


def answers(
    queries: Queries, start_norm: Floats, end_norm: Floats, score: Floats, keep: Bools, *, top: int, name: str
) -> Predictions:
    """Return the first `top` ranked shares of the video that are marked in `keep`, as predictions.

    Starts, ends, scores and mask broadcast to (Q, K), best first.
    """
    require_durations(queries, name)
    shape = np.broadcast_shapes((len(queries), 1), start_norm.shape, keep.shape)
    kept_cells = np.broadcast_to(keep & (np.cumsum(keep, axis=-1) <= top), shape)
    scale = np.broadcast_to(queries.duration_s[:, None], shape)[kept_cells]
    start, end, score = (np.broadcast_to(column, shape)[kept_cells] for column in (start_norm, end_norm, score))
    offsets = np.concatenate([[0], np.cumsum(kept_cells.sum(axis=1))])
    return Predictions(queries.query_id, offsets, start * scale, end * scale, score, name=name)


def ranked_answers(
    queries: Queries, start_norm: Floats, end_norm: Floats, score: Floats, *, top: int, name: str
) -> Predictions:
    """Return the first `top` of K moments per query by score, (Q, K), without empty ones and near-duplicates."""
    empty = end_norm <= start_norm
    order = np.lexsort((-score, empty))  # along the last axis, stable; empty ones after the others
    start, end, score = (np.take_along_axis(table, order, axis=1) for table in (start_norm, end_norm, score))
    keep = first_kept(start, end, (~empty).sum(axis=1), threshold=NMS_THRESHOLD, top=top)
    return answers(queries, start, end, score, keep, top=top, name=name)


def grid_of_moments(step_norm: float) -> Floats:
    """Return all moments whose ends are multiples of `step_norm`, shape (C, 2): 210 for a step of 5 %.

    Examples
    --------
    >>> len(grid_of_moments(0.05))
    210
    """
    if not 0.01 <= step_norm <= 1:
        raise UsageError(f"got a grid of {step_norm:g} of the video, expected 0.01 to 1")
    n = round(1 / step_norm)
    if abs(n * step_norm - 1) > 1e-9:
        raise UsageError(f"got a grid of {step_norm:g} of the video, expected a step that divides it, e.g. {1 / n:g}")
    ends = np.linspace(0, 1, n + 1)
    first, last = np.triu_indices(n + 1, k=1)
    return np.stack([ends[first], ends[last]], axis=1)


def rank_constants(moments: Floats, score: Floats) -> Floats:
    """Rank constant predictions (C, 2) by score (C,), ties in the given order, without near-duplicates (NMS at 0.45).

    A score of NaN is the lowest. Returns start, end and score, (K, 3), best first.
    """
    return np.asarray(rank_rows_of_constants(moments, score[None])[0])


def rank_rows_of_constants(moments: Floats, score: Floats) -> Floats:
    """Rank constants as :func:`rank_constants` by each row of scores (R, C): (R, K, 3), padded with NaN."""
    order = np.argsort(-np.nan_to_num(score, nan=-np.inf), axis=1, kind="stable")
    start, end = moments[order].transpose(2, 0, 1)
    keep = suppress(start, end, np.full(len(order), len(moments)), threshold=NMS_THRESHOLD + TIE)
    value = np.take_along_axis(np.nan_to_num(score, nan=0.0), order, axis=1)
    ranked = np.stack([start, end, value], axis=-1)
    return padded_constants([row[mask] for row, mask in zip(ranked, keep, strict=True)])


def constant_answers(queries: Queries, ranked: Floats | None, *, top: int, name: str) -> Predictions:
    """Return the first `top` ranked constants, (K, 3) of :func:`rank_constants`, as predictions of every query."""
    if ranked is None:
        raise UsageError(f"{name} has to be fitted first")
    start, end, score = ranked.T[:, None]
    return answers(queries, start, end, score, np.ones_like(start, dtype=bool), top=top, name=name)


def padded_constants(tables: Sequence[Floats]) -> Floats:
    """Stack ranked constants (K_i, 3) to (R, K, 3), padded with NaN."""
    padded = np.full((len(tables), max(len(table) for table in tables), 3), np.nan)
    for row, table in zip(padded, tables, strict=True):
        row[: len(table)] = table
    return padded


def answers_by_row(queries: Queries, ranked: Floats, row: Ints, *, top: int, name: str) -> Predictions:
    """Answer each query with the first `top` constants of its row, (Q,), of :func:`padded_constants`."""
    start, end, score = np.moveaxis(ranked[row, :top], -1, 0)
    return answers(queries, start, end, score, ~np.isnan(start), top=top, name=name)
