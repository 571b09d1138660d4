r"""HL-mAP and HIT@1 of QVHighlights: whether the highly rated clips are found.

Convention
    A clip is positive if an annotator rates it at least ``min`` (Fair 2, Good 3, VeryGood 4 of 4);
    clips that were not rated count 0. Predicted ratings beyond the video's clips are dropped, missing
    ones count 0 for HL-mAP; without any predicted rating a query scores 0. A predicted first clip
    outside the video is no hit.

HL-mAP,min=L
    For each annotator the interpolated average precision of ranking clips by predicted rating, clips
    of equal rating entering together, averaged over the distinct steps of recall; 0 where an
    annotator has no positive clip. Mean over annotators, then over queries.

HIT@1,min=L
    1 if the clip of highest predicted rating (the first such) is positive for any annotator.

Source
    QVHighlights (Lei et al. 2021); behaviour read in jayleicn/moment_detr, standalone_eval/eval.py
    and utils.py at b7e553ac.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truemoment.base.errors import MeasureError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.base.papers import QVHIGHLIGHTS, Paper
from truemoment.evaluation.measures.base import Needs, SaliencyPair, Statistic

RATINGS: dict[str, int] = {"Fair": 2, "Good": 3, "VeryGood": 4}


def _checked_rating(name: str, measure: str) -> None:
    if name not in RATINGS:
        raise MeasureError(f"{measure},min={name}: expected one of {', '.join(RATINGS)}")


@dataclass(frozen=True)
class HighlightAveragePrecision:
    """``HL-mAP,min=Fair|Good|VeryGood``: `minimum` is the lowest rating of a positive clip (2, 3 or 4 of 4).

    Examples
    --------
    >>> str(HighlightAveragePrecision("Good"))
    'HL-mAP,min=Good'
    """

    minimum: str

    needs: ClassVar[Needs] = "saliency"
    needs_duration: ClassVar[bool] = True
    depth: ClassVar[None] = None
    ref: ClassVar[None] = None
    papers: ClassVar[tuple[Paper, ...]] = (QVHIGHLIGHTS,)

    def __post_init__(self) -> None:
        """Refuse an unknown rating."""
        _checked_rating(self.minimum, "HL-mAP")

    def __str__(self) -> str:
        return f"HL-mAP,min={self.minimum}"

    def per_query(self, pair: SaliencyPair) -> Statistic:
        """Return each query's mean over annotators of the average precision, weight 1."""
        n_queries, n_clips, n_annotators = pair.rating.shape
        predicted = np.full((n_queries, n_clips), np.nan)
        width = min(n_clips, pair.predicted.shape[1])
        predicted[:, :width] = pair.predicted[:, :width]
        predicted = np.nan_to_num(predicted, nan=0.0)
        positive = pair.rating >= RATINGS[self.minimum]
        value = np.zeros(n_queries)
        for annotator in range(n_annotators):
            value += clip_average_precision(predicted, positive[:, :, annotator], pair.n_clips)
        rated = ~np.isnan(pair.predicted).all(axis=1)  # without any rating the worst value
        return Statistic(np.where(rated, value / n_annotators, 0.0), np.ones(n_queries))


@dataclass(frozen=True)
class HighlightHit:
    """``HIT@1,min=Fair|Good|VeryGood``: `minimum` is the lowest rating of a positive clip (2, 3 or 4 of 4).

    Examples
    --------
    >>> str(HighlightHit("VeryGood"))
    'HIT@1,min=VeryGood'
    """

    minimum: str

    needs: ClassVar[Needs] = "saliency"
    needs_duration: ClassVar[bool] = True
    depth: ClassVar[None] = None
    ref: ClassVar[None] = None
    papers: ClassVar[tuple[Paper, ...]] = (QVHIGHLIGHTS,)

    def __post_init__(self) -> None:
        """Refuse an unknown rating."""
        _checked_rating(self.minimum, "HIT@1")

    def __str__(self) -> str:
        return f"HIT@1,min={self.minimum}"

    def per_query(self, pair: SaliencyPair) -> Statistic:
        """Return 1 where the clip rated highest is positive for some annotator, weight 1."""
        first = np.argmax(np.nan_to_num(pair.predicted, nan=-np.inf), axis=1)
        rows = np.arange(len(first))
        inside = (first < pair.n_clips) & ~np.isnan(pair.predicted[rows, first])
        rating = pair.rating[rows, np.minimum(first, pair.rating.shape[1] - 1)].max(axis=1)
        hit = inside & (rating >= RATINGS[self.minimum])
        return Statistic(hit.astype(np.float64), np.ones(len(hit)))


def clip_average_precision(predicted: Floats, positive: Bools, n_clips: Ints) -> Floats:
    """Return the interpolated average precision of ranking clips, equal ratings entering together, (Q,).

    Parameters
    ----------
    predicted : (Q, C) ratings by which clips are ranked
    positive : (Q, C) positive clips; without any the value is 0
    n_clips : (Q,) number of clips of each video

    Examples
    --------
    >>> clip_average_precision(np.array([[0.9, 0.8, 0.1]]), np.array([[False, True, True]]), np.array([3]))
    array([0.66666667])
    """
    exists = np.arange(predicted.shape[1]) < n_clips[:, None]
    order = np.argsort(np.where(exists, -predicted, np.inf), axis=1, kind="stable")
    rating = np.take_along_axis(predicted, order, axis=1)
    exists = np.take_along_axis(exists, order, axis=1)
    n_positive = np.cumsum(np.take_along_axis(positive, order, axis=1) & exists, axis=1)
    closes = exists.copy()  # the last clip of a group of equal ratings
    closes[:, :-1] &= (rating[:, :-1] != rating[:, 1:]) | ~exists[:, 1:]
    precision = np.where(closes, n_positive / np.arange(1, predicted.shape[1] + 1), -np.inf)
    best_beyond = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    before = np.maximum.accumulate(np.where(closes, n_positive, 0), axis=1)
    before = np.hstack([np.zeros((len(n_positive), 1), dtype=before.dtype), before[:, :-1]])
    steps = closes & (n_positive > before)
    total = np.where(steps, best_beyond, 0.0).sum(axis=1)
    return np.asarray(total / np.maximum(steps.sum(axis=1), 1))
