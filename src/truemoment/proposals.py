"""Candidate moments, as arithmetic on indices.

A scheme says which moments of a video may be answered at all. It is a small frozen value that knows how many
proposals a video of a duration has, and gives any of them by number, so that nothing is laid out before it is needed.

==================  ==============================================================================
SlidingWindows      windows of some lengths, each moved by a share of its length
SparseMap           2D-TAN's sparse temporal map on N clips that cover the video
WindowedGrid        windows of a long video, each with a sparse grid (VLG-Net, and CLIP in MAD)
==================  ==============================================================================
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from truemoment.exceptions import UsageError
from truemoment.intervals import Floats, Ints, frames_to_seconds


class Proposals(Protocol):
    """A proposal scheme."""

    def count(self, duration_s: Floats) -> Ints:
        """How many proposals videos of these durations have, shape (V,)."""
        ...

    def moments(self, duration_s: float, number: Ints | None = None) -> tuple[Floats, Floats]:
        """Start and end in seconds of the proposals of a video, all (P,) or those of these numbers (K,) from 0."""
        ...


@dataclass(frozen=True)
class SlidingWindows:
    """Windows of stated lengths that slide over the video.

    Parameters
    ----------
    lengths
        Lengths of the windows, each a share of the video in (0, 1].
    overlap
        Share of a window that the next one covers again, 0 to below 1.

    Raises
    ------
    UsageError
        If a length or the overlap is out of range.

    Examples
    --------
    >>> start, end = SlidingWindows(lengths=(0.5, 1.0), overlap=0.5).moments(20.0)
    >>> start.tolist(), end.tolist()
    ([0.0, 5.0, 10.0, 0.0], [10.0, 15.0, 20.0, 20.0])
    """

    lengths: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    overlap: float = 0.5

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        if not self.lengths or not all(0 < length <= 1 for length in self.lengths):
            raise UsageError(f"got window lengths {self.lengths}, expected shares of the video, above 0 up to 1")
        if not 0 <= self.overlap < 1:
            raise UsageError(f"got overlap {self.overlap}, expected 0 to below 1")

    @functools.cached_property
    def _moments_norm(self) -> tuple[Floats, Floats]:
        starts = [np.arange(0, 1 - n + 1e-9, n * (1 - self.overlap)) for n in self.lengths]
        lengths = np.repeat(self.lengths, [len(of_length) for of_length in starts])
        start = np.concatenate(starts)
        return start, np.minimum(start + lengths, 1.0)

    def count(self, duration_s: Floats) -> Ints:
        """The same number for every video."""
        return np.full(np.shape(duration_s), len(self._moments_norm[0]), dtype=np.int64)

    def moments(self, duration_s: float, number: Ints | None = None) -> tuple[Floats, Floats]:
        """Window by window of the first length, then of the next."""
        start, end = self._moments_norm if number is None else (column[number] for column in self._moments_norm)
        return start * duration_s, end * duration_s


@dataclass(frozen=True)
class SparseMap:
    r"""2D-TAN's sparse temporal map: cells (a, b) of clips a..b inclusive, of N clips that cover the video.

    A cell counts if, with :math:`k = \max(1, \lceil \log_2 ((b - a + 1) / 8) \rceil)`, a is a multiple of
    :math:`s = 2^{k-1}` and b - s' is one too, :math:`s' = 0` for k = 1, else :math:`2^{k+2} - 1` (Zhang et al. 2020,
    2D-TAN, section 3.2): all short moments, and longer ones ever more coarsely. 136 of 136 cells at N = 16, 1,104 of
    2,080 at N = 64, 2,548 of 8,256 at N = 128. The whole video is a cell at N up to 16 and at 16 times a power of two.

    Parameters
    ----------
    n_clips
        N, 1 or more.

    Raises
    ------
    UsageError
        If there is no clip.

    Examples
    --------
    >>> import numpy as np
    >>> [int(SparseMap(n).count(np.array(30.0))) for n in (16, 64, 128)]
    [136, 1104, 2548]
    """

    n_clips: int = 16

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        if self.n_clips < 1:
            raise UsageError(f"got {self.n_clips} clips, expected 1 or more")
        if self.n_clips > 4096:
            raise UsageError(f"got {self.n_clips} clips, expected 4096 or less")

    @functools.cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """First and last clip of each cell, by rows of the map; shapes (P,)."""
        first, last = np.triu_indices(self.n_clips)
        scale = np.maximum(1, np.ceil(np.log2((last - first + 1) / 8))).astype(np.int64)
        step = 2 ** (scale - 1)
        shift = np.where(scale == 1, 0, 2 ** (scale + 2) - 1)
        counts = (first % step == 0) & ((last - shift) % step == 0)
        return first[counts].astype(np.int64), last[counts].astype(np.int64)

    def count(self, duration_s: Floats) -> Ints:
        """The same number for every video."""
        return np.full(np.shape(duration_s), len(self.cells[0]), dtype=np.int64)

    def moments(self, duration_s: float, number: Ints | None = None) -> tuple[Floats, Floats]:
        """Cells by rows of the map: ``a / N`` to ``(b + 1) / N`` of the video."""
        first, last = self.cells if number is None else (column[number] for column in self.cells)
        return first / self.n_clips * duration_s, (last + 1) / self.n_clips * duration_s


@dataclass(frozen=True)
class WindowedGrid:
    """Windows of a long video, each with a sparse grid of proposals, as VLG-Net and CLIP are run on MAD.

    Windows of `window_frames` start every `stride_frames`, strictly before ``ceil(duration * fps) - window_frames``:
    none is padded, the tail behind the last one is not covered, and a video no longer than one window has none (MAD,
    Soldan et al. 2022, section 4; windows and grid as in Soldelli/MAD). Within a window of N clips the grid holds the
    main diagonal (i, i), then one diagonal after the other: `diagonals[g]` of them at step 2^g, of which every 2^g-th
    cell counts. The defaults give 626 proposals a window.

    Parameters
    ----------
    window_frames, stride_frames
        Length of a window and distance between windows, in frames.
    fps
        Frames a second.
    n_clips
        N, clips a window; it divides `window_frames`.
    diagonals
        How many diagonals at each step.

    Raises
    ------
    UsageError
        If a number is not positive, or clips are no whole number of frames.

    Examples
    --------
    >>> import numpy as np
    >>> grid = WindowedGrid()
    >>> len(grid.cells[0]), int(grid.count(np.array(110 * 60.0)))
    (626, 321764)
    """

    window_frames: int = 128
    stride_frames: int = 64
    fps: float = 5.0
    n_clips: int = 64
    diagonals: tuple[int, ...] = (5, 8, 8, 8)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        if min(self.window_frames, self.stride_frames, self.n_clips) < 1 or not self.fps > 0:
            raise UsageError("got a window, stride, frame rate or number of clips that is not above 0")
        if self.window_frames % self.n_clips:
            raise UsageError(f"got {self.n_clips} clips in {self.window_frames} frames, expected a divisor")

    @functools.cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """First and last clip of each cell of a window, diagonal by diagonal; shapes (P,)."""
        first = [np.arange(self.n_clips)]
        last = [np.arange(self.n_clips)]
        offset = 0
        for group, many in enumerate(self.diagonals):
            step = 2**group
            for _ in range(many):
                offset += step
                first.append(np.arange(0, max(self.n_clips - offset, 0), step))
                last.append(first[-1] + offset)
        return np.concatenate(first).astype(np.int64), np.concatenate(last).astype(np.int64)

    def count(self, duration_s: Floats) -> Ints:
        """How many windows, times the cells of one."""
        frames = np.ceil(np.asarray(duration_s) * self.fps).astype(np.int64)
        windows = -(-np.maximum(frames - self.window_frames, 0) // self.stride_frames)
        return np.asarray(windows * len(self.cells[0]))

    def moments(self, duration_s: float, number: Ints | None = None) -> tuple[Floats, Floats]:
        """Window by window, in each by diagonals."""
        first, last = self.cells
        if number is None:
            number = np.arange(int(self.count(np.asarray(duration_s))))
        window_frame = number // len(first) * self.stride_frames
        cell = number % len(first)
        frames_a_clip = self.window_frames // self.n_clips
        start_frame = window_frame + first[cell] * frames_a_clip
        end_frame = window_frame + (last[cell] + 1) * frames_a_clip
        return frames_to_seconds(start_frame, self.fps), frames_to_seconds(end_frame, self.fps)


def read_proposals(text: str) -> Proposals:
    """Read a scheme: ``sparse-map:N``, ``sliding-windows`` or ``windowed-grid``.

    Raises
    ------
    UsageError
        If it is none of these.

    Examples
    --------
    >>> read_proposals("sparse-map:64")
    SparseMap(n_clips=64)
    """
    name, _, clips = text.partition(":")
    if name == "sparse-map" and clips.isdecimal():
        return SparseMap(int(clips))
    if text == "sliding-windows":
        return SlidingWindows()
    if text == "windowed-grid":
        return WindowedGrid()
    raise UsageError(f"got proposals {text!r}, expected sparse-map:N, sliding-windows or windowed-grid")
