"""Windows of hours-long videos, which a method for short videos sees and learns from.

MAD (Soldan et al. 2022, appendix A.2) makes a method for short videos work on long ones in three steps, all here or
in :mod:`truemoment.searching.windowed`:

* it is shown a window of 128 frames at 5 a second (25.6 s), moved by 64 frames over the video (:class:`Windows`);
* it learns from windows drawn again in every epoch: one that contains the moment, or, 7 times out of 10,
  one of the same video that does not show the moment at all (:class:`WindowDraws`);
* its answers to all windows are ranked together, and what overlaps a better one is left out
  (:class:`~truemoment.searching.windowed.WindowedGrounder`).

Windows begin and end with rows of features, so that no row is divided: with F rows at f a second a window is rows
``first`` to ``end - 1`` and the seconds from ``first / f`` to ``end / f``.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import Annotations, Queries, as_strings
from truemoment.baselines.proposals import Tail
from truemoment.baselines.targets import usable
from truemoment.media.features.base import FeatureStore, Frames, edges_of
from truemoment.media.features.derived import DerivedFeatures

NegativeRule = Literal["apart", "anywhere"]
"""Where windows without the moment are drawn from, see :class:`WindowDraws`."""

ROUNDING_ROWS = 1e-6
"""A moment that passes the edge of a row by less than this part of it does not show in the next one."""

STEPS_A_SECOND = 1000.0
"""Where there are no features, windows begin and end with milliseconds."""


@dataclass(frozen=True)
class LongVideo:
    """How a video is divided into rows.

    Parameters
    ----------
    video_id
        Its name.
    n_rows
        F, rows that lie within its duration.
    fps
        f, rows a second.
    """

    video_id: str
    n_rows: int
    fps: float

    @classmethod
    def of(cls, store: FeatureStore | None, video_id: str, duration_s: float) -> LongVideo:
        """Return the rows of a video.

        Parameters
        ----------
        store
            Its features; None where there are none: then rows are milliseconds.
        video_id
            Its name.
        duration_s
            Rows after it are ignored; NaN where it is not known.
        """
        if store is None:
            if not duration_s > 0:
                raise InputError(f"of video {video_id!r} is not known, and windows cover it", field="duration_s")
            return cls(video_id, max(int(duration_s * STEPS_A_SECOND), 1), STEPS_A_SECOND)
        n_rows = len(store.edges_s(video_id, duration_s)) - 1
        if store.fps is None:
            return cls(video_id, n_rows, n_rows / duration_s)
        if duration_s > 0:
            n_rows = min(n_rows, max(int(np.ceil(duration_s * store.fps - ROUNDING_ROWS)), 1))
        return cls(video_id, n_rows, store.fps)


@dataclass(frozen=True)
class Window:
    """A part of a video as a short video.

    Parameters
    ----------
    video_id
        The video.
    first, end
        Its rows, ``first`` to ``end - 1``.
    fps
        Rows a second.

    Examples
    --------
    >>> window = Window("video", 64, 192, 5.0)
    >>> window.name, window.start_s, round(window.duration_s, 3)
    ('video[12.8-38.4]', 12.8, 25.6)
    """

    video_id: str
    first: int
    end: int
    fps: float

    @property
    def start_s(self) -> float:
        """Where it begins in the video."""
        return self.first / self.fps

    @property
    def duration_s(self) -> float:
        """Its length."""
        return (self.end - self.first) / self.fps

    @property
    def span(self) -> str:
        """Its seconds in brackets, which distinguish it from other windows of the video."""
        return f"[{self.start_s:.12g}-{self.end / self.fps:.12g}]"

    @property
    def name(self) -> str:
        """Its name as a video: ``VIDEO[start-end]``, in seconds."""
        return self.video_id + self.span


def of_whole_videos(queries: Queries) -> Queries:
    """Return queries of windows under the ids that they have for the whole video."""
    ids = zip(queries.query_id.tolist(), queries.video_id.tolist(), strict=True)
    whole = [query_id.removesuffix("[" + video_id.rpartition("[")[2]) for query_id, video_id in ids]
    return dataclasses.replace(queries, query_id=as_strings(whole, "query_id"))


@dataclass(frozen=True)
class Windows:
    """Windows that slide over a video.

    Parameters
    ----------
    window_s
        Length of each; a whole number of rows is made of it.
    stride_s
        From the start of one to the start of the next, up to `window_s`.
    tail
        ``covered``: one more window ends where the video ends, and a video shorter than a window is one by itself.
        ``dropped``: as in MAD's code, windows start strictly before the video's end less a window; up to a stride at
        the end of a video is never used, and a video no longer than a window has none.

    Examples
    --------
    >>> Windows(window_s=4.0, stride_s=2.0).spans(9.0)
    [(0.0, 4.0), (2.0, 6.0), (4.0, 8.0), (5.0, 9.0)]
    >>> Windows(window_s=4.0, stride_s=2.0, tail="dropped").spans(9.0)
    [(0.0, 4.0), (2.0, 6.0), (4.0, 8.0)]
    """

    window_s: float = 25.6
    stride_s: float = 12.8
    tail: Tail = "covered"

    def __post_init__(self) -> None:
        """Refuse what covers no video."""
        if not (np.isfinite(self.window_s) and self.window_s > 0):
            raise UsageError(f"got windows of {self.window_s} s, expected a length above 0")
        if not 0 < self.stride_s <= self.window_s:
            problem = f"got a stride of {self.stride_s} s, expected one above 0 up to the window's {self.window_s:g} s"
            raise UsageError(f"{problem}: no window would cover what lies between")
        if self.tail not in get_args(Tail):
            raise UsageError(f"got tail {self.tail!r}, expected {' or '.join(get_args(Tail))}")

    def rows_of(self, n_rows: int, fps: float) -> tuple[Ints, Ints]:
        """Return the first row of each window, and the row after its last, (W,), in order of time.

        Parameters
        ----------
        n_rows
            F, rows of the video.
        fps
            Rows a second.
        """
        length, stride = window_rows(self.window_s, fps), window_rows(self.stride_s, fps)
        behind = max(n_rows - length, 0)
        first = np.arange(-(-behind // stride), dtype=np.int64) * stride
        if self.tail == "covered":
            first = np.append(first, behind)
        return first, np.minimum(first + length, n_rows)

    def of(self, video: LongVideo) -> list[Window]:
        """Return the windows of a video, in order of time."""
        first, end = self.rows_of(video.n_rows, video.fps)
        return [
            Window(video.video_id, low, high, video.fps) for low, high in zip(first.tolist(), end.tolist(), strict=True)
        ]

    def spans(self, duration_s: float) -> list[tuple[float, float]]:
        """Return the start and end of each window of a video without features, in seconds, to the millisecond."""
        video = LongVideo.of(None, "video", duration_s)
        return [(window.start_s, window.end / window.fps) for window in self.of(video)]


def window_rows(window_s: float, fps: float) -> int:
    """Return the number of rows of a window or stride, rounded."""
    rows = round(window_s * fps)
    if rows < 1:
        raise UsageError(f"got windows or strides of {window_s:g} s at {fps:g} rows a second, expected a row or more")
    return rows


@dataclass(frozen=True, eq=False)
class WindowedFeatures(DerivedFeatures):
    """A FeatureStore whose videos are windows of another one's: ``VIDEO[start-end]``.

    Rows are read on demand and not copied. The video read last is kept, so that windows in the order of their
    videos read each video once.

    Parameters
    ----------
    store
        Features of the videos.
    by_name
        The windows, by their names as videos.
    kind
        Name of the windows in the name of the store.

    Examples
    --------
    >>> from truemoment.media.features import Features
    >>> videos = Features({"video": np.arange(9, dtype=np.float32)[:, None]}, fps=1.0)
    >>> parts = WindowedFeatures.of(videos, Windows(window_s=4.0, stride_s=4.0), {"video": 9.0})
    >>> {name: parts[name].ravel().tolist() for name in parts}
    {'video[0-4]': [0.0, 1.0, 2.0, 3.0], 'video[4-8]': [4.0, 5.0, 6.0, 7.0], 'video[5-9]': [5.0, 6.0, 7.0, 8.0]}
    """

    by_name: Mapping[str, Window]
    kind: str = "windows"

    def __post_init__(self) -> None:
        """Make the windows read-only."""
        object.__setattr__(self, "by_name", MappingProxyType(dict(self.by_name)))

    @classmethod
    def of(cls, store: FeatureStore, windows: Windows, duration_s: Mapping[str, float]) -> WindowedFeatures:
        """Return all windows of videos of these durations; NaN where one is not known."""
        videos = (LongVideo.of(store, video_id, seconds) for video_id, seconds in duration_s.items())
        return cls.of_windows(store, (window for video in videos for window in windows.of(video)))

    @classmethod
    def of_windows(cls, store: FeatureStore, windows: Iterable[Window]) -> WindowedFeatures:
        """Return these windows; equal ones are one."""
        return cls(store, {window.name: window for window in windows})

    @property
    def name(self) -> str:
        """Name of the videos' features, and of the windows."""
        return f"{self.store.name} ({self.kind})"

    def __contains__(self, video_id: object) -> bool:
        return video_id in self.by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    def __getitem__(self, video_id: str) -> Frames:
        """Return the rows of a window, (T, D)."""
        window = self._window(video_id)
        rows = self._video(window.video_id)[window.first : window.end]
        if not len(rows):
            raise InputError(f"the features of {window.video_id!r} end before {video_id!r} begins", field="features")
        return rows

    def edges_s(self, video_id: str, duration_s: float) -> Floats:
        """Return the times at which rows begin and end, (T + 1,), from the window's start."""
        window = self._window(video_id)
        return edges_of(window.end - window.first, window.fps, duration_s)

    def _window(self, video_id: str) -> Window:
        try:
            return self.by_name[video_id]
        except KeyError:
            raise InputError(f"has no rows of {video_id!r}", path=self.name) from None

    @functools.cached_property
    def _video(self) -> functools._lru_cache_wrapper[Frames]:
        return functools.lru_cache(maxsize=1)(self.store.__getitem__)


@dataclass(frozen=True, eq=False)
class DrawnWindows:
    """A window for each of N queries.

    Parameters
    ----------
    first, end : (N,)
        Rows of each window.
    negative : (N,)
        Whether it was drawn to be one that does not show the moment.
    """

    first: Ints
    end: Ints
    negative: Bools


@dataclass(frozen=True, eq=False)
class WindowDraws:
    r"""Training windows, which are drawn again in every epoch (MAD, Soldan et al. 2022, appendix A.2).

    A query's moment shows in rows :math:`t_s` to :math:`t_e - 1` of its video of F rows; a window of W rows starts at
    :math:`t^*`, which is uniform over the whole numbers of

    ============================  ======================================================================================
    with probability 1 - p        :math:`[t_e - W, t_s] \cap [0, F - W]`: a window that contains the moment
    with probability p            :math:`[0, t_s - W] \cup [t_e, F - W]`: one with IoU 0 (`rule` "apart", as the paper
                                  says); or :math:`[0, F - W]` (`rule` "anywhere", as its code does: one in a few
                                  hundred then shows the moment and is learned from as if it did not)
    ============================  ======================================================================================

    * A video shorter than a window is one: W = F.
    * A moment longer than a window (:math:`t_e - t_s > W`) does not fit: the window lies within it,
      :math:`t^* \in [t_s, t_e - W]`, and all of the window is the moment. The authors' code misplaces these.
    * Where no window misses the moment, it is shown after all; :attr:`always_shown` marks which.
    * A moment after the last row of features is never shown, and is learned from as such.

    Parameters
    ----------
    annotations
        N queries, a row each.
    videos : N videos
        Of each query.
    window_s
        Length of a window.
    negatives
        p, from 0 to 1.
    rule
        Where windows without the moment are drawn from.

    Examples
    --------
    >>> rows = [("video#0", "video", 600.0, "a door opens", 100.0, 104.0)]
    >>> draws = WindowDraws.of(Annotations.from_rows(rows), None, window_s=25.6, negatives=0.0)
    >>> part = draws.on_windows(draws.draw(np.random.default_rng(0)))
    >>> part.duration_s.tolist(), round(float(part.end_s[0] - part.start_s[0]), 3), bool(0 <= part.start_s[0] <= 21.6)
    ([25.6], 4.0, True)
    """

    annotations: Annotations
    videos: tuple[LongVideo, ...]
    window_s: float = 25.6
    negatives: float = 0.7
    rule: NegativeRule = "apart"

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        if not 0 <= self.negatives <= 1:
            raise UsageError(f"got {self.negatives} for windows without the moment, expected a share from 0 to 1")
        if len(self.annotations) != self.annotations.n_queries or len(self.videos) != len(self.annotations):
            raise UsageError(f"got {len(self.annotations)} rows, expected one and a video for each query")

    @classmethod
    def of(
        cls,
        annotations: Annotations,
        store: FeatureStore | None,
        *,
        window_s: float = 25.6,
        negatives: float = 0.7,
        rule: NegativeRule = "apart",
    ) -> WindowDraws:
        """Prepare the draws for the queries whose first reference can be learned from; others are left out."""
        kept = annotations.select_queries(usable(annotations)[annotations.offsets[:-1]])
        first = kept.select_rows(kept.offsets[:-1])
        video = {
            str(video_id): LongVideo.of(store, str(video_id), float(seconds))
            for video_id, seconds in dict(zip(first.video_id, first.duration_s, strict=True)).items()
        }
        videos = tuple(video[video_id] for video_id in first.video_id)
        return cls(first, videos, window_s, negatives, rule)

    @functools.cached_property
    def fps(self) -> Floats:
        """Rows a second of each query's video, (N,)."""
        return np.array([video.fps for video in self.videos], dtype=np.float64)

    @functools.cached_property
    def n_rows(self) -> Ints:
        """F, rows of each query's video, (N,)."""
        return np.array([video.n_rows for video in self.videos], dtype=np.int64)

    @functools.cached_property
    def length(self) -> Ints:
        """W, rows of each query's windows, (N,)."""
        return np.array(
            [min(window_rows(self.window_s, video.fps), video.n_rows) for video in self.videos], dtype=np.int64
        )

    @functools.cached_property
    def moment(self) -> tuple[Ints, Ints]:
        """Rows in which each moment shows: first, and the one after the last, (N,)."""
        start = np.floor(np.maximum(self.annotations.start_s, 0) * self.fps + ROUNDING_ROWS).astype(np.int64)
        end = np.ceil(self.annotations.end_s * self.fps - ROUNDING_ROWS).astype(np.int64)
        start = np.minimum(start, self.n_rows - 1)
        return start, np.clip(end, start + 1, self.n_rows)

    @functools.cached_property
    def longer(self) -> Bools:
        """Which moments are longer than a window, (N,)."""
        start, end = self.moment
        return np.asarray(end - start > self.length)

    @functools.cached_property
    def always_shown(self) -> Bools:
        """Which moments every window of their video shows part of, so that there is none without, (N,)."""
        before, behind = self._counts_beside
        return np.asarray((before + behind == 0) & (self.rule == "apart"))

    @functools.cached_property
    def _counts_beside(self) -> tuple[Ints, Ints]:
        """How many windows end before each moment, and how many start after it, (N,)."""
        start, end = self.moment
        before = np.maximum(start - self.length + 1, 0)
        return before, np.maximum(self.n_rows - self.length - end + 1, 0)

    def draw(self, rng: np.random.Generator) -> DrawnWindows:
        """Draw a window for each query; two numbers are drawn for each, whether they are used or not."""
        negative = (rng.random(len(self.videos)) < self.negatives) & ~self.always_shown
        place = rng.random(len(self.videos))
        start, end = self.moment
        low = np.clip(np.minimum(start, end - self.length), 0, None)
        high = np.minimum(np.maximum(start, end - self.length), self.n_rows - self.length)
        holding = low + _nth(place, high - low + 1)
        if self.rule == "anywhere":
            without = _nth(place, self.n_rows - self.length + 1)
        else:
            before, behind = self._counts_beside
            nth = _nth(place, before + behind)
            without = np.where(nth < before, nth, end + nth - before)
        first = np.where(negative, without, holding)
        return DrawnWindows(first, first + self.length, negative)

    def windows(self, drawn: DrawnWindows) -> list[Window]:
        """Return the windows drawn, one a query."""
        rows = zip(self.videos, drawn.first.tolist(), drawn.end.tolist(), strict=True)
        return [Window(video.video_id, first, end, video.fps) for video, first, end in rows]

    def on_windows(self, drawn: DrawnWindows) -> Annotations:
        """Return the queries on their windows: times count from the start of the window and are clipped to it.

        A negative window has no moment: its row is without times.
        """
        queries = self.annotations
        offset_s = drawn.first / self.fps
        duration_s = (drawn.end - drawn.first) / self.fps
        start_s = np.clip(queries.start_s - offset_s, 0, duration_s)
        end_s = np.clip(queries.end_s - offset_s, 0, duration_s)
        without = drawn.negative | (end_s <= start_s)
        return Annotations(
            query_id=queries.query_id,
            video_id=as_strings((window.name for window in self.windows(drawn)), "video_id"),
            duration_s=duration_s,
            sentence=queries.sentence,
            start_s=np.where(without, np.nan, start_s),
            end_s=np.where(without, np.nan, end_s),
            annotator=queries.annotator,
            dataset=queries.dataset,
            split=queries.split,
        )


def _nth(place: npt.NDArray[np.float64], count: Ints) -> Ints:
    """Turn places from 0 to below 1 into whole numbers from 0 to below each count; 0 where the count is 0."""
    return np.asarray(np.clip((place * count).astype(np.int64), 0, np.maximum(count - 1, 0)))
