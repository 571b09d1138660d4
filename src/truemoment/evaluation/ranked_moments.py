r"""NDCG@K,IoU=m: a ranked list of moments of many videos against moments of graded relevance.

A query of such a set has references in several videos, and an answer names its video, so these are no
:class:`~truemoment.base.records.Annotations`, and the measure is a function.

Convention
    In order of rank, an answer takes the free reference of its video with the largest IoU (of equal ones the most
    relevant), if this is more than m, and gains :math:`2^{rel} - 1`; else it gains nothing. The ideal list is the K
    most relevant references.

Formula
    :math:`\sum_{k=1}^K gain_k / \log_2(k + 1)`, divided by the same sum of the ideal list; 0 if that is 0.

Source
    TVR-Ranking (arXiv:2407.06597): Ranking-VMR/TVR-Ranking at db1dc44, modules/ndcg_iou.py lines 7-64. Its figure is
    the mean over the queries that have answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from truemoment.base.errors import MeasureError
from truemoment.base.intervals import temporal_iou


class MomentOfVideo(NamedTuple):
    """A moment of one of many videos; `relevance` (0 or more) is a reference's."""

    video_id: str
    start_s: float
    end_s: float
    relevance: float = 0.0


def ndcg(answers: Sequence[MomentOfVideo], references: Sequence[MomentOfVideo], k: int, iou: float) -> float:
    """Return NDCG@k,IoU=m of one query, in [0, 1].

    Parameters
    ----------
    answers
        Ranked, best first.
    references
        In any order.
    k, iou
        Number of answers that count, 1 or more, and the threshold m in [0, 1].

    Examples
    --------
    >>> references = [MomentOfVideo("a", 2.0, 6.0, 4), MomentOfVideo("b", 0.0, 5.0, 1)]
    >>> ndcg([MomentOfVideo("b", 0.0, 4.0), MomentOfVideo("a", 2.0, 6.0)], references, k=10, iou=0.5)
    0.669438508683784
    """
    if k < 1 or not 0 <= iou <= 1:
        raise MeasureError(f"NDCG@{k},IoU={iou:g}: expected 1 answer or more, and a threshold from 0 to 1")
    free = sorted(references, key=lambda reference: -reference.relevance)
    most = _discounted([reference.relevance for reference in free[:k]])
    gained = []
    for answer in answers[:k]:
        nearby = [reference for reference in free if reference.video_id == answer.video_id]
        times = np.array([moment[1:3] for moment in (answer, *nearby)], dtype=np.float64)
        values = temporal_iou(times[:1, 0], times[:1, 1], times[1:, 0], times[1:, 1])
        gained.append(0.0)
        if values.max(initial=0.0) > iou:
            taken = nearby[int(values.argmax())]
            gained[-1] = taken.relevance
            free.remove(taken)
    return _discounted(gained) / most if most > 0 else 0.0


def _discounted(relevance: Sequence[float]) -> float:
    """Sum of the gains, each divided by log2(rank + 1)."""
    ranks = np.arange(1, len(relevance) + 1)
    return float(((2.0 ** np.asarray(relevance, dtype=np.float64) - 1) / np.log2(ranks + 1)).sum())
