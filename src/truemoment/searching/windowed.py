"""Any method for short videos, on long ones: applied window by window, its predictions are ranked together.

The method predicts moments for each query in each window of its video. These are moved to the video's time and ranked
by their scores as they are; what overlaps a better one too much is left out over the whole video (MAD, Soldan et al.
2022, section 4 and appendix A.2: windows of 25.6 s at a stride of half of that, suppression at 0.3). A method
whose scores compare the moments of a window, and not windows with each other, ranks windows by chance: it has to learn
from windows without the moment too, see :class:`~truemoment.searching.windows.WindowDraws`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from truemoment.base.errors import UsageError
from truemoment.base.intervals import TIE, Floats, Ints, best_kept
from truemoment.base.records import Annotations, Predictions, Queries, as_strings, numbers_of
from truemoment.evaluation.grounders import Grounder
from truemoment.media.features.base import FeatureStore
from truemoment.searching.first_look import WindowRanking
from truemoment.searching.windows import LongVideo, Window, WindowDraws, WindowedFeatures, Windows

MOST_PAIRS = 4096
"""Pairs of a query and a window that a method predicts at a time."""

MOST_WINDOWS = 64
"""Windows that a method is shown at a time."""

MOST_MOMENTS = 4_000_000
"""Maximum number of moments of a video before they are ranked; it limits how many queries are taken at a time."""


@runtime_checkable
class VideoGrounder(Grounder, Protocol):
    """A Grounder that sees videos, and can be shown other features."""

    def with_features(self, features: Any) -> Grounder:  # noqa: ANN401 - some take a store of one class alone
        """Return the same method, as it was fitted, looking at other features."""
        ...


class WindowScores(NamedTuple):
    """Candidate moments of W windows of a film and their scores for S queries.

    `start_s` and `end_s` (W, C) are seconds of the film; `score` is (S, W, C), or (S, K, C) where each query asks K of
    the windows.
    """

    start_s: Floats
    end_s: Floats
    score: npt.NDArray[np.float32]


class WindowScorer(Protocol):
    """Scores every candidate moment of windows of a film; it keeps what it has seen of the last film."""

    def __call__(
        self, queries: Queries, windows: Sequence[Window], store: FeatureStore, chosen: Ints | None = None
    ) -> WindowScores:
        """Return the scores of queries of one film.

        Parameters
        ----------
        queries
            S queries.
        windows
            All windows of the film.
        store
            Features of the films.
        chosen : (S, K)
            Windows that each query asks; None for all.
        """
        ...


@runtime_checkable
class WindowScoringGrounder(VideoGrounder, Protocol):
    """A Grounder that may score all windows of a film faster than it answers each window as a video."""

    def window_scorer(self) -> WindowScorer | None:
        """Return the scorer; None if there is none."""
        ...


class _Job(NamedTuple):
    """Queries of a video and some of its windows; `last` if the video has no more windows for these queries."""

    video: str
    rows: Ints
    windows: tuple[Window, ...]
    last: bool


@dataclass(frozen=True, eq=False)
class WindowedGrounder:
    """A Grounder for long videos made of one for short videos.

    Parameters
    ----------
    grounder
        The method for short videos. One that sees videos has `with_features`; one without is asked about windows of the
        stated duration by name, and sees nothing.
    windows
        The windows of each video.
    nms
        NMS threshold over the whole video: maximum IoU of a moment with a better one; 1 for no suppression.
    features
        Features of the videos; None for those the method has now, its `features`.
    each
        Number of moments to predict in a window, 1 or more. Those that the method leaves out itself are lost.
    seed
        Of the windows that :meth:`fit` draws.
    ranking
        Chooses the windows that a query asks; None for all.
    track
        Wraps items, e.g. in a progress bar: ``track(items, "name of the items")``.

    Examples
    --------
    >>> class Middle:
    ...     name = "middle"
    ...     def fit(self, train, val=None): return self
    ...     def ground(self, queries, top=1):
    ...         return Predictions.from_lists(
    ...             {q: [(d / 4, 3 * d / 4, d)] for q, d in zip(queries.query_id, queries.duration_s)})
    >>> video = Queries(["video#0"], ["video"], np.array([10.0]), ["a door opens"])
    >>> answers = WindowedGrounder(Middle(), Windows(window_s=4.0, stride_s=4.0)).ground(video, top=2)
    >>> list(zip(answers.start_s.tolist(), answers.end_s.tolist()))
    [(1.0, 3.0), (5.0, 7.0)]
    """

    grounder: Grounder
    windows: Windows
    nms: float = 0.3
    features: FeatureStore | None = None
    each: int = 100
    seed: int = 0
    ranking: WindowRanking | None = None
    track: Callable[[Any, str], Any] = lambda items, _: items

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 0 <= self.nms <= 1:
            raise UsageError(f"got {self.nms} for suppression, expected an IoU from 0 to 1")
        if self.each < 1:
            raise UsageError(f"got {self.each} moments a window, expected 1 or more")
        if self.features is not None and not isinstance(self.grounder, VideoGrounder):
            raise UsageError(f"{self.grounder.name} cannot be shown features, expected a method that sees videos")

    @property
    def name(self) -> str:
        """The method's, and how it is used."""
        return f"{self.grounder.name} in windows of {self.windows.window_s:g} s"

    def with_features(self, features: FeatureStore) -> WindowedGrounder:
        """Return the same method that is shown other features of the videos."""
        return dataclasses.replace(self, features=features)

    def fit(self, train: Annotations, val: Annotations | None = None) -> WindowedGrounder:
        """Let the method learn from windows, one a query, that contain the moment.

        Windows without the moment are not drawn: few methods can learn from a video without the moment.
        """
        store = self._store()
        parts, shown = [], []
        for number, split in enumerate((train,) if val is None else (train, val)):
            draws = WindowDraws.of(split, store, window_s=self.windows.window_s, negatives=0.0)
            drawn = draws.draw(np.random.default_rng([self.seed, number]))
            parts.append(draws.on_windows(drawn))
            shown += draws.windows(drawn)
        method = self.grounder
        if store is not None and isinstance(method, VideoGrounder):
            method = method.with_features(WindowedFeatures.of_windows(store, shown))
        return dataclasses.replace(self, grounder=method.fit(*parts), features=store)

    def ground(self, queries: Queries, top: int = 100) -> Predictions:
        """Answer queries with moments of their videos, the best first.

        A video without a window (tail "dropped", and no longer than one) is answered with an empty list.
        """
        if top < 1:
            raise UsageError(f"got top={top}, expected 1 or more")
        store = self._store()
        scorer = self.grounder.window_scorer() if isinstance(self.grounder, WindowScoringGrounder) else None
        if scorer is not None and store is not None:
            moments = self._score_windows(scorer, queries, store, top)
        else:
            moments = self._ask_windows(queries, store, top)
        nothing = (np.zeros(0), np.zeros(0), np.zeros(0))
        answers = [moments.get(row, nothing) for row in range(len(queries))]
        start_s, end_s, score = (np.concatenate(columns) for columns in zip(nothing, *answers, strict=True))
        offsets = np.cumsum([0, *(len(answer[0]) for answer in answers)])
        return Predictions(queries.query_id, offsets, start_s, end_s, score, self.name)

    def _score_windows(
        self, scorer: WindowScorer, queries: Queries, store: FeatureStore, top: int
    ) -> dict[int, tuple[Floats, Floats, Floats]]:
        """Return the moments of each query of a method that scores all candidates of a film."""
        moments = {}
        for rows, windows in self.track(list(self._films(queries, store)), "queries of films"):
            asked = queries.select(rows)
            chosen = self._choose(windows, asked)
            start_s, end_s, score = scorer(asked, windows, store, chosen)
            for at, row in enumerate(rows.tolist()):
                places = slice(None) if chosen is None else chosen[at]
                ends = start_s[places].ravel(), np.fmin(end_s[places], queries.duration_s[row]).ravel()
                moments[row] = _rank(*ends, score[at].ravel(), self.nms, top)
        return moments

    def _ask_windows(
        self, queries: Queries, store: FeatureStore | None, top: int
    ) -> dict[int, tuple[Floats, Floats, Floats]]:
        """Return the moments of each query of a method that answers each window as a video."""
        jobs = list(self._jobs(queries, store))
        moments: dict[int, tuple[Floats, Floats, Floats]] = {}
        parts: list[_Moments] = []
        method, video = self.grounder, None
        for job in self.track(jobs, "windows"):
            if store is not None and isinstance(self.grounder, VideoGrounder) and video != job.video:
                video = job.video
                windows = itertools.chain.from_iterable(other.windows for other in jobs if other.video == video)
                method = self.grounder.with_features(WindowedFeatures.of_windows(store, windows))
            parts.append(_ask(method, queries, job, self.each))
            if job.last:
                for at, row in enumerate(job.rows.tolist()):
                    moments[row] = _stitch(parts, at, self.nms, top)
                parts = []
        return moments

    def _choose(self, windows: Sequence[Window], queries: Queries) -> Ints | None:
        """Return the windows that each query of a film asks, (S, K); None for all."""
        if self.ranking is None or self.ranking.most >= len(windows):
            return None
        return self.ranking(windows, queries)

    def _store(self) -> FeatureStore | None:
        """Features of the videos; None where the method sees none."""
        if self.features is not None or not isinstance(self.grounder, VideoGrounder):
            return self.features
        if not hasattr(self.grounder, "features"):
            raise UsageError(f"{self.grounder.name} has no attribute features; give the features of the videos")
        features: FeatureStore | None = self.grounder.features
        return features

    def _films(self, queries: Queries, store: FeatureStore | None) -> Iterator[tuple[Ints, list[Window]]]:
        """Go through the films that have windows: some of their queries at a time, with all windows."""
        number = numbers_of(queries.video_id)
        order = np.argsort(number, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(number[order])) + 1) if len(order) else []:
            video = LongVideo.of(store, str(queries.video_id[rows[0]]), float(queries.duration_s[rows[0]]))
            windows = self.windows.of(video)
            if not windows:
                continue
            n_rows = max(1, min(MOST_MOMENTS // (len(windows) * self.each), MOST_PAIRS))
            for low in range(0, len(rows), n_rows):
                yield rows[low : low + n_rows], windows

    def _jobs(self, queries: Queries, store: FeatureStore | None) -> Iterator[_Job]:
        """Divide queries and windows into jobs that fit into memory; jobs with the same queries follow each other."""
        for rows, windows in self._films(queries, store):
            chosen = self._choose(windows, queries.select(rows))
            if chosen is None:
                yield from _jobs_of(rows, windows)
                continue
            for row, numbers in zip(rows.tolist(), chosen.tolist(), strict=True):
                yield from _jobs_of(np.array([row]), [windows[number] for number in numbers])


def _jobs_of(rows: Ints, windows: Sequence[Window]) -> Iterator[_Job]:
    """Divide windows of a film that are asked the same queries."""
    n_windows = max(1, min(MOST_PAIRS // len(rows), MOST_WINDOWS))
    for at in range(0, len(windows), n_windows):
        last = at + n_windows >= len(windows)
        yield _Job(windows[0].video_id, rows, tuple(windows[at : at + n_windows]), last)


class _Moments(NamedTuple):
    """Moments of the queries of a job in the video's time: those of query k are ``offsets[k]:offsets[k + 1]``."""

    offsets: Ints
    start_s: Floats
    end_s: Floats
    score: Floats


def _ask(method: Grounder, queries: Queries, job: _Job, each: int) -> _Moments:
    """Ask a method some queries of some windows; moments come query by query, window by window, in its order.

    A video may end within its last row, and moments end with it.
    """
    n_windows = len(job.windows)
    spans, names = [window.span for window in job.windows], [window.name for window in job.windows]
    duration_s, start_s = (
        np.tile([getattr(window, name) for window in job.windows], len(job.rows)) for name in ("duration_s", "start_s")
    )
    of_windows = Queries(
        as_strings((query_id + span for query_id in queries.query_id[job.rows] for span in spans), "query_id"),
        as_strings(names * len(job.rows), "video_id"),
        duration_s,
        np.repeat(queries.sentence[job.rows], n_windows),
    )
    answers = method.ground(of_windows, each)
    row = answers.rows_of(of_windows.query_id)
    lengths = np.where(row >= 0, answers.lengths[row], 0) if len(answers) else np.zeros(len(row), dtype=np.int64)
    ends = np.cumsum(lengths)
    moments = np.repeat(answers.offsets[row] - (ends - lengths), lengths) + np.arange(lengths.sum())
    offset_s = np.repeat(start_s, lengths)
    video_s = np.repeat(np.repeat(queries.duration_s[job.rows], n_windows), lengths)
    return _Moments(
        np.append(0, ends[n_windows - 1 :: n_windows]),
        np.fmin(answers.start_s[moments] + offset_s, video_s),  # of a duration that is not known, NaN, nothing is cut
        np.fmin(answers.end_s[moments] + offset_s, video_s),
        answers.score[moments],
    )


def _stitch(parts: Sequence[_Moments], number: int, nms: float, top: int) -> tuple[Floats, Floats, Floats]:
    """Rank the moments of a query and leave out what overlaps a better one; equal scores by window, then its order."""
    slices = [slice(part.offsets[number], part.offsets[number + 1]) for part in parts]
    start_s, end_s, score = (
        np.concatenate([getattr(part, name)[span] for part, span in zip(parts, slices, strict=True)])
        for name in ("start_s", "end_s", "score")
    )
    return _rank(start_s, end_s, score, nms, top)


def _rank(
    start_s: Floats, end_s: Floats, score: npt.NDArray[Any], nms: float, top: int
) -> tuple[Floats, Floats, Floats]:
    """Return the best moments that non-maximum suppression keeps, best first."""
    kept = best_kept(score, start_s, end_s, threshold=nms + TIE, top=top)  # equal is kept, as within a video
    return start_s[kept], end_s[kept], score[kept].astype(np.float64)
