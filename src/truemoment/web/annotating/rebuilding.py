"""The state of a study from its log: events decide, and the tables of answers and task states follow."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

import msgspec

from truemoment.web.annotating.answers import SavedAnswer


class TaskState(NamedTuple):
    """The state of a task, and its latest answer; None where there is none."""

    state: str
    answer: SavedAnswer | None
    submitted_at: int | None


def apply_event(state: TaskState, kind: str, at: int, body: str) -> TaskState:
    """Return the state of a task after an event."""
    if kind == "answer":
        answer = msgspec.json.decode(body, type=SavedAnswer)
        if state.state == "set aside":
            return TaskState(state.state, answer, at if answer.submit else None)
        return TaskState("submitted" if answer.submit else "draft", answer, at if answer.submit else None)
    if kind == "set aside":
        return TaskState("set aside", state.answer, state.submitted_at)
    if kind == "take back":
        return state if state.answer else TaskState("taken back", None, None)
    return state


BEGIN = TaskState("waiting", None, None)


def rebuilt(connection: sqlite3.Connection) -> dict[int, TaskState]:
    """Return the state of each task from all events."""
    states = {int(row["id"]): BEGIN for row in connection.execute("SELECT id FROM tasks")}
    for row in connection.execute("SELECT task, kind, at, body FROM events WHERE task IS NOT NULL ORDER BY seq"):
        states[row["task"]] = apply_event(states[row["task"]], row["kind"], row["at"], row["body"])
    return states


def store_state(connection: sqlite3.Connection, task: int, state: TaskState) -> None:
    """Write the state of a task into the tables."""
    connection.execute("UPDATE tasks SET state = ? WHERE id = ? AND state != ?", (state.state, task, state.state))
    if state.answer is not None:
        body = msgspec.json.encode(state.answer).decode()
        values = (task, state.answer.version, state.answer.verdict, body, state.answer.active_s, state.submitted_at)
        connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)", values)


def current(connection: sqlite3.Connection, task: int) -> TaskState:
    """Return the state of a task from the tables."""
    row = connection.execute(
        "SELECT t.state, a.body, a.submitted_at FROM tasks t LEFT JOIN answers a ON a.task = t.id WHERE t.id = ?",
        (task,),
    ).fetchone()
    answer = None if row["body"] is None else msgspec.json.decode(row["body"], type=SavedAnswer)
    return TaskState(row["state"], answer, row["submitted_at"])


def rebuild(connection: sqlite3.Connection) -> None:
    """Write answers and task states anew from the log."""
    connection.execute("DELETE FROM answers")
    for task, state in rebuilt(connection).items():
        store_state(connection, task, state)


def differences(connection: sqlite3.Connection) -> list[int]:
    """Return the tasks whose tables differ from the log; none, unless the database was changed from outside."""
    return [task for task, state in rebuilt(connection).items() if current(connection, task) != state]
