"""Pairs for models with sliding windows: windows to learn from, and windows to answer with.

A model learns from pairs of a query and a window that shows its moment, see
:func:`~truemoment.learning.models.sliding_windows.positives`; an epoch is a pass over all of them. It answers with all
windows of a video.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.records import Annotations, numbers_of
from truemoment.baselines.targets import moment_shares
from truemoment.learning.models.base import VideoRows
from truemoment.learning.models.sliding_windows import positives
from truemoment.learning.models.window_model import WindowModel
from truemoment.learning.training.examples import (
    ClipTable,
    FloatTable,
    Pairs,
    SentenceTable,
    drawn_pairs,
    empty_table,
    read_rows,
)
from truemoment.learning.training.network import TokenBatch
from truemoment.learning.training.recipes import Recipe
from truemoment.media.features.base import FeatureStore

MOST_SWAPS = 100
"""Places that are tried for a pair whose moment is in its batch already."""


@dataclasses.dataclass(frozen=True, eq=False)
class LearnedWindows:
    """Windows of V videos, and the P pairs of queries and windows that are learned from.

    Parameters
    ----------
    video_id, duration_s
        The videos and their durations.
    windows_s
        Windows of each video in one or more pairs, (C, 2).
    query : (P,)
        Query of each pair.
    window : (P,)
        Window of each pair, counted over all videos.
    """

    video_id: list[str]
    duration_s: list[float]
    windows_s: list[Floats]
    query: Ints
    window: Ints

    @classmethod
    def draw(cls, first: Annotations, model: WindowModel) -> LearnedWindows:
        """Find the pairs of queries with one usable reference each.

        Raises
        ------
        UsageError
            If there is none.
        """
        settings = model.window_settings
        of_video, video_id = numbers_of(first.video_id), list(dict.fromkeys(first.video_id.tolist()))
        moments_s = np.stack([np.maximum(first.start_s, 0), np.minimum(first.end_s, first.duration_s)], axis=1)
        by_video = np.split(np.argsort(of_video, kind="stable"), np.cumsum(np.bincount(of_video))[:-1])
        duration_s = [float(first.duration_s[queries[0]]) for queries in by_video]
        used, query, window, n_before = [], [], [], 0
        for queries, seconds in zip(by_video, duration_s, strict=True):
            windows_s = model.windows_s(seconds)
            fits = positives(
                windows_s, moments_s[queries], least_iou=settings.least_iou, most_outside=settings.most_outside
            )
            has_moment = np.asarray(fits.any(axis=0))
            of_moment, of_window = np.nonzero(fits[:, has_moment])  # windows are counted among those in a pair
            used.append(windows_s[has_moment])
            query.append(queries[of_moment])
            window.append((n_before + of_window).astype(np.int64))
            n_before += int(has_moment.sum())
        if not n_before:
            raise UsageError(
                f"no window of {settings.lengths} frames fits a moment of {first.dataset}/{first.split}: change "
                "settings.lengths"
            )
        return cls(video_id, duration_s, used, np.concatenate(query), np.concatenate(window))


class WindowsToLearn(Pairs):
    """Pairs of a query and a window, whose slots of features are made once.

    Parameters
    ----------
    sentences, video, table, columns
        As for :class:`~truemoment.learning.training.examples.Pairs`, a row for each pair.
    query : (P,)
        Query of each pair.
    moment : (P,)
        Number of the annotated moment of each pair.
    distinct
        Whether a moment occurs at most once in a batch.
    """

    def __init__(
        self,
        sentences: SentenceTable,
        video: Ints,
        table: ClipTable,
        columns: Mapping[str, npt.NDArray[Any]],
        *,
        query: Ints,
        moment: Ints,
        distinct: bool,
    ) -> None:
        super().__init__(sentences, video, table, columns=columns)
        self.query, self.moment, self.distinct = query, moment, distinct

    def order(self, size: int, rng: np.random.Generator) -> Ints:
        """Return the pairs in a drawn order, of which each `size` are a batch without two pairs of one moment."""
        order = drawn_pairs(len(self), self.weights, rng)
        return distinct_batches(order, self.moment, size, rng) if self.distinct else order


def distinct_batches(order: Ints, moment: Ints, size: int, rng: np.random.Generator) -> Ints:
    """Return an order in which each `size` pairs have distinct moments, by exchanging pairs of a drawn order.

    A pair whose moment is in its batch already changes places with one drawn from another batch, if both batches then
    have distinct moments. Where :data:`MOST_SWAPS` draws find none, e.g. because a moment has more pairs than there are
    batches, the pair stays.

    Parameters
    ----------
    order : (P,)
        Pairs in a drawn order.
    moment : (P,)
        Number of the moment of each pair.
    size
        Pairs of a batch.
    rng
        Draws the exchanges.
    """
    order = order.copy()
    batches = [set(moment[order[low : low + size]].tolist()) for low in range(0, len(order), size)]
    for place in _repeated(moment[order], size):
        own_moment, batch = int(moment[order[place]]), place // size
        for other in rng.integers(len(order), size=MOST_SWAPS).tolist():
            other_moment, beside = int(moment[order[other]]), other // size
            # The batch of `other` must lose its only pair of this moment, so that the sets stay what batches contain.
            if beside == batch or own_moment in batches[beside] or other_moment in batches[batch]:
                continue
            alone = moment[order[beside * size : (beside + 1) * size]] == other_moment
            if int(alone.sum()) > 1:
                continue
            batches[beside] = batches[beside] - {other_moment} | {own_moment}
            batches[batch].add(other_moment)
            order[[place, other]] = order[[other, place]]
            break
    return order


def _repeated(moment: Ints, size: int) -> list[int]:
    """Return the places of pairs whose moment occurs before in their batch."""
    batch = np.arange(len(moment)) // size
    first = np.unique(np.stack([batch, moment]), axis=1, return_index=True)[1]
    return np.flatnonzero(~np.isin(np.arange(len(moment)), first)).tolist()


def windows_to_learn(
    first: Annotations,
    store: FeatureStore,
    sentences: SentenceTable,
    recipe: Recipe,
    model: WindowModel,
    *,
    track: Callable[[Sequence[int]], Iterable[int]] = lambda numbers: numbers,
) -> tuple[WindowsToLearn, dict[str, float]]:
    """Return the pairs that a model learns from, and figures of them for the log of an epoch.

    Parameters
    ----------
    first
        Queries with one usable reference each.
    store
        Features.
    sentences
        Sentences of the queries.
    recipe
        Its `normalise` is used.
    model
        States its windows, and how it sees them.
    track
        Wraps the list of videos, e.g. in a progress bar.
    """
    learned = LearnedWindows.draw(first, model)
    rows, real = _slots_of(learned, store, recipe, model, track)
    query, window = learned.query, learned.window
    columns = {
        "windows_s": np.concatenate(learned.windows_s)[window][:, None],
        "moment": moment_shares(first)[query],
        "duration_s": np.asarray(first.duration_s, dtype=np.float64)[query],
    }
    moments = np.stack([numbers_of(first.video_id), first.start_s, first.end_s])
    pairs = WindowsToLearn(
        sentences.select(query),
        window,
        ClipTable(rows, {}),
        columns,
        query=query,
        moment=np.unique(moments, axis=1, return_inverse=True)[1].ravel()[query],
        distinct=model.window_settings.draw == "distinct",
    )
    n_contexts = real[window].sum(axis=1)
    log = {f"windows with {count} contexts": float((n_contexts == count).mean()) for count in range(3)}
    return pairs, {"queries without a window": 1 - len(np.unique(query)) / len(first)} | log


def _slots_of(
    learned: LearnedWindows,
    store: FeatureStore,
    recipe: Recipe,
    model: WindowModel,
    track: Callable[[Sequence[int]], Iterable[int]],
) -> tuple[FloatTable, Bools]:
    """Return the slots of all windows, (W, 1, 3, D), and whether each has its contexts, (W, 2)."""
    ends = np.cumsum([len(windows_s) for windows_s in learned.windows_s]).tolist()
    rows = empty_table((ends[-1], 1, 3, store.n_dimensions))
    real = np.empty((ends[-1], 2), dtype=np.bool_)
    for number in track(range(len(ends))):
        windows_s = learned.windows_s[number]
        if len(windows_s):
            window = slice(ends[number] - len(windows_s), ends[number])
            video = read_rows(store, learned.video_id[number], learned.duration_s[number], recipe)
            inputs = model.slots(video, windows_s)
            rows[window, 0], real[window] = inputs.slots, inputs.real[:, [0, 2]]
    return rows, real


class WindowsToAnswer(Pairs):
    """Queries with all windows of their videos, whose slots are made from rows of features when a batch is read.

    Parameters
    ----------
    sentences
        Sentences of the queries.
    video : (Q,)
        Video of each query.
    videos
        Features of the videos.
    model
        States its windows, and how it sees them.
    """

    def __init__(self, sentences: SentenceTable, video: Ints, videos: Sequence[VideoRows], model: WindowModel) -> None:
        duration_s = np.array([video_rows.duration_s for video_rows in videos])[video]
        super().__init__(sentences, video, None, columns=MappingProxyType({"duration_s": duration_s}))
        self.videos, self.model = videos, model

    def __getitems__(self, rows: Sequence[int]) -> TokenBatch:
        """Return a batch; the windows of each video are padded to the largest number of windows."""
        batch = super().__getitems__(rows)
        numbers, place = np.unique(self.video[np.asarray(rows, dtype=np.int64)], return_inverse=True)
        videos = [self.videos[number] for number in numbers.tolist()]
        windows_s = [self.model.windows_s(video.duration_s) for video in videos]
        slots = [self.model.slots(*pair).slots for pair in zip(videos, windows_s, strict=True)]
        return dataclasses.replace(
            batch,
            video=torch.from_numpy(_beside(slots, 0.0)[place]),
            windows_s=torch.from_numpy(_beside(windows_s, np.nan)[place]),
        )


def _beside(arrays: Sequence[npt.NDArray[Any]], padding: float) -> npt.NDArray[Any]:
    """Return arrays (C, ...) of different length as one, (V, C, ...)."""
    length = max(len(array) for array in arrays)
    table = np.full((len(arrays), length, *arrays[0].shape[1:]), padding, dtype=arrays[0].dtype)
    for row, array in zip(table, arrays, strict=True):
        row[: len(array)] = array
    return table
