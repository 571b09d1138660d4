"""The content of a study, and the result of an export."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from truemoment.data.datasets.answer_file import StudyAnswers
from truemoment.data.datasets.random_order import Order
from truemoment.studies.humans.answer_agreement import AnswerAgreement
from truemoment.web.annotating.control_scores import PersonScores
from truemoment.web.annotating.events import is_closed, last_change
from truemoment.web.annotating.practice import hidden_moments
from truemoment.web.annotating.progress import StudyPerson, read_people
from truemoment.web.annotating.study import StudyFolder, StudySettings


@dataclass(frozen=True)
class Exported:
    """The result of an export.

    Parameters
    ----------
    files
        By name: number of lines after the head; of the datasheet, 0.
    not_single
        Queries that the export has with several moments of one person.
    order
        Order in which a video's queries were written.
    """

    settings: StudySettings
    answers: StudyAnswers
    people: Mapping[str, PersonScores]
    agreement: AnswerAgreement
    files: Mapping[str, int]
    not_single: int
    order: Order


StudyStep = Literal["made", "preparing", "running", "closed", "exported"]
"""Where a study is: made, its first videos are prepared, people work, closed, and exported since it was closed."""


@dataclass(frozen=True)
class StudyState:
    """The content of a study's database, without the answers.

    Parameters
    ----------
    references
        Agreed moments of each control query.
    videos
        Number of videos by state, and reasons of those that do not play.
    people
        The people, by name.
    state
        Where the study is.
    """

    references: Mapping[str, Sequence[tuple[float, float]]]
    videos: Mapping[str, int]
    not_playable: Mapping[str, str]
    people: Mapping[str, StudyPerson]
    n_queries: int
    state: StudyStep

    @property
    def closed(self) -> bool:
        """Whether no answer can be changed any more."""
        return self.state in ("closed", "exported")


def read_state(study: StudyFolder, connection: sqlite3.Connection) -> StudyState:
    """Return the content of a study's database, without the answers."""
    controls = connection.execute("SELECT query_id, hidden FROM queries WHERE kind != 'query'").fetchall()
    videos = connection.execute("SELECT video_id, state, why FROM videos ORDER BY id").fetchall()
    counts = Counter(row["state"] for row in videos)
    return StudyState(
        references={row["query_id"]: hidden_moments(row["hidden"]) for row in controls},
        videos=counts,
        not_playable={row["video_id"]: row["why"] for row in videos if row["state"] == "not playable"},
        people={person.name: person for person in read_people(connection, study.settings())},
        n_queries=connection.execute("SELECT count(*) FROM queries WHERE kind = 'query'").fetchone()[0],
        state=_step(study, connection, counts),
    )


def _step(study: StudyFolder, connection: sqlite3.Connection, videos: Mapping[str, int]) -> StudyStep:
    if is_closed(connection):
        return "exported" if study.exported_change() >= last_change(connection) else "closed"
    if not videos.get("waiting") or connection.execute("SELECT 1 FROM answers LIMIT 1").fetchone():
        return "running"
    return "preparing" if len(videos) > 1 else "made"
