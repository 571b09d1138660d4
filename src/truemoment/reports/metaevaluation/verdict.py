"""The answer over all studies, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from truemoment.reports.template import Table


class Answer(NamedTuple):
    """What the studies say to one question.

    Parameters
    ----------
    question
        In a few words.
    said
        The finding first, then how sure it is.
    """

    question: str
    said: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What the studies say together.

    Parameters
    ----------
    headline
        The answer in one short sentence.
    answers
        To each question that a study answers.
    glance
        The measures at a glance; None where no study says anything of single measures.
    notes
        By which rule, and on what data only.
    document
        All of it for JSON.
    """

    headline: str
    answers: tuple[Answer, ...]
    glance: Table | None
    notes: tuple[str, ...]
    document: dict[str, Any]
