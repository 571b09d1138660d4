"""The log of a study: every change is an event, written with what follows from it in one transaction."""

from __future__ import annotations

import secrets
import sqlite3
import time

import msgspec

from truemoment.web.annotating.rebuilding import apply_event, current, store_state


def now() -> int:
    """Return the time in whole seconds since 1970."""
    return int(time.time())


def append(
    connection: sqlite3.Connection,
    kind: str,
    body: object,
    *,
    task: int | None = None,
    person: int | None = None,
    key: str | None = None,
) -> int:
    """Append an event, and apply it to the tables; return its number.

    `key` makes it unique: the same key twice raises ``sqlite3.IntegrityError``. None makes a new one.
    """
    text = msgspec.json.encode(body).decode()
    at = now()
    values = (key or secrets.token_hex(16), task, person, kind, at, text)
    statement = "INSERT INTO events (key, task, person, kind, at, body) VALUES (?, ?, ?, ?, ?, ?)"
    number = connection.execute(statement, values).lastrowid
    if task is not None:
        store_state(connection, task, apply_event(current(connection, task), kind, at, text))
    return int(number or 0)


def last_event(connection: sqlite3.Connection) -> int:
    """Return the number of the last event; 0 for none."""
    return int(connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0])


def last_change(connection: sqlite3.Connection) -> int:
    """Return the number of the last event that an export shows: not of links, and of instructions that were read."""
    statement = "SELECT coalesce(max(seq), 0) FROM events WHERE kind NOT IN ('link', 'read')"
    return int(connection.execute(statement).fetchone()[0])


def is_closed(connection: sqlite3.Connection) -> bool:
    """Return whether the study is closed: then no answer can change."""
    return connection.execute("SELECT 1 FROM events WHERE kind = 'close' LIMIT 1").fetchone() is not None


def identity_of_study(connection: sqlite3.Connection) -> str:
    """Return a random name that no other study has: the key of its first event."""
    row = connection.execute("SELECT key FROM events ORDER BY seq LIMIT 1").fetchone()
    return "" if row is None else str(row["key"])
