"""Changed features under the same names, to test whether a method uses the video.

===============  ===================================================================================================
original         the features themselves
shuffled         16 segments of equal length in another order (:data:`N_SEGMENTS`)
reversed         the last row first
frozen           the middle row throughout
other-video      the features of another video, resampled to as many rows
===============  ===================================================================================================

A method that finds moments must do worse on all but the first. Shuffling is the randomisation of Hidden Challenges
(Otani et al. 2020, section 4), which does not state the length of the segments. A sixteenth of the video is 2 s of
Charades-STA and 7 s of ActivityNet Captions on average, a quarter of the mean moment or less: moments are taken apart,
while events within a segment remain visible.

All draws depend on the seed and the video's id alone (:func:`~truemoment.media.features.shuffling.generator_of`);
`other-video` also depends on the other videos.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Floats
from truemoment.base.known_names import one_of_known
from truemoment.media.features.base import Frames
from truemoment.media.features.derived import DerivedFeatures
from truemoment.media.features.naming import bare_name
from truemoment.media.features.resampling import resample
from truemoment.media.features.shuffling import generator_of, shuffle_segments

CHANGES = ("original", "shuffled", "reversed", "frozen", "other-video")
"""Ways to change features, see the top of :mod:`truemoment.media.features.changed`."""

N_SEGMENTS = 16
"""Segments that a shuffled video is cut into; rows are never cut, so that a video of fewer has fewer."""


@dataclass(frozen=True, eq=False)
class ChangedFeatures(DerivedFeatures):
    """A FeatureStore with the videos of another one, changed; number and times of the rows stay.

    Parameters
    ----------
    store
        The original features.
    change
        One of :data:`CHANGES`.
    seed
        Seed of the draws, 0 or above.

    Examples
    --------
    >>> from truemoment.media.features import Features
    >>> store = Features({"v": np.arange(4, dtype=np.float32)[:, None]}, fps=1.0)
    >>> [ChangedFeatures(store, way)["v"].ravel().tolist() for way in ("reversed", "frozen")]
    [[3.0, 2.0, 1.0, 0.0], [2.0, 2.0, 2.0, 2.0]]
    """

    change: str
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse an unknown way of changing."""
        if self.change not in CHANGES:
            raise UsageError(
                f"unknown way {self.change!r} to change features, expected {one_of_known(self.change, CHANGES)}"
            )
        if self.seed < 0:
            raise UsageError(f"got seed {self.seed}, expected 0 or above")

    @property
    def name(self) -> str:
        """Name of the store, the way, and the seed of random changes."""
        if self.change == "original":
            return self.store.name
        drawn = f", seed={self.seed}" if self.change in ("shuffled", "other-video") else ""
        return f"{self.store.name} ({self.change}{drawn})"

    def __contains__(self, video_id: object) -> bool:
        return video_id in self.store

    def __iter__(self) -> Iterator[str]:
        return iter(self.store)

    def __len__(self) -> int:
        return len(self.store)

    def __getitem__(self, video_id: str) -> Frames:
        """Return the changed rows of a video, (T, D)."""
        rows = self.store[video_id]
        if self.change == "shuffled":
            segment_rows = -(-len(rows) // N_SEGMENTS)
            rng = generator_of(video_id, [self.seed])
            return np.asarray(rows[shuffle_segments(len(rows), rng, segment_rows=segment_rows)])
        if self.change == "reversed":
            return rows[::-1]
        if self.change == "frozen":
            return np.repeat(rows[len(rows) // 2][None], len(rows), axis=0)
        if self.change == "other-video":
            return resample(self.store[self.other_than(video_id)], len(rows))
        return rows

    def edges_s(self, video_id: str, duration_s: float) -> Floats:
        """Return the edges of the rows in seconds, (T + 1,), as in the original."""
        return self.store.edges_s(video_id, duration_s)

    def other_than(self, video_id: str) -> str:
        """Return the video that `other-video` shows instead, drawn evenly from the others."""
        own = self._places.get(bare_name(video_id), ())
        n_others = len(self._others) - len(own)
        if n_others < 1:
            raise InputError(f"there is no other video than {video_id!r}", field="features")
        drawn = int(generator_of(video_id, [self.seed]).integers(n_others))
        for place in own:  # rising: step over the video itself
            drawn += place <= drawn
        return self._others[drawn]

    @functools.cached_property
    def _others(self) -> tuple[str, ...]:
        return tuple(sorted(self.store))

    @functools.cached_property
    def _places(self) -> MappingProxyType[str, tuple[int, ...]]:
        """Places of each video in the sorted list, by its bare name: the same video may go by two names."""
        places: dict[str, tuple[int, ...]] = {}
        for place, video_id in enumerate(self._others):
            places[bare_name(video_id)] = (*places.get(bare_name(video_id), ()), place)
        return MappingProxyType(places)
