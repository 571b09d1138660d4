"""How people answered controls: gold, repeats and absent ones, and the false "fits" of ``verify`` studies."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from truemoment.data.datasets.answer_file import PersonAnswer
from truemoment.studies.humans.answer_agreement import QueryAgreement, set_iou_of
from truemoment.web.annotating.reading import TaskAnswer

Moment = tuple[float, float]

FAST, GOLD_LEAST, SELF_LEAST = 1 / 3, 0.6, 0.4
"""Rules of the owner's flags: time below a third of everybody's, gold below 60 %, agreement with oneself below 0.4."""


@dataclass(frozen=True)
class ControlCount:
    """Number of controls that were answered as expected, and their number."""

    right: int
    total: int


@dataclass(frozen=True)
class PersonScores:
    """Answers of a person, and what they show.

    Parameters
    ----------
    done
        Submitted answers.
    median_s
        Median seconds of work per submitted answer; None without any.
    self_iou
        Mean SetIoU of repeats with the first answers; None without any.
    self_count
        Number of repeats.
    agreement
        SetIoU with others' answers to the same queries, one value a pair.
    flags
        Rules that a person breaks, in words.
    """

    done: int
    median_s: float | None
    self_iou: float | None
    self_count: int
    gold: ControlCount
    absent: ControlCount
    agreement: tuple[float, ...]
    flags: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return what programs read of the scores."""
        return {
            "median_s": self.median_s,
            "self_iou": self.self_iou,
            "gold": [self.gold.right, self.gold.total],
            "absent": [self.absent.right, self.absent.total],
            "agreement": sum(self.agreement) / len(self.agreement) if self.agreement else None,
            "flags": list(self.flags),
        }


def is_right(answer: PersonAnswer, references: Sequence[Moment], least_iou: float) -> bool:
    """Whether a control is answered as expected: `references` are empty where the moment is not in the video."""
    if not references:
        return answer.verdict in ("absent", "no fit")
    if answer.verdict == "marked":
        return max(set_iou_of(sorted(answer.moments), [reference]) for reference in references) >= least_iou
    return answer.verdict == "fits"


def same_answer(answer: PersonAnswer, other: PersonAnswer) -> float:
    """Return the SetIoU of two answers; two without a moment agree if their verdicts do."""
    if answer.verdict == other.verdict == "marked":
        return set_iou_of(sorted(answer.moments), sorted(other.moments))
    return float(answer.verdict == other.verdict)


def person_scores(
    answers: Sequence[TaskAnswer],
    queries: Iterable[QueryAgreement],
    references: Mapping[str, Sequence[Moment]],
    least_iou: float,
) -> dict[str, PersonScores]:
    """Return the scores of each person who has submitted an answer.

    Parameters
    ----------
    queries
        Agreement on each query, of which a person's agreement with others is a part.
    references
        Agreed moments of each control query.
    least_iou
        IoU from which on an answer to a gold query is right.
    """
    of_person: defaultdict[str, list[PersonAnswer]] = defaultdict(list)
    for answer in (row.line for row in answers if row.line.submitted):
        of_person[answer.annotator].append(answer)
    agreement: defaultdict[str, list[float]] = defaultdict(list)
    for query in queries:
        for (person, other), iou in zip(combinations(query.marked_by, 2), query.ious, strict=True):
            agreement[person].append(iou)
            agreement[other].append(iou)
    everybody = [line.active_s for all_of in of_person.values() for line in all_of if not line.control]
    usual_s = statistics.median(everybody) if everybody else 0.0
    return {
        name: _scores(lines, references, least_iou, tuple(agreement[name]), usual_s)
        for name, lines in of_person.items()
    }


def _scores(
    answers: Sequence[PersonAnswer],
    references: Mapping[str, Sequence[Moment]],
    least_iou: float,
    agreement: tuple[float, ...],
    usual_s: float,
) -> PersonScores:
    first = {answer.query_id: answer for answer in answers if not answer.control}
    repeats = [
        same_answer(answer, first[answer.query_id])
        for answer in answers
        if answer.control == "repeat" and answer.query_id in first
    ]
    results = {
        kinds: [
            is_right(line, references.get(line.query_id, ()), least_iou) for line in answers if line.control in kinds
        ]
        for kinds in (("gold",), ("absent", "moved", "other"))
    }
    gold, absent = (ControlCount(sum(right), len(right)) for right in results.values())
    times = [answer.active_s for answer in answers if not answer.control]
    median_s = statistics.median(times) if times else None
    self_iou = statistics.fmean(repeats) if repeats else None
    flags = []
    if median_s is not None and len(times) >= 5 and median_s < FAST * usual_s:
        flags.append("less than a third of the median time")
    if gold.total >= 3 and gold.right < GOLD_LEAST * gold.total:
        flags.append("gold below 60 %")
    if len(repeats) >= 2 and self_iou is not None and self_iou < SELF_LEAST:
        flags.append("agreement with self below 0.4")
    if absent.total >= 2 and absent.right == 0:
        flags.append("no absent query found")
    return PersonScores(len(answers), median_s, self_iou, len(repeats), gold, absent, agreement, tuple(flags))
