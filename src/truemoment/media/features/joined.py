"""Features of several encoders for the same videos, joined row by row.

``slowfast,clip`` names two sources. Row i of a video is row i of the first followed by row i of the second: the order
counts, and is part of the name. All sources have one clock. Encoders drop the last frames of a video by different
rules, so that one has 75 rows where the other has 74: a video is cut to its shortest source, and nothing is resampled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats
from truemoment.media.features.base import FeatureStore, Frames
from truemoment.report.words import counted

SEPARATOR = ","
"""Between the sources in the text that names them."""

MOST_ROWS_APART = 2
"""Difference between the numbers of rows of two sources of a video beyond which their clocks differ."""


@dataclass(frozen=True, eq=False)
class JoinedFeatures:
    """A FeatureStore whose rows are those of several stores, side by side.

    Its videos are those of all stores. A video that only some of them have is known, and reading it names the store
    without it.

    Parameters
    ----------
    stores
        Two or more, in the order of the numbers of a row; `fps` is the same in all.

    Examples
    --------
    >>> from truemoment.media.features import Features
    >>> motion = Features({"v": np.ones((75, 3), dtype=np.float32)}, fps=0.5, name="motion")
    >>> pictures = Features({"v": np.zeros((74, 2), dtype=np.float32)}, fps=0.5, name="pictures")
    >>> joined = JoinedFeatures((motion, pictures))
    >>> joined.name, joined["v"].shape, joined.source_widths
    ('motion,pictures', (74, 5), (3, 2))
    """

    stores: tuple[FeatureStore, ...]

    def __post_init__(self) -> None:
        """Refuse sources of different clocks."""
        first = self.stores[0]
        for other in self.stores[1:]:
            if other.fps != first.fps:
                clocks = f"{_clock(other)}, expected {_clock(first)} as in {first.name}"
                hint = "give the rows per second of all sources by --fps"
                raise InputError(f"has {clocks}", path=other.name, hint=hint)

    @property
    def name(self) -> str:
        """Names of the stores, in order."""
        return SEPARATOR.join(store.name for store in self.stores)

    @property
    def n_dimensions(self) -> int:
        """D, dimensions of a row."""
        return sum(self.source_widths)

    @property
    def source_widths(self) -> tuple[int, ...]:
        """Numbers of a row that are of each source, in order."""
        return tuple(width for store in self.stores for width in source_widths(store))

    @property
    def fps(self) -> float | None:
        """Rows per second; None if the rows cover each video evenly."""
        return self.stores[0].fps

    @property
    def caution(self) -> str:
        """What a reader of results has to know of the stores; "" for nothing."""
        return "; ".join(caution for store in self.stores if (caution := getattr(store, "caution", "")))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the stores, and on videos that only some have."""
        notes = [f"{store.name}: {note}" for store in self.stores for note in getattr(store, "notes", ())]
        more = [(store.name, len(store) - len(self)) for store in self.stores]
        alone = [f"{name}: {counted(n, 'video')} left out, which another source does not have" for name, n in more if n]
        return (*notes, *alone)

    def __contains__(self, video_id: object) -> bool:
        return any(video_id in store for store in self.stores)

    def __iter__(self) -> Iterator[str]:
        first, *others = self.stores
        return (video_id for video_id in first if all(video_id in store for store in others))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, video_id: str) -> Frames:
        """Return the rows of a video, (T, D)."""
        self._refuse_missing(video_id)
        rows = [store[video_id] for store in self.stores]
        n_rows = self._common([len(part) for part in rows], video_id)
        return np.concatenate([part[:n_rows] for part in rows], axis=1)

    def edges_s(self, video_id: str, duration_s: float) -> Floats:
        """Return the edges of the rows in seconds, (T + 1,)."""
        self._refuse_missing(video_id)
        edges_s = [store.edges_s(video_id, duration_s) for store in self.stores]
        self._common([len(edges) - 1 for edges in edges_s], video_id)
        return min(edges_s, key=len)

    def _refuse_missing(self, video_id: str) -> None:
        if without := [store.name for store in self.stores if video_id not in store]:
            raise InputError(f"there are no features of video {video_id!r} in {' and '.join(without)}", path=self.name)

    def _common(self, lengths: list[int], video_id: str) -> int:
        """Return the number of rows that all sources of a video have."""
        if max(lengths) - min(lengths) > MOST_ROWS_APART:
            rows = " and ".join(f"{n_rows:,}" for n_rows in lengths)
            problem = f"has {rows} rows in these sources, expected a difference of {MOST_ROWS_APART} at most"
            raise InputError(problem, path=self.name, field=video_id)
        return min(lengths)


def _clock(store: FeatureStore) -> str:
    return "rows that cover each video evenly" if store.fps is None else f"{store.fps:g} rows per second"


def source_widths(store: FeatureStore) -> tuple[int, ...]:
    """Return the numbers of a row that are of each source of a store, in order; a single source has all of them."""
    widths: tuple[int, ...] | None = getattr(store, "source_widths", None)
    return widths or (store.n_dimensions,)
