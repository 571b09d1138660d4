"""The people of a study: links, and what happens to the tasks of those who leave."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.web.annotating.controls import with_controls
from truemoment.web.annotating.dealing import deal, order
from truemoment.web.annotating.events import append, now
from truemoment.web.annotating.study import StudySettings
from truemoment.web.pages.sessions import Visitor, new_token, sha256_of_token

OWNER = "owner"
PERSON = "person"

MOST_PEOPLE = 1000


class Link(NamedTuple):
    """A person's name, and the token of the link, which is shown once and never stored."""

    name: str
    token: str


def find_visitor(connection: sqlite3.Connection, digest: bytes) -> Visitor | None:
    """Return the person whose token has a SHA-256; None if there is none."""
    row = connection.execute("SELECT id, name, role, state FROM people WHERE token_sha256 = ?", (digest,)).fetchone()
    if row is None or row["state"] == "revoked":
        return None
    return Visitor(row["role"], row["id"], row["name"])


def add_person(connection: sqlite3.Connection, role: str = PERSON) -> tuple[int, Link]:
    """Add a person without tasks; return the number and the link."""
    count = connection.execute("SELECT count(*) FROM people WHERE role = ?", (PERSON,)).fetchone()[0]
    if count >= MOST_PEOPLE:
        raise UsageError(f"the study has {count} people, expected at most {MOST_PEOPLE}")
    name = OWNER if role == OWNER else f"w{count + 1:02d}"
    token = new_token()
    values = (name, sha256_of_token(token), role, "invited", now())
    statement = "INSERT INTO people (name, token_sha256, role, state, made_at) VALUES (?, ?, ?, ?, ?)"
    number = connection.execute(statement, values).lastrowid
    append(connection, "person", {"name": name, "role": role}, person=number)
    return int(number or 0), Link(name, token)


def new_link(connection: sqlite3.Connection, name: str) -> Link:
    """Give a person, or the owner, another link; the old one is no longer valid."""
    number = number_of(connection, name)
    token = new_token()
    connection.execute("UPDATE people SET token_sha256 = ? WHERE id = ?", (sha256_of_token(token), number))
    append(connection, "link", {"name": name}, person=number)
    return Link(name, token)


def number_of(connection: sqlite3.Connection, name: str) -> int:
    """Return the number of a person."""
    row = connection.execute("SELECT id FROM people WHERE name = ?", (name,)).fetchone()
    if row is None:
        rows = connection.execute("SELECT name FROM people WHERE role = ? ORDER BY id", (PERSON,)).fetchall()
        names = [row["name"] for row in rows]
        hint = f"{names[0]} to {names[-1]}" if names else "it has no people yet"
        raise UsageError(f"got {name!r}, expected a person of the study ({hint})")
    return int(row["id"])


def revoke(connection: sqlite3.Connection, name: str) -> None:
    """End a person's link; what the person has answered stays, what was not begun is taken back."""
    number = number_of(connection, name)
    if name == OWNER:
        raise UsageError("the owner's link cannot be revoked; 'serve' prints a new one")
    connection.execute("UPDATE people SET state = 'revoked' WHERE id = ?", (number,))
    append(connection, "revoke", {"name": name}, person=number)
    for row in connection.execute("SELECT id FROM tasks WHERE person = ? AND state = 'waiting'", (number,)).fetchall():
        append(connection, "take back", {}, task=row["id"], person=number)


def replace(connection: sqlite3.Connection, name: str, settings: StudySettings) -> Link:
    """Revoke a person, and give the tasks that were not begun to a new one."""
    number = number_of(connection, name)
    waiting = connection.execute(
        "SELECT query, control, shown FROM tasks WHERE person = ? AND state IN ('waiting', 'draft') ORDER BY place",
        (number,),
    ).fetchall()
    revoke(connection, name)
    heir, link = add_person(connection)
    append(connection, "replace", {"name": name, "by": link.name}, person=heir)
    if settings.people:
        rows = [(row["query"], row["control"], row["shown"]) for row in waiting if row["control"] != "repeat"]
        _add_tasks(connection, heir, [*_practice(connection, settings), *rows])
    return link


def add_people(connection: sqlite3.Connection, count: int, settings: StudySettings) -> list[Link]:
    """Add people, and deal them the answers that are still missing."""
    added = [add_person(connection) for _ in range(count)]
    if settings.people:
        deal_missing(connection, [number for number, _ in added], settings)
    return [link for _, link in added]


def deal_missing(connection: sqlite3.Connection, people: Sequence[int], settings: StudySettings) -> None:
    """Deal the missing answers of queries to people who have no tasks yet.

    A query gets at most one answer of each person. What others have is never moved, but where nothing is missing the
    new people take over some tasks that have not begun.
    """
    seed = [settings.seed, 1, *people]
    rng = np.random.default_rng(seed)
    rows = connection.execute(
        "SELECT q.id, q.video, (SELECT count(DISTINCT t.person) FROM tasks t JOIN people p ON p.id = t.person "
        "WHERE t.query = q.id AND t.control = '' AND (t.state = 'submitted' OR t.state IN ('waiting', 'draft') "
        "AND p.state != 'revoked')) AS has FROM queries q WHERE q.kind = 'query' ORDER BY q.id"
    ).fetchall()
    needs = {row["id"]: settings.per_query - row["has"] for row in rows}
    video = {row["id"]: row["video"] for row in rows}
    if not any(count > 0 for count in needs.values()) and rows:
        needs = _take_over(connection, people, rng)
    of_person: dict[int, list[int]] = {person: [] for person in people}
    for needed in sorted({count for count in needs.values() if count > 0}):
        queries = [query for query, count in needs.items() if count == needed]
        load = np.array([len(of_person[person]) for person in people])
        dealt = deal(_numbered([video[query] for query in queries]), len(people), min(needed, len(people)), rng, load)
        for query, places in zip(queries, dealt.tolist(), strict=True):
            for person in places:
                of_person[people[person]].append(query)
    for person, queries in of_person.items():
        give_tasks(connection, person, queries, settings)


def _take_over(connection: sqlite3.Connection, people: Sequence[int], rng: np.random.Generator) -> dict[int, int]:
    """Take back waiting tasks of those who have most, until the new people have their share; return them by query."""
    rows = connection.execute(
        "SELECT t.id, t.query, t.person FROM tasks t JOIN people p ON p.id = t.person WHERE t.state = 'waiting' "
        "AND t.control = '' AND p.state != 'revoked' AND t.query IN (SELECT id FROM queries WHERE kind = 'query')"
    ).fetchall()
    waiting: dict[int, list[tuple[int, int]]] = {}
    for row in rows:
        waiting.setdefault(row["person"], []).append((row["id"], row["query"]))
    for pairs in waiting.values():
        rng.shuffle(pairs)
    share = sum(map(len, waiting.values())) // (len(waiting) + len(people)) if waiting else 0
    moved: dict[int, int] = {}
    for person, pairs in waiting.items():
        for task, query in pairs[: max(0, len(pairs) - share)]:
            if sum(moved.values()) < share * len(people) and moved.get(query, 0) < len(people):
                moved[query] = moved.get(query, 0) + 1
                append(connection, "take back", {}, task=task, person=person)
    return moved


def _numbered(names: Sequence[int]) -> list[int]:
    numbers: dict[int, int] = {}
    return [numbers.setdefault(name, len(numbers)) for name in names]


def give_tasks(connection: sqlite3.Connection, person: int, queries: Sequence[int], settings: StudySettings) -> None:
    """Give a person queries in seeded order, with controls, after the practice tasks."""
    rng = np.random.default_rng([settings.seed, 2, person])
    video = {row["id"]: row["video"] for row in connection.execute("SELECT id, video FROM queries")}
    ordered = order([video[query] for query in queries], rng, spread=settings.same_video == "apart")
    kinds = ("gold", "absent") if settings.task == "mark" else ("gold", "moved", "other")
    query_set = set(queries)
    pools = {kind: [query for query in _of_kind(connection, kind) if query not in query_set] for kind in kinds}
    pools = {kind: pool for kind, pool in pools.items() if pool}
    planned = with_controls([queries[at] for at in ordered], pools, settings.controls, rng)
    rows = [(task.query, task.control, _shown(connection, task.query, settings)) for task in planned]
    _add_tasks(connection, person, [*_practice(connection, settings), *rows])


def _of_kind(connection: sqlite3.Connection, kind: str) -> list[int]:
    return [row["id"] for row in connection.execute("SELECT id FROM queries WHERE kind = ? ORDER BY id", (kind,))]


def _practice(connection: sqlite3.Connection, settings: StudySettings) -> list[tuple[int, str, str]]:
    queries = _of_kind(connection, "practice")[: settings.practice]
    return [(query, "practice", _shown(connection, query, settings)) for query in queries]


def _shown(connection: sqlite3.Connection, query: int, settings: StudySettings) -> str:
    """Return the moment that a ``verify`` task shows, as JSON; "" in other studies."""
    if settings.task != "verify":
        return ""
    statement = "SELECT json_extract(hidden, '$.shown') FROM queries WHERE id = ?"
    return str(connection.execute(statement, (query,)).fetchone()[0] or "")


def _add_tasks(connection: sqlite3.Connection, person: int, rows: Sequence[tuple[int, str, str]]) -> None:
    """Append tasks to a person's list."""
    place = connection.execute("SELECT coalesce(max(place) + 1, 0) FROM tasks WHERE person = ?", (person,)).fetchone()[
        0
    ]
    connection.executemany(
        "INSERT INTO tasks (person, place, query, control, shown) VALUES (?, ?, ?, ?, ?)",
        [(person, place + number, *row) for number, row in enumerate(rows)],
    )
    append(connection, "deal", {"tasks": len(rows)}, person=person)
