"""``answers.jsonl``: every answer of a study of ``truemoment annotate``, those without a moment included.

::

    {"schema": "truemoment/answers/1", "study": "charades", "truemoment": "0.1.0", "seed": 0, "task": "mark"}
    {"query_id": "v1#0", "video_id": "v1", "sentence": "a door opens", "duration_s": 30.5, "annotator": "w07",
     "verdict": "marked", "moments": [[2.0, 5.0]], "frames": [[60, 149]], "submitted_day": "2026-11-23"}

Annotations name an annotator per moment, so "three marked it, two say it is not there" has no form there; here it has.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from truemoment.base.boundary.files import UNREADABLE, Seed, decode_json, iterate_json_lines, open_binary
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError
from truemoment.base.records import Annotations, Seconds

SCHEMA = "truemoment/answers/1"


class AnswersHead(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """First line: the study."""

    schema: str
    study: str
    truemoment: str
    seed: Seed = 0
    task: str = "mark"


class PersonAnswer(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True, gc=False):
    """One answer; without cyclic garbage collection (`gc`), as a study has tens of thousands.

    Parameters
    ----------
    verdict
        ``marked``, ``absent``, ``unclear`` or ``broken``; in a ``verify`` study ``fits``, ``partly``, ``no fit``,
        ``unclear`` or ``broken``. "" for an answer that was begun only.
    reasons
        Why it is unclear, or what does not fit.
    moments, frames
        Marked moments in seconds, and their first and last frames, both included.
    control
        ``gold``, ``repeat``, ``absent``, ``moved``, ``other`` or ``practice``; "" for a query of the study.
    set_aside
        Whether the owner excluded the answer.
    copy
        Whether a copy of the video was shown.
    shown
        Moment that was judged, in a ``verify`` study.
    """

    query_id: str
    video_id: str
    sentence: str
    duration_s: Seconds | None
    annotator: str
    verdict: str
    reasons: list[str] = []
    comment: str = ""
    moments: list[tuple[Seconds, Seconds]] = []
    frames: list[tuple[int, int]] = []
    control: str = ""
    task_place: int = 0
    active_s: int = 0
    copy: bool = False
    submitted_day: str = ""
    submitted: bool = True
    set_aside: bool = False
    shown: tuple[Seconds, Seconds] | None = None

    @property
    def counts(self) -> bool:
        """Whether it is a submitted answer to a query of the study that was not excluded."""
        return self.submitted and not self.set_aside and not self.control


@dataclass(frozen=True)
class StudyAnswers:
    """The answers in a file, in file order."""

    head: AnswersHead
    answers: tuple[PersonAnswer, ...]
    name: str

    def by_query(self) -> dict[str, list[PersonAnswer]]:
        """Return the answers that count, by query; an annotator's later answer to a query replaces the earlier one."""
        answers: defaultdict[str, dict[str, PersonAnswer]] = defaultdict(dict)
        for answer in self.answers:
            if answer.counts:
                answers[answer.query_id][answer.annotator] = answer
        return {query_id: list(people.values()) for query_id, people in answers.items()}

    def annotations(self) -> Annotations:
        """Return the marked moments as annotations; queries that nobody marked are left out."""
        rows = [
            (
                answer.query_id,
                answer.video_id,
                math.nan if answer.duration_s is None else answer.duration_s,
                answer.sentence,
                *moment,
                answer.annotator,
            )
            for answers in self.by_query().values()
            for answer in answers
            if answer.verdict == "marked"
            for moment in answer.moments
        ]
        if not rows:
            raise InputError("has no answer with a moment", path=self.name)
        return Annotations.from_rows(rows, dataset=as_text(Path(self.name).name), split="all")


def is_answers(path: Path) -> bool:
    """Whether a file is one of answers: its first line says so."""
    try:
        with open_binary(path) as stream:
            line = stream.readline(4096)
    except UNREADABLE:
        return False
    return b'"truemoment/answers/' in line


def read_answers(path: Path) -> StudyAnswers:
    """Read the answers of a study."""
    lines = iterate_json_lines(path)
    first = next(lines, None)
    if first is None:
        raise InputError("is empty, expected the answers of a study", path=path)
    head = decode_json(first[1], AnswersHead, path=path, line=first[0])
    if head.schema != SCHEMA:
        raise InputError(f"got {head.schema!r}, expected {SCHEMA!r}", path=path, line=first[0], field="schema")
    answers = []
    for number, line in lines:
        answer = decode_json(line, PersonAnswer, path=path, line=number)
        if any(start >= end for start, end in answer.moments):
            raise InputError("got a moment that does not end after its start", path=path, line=number, field="moments")
        answers.append(answer)
    return StudyAnswers(head, tuple(answers), str(path))


def one_moment(moments: Sequence[tuple[float, float]], rule: str) -> list[tuple[float, float]]:
    """Return the moments of an answer by a rule: ``all``, only the ``longest``, or their ``hull``.

    Examples
    --------
    >>> one_moment([(0.0, 1.0), (4.0, 7.0)], "longest"), one_moment([(0.0, 1.0), (4.0, 7.0)], "hull")
    ([(4.0, 7.0)], [(0.0, 7.0)])
    """
    if rule == "all" or len(moments) < 2:
        return list(moments)
    if rule == "longest":
        return [max(moments, key=lambda moment: moment[1] - moment[0])]
    return [(min(start for start, _ in moments), max(end for _, end in moments))]
