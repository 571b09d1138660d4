"""How far the people of a study are."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

import msgspec

from truemoment.web.annotating.events import is_closed
from truemoment.web.annotating.study import StudySettings

PersonState = Literal["invited", "read", "practised", "working", "done", "revoked"]
"""Invited; has read the instructions; has done all practice tasks; has begun other tasks; has done all; revoked."""


@dataclass(frozen=True)
class StudyPerson:
    """A person of a study.

    Parameters
    ----------
    tasks, done
        Number of tasks, and of submitted ones.
    seen_at
        Seconds since 1970 of the last sign of life; None for none.
    """

    name: str
    state: PersonState
    tasks: int
    done: int
    seen_at: int | None


_PEOPLE = (
    "WITH gone AS (SELECT q.id FROM queries q JOIN videos v ON v.id = q.video WHERE v.state = 'not playable') "
    "SELECT p.name, p.state, p.seen_at, count(t.id) AS tasks, "
    "coalesce(sum(t.state IN ('submitted', 'set aside')), 0) AS done, "
    "coalesce(sum(t.state IN ('submitted', 'set aside') AND t.control = 'practice'), 0) AS practised, "
    "coalesce(sum(t.state != 'waiting' AND t.control != 'practice'), 0) AS begun, "
    "coalesce(sum(t.state IN ('waiting', 'draft') AND t.query NOT IN (SELECT id FROM gone)), 0) AS open "
    "FROM people p LEFT JOIN tasks t ON t.person = p.id AND t.state != 'taken back' "
    "WHERE p.role = 'person' AND (? IS NULL OR p.id = ?) GROUP BY p.id ORDER BY p.id"
)


def read_people(
    connection: sqlite3.Connection, settings: StudySettings, *, person: int | None = None
) -> list[StudyPerson]:
    """Return the people of a study, or one of them, by number."""
    pool = connection.execute("SELECT count(*) FROM queries WHERE kind = 'practice'").fetchone()[0]
    practice = min(settings.practice, pool)
    return [
        StudyPerson(row["name"], _state(row, settings, practice), row["tasks"], row["done"], row["seen_at"])
        for row in connection.execute(_PEOPLE, (person, person)).fetchall()
    ]


def _state(row: sqlite3.Row, settings: StudySettings, practice: int) -> PersonState:
    if row["state"] == "revoked":
        return "revoked"
    if settings.people and row["tasks"] and not row["open"]:  # in an open study there may be more
        return "done"
    if row["begun"]:
        return "working"
    if row["practised"] and row["practised"] >= practice:
        return "practised"
    return "read" if row["state"] == "read" else "invited"


class Progress(msgspec.Struct):
    """How far a person is; `last` is the last task that the person has answered or begun, None for none."""

    name: str
    done: int
    total: int = msgspec.field(name="of")
    state: PersonState
    closed: bool
    last: int | None


def progress_of(connection: sqlite3.Connection, person: int, settings: StudySettings) -> Progress:
    """Return how far a person is."""
    (row,) = read_people(connection, settings, person=person)
    counts = connection.execute(
        "SELECT count(*) AS all_of, coalesce(sum(t.state IN ('submitted', 'set aside')), 0) AS done FROM tasks t "
        "JOIN queries q ON q.id = t.query JOIN videos v ON v.id = q.video "
        "WHERE t.person = ? AND t.state != 'taken back' AND v.state != 'not playable'",
        (person,),
    ).fetchone()
    total = counts["all_of"]
    if not settings.people:
        total = connection.execute("SELECT count(*) FROM queries WHERE kind IN ('query', 'practice')").fetchone()[0]
    last = connection.execute(
        "SELECT id FROM tasks WHERE person = ? AND state IN ('submitted', 'set aside', 'draft') "
        "ORDER BY place DESC LIMIT 1",
        (person,),
    ).fetchone()
    return Progress(
        row.name, counts["done"], total, row.state, is_closed(connection), None if last is None else last["id"]
    )
