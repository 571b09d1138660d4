"""A first look at the windows of a film: the method searches only the windows whose frames are most like the sentence.

A window is ranked by the largest cosine of one of its frames with the vector of the sentence, both of one encoder, as
they lie on disk (the idea of CONE, Hou et al. 2022). A moment in a window that is not searched is lost, so
every figure is reported with the share of references that are left (:func:`summarise_first_look`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Ints
from truemoment.base.records import Annotations, Queries
from truemoment.media.features.base import FeatureStore, Frames
from truemoment.media.features.sentences import SentenceStore
from truemoment.searching.unit_vectors import unit
from truemoment.searching.windows import LongVideo, Window, Windows


class WindowRanking(Protocol):
    """Chooses the windows of a film in which a query is searched."""

    @property
    def most(self) -> int:
        """Number of windows a query."""
        ...

    def __call__(self, windows: Sequence[Window], queries: Queries) -> Ints:
        """Return the windows of each query of one film, (S, K) with K = `most`, in order of time."""
        ...


@dataclass(frozen=True, eq=False)
class FirstLook:
    """The `most` windows whose best frame is most like the sentence; of equal ones the earlier.

    Parameters
    ----------
    most
        K, windows a query.
    frames
        Frames of the films, in the space of the sentences.
    sentences
        Vectors of the queries.
    """

    most: int
    frames: FeatureStore
    sentences: SentenceStore

    def __post_init__(self) -> None:
        """Refuse vectors that cannot be compared."""
        if self.most < 1:
            raise UsageError(f"got a first look of {self.most} windows, expected 1 or more")
        if self.sentences.n_dimensions not in (0, self.frames.n_dimensions):
            raise UsageError(
                f"{self.sentences.name} has vectors of {self.sentences.n_dimensions} numbers, expected "
                f"{self.frames.n_dimensions} as the frames of {self.frames.name}"
            )

    def __call__(self, windows: Sequence[Window], queries: Queries) -> Ints:
        """Return the windows of each query of one film, (S, K), in order of time."""
        rows = self.frames[windows[0].video_id]
        score = window_scores(rows, self.sentences.vectors(queries), windows)
        return np.sort(np.argsort(-score, axis=1, kind="stable")[:, : self.most], axis=1)


def window_scores(rows: Frames, vectors: Frames, windows: Sequence[Window]) -> npt.NDArray[np.float32]:
    """Return the largest cosine of a frame of each window with each sentence, (S, W).

    Parameters
    ----------
    rows : (F, D)
        Frames of the film.
    vectors : (S, D)
        Of the sentences.
    windows
        W windows.
    """
    cosine = unit(vectors) @ unit(rows).T
    best = [cosine[:, window.first : window.end].max(axis=1, initial=-1.0) for window in windows]
    return np.stack(best, axis=1)


@dataclass(frozen=True)
class FirstLookSummary:
    """Windows that a first look selects for Q queries, and the share of references in them.

    Parameters
    ----------
    most
        Maximum number of windows per query.
    fewest, largest
        Windows of the shortest and of the longest film.
    share
        Share of the queries whose reference lies in a selected window, 0 to 1.
    """

    most: int
    fewest: int
    largest: int
    share: float

    @property
    def name(self) -> str:
        """Its name in signatures.

        Examples
        --------
        >>> FirstLookSummary(50, 431, 672, 0.93).name
        'best 50 of 431 to 672'
        """
        counts = f"{self.fewest}" if self.fewest == self.largest else f"{self.fewest} to {self.largest}"
        return f"best {self.most} of {counts}"


def summarise_first_look(
    annotations: Annotations, windows: Windows, store: FeatureStore, ranking: WindowRanking | None
) -> FirstLookSummary:
    """Return which share of the references a first look keeps; without a ranking, all windows are searched."""
    queries = annotations.queries
    hits, counts = 0, []
    for video_id, duration_s in queries.video_duration_s.items():
        of_film = windows.of(LongVideo.of(store, video_id, duration_s))
        counts.append(len(of_film))
        some = annotations.select_queries(queries.video_id == video_id)
        inside = _hold_reference(some, of_film)
        if ranking is not None and ranking.most < len(of_film):
            asked = np.zeros(inside.shape, dtype=np.bool_)
            np.put_along_axis(asked, ranking(of_film, some.queries), values=True, axis=1)
            inside &= asked
        hits += int(inside.any(axis=1).sum())
    most = max(counts) if ranking is None else ranking.most
    return FirstLookSummary(most, min(counts), max(counts), hits / max(len(queries), 1))


def _hold_reference(annotations: Annotations, windows: Sequence[Window]) -> Bools:
    """Return which windows contain the first reference of each query, or lie in it, (Q, W)."""
    first = annotations.offsets[:-1]
    start_s, end_s = annotations.start_s[first][:, None], annotations.end_s[first][:, None]
    low_s = np.array([window.first / window.fps for window in windows])
    high_s = np.array([window.end / window.fps for window in windows])
    contains = (low_s <= start_s) & (end_s <= high_s)
    return np.asarray(contains | ((start_s <= low_s) & (high_s <= end_s)))
