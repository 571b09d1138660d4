"""Tasks of a person: which comes next, what the page sees of it, and how an answer is stored."""

from __future__ import annotations

import sqlite3
from typing import Annotated, Literal

import msgspec
import numpy as np

from truemoment.annotating.answers import Answer, AnswerRequest, FrameSpan, check_answer
from truemoment.annotating.events import append, is_closed, now
from truemoment.annotating.rebuilding import current
from truemoment.annotating.study import StudySettings
from truemoment.diagnosis.answer_agreement import set_iou_of
from truemoment.pages.errors import PageError
from truemoment.video.stamps import FrameTable

LEASE_S = 30 * 60
"""How long a query stays with a person of an open study without a sign of life."""

LOOK_BACK = 20
"""Tasks before, of which none should show the same video."""


class TaskView(msgspec.Struct, omit_defaults=False):
    """What a page sees of a task: a control looks like every other task."""

    task: int
    sentence: str
    video: int
    version: int
    answer: Answer | None
    state: Literal["open", "draft", "submitted"]
    place: int
    practice: bool
    shown: tuple[float, float] | None
    before: int | None


class Feedback(msgspec.Struct):
    """What a person reads after a practice task."""

    right: bool
    text: str
    moments: list[tuple[float, float]]


class SaveResult(msgspec.Struct, omit_defaults=True):
    """What a page gets for a save."""

    version: int
    seq: int
    state: str
    again: bool = False
    feedback: Feedback | None = None


class Progress(msgspec.Struct):
    """How far a person is; `last` is the last task that the person has answered or begun, None for none."""

    name: str
    done: int
    of: int
    state: str
    closed: bool
    last: int | None


class AliveRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Body of a sign of life."""

    active_s: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 0


def progress_of(connection: sqlite3.Connection, person: int, settings: StudySettings) -> Progress:
    """Return how far a person is."""
    row = connection.execute("SELECT name, state FROM people WHERE id = ?", (person,)).fetchone()
    counts = connection.execute(
        "SELECT count(*) AS all_of, coalesce(sum(t.state IN ('submitted', 'set aside')), 0) AS done FROM tasks t "
        "JOIN queries q ON q.id = t.query JOIN videos v ON v.id = q.video "
        "WHERE t.person = ? AND t.state != 'taken back' AND v.state != 'not playable'",
        (person,),
    ).fetchone()
    of = counts["all_of"]
    if not settings.people:
        of = connection.execute("SELECT count(*) FROM queries WHERE kind IN ('query', 'practice')").fetchone()[0]
    last = connection.execute(
        "SELECT id FROM tasks WHERE person = ? AND state IN ('submitted', 'set aside', 'draft') "
        "ORDER BY place DESC LIMIT 1",
        (person,),
    ).fetchone()
    return Progress(
        row["name"], counts["done"], of, row["state"], is_closed(connection), None if last is None else last["id"]
    )


def view(connection: sqlite3.Connection, person: int, task: int) -> TaskView:
    """Return a task of a person; that of another person is not found."""
    row = connection.execute(
        "SELECT t.id, t.place, t.state, t.control, t.shown, q.sentence, q.video FROM tasks t "
        "JOIN queries q ON q.id = t.query WHERE t.id = ? AND t.person = ? AND t.state != 'taken back'",
        (task, person),
    ).fetchone()
    if row is None:
        raise PageError(404, "there is no such task")
    before = connection.execute(
        "SELECT id FROM tasks WHERE person = ? AND place < ? AND state IN ('submitted', 'set aside', 'draft') "
        "ORDER BY place DESC LIMIT 1",
        (person, row["place"]),
    ).fetchone()
    saved = current(connection, task).answer
    state = {"waiting": "open", "set aside": "submitted"}.get(row["state"], row["state"])
    return TaskView(
        task=row["id"],
        sentence=row["sentence"],
        video=row["video"],
        version=0 if saved is None else saved.version,
        answer=None if saved is None else msgspec.convert(msgspec.structs.asdict(saved), Answer),
        state=state,
        place=row["place"],
        practice=row["control"] == "practice",
        shown=msgspec.json.decode(row["shown"], type=tuple[float, float]) if row["shown"] else None,
        before=None if before is None else before["id"],
    )


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
    if not settings.people:
        task = _lease_next(connection, person, settings) if task is None else _renewed(connection, task)
    waiting = 0
    if task is None:
        waiting = connection.execute(
            "SELECT count(*) FROM videos v WHERE v.state = 'waiting' AND (? = 0 OR EXISTS (SELECT 1 FROM tasks t JOIN "
            "queries q ON q.id = t.query WHERE q.video = v.id AND t.person = ? AND t.state IN ('waiting', 'draft')))",
            (settings.people, person),
        ).fetchone()[0]
    return NextTask(task, waiting)


def _renewed(connection: sqlite3.Connection, task: int) -> int:
    """Let the lease of a task begin anew."""
    connection.execute("UPDATE tasks SET lease_until = ? WHERE id = ?", (now() + LEASE_S, task))
    return task


def _lease_next(connection: sqlite3.Connection, person: int, settings: StudySettings) -> int | None:
    """Lease a person the query with the fewest answers and live leases, ties in seeded order."""
    time = now()
    _return_leases(connection, time)
    own = connection.execute("SELECT count(*) FROM tasks WHERE person = ?", (person,)).fetchone()[0]
    if own < settings.practice:
        row = connection.execute(
            "SELECT q.id FROM queries q JOIN videos v ON v.id = q.video "
            "WHERE q.kind = 'practice' AND v.state = 'ready' AND "
            "NOT EXISTS (SELECT 1 FROM tasks t WHERE t.query = q.id AND t.person = ?) ORDER BY q.id LIMIT 1",
            (person,),
        ).fetchone()
        if row is not None:
            return _lease(connection, person, row["id"], "practice", time)
    rng = np.random.default_rng([settings.seed, 3, person, own])
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
    seen = {row["video"] for row in recent}
    best = min(
        rows, key=lambda row: (row["has"], row["video"] in seen, (row["id"] * 2654435761 + settings.seed) % (1 << 32))
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
    shown = connection.execute("SELECT json_extract(hidden, '$.shown') FROM queries WHERE id = ?", (query,)).fetchone()[
        0
    ]
    number = connection.execute(
        "INSERT INTO tasks (person, place, query, control, shown, lease_until) VALUES "
        "(?, (SELECT coalesce(max(place) + 1, 0) FROM tasks WHERE person = ?), ?, ?, ?, ?)",
        (person, person, query, control, shown or "", time + LEASE_S),
    ).lastrowid
    return int(number or 0)


def _return_leases(connection: sqlite3.Connection, time: int) -> None:
    """Return queries whose lease is over and that nobody has begun to answer."""
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


class ConflictError(Exception):
    """The stored answer is newer than the one that a change was made on."""

    def __init__(self, version: int, answer: Answer | None) -> None:
        super().__init__("conflict")
        self.version, self.answer = version, answer


def save(
    connection: sqlite3.Connection, person: int, task: int, request: AnswerRequest, settings: StudySettings
) -> SaveResult:
    """Store an answer; the same key again changes nothing, and an older base is a conflict."""
    known = connection.execute("SELECT seq, task, person, body FROM events WHERE key = ?", (request.key,)).fetchone()
    if known is not None:
        if (known["task"], known["person"]) != (task, person):
            raise PageError(400, "this key belongs to another change", "key")
        version = int(msgspec.json.decode(known["body"])["version"])
        return SaveResult(version, known["seq"], _state(connection, task), again=True)
    row = connection.execute(
        "SELECT q.kind, q.hidden, t.control, v.frames, v.id AS video FROM tasks t JOIN queries q ON q.id = t.query "
        "JOIN videos v ON v.id = q.video WHERE t.id = ? AND t.person = ?",
        (task, person),
    ).fetchone()
    if row is None:
        raise PageError(404, "there is no such task")
    if is_closed(connection):
        raise PageError(403, "the study is closed; answers can no longer be changed")
    before = current(connection, task).answer
    version = 0 if before is None else before.version
    if request.base != version:
        answer = None if before is None else msgspec.convert(msgspec.structs.asdict(before), Answer)
        raise ConflictError(version, answer)
    check_answer(request, settings, row["frames"])
    seq = append(connection, "answer", request.saved(version + 1), task=task, person=person, key=request.key)
    connection.execute("UPDATE people SET seen_at = ? WHERE id = ?", (now(), person))
    return SaveResult(version + 1, seq, _state(connection, task))


def _state(connection: sqlite3.Connection, task: int) -> str:
    state = connection.execute("SELECT state FROM tasks WHERE id = ?", (task,)).fetchone()["state"]
    return "submitted" if state == "set aside" else str(state)


def practice_feedback(
    connection: sqlite3.Connection, task: int, table: FrameTable, least_iou: float
) -> Feedback | None:
    """Return what a person reads after a practice task; None for any other task, or before it is submitted."""
    row = connection.execute(
        "SELECT q.hidden FROM tasks t JOIN queries q ON q.id = t.query WHERE t.id = ? AND t.control = 'practice' "
        "AND t.state = 'submitted'",
        (task,),
    ).fetchone()
    answer = current(connection, task).answer
    if row is None or answer is None:
        return None
    moments = [(float(start), float(end)) for start, end in msgspec.json.decode(row["hidden"])["moments"]]
    if not moments:
        right = answer.verdict in ("absent", "no fit")
        return Feedback(right, "This is not in the video.", [])
    if answer.verdict == "fits":
        return Feedback(True, "The sentence fits this moment.", moments)
    iou = best_iou(answer.moments, moments, table)
    if iou is None:
        return Feedback(False, "Others agreed that this is in the video.", moments)
    overlap = "does not overlap with the agreed moment" if not iou else f"and the agreed one have an IoU of {iou:.2f}"
    return Feedback(iou >= least_iou, f"Your moment {overlap}.", moments)


def best_iou(marked: tuple[FrameSpan, ...], references: list[tuple[float, float]], table: FrameTable) -> float | None:
    """Return the best IoU of a marked moment with a reference; None without any."""
    spans = [table.moment_s(moment.first, moment.last) for moment in marked]
    return max((set_iou_of([span], [of]) for span in spans for of in references), default=None)
