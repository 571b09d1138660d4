"""Rows of features in another order, for the randomised-video check (Hidden Challenges, section 4)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Ints


def shuffle_segments(n_rows: int, rng: np.random.Generator, *, segment_rows: int) -> Ints:
    """Draw an order of rows that moves whole segments; every order of the segments but the original is equally likely.

    Parameters
    ----------
    n_rows
        Rows of a video, 0 or more.
    rng
        Random generator.
    segment_rows
        Rows per segment, 1 or more; the last segment may be shorter.

    Returns
    -------
    int array, shape (n_rows,)
        ``features[order]`` is the shuffled video. A single segment keeps its order.

    Examples
    --------
    >>> shuffle_segments(5, np.random.default_rng(0), segment_rows=3)  # of two segments there is one other order
    array([3, 4, 0, 1, 2])
    """
    if n_rows < 0 or segment_rows < 1:
        raise UsageError(f"got {n_rows} rows and {segment_rows} a segment, expected 0 or more and 1 or more")
    segment = np.arange(n_rows) // segment_rows
    n_segments = -(-n_rows // segment_rows)
    place = rng.permutation(n_segments)
    while n_segments > 1 and np.array_equal(place, np.arange(n_segments)):
        place = rng.permutation(n_segments)
    return np.argsort(place[segment], kind="stable").astype(np.int64)


def shuffle_features(
    features: Mapping[str, npt.NDArray[Any]], rng: np.random.Generator, *, segment_rows: int
) -> dict[str, npt.NDArray[Any]]:
    """Return features by video with the segments of each video shuffled.

    The order of a video depends on its id and on two numbers drawn from `rng` (:func:`generator_of`), not on the other
    videos.

    Parameters
    ----------
    features
        Features (T, ...) by video id.
    rng
        Random generator.
    segment_rows
        Rows per segment, 1 or more.

    Examples
    --------
    >>> video = np.arange(6).reshape(6, 1)
    >>> shuffle_features({"v": video}, np.random.default_rng(0), segment_rows=4)["v"].ravel()
    array([4, 5, 0, 1, 2, 3])
    """
    seed = rng.integers(2**63, size=2).tolist()
    return {
        video_id: table[shuffle_segments(len(table), generator_of(video_id, seed), segment_rows=segment_rows)]
        for video_id, table in features.items()
    }


def generator_of(video_id: str, seed: Sequence[int]) -> np.random.Generator:
    """Return the generator of one video, seeded by `seed` and the first 16 bytes of the SHA-256 of its id."""
    digest = hashlib.sha256(video_id.encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng([*seed, int.from_bytes(digest[:16])])
