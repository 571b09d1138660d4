"""Tasks of a person: what the page sees of one, and how an answer is stored."""

from __future__ import annotations

import sqlite3
from typing import Literal

import msgspec

from truemoment.web.annotating.answers import Answer, AnswerRequest, check_answer
from truemoment.web.annotating.events import append, is_closed, now
from truemoment.web.annotating.practice import Feedback
from truemoment.web.annotating.rebuilding import current
from truemoment.web.annotating.study import StudySettings
from truemoment.web.pages.errors import PageError


class TaskView(msgspec.Struct, omit_defaults=False):
    """A task as a page shows it: a control looks like every other task."""

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


class SaveResult(msgspec.Struct, omit_defaults=True):
    """The answer to a save."""

    version: int
    seq: int
    state: str
    again: bool = False
    feedback: Feedback | None = None


def view(connection: sqlite3.Connection, person: int, task: int) -> TaskView:
    """Return a task of a person; that of another person is not found."""
    row = connection.execute(
        "SELECT t.id, t.place, t.state, t.control, t.shown, q.sentence, q.video FROM tasks t "
        "JOIN queries q ON q.id = t.query WHERE t.id = ? AND t.person = ? AND t.state != 'taken back'",
        (task, person),
    ).fetchone()
    if row is None:
        raise PageError(404, "there is no such task")
    previous = connection.execute(
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
        before=None if previous is None else previous["id"],
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
    event = connection.execute("SELECT seq, task, person, body FROM events WHERE key = ?", (request.key,)).fetchone()
    if event is not None:
        if (event["task"], event["person"]) != (task, person):
            raise PageError(400, "this key belongs to another change", "key")
        version = int(msgspec.json.decode(event["body"])["version"])
        return SaveResult(version, event["seq"], _state(connection, task), again=True)
    row = connection.execute(
        "SELECT q.kind, q.hidden, t.control, v.frames, v.id AS video FROM tasks t JOIN queries q ON q.id = t.query "
        "JOIN videos v ON v.id = q.video WHERE t.id = ? AND t.person = ?",
        (task, person),
    ).fetchone()
    if row is None:
        raise PageError(404, "there is no such task")
    if is_closed(connection):
        raise PageError(403, "the study is closed; answers can no longer be changed")
    saved = current(connection, task).answer
    version = 0 if saved is None else saved.version
    if request.base != version:
        answer = None if saved is None else msgspec.convert(msgspec.structs.asdict(saved), Answer)
        raise ConflictError(version, answer)
    check_answer(request, settings, row["frames"])
    seq = append(connection, "answer", request.saved(version + 1), task=task, person=person, key=request.key)
    connection.execute("UPDATE people SET seen_at = ? WHERE id = ?", (now(), person))
    return SaveResult(version + 1, seq, _state(connection, task))


def _state(connection: sqlite3.Connection, task: int) -> str:
    state = connection.execute("SELECT state FROM tasks WHERE id = ?", (task,)).fetchone()["state"]
    return "submitted" if state == "set aside" else str(state)
