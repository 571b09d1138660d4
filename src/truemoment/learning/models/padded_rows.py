"""Videos with their own number of rows in one tensor: NaN follows the last row of each."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from truemoment.media.features.base import Frames
from truemoment.media.features.resampling import resample


def pad_rows(rows: Frames, n_rows: int) -> Frames:
    """Return rows (n, D) as (T, D) with NaN after the last row; more than T rows are resampled to T.

    Examples
    --------
    >>> pad_rows(np.array([[1.0], [2.0]]), 3).ravel()
    array([ 1.,  2., nan], dtype=float32)
    """
    if len(rows) > n_rows:
        return resample(rows, n_rows)
    if len(rows) == n_rows:
        return np.asarray(rows, dtype=np.float32)
    padded = np.full((n_rows, rows.shape[1]), np.nan, dtype=np.float32)
    padded[: len(rows)] = rows
    return padded


def row_counts(video: Tensor) -> Tensor:
    """Return the number of real rows of videos (B, T, D), (B,)."""
    return (~torch.isnan(video[..., 0])).sum(dim=1)


def real_rows(video: Tensor) -> tuple[Tensor, Tensor]:
    """Return videos (B, T, D) with 0 in place of NaN, and the number of real rows of each, (B,)."""
    return torch.nan_to_num(video), row_counts(video)
