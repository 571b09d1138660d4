"""What a study holds, and what an export of it found."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from truemoment.annotating.control_scores import PersonScores
from truemoment.annotating.study import StudySettings
from truemoment.datasets.answer_file import StudyAnswers
from truemoment.diagnosis.answer_agreement import AnswerAgreement


@dataclass(frozen=True)
class Exported:
    """What was exported.

    Parameters
    ----------
    files
        By name: number of lines after the head; of the datasheet, 0.
    not_single
        Queries that the export has with several moments of one person.
    """

    settings: StudySettings
    answers: StudyAnswers
    people: Mapping[str, PersonScores]
    agreement: AnswerAgreement
    files: Mapping[str, int]
    not_single: int


@dataclass(frozen=True)
class StudyState:
    """What the database of a study holds besides answers.

    Parameters
    ----------
    references
        Agreed moments of each control query.
    videos
        Number of videos by state, and reasons of those that do not play.
    people
        State of each person.
    """

    references: Mapping[str, Sequence[tuple[float, float]]]
    videos: Mapping[str, int]
    not_playable: Mapping[str, str]
    people: Mapping[str, str]
    n_queries: int
    closed: bool


def read_state(connection: sqlite3.Connection) -> StudyState:
    """Return what the database of a study holds besides answers."""
    controls = connection.execute("SELECT query_id, hidden FROM queries WHERE kind != 'query'").fetchall()
    videos = connection.execute("SELECT video_id, state, why FROM videos ORDER BY id").fetchall()
    people = connection.execute("SELECT name, state FROM people WHERE role = 'person' ORDER BY id").fetchall()
    return StudyState(
        references={row["query_id"]: msgspec.json.decode(row["hidden"])["moments"] for row in controls},
        videos=Counter(row["state"] for row in videos),
        not_playable={row["video_id"]: row["why"] for row in videos if row["state"] == "not playable"},
        people={row["name"]: row["state"] for row in people},
        n_queries=connection.execute("SELECT count(*) FROM queries WHERE kind = 'query'").fetchone()[0],
        closed=connection.execute("SELECT 1 FROM events WHERE kind = 'close'").fetchone() is not None,
    )
