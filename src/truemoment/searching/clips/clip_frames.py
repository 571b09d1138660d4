"""The frames of each clip, from features of films or of the clips themselves, and their mean.

Features that know a clip by its own name (:func:`~truemoment.searching.clips.clips.clip_name`) are of that clip alone;
else the clip is the rows of its video from its start to its end. Frames are thinned to one a second, then to at most so
many, evenly from the first to the last (CLIP4Clip, Luo et al. 2021).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.intervals import Ints
from truemoment.media.features.base import FeatureStore, Frames
from truemoment.searching.clips.clips import Clips
from truemoment.searching.unit_vectors import unit

MOST_FRAMES = 12

FRAMES_A_SECOND = 1.0


@runtime_checkable
class RowReader(Protocol):
    """Features that are read row by row, because a whole video would not fit into memory."""

    def some_rows(self, video_id: str, numbers: Ints) -> Frames:
        """Return some rows of a video, (len(numbers), D)."""
        ...


class ClipFrames(NamedTuple):
    """Frames of a clip: its row, the frames (F, D), and whether it is shorter than a frame, whose nearest it has."""

    clip: int
    frames: Frames
    is_short: bool


def thin_rows(first: int, stop: int, fps: float, most: int = MOST_FRAMES) -> Ints:
    """Return rows of ``[first, stop)`` thinned to one a second, and to `most`, evenly from first to last.

    Examples
    --------
    >>> thin_rows(0, 20, fps=5.0).tolist()  # 4 s
    [0, 5, 10, 15]
    >>> len(thin_rows(0, 1000, fps=5.0))
    12
    """
    step = max(1, round(fps / FRAMES_A_SECOND))
    rows = np.arange(first, max(stop, first + 1), step)
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]
    return rows


def each_clip(
    store: FeatureStore,
    clips: Clips,
    most: int = MOST_FRAMES,
    track: Callable[[list[str]], Iterable[str]] = list,
) -> Iterator[ClipFrames]:
    """Yield the frames of each clip, video by video.

    Parameters
    ----------
    most
        Largest number of frames.
    track
        Goes through the videos, e.g. under a progress bar.

    Raises
    ------
    InputError
        If a video has no features.
    """
    clips_in = clips_by_name(store, clips)
    for name in track(list(clips_in)):
        whole = None if isinstance(store, RowReader) else store[name]
        for clip in clips_in[name]:
            numbers, is_short = rows_of_clip(store, clips, clip, name, most)
            frames = store.some_rows(name, numbers) if isinstance(store, RowReader) else np.asarray(whole)[numbers]
            yield ClipFrames(clip, frames, is_short)


def clips_by_name(store: FeatureStore, clips: Clips) -> dict[str, list[int]]:
    """Return the clips of each video of the features, by the name that the features know: clips, or whole videos."""
    clips_in: dict[str, list[int]] = {}
    for row, (clip_id, video_id) in enumerate(zip(clips.clip_id.tolist(), clips.video_id.tolist(), strict=True)):
        clips_in.setdefault(clip_id if clip_id in store else video_id, []).append(row)
    if missing := [name for name in clips_in if name not in store]:
        raise InputError(
            f"{store.name}: {len(missing):,} of {len(clips_in):,} videos have no features, e.g. {missing[0]!r}"
        )
    return clips_in


def rows_of_clip(store: FeatureStore, clips: Clips, clip: int, name: str, most: int) -> tuple[Ints, bool]:
    """Return the thinned rows of a clip in the features called `name`, and whether it is shorter than a frame."""
    is_whole = name == clips.clip_id[clip]
    length_s = float(clips.end_s[clip] - clips.start_s[clip])
    edges = store.edges_s(name, length_s if is_whole else float(clips.duration_s[clip]))
    n_rows = len(edges) - 1
    first, stop = 0, n_rows
    if not is_whole:
        first, stop = np.searchsorted(edges[:-1], [clips.start_s[clip], clips.end_s[clip]], side="left").tolist()
    is_short = stop <= first
    first = min(max(first - 1, 0) if is_short else first, n_rows - 1)
    return thin_rows(first, min(stop, n_rows), n_rows / float(edges[-1] - edges[0]), most), is_short


def pooled_clips(
    store: FeatureStore, clips: Clips, track: Callable[[list[str]], Iterable[str]] = list
) -> tuple[Frames, int]:
    """Return the vector of each clip, (N, D), and the number of clips shorter than a frame.

    A vector is the mean of the frames, which have length 1 before it, and has length 1 after it: CLIP4Clip's mean
    pooling (Luo et al. 2021).

    Parameters
    ----------
    track
        Goes through the videos, e.g. under a progress bar.

    Raises
    ------
    InputError
        If a video has no features.
    """
    pooled = np.zeros((len(clips), store.n_dimensions), dtype=np.float32)
    n_short = 0
    for clip, frames, is_short in each_clip(store, clips, track=track):
        pooled[clip] = unit(frames).mean(axis=0)
        n_short += is_short
    return unit(pooled), n_short
