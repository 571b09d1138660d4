"""The figures of the owner's page: who is done, where people disagree, who may not be looking."""

from __future__ import annotations

import math
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from truemoment.base.boundary.documents import as_json
from truemoment.data.datasets.answer_file import PersonAnswer
from truemoment.studies.humans.answer_agreement import AnswerAgreement, QueryAgreement, answer_agreement
from truemoment.web.annotating.control_scores import PersonScores, person_scores
from truemoment.web.annotating.events import last_event, now
from truemoment.web.annotating.progress import StudyPerson
from truemoment.web.annotating.reading import StudyFrameTables, TaskAnswer, read_study_answers
from truemoment.web.annotating.results import read_state
from truemoment.web.annotating.store import Store
from truemoment.web.annotating.study import StudyFolder, StudySettings

EVERY_S = 10.0
"""The figures are computed at most that often."""

FEW = 200
"""Figures of fewer answers cost nothing, and are always new."""


class Figures(NamedTuple):
    """The figures after an event.

    Parameters
    ----------
    seq
        Number of the event.
    computed_at
        When they were computed, by the monotonic clock.
    document
        What the page shows.
    queries
        Agreement on each query, the least agreed first.
    """

    seq: int
    computed_at: float
    document: dict[str, Any]
    queries: tuple[QueryAgreement, ...]


class StudyFigures:
    """Computes the figures of a study that is served, when its log has grown."""

    def __init__(self, study: StudyFolder, settings: StudySettings, store: Store, tables: StudyFrameTables) -> None:
        self._study, self._settings, self._store, self._tables = study, settings, store, tables
        self._lock = threading.Lock()
        self._known: Figures | None = None

    def latest(self) -> Figures:
        """Return the figures; those of many answers may be 10 s old."""
        with self._lock:
            figures = self._known
            last = self._store.read(last_event)
            if figures is not None and not figures.document["open"]:
                is_due = figures.seq != last and time.monotonic() - figures.computed_at > EVERY_S
                figures = None if is_due else figures
            else:
                figures = None
            if figures is None:
                figures = self._known = self._store.read(self._compute)
            return figures

    def forget(self) -> None:
        """Discard the figures after a change of the owner; the next request computes new ones."""
        with self._lock:
            self._known = None

    def _compute(self, connection: sqlite3.Connection) -> Figures:
        settings = self._settings
        last = last_event(connection)
        state = read_state(self._study, connection)
        rows = read_study_answers(connection, self._tables)
        agreement = answer_agreement(_counted(rows), np.random.default_rng(0), resamples=0)
        scores = person_scores(rows, agreement.queries, state.references, settings.gold_iou)
        people = [_person(person, scores.get(person.name)) for person in state.people.values()]
        document: dict[str, Any] = {
            "seq": last,
            "title": settings.title,
            "task": settings.task,
            "state": state.state,
            "closed": state.closed,
            "open": len(rows) < FEW,
            "needed": state.n_queries * settings.per_query,
            **_agreement(agreement),
            "videos": state.videos,
            "not_playable": state.not_playable,
            "people": people,
        }
        queries = tuple(sorted(agreement.queries, key=_disagreement))
        return Figures(last, time.monotonic(), as_json(document), queries)


def _agreement(agreement: AnswerAgreement) -> dict[str, Any]:
    return {
        "answers": agreement.n_answers,
        "verdicts": agreement.verdicts,
        "mean_iou": agreement.mean_iou,
        "at_half": agreement.at_least_half,
        "disjoint": agreement.disjoint,
        "pairs": agreement.n_pairs,
        "presence": agreement.presence and agreement.presence.share,
    }


def _person(person: StudyPerson, scores: PersonScores | None) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": person.name,
        "state": person.state,
        "tasks": person.tasks,
        "done": person.done,
        "seen_s": None if person.seen_at is None else max(0, now() - person.seen_at),
    }
    if scores is None:
        return document
    count = len(scores.agreement)
    spread = float(np.std(scores.agreement)) if count else 0.0
    error = 1.96 * spread / math.sqrt(count) if count > 1 else None
    return document | scores.document() | {"self_count": scores.self_count, "agreement_error": error}


def _counted(rows: Sequence[TaskAnswer]) -> dict[str, list[PersonAnswer]]:
    """Return the answers that count, by query."""
    by_query: defaultdict[str, list[PersonAnswer]] = defaultdict(list)
    for row in rows:
        if row.line.counts:
            by_query[row.line.query_id].append(row.line)
    return dict(by_query)


def _disagreement(query: QueryAgreement) -> tuple[float, str]:
    """Return what queries are sorted by: first disputes about presence, then agreement."""
    verdicts = query.verdicts
    if len(verdicts) > 1:
        return -1.0 * min(verdicts.values()), query.query_id
    return (2.0 if math.isnan(query.mean_iou) else query.mean_iou), query.query_id
