"""Notes and tags on queries: a file of JSON Lines, rewritten whole with each change.

::

    {"query_id": "AKO6M#1", "note": "two doors", "tags": ["mark-anew"], "at_day": "2026-11-24"}

``truemoment annotate new --only FILE`` takes the queries that are tagged ``mark-anew``.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from truemoment.base.boundary.files import read_json_lines, write_durably
from truemoment.base.boundary.folders import LOCK, lock
from truemoment.base.boundary.own_path import OwnPath, open_regular
from truemoment.base.errors import InputError, UsageError
from truemoment.base.records import Queries
from truemoment.web.browsing.filters import Tagged
from truemoment.web.browsing.kept import today
from truemoment.web.pages.errors import PageError

MARK_ANEW = "mark-anew"

MOST_TAGS = 10

Tag = Annotated[str, msgspec.Meta(min_length=1, max_length=40, pattern=r"^[\w-]+\Z")]
NoteText = Annotated[str, msgspec.Meta(max_length=5000)]


def notes_beside(predictions: Path) -> Path:
    """Return the file of notes of a prediction file: beside it."""
    return predictions.with_name(f"{predictions.name.removesuffix('.jsonl')}.notes.jsonl")


class QueryNote(msgspec.Struct, frozen=True):
    """A line of the file."""

    query_id: str
    note: str = ""
    tags: list[str] = []
    at_day: str = ""


class SentNote(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``PUT /api/notes/{n}``."""

    revision: int
    note: NoteText
    tags: Annotated[list[Tag], msgspec.Meta(max_length=MOST_TAGS)]


class NoteConflictError(Exception):
    """The note has another revision than the change names."""

    def __init__(self, note: QueryNote, revision: int) -> None:
        super().__init__(note.query_id)
        self.current, self.revision = note, revision


class Notes:
    """Notes on the queries of a split.

    Parameters
    ----------
    path
        The file; it is made with the first note.
    queries
        The queries. Notes on others stay in the file.
    read_only
        Why nothing can be written; "" if it can.

    Raises
    ------
    InputError
        If the file is damaged, or names a query twice.
    """

    def __init__(self, path: Path, queries: Queries, *, read_only: str = "") -> None:
        self.path, self.queries, self.read_only = path, queries, read_only
        self._lock = threading.Lock()
        self._notes: dict[str, QueryNote] = {}
        self._revisions: dict[str, int] = {}
        if path.exists():
            for line, note in read_json_lines(path, QueryNote):
                if note.query_id in self._notes:
                    raise InputError("appears twice, expected each query once", path=path, line=line, field="query_id")
                self._notes[note.query_id] = note
                self._revisions[note.query_id] = 1

    @classmethod
    @contextmanager
    def opened(cls, path: Path, queries: Queries) -> Iterator[Notes]:
        """Open a file as the only one that writes it; read-only if another server does."""
        if path.is_symlink():
            raise UsageError(f"--notes {path}: is a link, expected a file")
        if not path.absolute().parent.is_dir():
            raise UsageError(f"--notes {path}: cannot be written, {path.parent} is no folder")
        beside = OwnPath(path.parent) / f"{LOCK}-{path.name}"
        try:
            stream = open_regular(beside, "ab")
        except OSError as error:
            yield cls(path, queries, read_only=f"{path}: cannot be written ({error.strerror or error})")
            return
        with stream:
            why = ""
            try:
                lock(stream.fileno(), wait=False)
            except BlockingIOError:
                why = f"{path}: another server writes it"
            try:
                yield cls(path, queries, read_only=why)
            finally:
                if not why:
                    with contextlib.suppress(OSError):
                        beside.unlink()

    def note(self, query: int) -> tuple[QueryNote, int]:
        """Return the note on a query, and its revision: 0 if there never was one."""
        query_id = str(self.queries.query_id[query])
        with self._lock:
            return self._notes.get(query_id, QueryNote(query_id)), self._revisions.get(query_id, 0)

    def write(self, query: int, sent: SentNote) -> tuple[QueryNote, int]:
        """Replace the note on a query; it is on disk when this returns. An empty one is removed.

        Raises
        ------
        NoteConflictError
            If the note has another revision.
        PageError
            If nothing can be written: the earlier notes are unchanged then.
        """
        if self.read_only:
            raise PageError(409, f"notes are read-only here: {self.read_only}")
        query_id = str(self.queries.query_id[query])
        with self._lock:
            revision = self._revisions.get(query_id, 0)
            if sent.revision != revision:
                raise NoteConflictError(self._notes.get(query_id, QueryNote(query_id)), revision)
            note = QueryNote(query_id, sent.note.strip(), list(dict.fromkeys(sent.tags)), today())
            notes = {name: value for name, value in self._notes.items() if name != query_id}
            if note.note or note.tags:
                notes[query_id] = note
            try:
                write_durably(self.path, b"".join(msgspec.json.encode(note) + b"\n" for note in notes.values()))
            except OSError as error:
                raise PageError(507, f"nothing was noted: {error.strerror}; make room on the disk") from None
            self._notes, self._revisions[query_id] = notes, revision + 1
            return note, revision + 1

    def tagged(self) -> Tagged:
        """Return which queries have a note, and which have each tag."""
        row, n_queries = self.queries.index, len(self.queries)
        noted = np.zeros(n_queries, dtype=bool)
        tags: dict[str, np.ndarray] = {}
        with self._lock:
            notes = [(row[name], note) for name, note in self._notes.items() if name in row]
        for at, note in notes:
            noted[at] = True
            for tag in note.tags:
                tags.setdefault(tag, np.zeros(n_queries, dtype=bool))[at] = True
        return Tagged(noted, tags)
