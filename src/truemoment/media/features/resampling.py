"""Videos as rows: the rules of 2D-TAN and of VLG-Net, and rows on a clock."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.media.features.base import Frames


def row_bounds(n: int, n_rows: int) -> Ints:
    r"""Return where each resampled row begins among `n` rows, and the last one ends, (T + 1,).

    .. math:: b_k = \min(\mathrm{round}(k\, n / T),\; n - 1), \qquad k = 0, \ldots, T

    Halves round to even.

    Examples
    --------
    >>> row_bounds(10, 4), row_bounds(2, 4)
    (array([0, 2, 5, 8, 9]), array([0, 0, 1, 1, 1]))
    """
    if n < 1:
        raise InputError("got a video without a row of features, expected 1 or more")
    if n_rows < 1:
        raise UsageError(f"got {n_rows} rows to resample to, expected 1 or more")
    return np.minimum(np.rint(np.arange(n_rows + 1) * n / n_rows).astype(np.int64), n - 1)


def resample(rows: Frames, n_rows: int) -> Frames:
    """Resample rows (n, D) to `n_rows` rows (T, D), as 2D-TAN does.

    Row k is the mean of the rows :math:`b_k` to :math:`b_{k+1} - 1` (:func:`row_bounds`), or row :math:`b_k` if there
    is none: short videos repeat rows and long ones are averaged. As in the authors' code bounds are clipped to n - 1,
    so the last row counts only if a resampled row begins on it.

    Examples
    --------
    >>> resample(np.arange(8, dtype=np.float32)[:, None], 4).ravel()
    array([0.5, 2.5, 4.5, 6. ], dtype=float32)
    """
    rows = np.asarray(rows, dtype=np.float32)
    bounds = row_bounds(len(rows), n_rows)
    resampled = rows[bounds[:-1]]
    for k in np.flatnonzero(np.diff(bounds) > 1).tolist():  # a sum a row: gathering all at once moves more memory
        resampled[k] = rows[bounds[k] : bounds[k + 1]].mean(axis=0)
    return resampled


def interpolate(rows: Frames, n_rows: int) -> Frames:
    r"""Interpolate rows (n, D) linearly at `n_rows` evenly spaced times (T, D), as VLG-Net does.

    Row k is taken at :math:`(k + 1/2)\, n / T - 1/2`, the middle of the k-th part of the video, between the first and
    the last row. At most two rows count for each: long videos are sampled and not averaged.

    Examples
    --------
    >>> interpolate(np.arange(8, dtype=np.float32)[:, None], 4).ravel()
    array([0.5, 2.5, 4.5, 6.5], dtype=float32)
    """
    rows = np.asarray(rows, dtype=np.float32)
    if len(rows) < 1:
        raise InputError("got a video without a row of features, expected 1 or more")
    at = np.clip((np.arange(n_rows) + 0.5) * len(rows) / n_rows - 0.5, 0, len(rows) - 1)
    before = at.astype(np.int64)
    share = (at - before).astype(np.float32)[:, None]
    return np.asarray(rows[before] * (1 - share) + rows[np.minimum(before + 1, len(rows) - 1)] * share)


def rows_on_clock(rows: Frames, edges_s: Floats, cells_s: Floats) -> Frames:
    """Return the mean of the rows that are centred in each cell of a clock, or the row nearest to its middle; (T, D).

    Parameters
    ----------
    rows : (n, D)
    edges_s : (n + 1,)
        Edges of the rows in seconds.
    cells_s : (T + 1,)
        Edges of the cells in seconds.

    Examples
    --------
    >>> rows = np.arange(4, dtype=np.float32)[:, None]
    >>> rows_on_clock(rows, np.array([0.0, 1.0, 2.0, 3.0, 4.0]), np.array([0.0, 2.0, 2.4, 6.0])).ravel()
    array([0.5, 2. , 2.5], dtype=float32)
    """
    centre_s, middle_s = (edges_s[:-1] + edges_s[1:]) / 2, (cells_s[:-1] + cells_s[1:]) / 2
    bounds = np.searchsorted(centre_s, cells_s)
    behind = np.searchsorted(centre_s, middle_s)
    after, before = np.minimum(behind, len(centre_s) - 1), np.maximum(behind - 1, 0)
    resampled = rows[np.where(centre_s[after] - middle_s < middle_s - centre_s[before], after, before)]
    for at in np.flatnonzero(np.diff(bounds) > 1).tolist():
        resampled[at] = rows[bounds[at] : bounds[at + 1]].mean(axis=0)
    return resampled


LEAST_NORM = 1e-12
"""Rows shorter than this are divided by it, not by their length."""


def normalise(rows: Frames) -> Frames:
    """Divide each row (n, D) by its Euclidean length, as 2D-TAN does before resampling; rows of zeros stay.

    Examples
    --------
    >>> normalise(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32))
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """
    rows = np.asarray(rows, dtype=np.float32)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(LEAST_NORM)))


PUBLISHED_EPSILON = 1e-5
"""What the code of Moment-DETR and QD-DETR adds to the length of a row (l2_normalize_np_array of both)."""


def normalise_each(rows: Frames, widths: Sequence[int]) -> Frames:
    """Divide the numbers of each source in each row (n, D) by their Euclidean length + 1e-5, as Moment-DETR does.

    Parameters
    ----------
    rows : (n, D)
    widths
        Numbers of a row that are of each source; their sum is D.

    Examples
    --------
    >>> normalise_each(np.array([[3.0, 4.0, 2.0]], dtype=np.float32), (2, 1)).round(4)
    array([[0.6, 0.8, 1. ]], dtype=float32)
    """
    rows = np.asarray(rows, dtype=np.float32)
    normalised = np.empty_like(rows)
    for width, end in zip(widths, np.cumsum(widths).tolist(), strict=True):
        part = rows[:, end - width : end]
        length = np.sqrt(np.einsum("nd,nd->n", part, part)) + np.float32(PUBLISHED_EPSILON)
        np.divide(part, length[:, None], out=normalised[:, end - width : end])
    return normalised
