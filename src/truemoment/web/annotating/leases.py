"""Which task comes next: that of a person's plan, or, in an open study, a query that is leased to whoever comes."""

from __future__ import annotations

import sqlite3
from typing import Annotated

import msgspec
import numpy as np

from truemoment.web.annotating.events import append, is_closed, now
from truemoment.web.annotating.study import StudySettings
from truemoment.web.pages.errors import PageError

LEASE_S = 30 * 60
"""How long a query stays with a person of an open study without a sign of life."""

LOOK_BACK = 20
"""Tasks before, of which none should show the same video."""


class AliveRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Body of a sign of life."""

    active_s: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 0


class NextTask(msgspec.Struct):
    """The next task; None while videos are still prepared (`preparing` of them), or when nothing is left."""

    task: int | None
    preparing: int


def next_task(connection: sqlite3.Connection, person: int, settings: StudySettings, *, after: int | None) -> NextTask:
    """Return a person's next open task; in an open study, lease the next query. It writes, in an open study.

    Parameters
    ----------
    after
        Task that the person leaves; tasks that follow it go before earlier ones.
    """
    if is_closed(connection):
        raise PageError(409, "the study is closed")
    place = -1
    if after is not None:
        row = connection.execute("SELECT place FROM tasks WHERE id = ? AND person = ?", (after, person)).fetchone()
        place = -1 if row is None else row["place"]
    row = connection.execute(
        "SELECT t.id FROM tasks t JOIN queries q ON q.id = t.query JOIN videos v ON v.id = q.video "
        "WHERE t.person = ? AND t.state IN ('waiting', 'draft') AND v.state = 'ready' "
        "ORDER BY t.place <= ?, t.place LIMIT 1",
        (person, place),
    ).fetchone()
    task = None if row is None else int(row["id"])
    if not settings.people and task is None:
        task = _lease_next(connection, person, settings)
    elif not settings.people:
        connection.execute("UPDATE tasks SET lease_until = ? WHERE id = ?", (now() + LEASE_S, task))
    waiting = 0
    if task is None:
        waiting = connection.execute(
            "SELECT count(*) FROM videos v WHERE v.state = 'waiting' AND (? = 0 OR EXISTS (SELECT 1 FROM tasks t JOIN "
            "queries q ON q.id = t.query WHERE q.video = v.id AND t.person = ? AND t.state IN ('waiting', 'draft')))",
            (settings.people, person),
        ).fetchone()[0]
    return NextTask(task, waiting)


def _lease_next(connection: sqlite3.Connection, person: int, settings: StudySettings) -> int | None:
    """Lease a person the query with the fewest answers and live leases, ties in seeded order."""
    time = now()
    _return_leases(connection, time)
    n_tasks = connection.execute("SELECT count(*) FROM tasks WHERE person = ?", (person,)).fetchone()[0]
    if n_tasks < settings.practice:
        row = connection.execute(
            "SELECT q.id FROM queries q JOIN videos v ON v.id = q.video "
            "WHERE q.kind = 'practice' AND v.state = 'ready' AND "
            "NOT EXISTS (SELECT 1 FROM tasks t WHERE t.query = q.id AND t.person = ?) ORDER BY q.id LIMIT 1",
            (person,),
        ).fetchone()
        if row is not None:
            return _lease(connection, person, row["id"], "practice", time)
    rng = np.random.default_rng([settings.seed, 3, person, n_tasks])
    control = _drawn_control(connection, person, settings, rng)
    if control is not None:
        return _lease(connection, person, *control, time)
    rows = connection.execute(
        "SELECT q.id, q.video, (SELECT count(DISTINCT t.person) FROM tasks t JOIN people p ON p.id = t.person "
        "WHERE t.query = q.id AND t.control = '' AND (t.state = 'submitted' OR t.state IN ('waiting', 'draft') "
        "AND t.lease_until >= ? AND p.state != 'revoked')) AS has FROM queries q JOIN videos v ON v.id = q.video "
        "WHERE q.kind = 'query' AND v.state = 'ready' AND NOT EXISTS "
        "(SELECT 1 FROM tasks t WHERE t.query = q.id AND t.person = ? AND t.state != 'taken back')",
        (time, person),
    ).fetchall()
    rows = [row for row in rows if row["has"] < settings.per_query]
    if not rows:
        return None
    recent = connection.execute(
        "SELECT DISTINCT q.video FROM (SELECT query FROM tasks WHERE person = ? ORDER BY place DESC LIMIT ?) t "
        "JOIN queries q ON q.id = t.query",
        (person, LOOK_BACK if settings.same_video == "apart" else 0),
    ).fetchall()
    recent_videos = {row["video"] for row in recent}
    best = min(
        rows,
        key=lambda row: (
            row["has"],
            row["video"] in recent_videos,
            (row["id"] * 2654435761 + settings.seed) % (1 << 32),
        ),
    )
    return _lease(connection, person, best["id"], "", time)


def _drawn_control(
    connection: sqlite3.Connection, person: int, settings: StudySettings, rng: np.random.Generator
) -> tuple[int, str] | None:
    """Draw whether the next task of an open study is a control, and which; the same person and place give the same."""
    shares = {"gold": settings.controls.gold, "absent": settings.controls.absent}
    if settings.task == "verify":
        shares = {"gold": settings.controls.gold, "moved": settings.controls.absent, "other": settings.controls.absent}
    draw = float(rng.random())
    for kind, share in shares.items():
        if draw < share:
            row = connection.execute(
                "SELECT q.id FROM queries q JOIN videos v ON v.id = q.video WHERE q.kind = ? AND v.state = 'ready' AND "
                "NOT EXISTS (SELECT 1 FROM tasks t WHERE t.query = q.id AND t.person = ?) ORDER BY q.id LIMIT 1",
                (kind, person),
            ).fetchone()
            return None if row is None else (int(row["id"]), kind)
        draw -= share
    if draw < settings.controls.repeat:
        row = connection.execute(
            "SELECT t.query FROM tasks t WHERE t.person = ? AND t.control = '' AND t.place + 30 <= (SELECT max(place) "
            "FROM tasks WHERE person = ?) AND NOT EXISTS (SELECT 1 FROM tasks r WHERE r.person = t.person AND "
            "r.query = t.query AND r.control = 'repeat') ORDER BY t.place LIMIT 1",
            (person, person),
        ).fetchone()
        return None if row is None else (int(row["query"]), "repeat")
    return None


def _lease(connection: sqlite3.Connection, person: int, query: int, control: str, time: int) -> int:
    moment = connection.execute(
        "SELECT json_extract(hidden, '$.shown') FROM queries WHERE id = ?", (query,)
    ).fetchone()[0]
    number = connection.execute(
        "INSERT INTO tasks (person, place, query, control, shown, lease_until) VALUES "
        "(?, (SELECT coalesce(max(place) + 1, 0) FROM tasks WHERE person = ?), ?, ?, ?, ?)",
        (person, person, query, control, moment or "", time + LEASE_S),
    ).lastrowid
    return int(number or 0)


def _return_leases(connection: sqlite3.Connection, time: int) -> None:
    """Return queries whose lease is over and whose answer has not begun."""
    rows = connection.execute(
        "SELECT id, person FROM tasks WHERE state = 'waiting' AND lease_until IS NOT NULL AND lease_until < ?", (time,)
    ).fetchall()
    for row in rows:
        append(connection, "take back", {}, task=row["id"], person=row["person"])


def record_alive(connection: sqlite3.Connection, person: int, task: int) -> None:
    """Record a sign of life: the lease of the task begins anew."""
    row = connection.execute("SELECT 1 FROM tasks WHERE id = ? AND person = ?", (task, person)).fetchone()
    if row is None:
        raise PageError(404, "there is no such task")
    time = now()
    connection.execute("UPDATE people SET seen_at = ? WHERE id = ?", (time, person))
    connection.execute(
        "UPDATE tasks SET lease_until = ? WHERE id = ? AND lease_until IS NOT NULL", (time + LEASE_S, task)
    )
