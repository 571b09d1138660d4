"""Candidate moments, as arithmetic on indices.

A scheme defines the candidate moments of a video. It is a small frozen value that computes their number from the
duration, and any of them by number, so that nothing is laid out before it is needed.

==================  ==============================================================================
SlidingWindows      windows of some lengths, each moved by a share of its length
SparseMap           2D-TAN's sparse temporal map on N clips that cover the video
DiagonalMap         a sparse map with stated diagonals (VLG-Net)
WindowedGrid        windows of a long video, each with a sparse grid (VLG-Net, and CLIP in MAD)
MultiScale          several windowed grids, for moments of every length
==================  ==============================================================================
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Literal, Protocol, get_args, runtime_checkable

import numpy as np

from truemoment.base.boundary.keyed import read_pairs, read_value
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats, Ints, frames_to_seconds

Tail = Literal["dropped", "covered"]
"""Treatment of the end of a video that no whole stride reaches."""

MOST_CLIPS = 4096
"""Largest number of clips of a map or a window."""

MOST_FPS = 1000
"""Largest number of frames a second of a window: more would only need memory."""

ROUNDING = 1e-6
"""Distance from a moment, in strides, up to which windows count as overlapping it."""


class Proposals(Protocol):
    """A proposal scheme."""

    def count(self, duration_s: Floats) -> Ints:
        """Return the number of proposals of videos by duration, (V,)."""
        ...

    def moments(self, duration_s: float, number: Ints | None = None) -> tuple[Floats, Floats]:
        """Return start and end in seconds of all proposals of a video (P,), or of those with these numbers (K,)."""
        ...


@runtime_checkable
class FrameProposals(Proposals, Protocol):
    """A scheme whose proposals start and end with frames at a constant rate."""

    @property
    def fps(self) -> float:
        """Frames per second."""
        ...

    def spans(self, n_frames: int) -> tuple[Ints, Ints]:
        """Return first frame and end frame (exclusive), (P,), of the *distinct* proposals of a video.

        Where windows overlap, one proposal may have several numbers; here it occurs once, at the first.
        """
        ...

    def overlapping(self, duration_s: float, start_s: float, end_s: float) -> Ints:
        """Return rising numbers that include those of all proposals that overlap a moment."""
        ...


@dataclass(frozen=True)
class SlidingWindows:
    """Sliding windows.

    Parameters
    ----------
    lengths
        Lengths of the windows, as shares of the video in (0, 1].
    overlap
        Overlap of successive windows, 0 to below 1.

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
        """Return the same number for every video."""
        return np.full(np.shape(duration_s), len(self._moments_norm[0]), dtype=np.int64)

    def moments(self, duration_s: float, number: Ints | None = None) -> tuple[Floats, Floats]:
        """Return windows ordered by length, then by time."""
        start, end = self._moments_norm if number is None else (column[number] for column in self._moments_norm)
        return start * duration_s, end * duration_s


@dataclass(frozen=True)
class SparseMap:
    r"""2D-TAN's sparse temporal map: cells (a, b) of clips a..b inclusive, of N clips that cover the video.

    A cell is a proposal if, with :math:`k = \max(1, \lceil \log_2 ((b - a + 1) / 8) \rceil)`, a is a multiple of
    :math:`s = 2^{k-1}` and b - s' is one too, :math:`s' = 0` for k = 1, else :math:`2^{k+2} - 1` (Zhang et al. 2020,
    2D-TAN, section 3.2): all short moments, and longer ones more coarsely. 136 of 136 cells at N = 16, 1,104 of 2,080
    at N = 64, 2,548 of 8,256 at N = 128. The whole video is a cell at N up to 16 and at 16 times a power of two.

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
        if self.n_clips > MOST_CLIPS:
            raise UsageError(f"got {self.n_clips} clips, expected {MOST_CLIPS} or less")

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
        """Return the same number for every video."""
        return np.full(np.shape(duration_s), len(self.cells[0]), dtype=np.int64)

    def moments(self, duration_s: float, number: Ints | None = None) -> tuple[Floats, Floats]:
        """Return cells by rows of the map: ``a / N`` to ``(b + 1) / N`` of the video."""
        first, last = self.cells if number is None else (column[number] for column in self.cells)
        return first / self.n_clips * duration_s, (last + 1) / self.n_clips * duration_s


@dataclass(frozen=True)
class DiagonalMap(SparseMap):
    """A sparse map whose cells lie on the main diagonal and on `diagonals[g]` further ones at each step 2^g.

    Diagonal by diagonal, with every 2^g-th cell of one at step 2^g (VLG-Net, Soldan et al. 2021, and its code). With
    (15,) on 16 clips and (15, 8, 8) on 64 the cells are those of :class:`SparseMap`.

    Parameters
    ----------
    diagonals
        Number of diagonals at each step.

    Examples
    --------
    >>> sizes = (16, (15,)), (64, (15, 8, 8)), (64, (5, 8, 8, 8))
    >>> [len(DiagonalMap(n, diagonals).cells[0]) for n, diagonals in sizes]
    [136, 1104, 626]
    """

    diagonals: tuple[int, ...] = (15,)

    @functools.cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """First and last clip of each cell, diagonal by diagonal; shapes (P,)."""
        return _diagonal_cells(self.n_clips, self.diagonals)


def _diagonal_cells(n_clips: int, diagonals: tuple[int, ...]) -> tuple[Ints, Ints]:
    """Return first and last clip of the cells (i, i), and of so many further diagonals at each step 2^g."""
    first = [np.arange(n_clips)]
    last = [np.arange(n_clips)]
    offset = 0
    for group, n_diagonals in enumerate(diagonals):
        step = 2**group
        for _ in range(n_diagonals):
            offset += step
            first.append(np.arange(0, max(n_clips - offset, 0), step))
            last.append(first[-1] + offset)
    return np.concatenate(first).astype(np.int64), np.concatenate(last).astype(np.int64)


@dataclass(frozen=True)
class WindowedGrid:
    """Windows of a long video, each with a sparse grid of proposals, as VLG-Net and CLIP are run on MAD.

    Windows of `window_frames` start every `stride_frames`, strictly before ``ceil(duration * fps) - window_frames``:
    none is padded, the tail after the last one is not covered, and a video no longer than one window has none (MAD,
    Soldan et al. 2022, section 4; windows and grid as in Soldelli/MAD). Within a window of N clips the grid has the
    main diagonal (i, i), then further diagonals: `diagonals[g]` of them at step 2^g, with every 2^g-th cell. The
    defaults give 626 proposals per window.

    With `tail` "covered" one more window ends with the last frame; a video shorter than a window has one window, whose
    proposals are clipped to the video (distinct ones remain), and no proposal ends after the video.

    Parameters
    ----------
    window_frames, stride_frames
        Length of a window and distance between windows, in frames.
    fps
        Frames per second.
    n_clips
        N, clips per window; it divides `window_frames`.
    diagonals
        Number of diagonals at each step.
    tail
        "dropped", as published, or "covered".

    Examples
    --------
    >>> import numpy as np
    >>> grid = WindowedGrid()
    >>> len(grid.cells[0]), int(grid.count(np.array(110 * 60.0)))
    (626, 321764)
    >>> first, end = grid.spans(33_000)  # without the copies where windows overlap
    >>> len(first), int(end.max())
    (190436, 32960)
    """

    window_frames: int = 128
    stride_frames: int = 64
    fps: float = 5.0
    n_clips: int = 64
    diagonals: tuple[int, ...] = (5, 8, 8, 8)
    tail: Tail = "dropped"

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        if min(self.window_frames, self.stride_frames, self.n_clips) < 1 or not 0 < self.fps < np.inf:
            raise UsageError("got a window, stride, frame rate or number of clips that is not above 0")
        if self.fps > MOST_FPS:
            raise UsageError(f"got {self.fps:g} frames a second, expected {MOST_FPS} or less")
        if self.n_clips > MOST_CLIPS:
            raise UsageError(f"got {self.n_clips} clips in a window, expected {MOST_CLIPS} or less")
        if self.window_frames % self.n_clips:
            raise UsageError(f"got {self.n_clips} clips in {self.window_frames} frames, expected a divisor")
        if self.tail not in get_args(Tail):
            raise UsageError(f"got tail {self.tail!r}, expected {' or '.join(get_args(Tail))}")

    @functools.cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """First and last clip of each cell of a window, diagonal by diagonal; shapes (P,)."""
        return _diagonal_cells(self.n_clips, self.diagonals)

    def n_frames(self, duration_s: Floats) -> Ints:
        """Return the number of frames of videos by duration; the last one may be cut short."""
        return np.asarray(np.ceil(np.asarray(duration_s) * self.fps).astype(np.int64))

    def n_windows(self, n_frames: Ints) -> Ints:
        """Return the number of windows of videos by number of frames."""
        regular = -(-np.maximum(n_frames - self.window_frames, 0) // self.stride_frames)
        return np.asarray(regular + (n_frames > 0) if self.tail == "covered" else regular)

    def count(self, duration_s: Floats) -> Ints:
        """Return the number of windows times the cells of one."""
        frames = self.n_frames(duration_s)
        total = np.asarray(self.n_windows(frames) * len(self.cells[0]))
        for n in np.unique(frames[frames < self.window_frames]) if self.tail == "covered" else ():
            total[frames == n] = len(self._cell_frames(int(n))[0])
        return total

    def moments(self, duration_s: float, number: Ints | None = None) -> tuple[Floats, Floats]:
        """Return proposals window by window, in each by diagonals."""
        n_frames = int(self.n_frames(np.asarray(duration_s)))
        first, end = self._cell_frames(n_frames)
        if number is None:
            number = np.arange(int(self.count(np.asarray(duration_s))))
        window_frame = self._window_frame(number // max(len(first), 1), n_frames)
        cell = number % max(len(first), 1)
        return span_seconds(window_frame + first[cell], window_frame + end[cell], self.fps, duration_s)

    def spans(self, n_frames: int) -> tuple[Ints, Ints]:
        """Return distinct proposals window by window, in each by diagonals."""
        first, end = self._cell_frames(n_frames)
        at = self._window_frame(np.arange(int(self.n_windows(np.asarray(n_frames)))), n_frames)
        reach = -(-self.window_frames // self.stride_frames)  # number of windows before that can share frames
        new: dict[tuple[int, ...], Ints] = {}
        selected: list[Ints] = []
        for w in range(len(at)):
            back = tuple((at[w] - at[max(w - reach, 0) : w]).tolist())
            if back not in new:
                new[back] = np.flatnonzero(self._is_new(back)) if back else np.arange(len(first))
            selected.append(new[back])
        if not selected:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        window_frame, cell = np.repeat(at, [len(cells) for cells in selected]), np.concatenate(selected)
        return window_frame + first[cell], window_frame + end[cell]

    def overlapping(self, duration_s: float, start_s: float, end_s: float) -> Ints:
        """Return all proposals of the windows that overlap the moment."""
        n_frames = int(self.n_frames(np.asarray(duration_s)))
        n_cells, n_windows = len(self._cell_frames(n_frames)[0]), int(self.n_windows(np.asarray(n_frames)))
        # Window w has the frames from w * stride on; the last one may start up to a stride earlier to cover the tail.
        low = math.floor((start_s * self.fps - self.window_frames) / self.stride_frames - ROUNDING) + 1
        high = math.ceil(end_s * self.fps / self.stride_frames + ROUNDING) + (self.tail == "covered")
        return np.arange(min(max(low, 0), n_windows) * n_cells, min(max(high, 0), n_windows) * n_cells)

    def _window_frame(self, window: Ints, n_frames: int) -> Ints:
        """First frame of windows by number; the last one that covers the tail starts so that it ends with the video."""
        return np.minimum(window * self.stride_frames, max(n_frames - self.window_frames, 0))

    def _cell_frames(self, n_frames: int) -> tuple[Ints, Ints]:
        """First frame and end frame of each cell, from the window's first frame on; shapes (P,)."""
        frames_a_clip = self.window_frames // self.n_clips
        first, end = self.cells[0] * frames_a_clip, (self.cells[1] + 1) * frames_a_clip
        if n_frames >= self.window_frames or self.tail == "dropped":
            return first, end
        return _distinct(first[first < n_frames], np.minimum(end, n_frames)[first < n_frames])

    def _is_new(self, back: tuple[int, ...]) -> Bools:
        """Return which cells (P,) are not cells of the windows that start this many frames before."""
        first, last = self.cells
        occupied = np.zeros((self.n_clips, self.n_clips), dtype=bool)
        occupied[first, last] = True
        new = np.ones(len(first), dtype=bool)
        for frames in back:
            clips, rest = divmod(frames, self.window_frames // self.n_clips)
            inside = np.flatnonzero(last + clips < self.n_clips) if rest == 0 else np.zeros(0, dtype=np.int64)
            new[inside[occupied[first[inside] + clips, last[inside] + clips]]] = False
        return new


@dataclass(frozen=True)
class MultiScale:
    """Several windowed grids of one frame rate: short windows for short moments, long ones for long moments.

    Examples
    --------
    >>> import numpy as np
    >>> both = MultiScale((WindowedGrid(64, 32), WindowedGrid(256, 128)))
    >>> int(both.count(np.array(110 * 60.0))), len(both.spans(33_000)[0])
    (805036, 435222)
    """

    grids: tuple[WindowedGrid, ...]

    def __post_init__(self) -> None:
        """Refuse grids of different frame rates, and no grid."""
        rates = sorted({grid.fps for grid in self.grids})
        if len(rates) != 1:
            windows = (
                f"windows at {' and '.join(f'{rate:g}' for rate in rates)} frames a second" if rates else "no window"
            )
            raise UsageError(f"got {windows}, expected one or more, all at one frame rate")

    @property
    def fps(self) -> float:
        """Frames per second, the same for all."""
        return self.grids[0].fps

    def count(self, duration_s: Floats) -> Ints:
        """Return the sum over the grids."""
        return np.asarray(sum(grid.count(duration_s) for grid in self.grids))

    def moments(self, duration_s: float, number: Ints | None = None) -> tuple[Floats, Floats]:
        """Return proposals grid by grid."""
        edges = self._edges(duration_s)
        if number is None:
            number = np.arange(edges[-1])
        start_s, end_s = np.empty(len(number)), np.empty(len(number))
        for grid, low, high in zip(self.grids, edges[:-1], edges[1:], strict=True):
            of_grid = (number >= low) & (number < high)
            start_s[of_grid], end_s[of_grid] = grid.moments(duration_s, number[of_grid] - low)
        return start_s, end_s

    def spans(self, n_frames: int) -> tuple[Ints, Ints]:
        """Return distinct proposals grid by grid."""
        first, end = zip(*(grid.spans(n_frames) for grid in self.grids), strict=True)
        return _distinct(np.concatenate(first), np.concatenate(end))

    def overlapping(self, duration_s: float, start_s: float, end_s: float) -> Ints:
        """Return the proposals of each grid that may overlap."""
        edges = self._edges(duration_s)
        of_grids = (grid.overlapping(duration_s, start_s, end_s) for grid in self.grids)
        return np.concatenate([low + numbers for low, numbers in zip(edges[:-1], of_grids, strict=True)])

    def _edges(self, duration_s: float) -> Ints:
        """Number of the first proposal of each grid, and after the last."""
        return np.cumsum([0, *(int(grid.count(np.asarray(duration_s))) for grid in self.grids)])


def _distinct(first: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Remove duplicate spans; the first of each stays, in order."""
    _, number = np.unique(first * (end.max(initial=0) + 1) + end, return_index=True)
    number.sort()
    return first[number], end[number]


def span_seconds(first: Ints, end: Ints, fps: float, duration_s: float) -> tuple[Floats, Floats]:
    """Return spans of frames (`end` exclusive) in seconds, clipped to the duration; a NaN duration clips nothing."""
    return frames_to_seconds(first, fps), np.fmin(frames_to_seconds(end, fps), duration_s)


_GRAMMAR = "sparse-map:N, sliding-windows or windowed-grid"
_OPTIONS = {"window": int, "stride": int, "fps": float, "clips": int, "tail": Tail}


def read_proposals(text: str) -> Proposals:
    """Read a scheme: ``sparse-map:N``, ``sliding-windows`` or ``windowed-grid``.

    A windowed grid takes options, ``windowed-grid:window=256,stride=128,fps=5,clips=64,tail=covered``: frames per
    window, frames between windows (default: half a window), frames per second, clips per window, and treatment of the
    tail. Several, joined by ``+``, are used together (:class:`MultiScale`).

    Examples
    --------
    >>> read_proposals("sparse-map:64")
    SparseMap(n_clips=64)
    >>> grid = read_proposals("windowed-grid:window=256,tail=covered")
    >>> grid.window_frames, grid.stride_frames, grid.tail
    (256, 128, 'covered')
    >>> len(read_proposals("windowed-grid:window=64+windowed-grid:window=256").grids)
    2
    """
    if text == "sliding-windows":
        return SlidingWindows()
    name, _, rest = text.partition(":")
    if name == "sparse-map" and rest.isdecimal():
        return SparseMap(read_value("clips", rest, int))
    if name.partition("+")[0] != "windowed-grid" or (":" in text and not rest):
        raise UsageError(f"got proposals {text!r}, expected {_GRAMMAR}")
    grids = tuple(map(_read_grid, text.split("+")))
    return grids[0] if len(grids) == 1 else MultiScale(grids)


def _read_grid(text: str) -> WindowedGrid:
    """Read one windowed grid with its options."""
    name, colon, rest = text.partition(":")
    if name != "windowed-grid":
        raise UsageError(f"got {text!r} among windowed grids joined by '+', expected windowed-grid")
    pairs = read_pairs(rest.split(",") if colon else (), _OPTIONS, within=f"proposals {text[:60]!r}")
    options = {key: read_value(key, value, _OPTIONS[key]) for key, value in pairs.items()}
    window = options.get("window", 128)
    stride = options.get("stride", max(window // 2, 1))
    return WindowedGrid(
        window, stride, options.get("fps", 5.0), options.get("clips", 64), tail=options.get("tail", "dropped")
    )
