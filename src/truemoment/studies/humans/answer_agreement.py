r"""Agreement of annotators who may answer "not in the video", or mark several moments.

*Presence*: for each query, the share of pairs of annotators who agree whether the moment is in the video, and
Krippendorff's alpha for two categories over all answers ``marked`` and ``absent``:

.. math:: \alpha = 1 - (n - 1) \frac{\sum_u 2 m_u a_u / (n_u - 1)}{2 M A}

with :math:`m_u` answers ``marked`` and :math:`a_u` answers ``absent`` of query u, :math:`n_u = m_u + a_u`, and
:math:`M`, :math:`A`, :math:`n` their sums over queries with two answers or more (K. Krippendorff, Content Analysis, 2nd
edition, 2004, chapter 11). Answers ``unclear`` and ``broken`` are counted and belong to neither.

*Place*: SetIoU of each two annotators who marked moments, the seconds that both cover over those that either covers
(:mod:`truemoment.evaluation.measures.set_iou`); for one moment each it is their IoU.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, starmap
from typing import Any

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.data.datasets.answer_file import PersonAnswer
from truemoment.evaluation.uncertainty import interval95, resample_sums
from truemoment.report.model import Cell, Table
from truemoment.report.words import UNDEFINED, low_to_high, number

Moment = tuple[float, float]


def set_iou_of(first: Sequence[Moment], second: Sequence[Moment]) -> float:
    """Return the SetIoU of two lists of moments; each list rises and does not overlap itself.

    Examples
    --------
    >>> set_iou_of([(0, 2), (4, 6)], [(1, 5)])
    0.3333333333333333
    """
    if len(first) == 1 and len(second) == 1:  # most answers
        (start, end), (other_start, other_end) = first[0], second[0]
        overlap = max(0.0, min(end, other_end) - max(start, other_start))
        union = end - start + (other_end - other_start) - overlap
        return overlap / union if union > 0 else 0.0
    overlap, i, k = 0.0, 0, 0
    while i < len(first) and k < len(second):
        overlap += max(0.0, min(first[i][1], second[k][1]) - max(first[i][0], second[k][0]))
        if first[i][1] <= second[k][1]:
            i += 1
        else:
            k += 1
    union = sum(end - start for start, end in first) + sum(end - start for start, end in second) - overlap
    return overlap / union if union > 0 else 0.0


@dataclass(frozen=True)
class QueryAgreement:
    """Agreement on one query.

    Parameters
    ----------
    verdicts
        Number of answers by verdict.
    marked_by
        Annotators who marked moments.
    ious
        SetIoU of each two of `marked_by`, in the order of :func:`itertools.combinations`.
    """

    query_id: str
    video_id: str
    verdicts: Mapping[str, int]
    marked_by: tuple[str, ...]
    ious: tuple[float, ...]

    @property
    def mean_iou(self) -> float:
        """Mean of `ious`; NaN where fewer than two people marked moments."""
        return math.fsum(self.ious) / len(self.ious) if self.ious else float("nan")


@dataclass(frozen=True)
class PresenceAgreement:
    """Agreement of annotators on whether moments are in their videos.

    Parameters
    ----------
    share, share_ci95
        Mean over queries of the share of pairs of annotators who agree.
    alpha
        Krippendorff's alpha; NaN where all answers are equal.
    unanimous_absent, disputed
        Queries that all called absent, and queries on which annotators disagree.
    n_queries
        Queries with two such answers or more.
    """

    share: float
    share_ci95: tuple[float, float]
    alpha: float
    unanimous_absent: int
    disputed: int
    n_queries: int


@dataclass(frozen=True)
class AnswerAgreement:
    """Agreement of the answers of a study.

    Parameters
    ----------
    verdicts
        Number of answers by verdict.
    n_several
        Answers with several moments.
    presence
        Agreement on presence; None where no query has two such answers.
    mean_iou, mean_iou_ci95
        Mean over queries of the mean SetIoU of pairs, with a 95 % interval by resampling videos; NaN without pairs.
    at_least_half, disjoint
        Share of pairs with a SetIoU of 0.5 or more, and without overlap.
    n_pairs
        Number of pairs.
    queries
        Agreement on each query.
    """

    verdicts: Mapping[str, int]
    n_answers: int
    n_several: int
    presence: PresenceAgreement | None
    mean_iou: float
    mean_iou_ci95: tuple[float, float]
    at_least_half: float
    disjoint: float
    n_pairs: int
    n_queries: int
    queries: tuple[QueryAgreement, ...] = field(repr=False)


def by_query(answers: Mapping[str, Sequence[PersonAnswer]]) -> list[QueryAgreement]:
    """Return the agreement on each query, from the answers that count."""
    agreements = []
    for query_id, group in answers.items():
        marked = [answer for answer in group if answer.verdict == "marked" and answer.moments]
        ious = tuple(starmap(set_iou_of, combinations([sorted(answer.moments) for answer in marked], 2)))
        verdicts: dict[str, int] = {}
        for answer in group:
            verdicts[answer.verdict] = verdicts.get(answer.verdict, 0) + 1
        names = tuple([answer.annotator for answer in marked])
        agreements.append(QueryAgreement(query_id, group[0].video_id, verdicts, names, ious))
    return agreements


def answer_agreement(
    answers: Mapping[str, Sequence[PersonAnswer]], rng: np.random.Generator, *, resamples: int = 1000
) -> AnswerAgreement:
    """Measure the agreement of answers, by query; intervals resample videos, and are NaN with 0 `resamples`."""
    queries = by_query(answers)
    verdicts: Counter[str] = Counter()
    for query in queries:
        verdicts.update(query.verdicts)
    ious = np.array([iou for query in queries for iou in query.ious])
    several = sum(len(answer.moments) > 1 for group in answers.values() for answer in group)
    marked = [query for query in queries if query.ious]
    for_presence, for_place = rng.spawn(2)
    means = [query.mean_iou for query in marked]
    return AnswerAgreement(
        verdicts=dict(verdicts),
        n_answers=sum(map(len, answers.values())),
        n_several=several,
        presence=_presence(queries, for_presence, resamples),
        mean_iou=float(np.mean(means)) if means else float("nan"),
        mean_iou_ci95=_mean_interval([query.video_id for query in marked], means, for_place, resamples),
        at_least_half=float(np.mean(ious >= 0.5)) if len(ious) else float("nan"),
        disjoint=float(np.mean(ious <= 0)) if len(ious) else float("nan"),
        n_pairs=len(ious),
        n_queries=len(marked),
        queries=tuple(queries),
    )


def _presence(queries: Iterable[QueryAgreement], rng: np.random.Generator, resamples: int) -> PresenceAgreement | None:
    counts = [(query.video_id, query.verdicts.get("marked", 0), query.verdicts.get("absent", 0)) for query in queries]
    counts = [row for row in counts if row[1] + row[2] >= 2]
    if not counts:
        return None
    marked, absent = (np.array([row[at] for row in counts], dtype=np.float64) for at in (1, 2))
    n = marked + absent
    shares = 1 - 2 * marked * absent / (n * (n - 1))
    expected = 2 * marked.sum() * absent.sum()
    observed = (2 * marked * absent / (n - 1)).sum()
    alpha = float(1 - (n.sum() - 1) * observed / expected) if expected > 0 else float("nan")
    videos = [row[0] for row in counts]
    return PresenceAgreement(
        share=float(shares.mean()),
        share_ci95=_mean_interval(videos, shares.tolist(), rng, resamples),
        alpha=alpha,
        unanimous_absent=int(np.sum(marked == 0)),
        disputed=int(np.sum((marked > 0) & (absent > 0))),
        n_queries=len(counts),
    )


def _mean_interval(
    videos: Sequence[str], values: Sequence[float], rng: np.random.Generator, resamples: int
) -> tuple[float, float]:
    """Return the 95 % interval of a mean over queries, by resampling videos; NaN for fewer than two, or 0 resamples."""
    if not resamples:
        return float("nan"), float("nan")
    number: dict[str, int] = {}
    index = np.array([number.setdefault(video, len(number)) for video in videos], dtype=np.int64)
    if len(number) < 2:
        return float("nan"), float("nan")
    sums = np.stack([np.bincount(index, np.asarray(values)), np.bincount(index)], axis=1).astype(np.float64)
    total = resample_sums(sums, rng, resamples=resamples)
    low, high = interval95(total[:, 0] / total[:, 1]).tolist()
    return low, high


# ----------------------------------------------------------------------------------------- report


def answers_table(agreement: AnswerAgreement) -> Table:
    """Return the table of all answers of a study: verdicts, presence, and place by SetIoU."""
    rows = [
        (f"answers: {verdict or 'none'}", f"{count:,}", "") for verdict, count in sorted(agreement.verdicts.items())
    ]
    rows.append(("answers with several moments", f"{agreement.n_several:,}", ""))
    presence = agreement.presence
    if presence is not None:
        rows += [
            (
                "two annotators agree on presence, %",
                number(100 * presence.share, 1),
                low_to_high(presence.share_ci95, 1, times=100),
            ),
            ("Krippendorff's alpha, presence", number(presence.alpha, 3), ""),
            ("queries: annotators disagree on presence", f"{presence.disputed:,}", ""),
            ("queries: absent for all annotators", f"{presence.unanimous_absent:,}", ""),
        ]
    if agreement.n_pairs:
        rows += [
            ("mean SetIoU of two annotators", number(agreement.mean_iou, 3), low_to_high(agreement.mean_iou_ci95, 3)),
            ("pairs with SetIoU of 0.5 or more, %", number(100 * agreement.at_least_half, 1), ""),
            ("pairs that do not overlap, %", number(100 * agreement.disjoint, 1), ""),
        ]
    cells = tuple((Cell(label), Cell(value), Cell(interval or UNDEFINED)) for label, value, interval in rows)
    return Table("All answers", ("", "value", "95 % interval"), (("", cells),), text_columns=(0, 2))


def answers_document(agreement: AnswerAgreement) -> dict[str, Any]:
    """Return the agreement as JSON values."""
    presence = agreement.presence
    why = "no query has two such answers"
    return {
        "verdicts": dict(agreement.verdicts),
        "n_answers": agreement.n_answers,
        "several_moments": agreement.n_several,
        "presence": None
        if presence is None
        else {
            "agreement": Measured(presence.share, ci95=presence.share_ci95),
            "alpha": Measured(presence.alpha, why="all answers are equal", unit=""),
            "disputed": presence.disputed,
            "all_absent": presence.unanimous_absent,
            "n_queries": presence.n_queries,
        },
        "set_iou": {
            "mean": Measured(agreement.mean_iou, why=why, ci95=agreement.mean_iou_ci95),
            "at_least_half": Measured(agreement.at_least_half, why=why),
            "disjoint": Measured(agreement.disjoint, why=why),
            "n_pairs": agreement.n_pairs,
            "n_queries": agreement.n_queries,
        },
    }
