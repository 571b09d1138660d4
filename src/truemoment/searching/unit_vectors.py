"""Vectors of length 1, whose products are cosines."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from truemoment.media.features.base import Frames


def unit(rows: npt.NDArray[Any]) -> Frames:
    """Return rows (R, D) of length 1; rows of zeros stay.

    Examples
    --------
    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1), dtype=np.float32)
