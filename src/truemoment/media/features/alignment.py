"""Check of features against annotations: videos that are missing, damaged, or of another length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.records import Annotations
from truemoment.media.features.base import FeatureStore, Frames
from truemoment.media.features.reading import fault_of_numbers

TOLERANCE_NORM = 0.05
"""The rows of a video may end so far from the end of the video, as a fraction of it."""

TOLERANCE_ROWS = 2
"""And in any case so many rows: features of windows of frames leave out the last ones."""

SHOWN = 5


@dataclass(frozen=True)
class FeatureAlignment:
    """How features and annotations fit.

    Parameters
    ----------
    features, annotations
        Name of the store, and dataset/split.
    video_ids
        Distinct videos of the annotations, in order.
    missing
        Videos without features.
    damaged
        Videos with unusable features, and why.
    off
        Videos whose rows end before or after the video, beyond the tolerance: end of the rows and duration, in seconds.
        Only if the store states its rows per second.
    zero_rows
        Number of rows of a video that are all 0, if any: features that were never computed look so.
    renamed
        Videos that the store has under a name with another prefix or suffix.
    n_rows
        Usable rows of all videos.
    implied_fps
        Median of rows by duration; NaN if no duration is known.
    fps
        Rows per second that the store states.
    """

    features: str
    annotations: str
    video_ids: tuple[str, ...]
    missing: tuple[str, ...]
    damaged: Mapping[str, str]
    off: Mapping[str, tuple[float, float]]
    zero_rows: Mapping[str, int]
    renamed: tuple[str, ...]
    n_rows: int
    implied_fps: float
    fps: float | None

    @property
    def usable(self) -> tuple[str, ...]:
        """Videos with usable features."""
        lost = {*self.missing, *self.damaged}
        return tuple(video_id for video_id in self.video_ids if video_id not in lost)

    @property
    def mostly_off(self) -> bool:
        """Whether more than half of the videos are `off`: the rows per second are wrong."""
        return len(self.off) > len(self.usable) / 2

    @property
    def complete(self) -> bool:
        """Whether every video has usable features, and the rows per second are right."""
        return not (self.missing or self.damaged or self.mostly_off)

    def require(self, *, skip_missing: bool = False) -> tuple[str, ...]:
        """Return the usable videos; refuse features that do not fit.

        Parameters
        ----------
        skip_missing
            Skip missing and damaged videos, unless none is left.
        """
        if self.missing and not skip_missing:
            problem = f"{self._part(len(self.missing))} have no features: {_some(self.missing)}"
            raise InputError(problem, path=self.features)
        if self.damaged and not skip_missing:
            first, why = next(iter(self.damaged.items()))
            more = "" if len(self.damaged) == 1 else f" (and {len(self.damaged) - 1} more)"
            problem = f"{self._part(len(self.damaged))} have damaged features: {first!r}: {why}{more}"
            raise InputError(problem, path=self.features)
        if not self.usable:
            raise InputError(f"{self._part(len(self.video_ids))} have no features", path=self.features)
        if self.mostly_off:
            raise InputError(
                f"the rows of {self._part(len(self.off))} end elsewhere than the video at {self.fps:g} rows a second",
                path=self.features,
                hint=f"by the durations there are about {self.implied_fps:.4g}",
            )
        return self.usable

    def _part(self, n: int) -> str:
        return f"{n:,} of {len(self.video_ids):,} videos of {self.annotations}"


def ends_elsewhere(
    store: FeatureStore, video_id: str, duration_s: float, tolerance_norm: float = TOLERANCE_NORM
) -> float | None:
    """Return the end of a video's rows in seconds if it differs from `duration_s`; None if it does not, or is unknown.

    Parameters
    ----------
    store
        The features.
    video_id, duration_s
        The video.
    tolerance_norm
        Accepted difference, as a fraction of the video; :data:`TOLERANCE_ROWS` are always accepted.

    Examples
    --------
    >>> from truemoment.media.features import Features
    >>> store = Features({"v": np.ones((60, 8), dtype=np.float32)}, fps=2.0)
    >>> [ends_elsewhere(store, "v", duration_s) for duration_s in (31.0, 40.0)]
    [None, 30.0]
    """
    if store.fps is None or not duration_s > 0:
        return None
    edges_s = store.edges_s(video_id, duration_s)
    allowed_s = max(tolerance_norm * duration_s, TOLERANCE_ROWS / store.fps)
    return None if abs(edges_s[-1] - duration_s) <= allowed_s else float(edges_s[-1])


def check(
    store: FeatureStore,
    annotations: Annotations,
    *,
    tolerance_norm: float = TOLERANCE_NORM,
    progress: Callable[[list[str]], Iterable[str]] = lambda ids: ids,
) -> FeatureAlignment:
    """Read the features of every video of the annotations and report how they fit.

    Parameters
    ----------
    tolerance_norm
        Accepted distance of the last row from the end of the video, as a fraction of it; two rows are always accepted.
    progress
        Wraps the list of videos, e.g. in a progress bar.

    Examples
    --------
    >>> from truemoment.media.features import Features
    >>> rows = [("a#0", "a", 30.0, "a door opens", 2.0, 5.0), ("b#0", "b", 20.0, "a dog runs", 0.0, 9.0)]
    >>> store = Features({"a": np.ones((60, 8), dtype=np.float32)}, fps=1.0)
    >>> alignment = check(store, Annotations.from_rows(rows))
    >>> alignment.missing, dict(alignment.off), alignment.implied_fps
    (('b',), {'a': (60.0, 30.0)}, 2.0)
    """
    queries = annotations.queries
    duration_s = {str(name): s for name, s in zip(queries.video_id, queries.duration_s.tolist(), strict=True)}
    missing: list[str] = []
    damaged: dict[str, str] = {}
    off: dict[str, tuple[float, float]] = {}
    n_rows, zero_rows = dict[str, int](), dict[str, int]()
    for video_id in progress(list(duration_s)):
        if video_id not in store:
            missing.append(video_id)
            continue
        try:
            rows = _usable_rows(store, video_id)
        except InputError as error:
            damaged[video_id] = error.problem
            continue
        n_rows[video_id] = len(rows)
        if zeros := int((~rows.any(axis=1)).sum()):
            zero_rows[video_id] = zeros
        if (end_s := ends_elsewhere(store, video_id, duration_s[video_id], tolerance_norm)) is not None:
            off[video_id] = end_s, duration_s[video_id]
    video_ids = {*store, *missing}
    rates = [n / duration_s[video_id] for video_id, n in n_rows.items() if duration_s[video_id] > 0]
    return FeatureAlignment(
        store.name,
        f"{annotations.dataset}/{annotations.split}",
        tuple(duration_s),
        tuple(missing),
        MappingProxyType(damaged),
        MappingProxyType(off),
        MappingProxyType(zero_rows),
        tuple(video_id for video_id in duration_s if video_id not in video_ids),
        sum(n_rows.values()),
        float(np.median(rates)) if rates else float("nan"),
        store.fps,
    )


def _usable_rows(store: FeatureStore, video_id: str) -> Frames:
    rows = store[video_id]
    if rows.ndim != 2 or len(rows) == 0 or rows.shape[1] != store.n_dimensions:
        raise InputError(f"got shape {rows.shape}, expected (rows, {store.n_dimensions})")
    if fault := fault_of_numbers(rows):
        raise InputError(fault)
    return rows


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
