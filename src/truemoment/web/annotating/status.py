"""The status of a study: the figures of its datasheet before an export."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from truemoment.base.version import __version__ as version
from truemoment.data.datasets.answer_file import SCHEMA, AnswersHead, StudyAnswers
from truemoment.studies.humans.answer_agreement import AnswerAgreement, answer_agreement
from truemoment.web.annotating.control_scores import PersonScores, person_scores
from truemoment.web.annotating.reading import StudyFrameTables, read_study_answers
from truemoment.web.annotating.results import StudyState, read_state
from truemoment.web.annotating.study import StudyFolder, StudySettings


@dataclass(frozen=True)
class StudyStatus:
    """Progress and agreement of a study.

    Parameters
    ----------
    needed
        Answers that the plan asks for.
    """

    settings: StudySettings
    state: StudyState
    people: Mapping[str, PersonScores]
    agreement: AnswerAgreement
    needed: int


def read_status(study: StudyFolder, connection: sqlite3.Connection) -> StudyStatus:
    """Return the status of a study."""
    settings = study.settings()
    rows = read_study_answers(connection, StudyFrameTables(study))
    state = read_state(study, connection)
    head = AnswersHead(SCHEMA, settings.name, version, settings.seed, settings.task)
    answers = StudyAnswers(head, tuple(row.line for row in rows), "")
    agreement = answer_agreement(answers.by_query(), np.random.default_rng(settings.seed))
    return StudyStatus(
        settings=settings,
        state=state,
        people=person_scores(rows, agreement.queries, state.references, settings.gold_iou),
        agreement=agreement,
        needed=state.n_queries * settings.per_query,
    )
