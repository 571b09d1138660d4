"""First answers, and their pattern: a coarse grid, one answer for all queries, or one answer for each video.

Such answers were not found in the video. Answers that a refinement moved by some per cent of the video are not equal,
but near each other. Closer Look (Yuan et al. 2021, section 5.2) reports a published method with
the answers (0, 1), (0, 0.5) and (0.5, 1); TimeChat's issue 33 reports multiples of 5 s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats, Ints, temporal_iou
from truemoment.base.records import Annotations, Predictions
from truemoment.data.datasets.faults import normalised_sentence
from truemoment.evaluation.protocols.base import Ranking

SAME = 1e-6
"""Times this close, in seconds or as fractions of the video, are the same time."""

GRIDS_S: Mapping[str, float] = {"multiples of 5 s": 5.0, "multiples of 1 s": 1.0}
GRIDS_NORM: Mapping[str, float] = {"multiples of 10 % of the video": 0.1, "multiples of 5 % of the video": 0.05}


class FirstAnswers(NamedTuple):
    """The first answer of each query of the annotations, in their order.

    Parameters
    ----------
    start_s, end_s : (Q,)
        Seconds as predicted; NaN where there is no answer.
    n_unknown
        Number of queries of the predictions that are not in the annotations.
    """

    start_s: Floats
    end_s: Floats
    n_unknown: int

    @property
    def answered(self) -> Bools:
        """Return which queries have an answer, shape (Q,)."""
        return ~np.isnan(self.start_s)


class CommonAnswer(NamedTuple):
    """An answer as fractions of the video, and the share of the answers that equal it."""

    start_norm: float
    end_norm: float
    share: float


@dataclass(frozen=True)
class AnswerPattern:
    """Pattern of first answers; shares are fractions, NaN where there is nothing to count.

    Parameters
    ----------
    n_queries, n_answered
        Queries of the annotations that have a reference moment, and those of them with an answer.
    n_normalised
        Answered queries whose video's duration is known: the denominator of all shares of the video.
    on_grid
        Share of the answers whose start and end both lie on a grid, by the grid's name. Multiples of 5 s
        are multiples of 1 s too.
    n_comparable
        Answered queries whose video has another sentence that is answered.
    repeated
        Share of these with the same answer as another sentence of the video.
    repeated_references
        Share of these with the same reference as another such sentence: the value of a perfect method.
    most_common
        The most frequent answers, most frequent first, at a resolution of 1 % of the video.
    n_distinct
        Number of distinct answers at that resolution.
    near
        Places that most answers are near to, see :func:`~truemoment.studies.evaluate.first_answers.near_places`.
    """

    n_queries: int
    n_answered: int
    n_normalised: int
    on_grid: Mapping[str, float]
    n_comparable: int
    repeated: float
    repeated_references: float
    most_common: tuple[CommonAnswer, ...]
    n_distinct: int
    near: tuple[NearPlace, ...]


def first_answers(annotations: Annotations, predictions: Predictions, *, ranking: Ranking = "score") -> FirstAnswers:
    """Return the first answer of each query: by falling ``"score"``, or in the order of the ``"file"``.

    Examples
    --------
    >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 6.0)])
    >>> first_answers(a, Predictions.from_lists({"v#0": [(0.0, 9.0, 0.1), (2.0, 5.0, 0.9)]})).end_s
    array([5.])
    """
    if ranking not in ("score", "file"):
        raise UsageError(f"got ranking={ranking!r}, expected score or file")
    if ranking == "score":
        predictions = predictions.ranked_by_score()
    row = predictions.rows_of(annotations.queries.query_id)
    answered = (row >= 0) & (np.append(predictions.lengths, 0)[row] > 0)
    at = predictions.offsets[row[answered]]
    times = np.full((2, len(row)), np.nan)
    times[:, answered] = predictions.start_s[at], predictions.end_s[at]
    return FirstAnswers(times[0], times[1], len(predictions) - int(np.count_nonzero(row >= 0)))


def answer_pattern(
    annotations: Annotations, predictions: Predictions, *, ranking: Ranking = "score", n_common: int = 5
) -> AnswerPattern:
    """Look for answers that do not depend on the video or on the sentence.

    Queries without a reference moment are left out. `ranking` is as for :func:`first_answers`.

    Examples
    --------
    >>> rows = [("v#0", "v", 30.0, "a door opens", 2.0, 6.0), ("v#1", "v", 30.0, "he sits", 9.0, 20.0)]
    >>> whole = Predictions.from_lists({"v#0": [(0.0, 30.0)], "v#1": [(0.0, 30.0)]})
    >>> pattern = answer_pattern(Annotations.from_rows(rows), whole)
    >>> pattern.repeated, pattern.repeated_references, pattern.most_common
    (1.0, 0.0, (CommonAnswer(start_norm=0.0, end_norm=1.0, share=1.0),))
    """
    annotations = annotations.with_moments()
    first = first_answers(annotations, predictions, ranking=ranking)
    answered = first.answered
    queries = annotations.queries
    times_s = np.stack([first.start_s, first.end_s], axis=1)[answered]
    duration_s = queries.duration_s[answered]
    has_duration = duration_s > 0
    times_norm = times_s[has_duration] / duration_s[has_duration, None]
    on_grid = {name: _share_on_grid(times_s, step) for name, step in GRIDS_S.items()}
    on_grid |= {name: _share_on_grid(times_norm, step) for name, step in GRIDS_NORM.items()}

    video = numbered(queries.video_id[answered])
    sentence = numbered(map(normalised_sentence, queries.sentence[answered]))
    comparable = is_shared(video, sentence)
    heads = annotations.offsets[:-1][answered]
    repeated = is_shared(same_moment(video, first.start_s[answered], first.end_s[answered]), sentence)
    references = is_shared(same_moment(video, annotations.start_s[heads], annotations.end_s[heads]), sentence)
    values, counts = np.unique(np.rint(times_norm * 100), axis=0, return_counts=True)  # in whole per cents
    order = np.argsort(-counts, kind="stable")[:n_common]
    rows = np.column_stack([values / 100, counts / max(len(times_norm), 1)])[order].tolist()
    return AnswerPattern(
        n_queries=len(queries),
        n_answered=int(answered.sum()),
        n_normalised=int(has_duration.sum()),
        on_grid=on_grid,
        n_comparable=int(comparable.sum()),
        repeated=_share(repeated[comparable]),
        repeated_references=_share(references[comparable]),
        most_common=tuple(CommonAnswer(start, end, share) for start, end, share in rows),
        n_distinct=len(values),
        near=near_places(times_norm),
    )


def _share(marked: Bools) -> float:
    return float(marked.mean()) if len(marked) else float("nan")


def _share_on_grid(times: Floats, step: float) -> float:
    """Return the share of moments, shape (N, 2), whose start and end are multiples of `step`."""
    return _share(np.all(np.abs(times - step * np.rint(times / step)) <= SAME, axis=1))


def same_moment(video: Ints, start_s: Floats, end_s: Floats) -> Ints:
    """Number the moments of N rows, shape (N,): rows of one video with the same times have the same number."""
    table = np.column_stack([video, np.rint(start_s / SAME), np.rint(end_s / SAME)])
    return np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)


def is_shared(group: Ints, member: Ints) -> Bools:
    """Return which of N rows share their group with a row of another member, shape (N,)."""
    pairs = np.unique(np.stack([group, member]), axis=1)
    return np.asarray(np.bincount(pairs[0], minlength=1)[group] > 1)


def numbered(texts: Iterable[str]) -> Ints:
    """Number texts from 0 in the order in which they first occur, shape (N,)."""
    listed = list(texts)
    number = {text: n for n, text in enumerate(dict.fromkeys(listed))}
    return np.array([number[text] for text in listed], dtype=np.int64)


NEAR_IOU = 0.8
"""Answers with this IoU, as shares of their videos, are near each other."""

MOST_CENTRES = 256
"""Number of most frequent answers, at a resolution of 1 % of the video, that a place can be."""


class NearPlace(NamedTuple):
    """A place as fractions of the video, and the share of the answers that are near it and near none before."""

    start_norm: float
    end_norm: float
    share: float


def near_places(times_norm: Floats, n_places: int = 3) -> tuple[NearPlace, ...]:
    """Return the places that most answers (N, 2) are near to, each chosen after the answers near the ones before.

    WSSL as trained here answers every sentence with 0 to about 57 % of the video, and the most frequent answer, at 1 %
    of the video, is a sixth of all.

    Times are clipped to the video and rounded to 1 % of it; the last per cent belongs to a moment.

    Examples
    --------
    >>> near_places(np.array([[0.0, 0.5], [0.0, 0.55], [0.02, 0.5], [0.5, 1.0]]), 2)
    (NearPlace(start_norm=0.0, end_norm=0.5, share=0.75), NearPlace(start_norm=0.5, end_norm=1.0, share=0.25))
    """
    cells, counts = np.unique(np.rint(100 * np.clip(times_norm, 0.0, 1.0)), axis=0, return_counts=True)
    centres = cells[np.argsort(-counts, kind="stable")[:MOST_CENTRES]]
    start, end = cells[:, 0], cells[:, 1] + 1
    near = temporal_iou(centres[:, :1], centres[:, 1:] + 1, start, end) >= NEAR_IOU
    counts_left = counts.astype(np.float64)
    places: list[NearPlace] = []
    while counts_left.any() and len(places) < n_places:
        weights = near @ counts_left
        best = int(weights.argmax())
        if not weights[best]:
            break
        start_norm, end_norm = (centres[best] / 100).tolist()
        places.append(NearPlace(start_norm, end_norm, float(weights[best] / counts.sum())))
        counts_left[near[best]] = 0.0
    return tuple(places)
