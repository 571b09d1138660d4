"""Storage of a study: SQLite, one thread that writes, any number that read.

A write is done when its caller gets the result: the transaction is on the disk then (write-ahead log with full
synchronisation, which survives a power cut). The writing thread takes up to 64 waiting writes into one transaction.
"""

from __future__ import annotations

import contextlib
import functools
import queue
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from truemoment.base.boundary.files import read_text
from truemoment.base.boundary.own_path import AnyPath, OwnPath, in_its_folder, open_regular
from truemoment.base.errors import InputError, TrueMomentError

T = TypeVar("T")

FORM = 1
"""Number of the form of the database (``PRAGMA user_version``)."""

MOST_AT_ONCE = 64
"""Writes in one transaction."""

BUSY_S = 10.0

PERSON_NAME = re.compile("owner|w[0-9]{2,4}")
"""Names that TrueMoment gives: others would be sent as paths by the owner's page."""

SCHEMA_FILE = Path(__file__).with_name("schema.sql")


class StorageError(TrueMomentError):
    """A write could not be stored, not even in part: the disk is full, or fails.

    Parameters
    ----------
    path
        The database.
    reason
        Message of SQLite.
    """

    def __init__(self, path: AnyPath, reason: str) -> None:
        super().__init__(f"{path}: cannot be written ({reason})")
        self.reason = reason


def connect(path: AnyPath, *, read_only: bool = False) -> sqlite3.Connection:
    """Open the database of a study; refuse a newer form, and a link in its place.

    SQLite opens the files beside it without following links. A rollback journal is refused: studies have a write-ahead
    log, and a forged journal may name any file, which SQLite would remove after playing it back
    (https://www.sqlite.org/fileformat2.html#the_rollback_journal, super-journal).
    """
    path = in_its_folder(path)
    mode = "ro" if read_only else "rw"
    journal = path.with_name(f"{path.name}-journal")
    if journal.exists():
        problem = "is a rollback journal, which the database of a study does not have"
        raise InputError(problem, path=journal, hint="remove it")
    address = f"{path.checked().absolute().as_uri()}?mode={mode}"
    if not read_only and path.exists():
        open_regular(path, "r+b").close()  # refuses a file that has another name outside of the study
    try:
        connection = sqlite3.connect(address, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA trusted_schema=OFF")
        (form,) = connection.execute("PRAGMA user_version").fetchone()
        schema = _schema_of(connection)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise InputError(f"cannot be opened as the database of a study ({error})", path=path) from None
    if form != FORM:
        connection.close()
        problem = f"has form {form}, expected {FORM}"
        raise InputError(problem, path=path, hint="another version of TrueMoment made this study; install that version")
    if schema != _own_schema():  # a trigger in a foreign database would change what is written
        connection.close()
        raise InputError("has other tables or triggers than the database of a study", path=path)
    try:
        _refuse_other_names(connection, path)
        if not read_only:  # the first changes the file: what is refused stays as it was
            with undamaged(path):
                _write_ahead(connection)
                connection.execute("PRAGMA synchronous=FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Let a database have a write-ahead log, without a rollback journal meanwhile.

    The change is two bytes of the first page. A process that was killed would leave a journal of it, and another
    process would find one: both are refused.
    """
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    if mode != "wal":
        connection.execute("PRAGMA journal_mode=MEMORY")
        connection.execute("PRAGMA journal_mode=WAL")


def _refuse_other_names(connection: sqlite3.Connection, path: AnyPath) -> None:
    with undamaged(path):
        names = [name for (name,) in connection.execute("SELECT name FROM people ORDER BY id")]
    if others := [name for name in names if not (isinstance(name, str) and PERSON_NAME.fullmatch(name))]:
        raise InputError(
            f"got {others[0]!r}, expected a name as TrueMoment gives it, e.g. 'w07'", path=path, field="people.name"
        )


def _schema_of(connection: sqlite3.Connection) -> set[tuple[str, ...]]:
    return {
        tuple(row) for row in connection.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema")
    }


@functools.cache
def _own_schema() -> set[tuple[str, ...]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(read_text(SCHEMA_FILE))
        return _schema_of(connection)


@contextlib.contextmanager
def undamaged(path: AnyPath) -> Iterator[None]:
    """Raise errors of reading a database in this block as an :class:`InputError` that names it."""
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError, msgspec.MsgspecError) as error:  # text in it may be damaged
        hint = "the folder `backups` beside it has copies, if the study was served"
        raise InputError(f"cannot be read ({error})", path=path, hint=hint) from None


@contextlib.contextmanager
def opened(path: OwnPath) -> Iterator[sqlite3.Connection]:
    """Open the database of a study to read it, if every value is one that its column can have."""
    with undamaged(path), contextlib.closing(connect(path, read_only=True)) as connection:
        ((state,),) = connection.execute("PRAGMA quick_check(1)")
        if state != "ok":
            raise sqlite3.DatabaseError(state)
        if lost := connection.execute("PRAGMA foreign_key_check").fetchone():  # table, row, table that it refers to
            raise sqlite3.DatabaseError(f"row {lost[1]} of {lost[0]} refers to a row of {lost[2]} that does not exist")
        yield connection


@contextlib.contextmanager
def written(path: AnyPath) -> Iterator[None]:
    """Raise errors of SQLite in this block as a :class:`StorageError` of a database."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StorageError(path, str(error)) from None


def create_database(path: AnyPath) -> None:
    """Make the empty database of a study."""
    connection = sqlite3.connect(in_its_folder(path).checked(), isolation_level=None)
    with contextlib.closing(connection):
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(f"BEGIN; {read_text(SCHEMA_FILE)} PRAGMA user_version={FORM}; COMMIT;")


def copy_database(path: AnyPath, to: OwnPath) -> None:
    """Copy the database of a study, also while it is served."""
    with (
        contextlib.closing(connect(path, read_only=True)) as source,
        contextlib.closing(sqlite3.connect(to.checked())) as copy,
    ):
        source.backup(copy)


class Store:
    """The database of a study in this process.

    Parameters
    ----------
    path
        The database.

    Notes
    -----
    ``read(function)`` calls a function with a connection that no other thread uses. ``write(function)`` calls it
    in the writing thread inside a transaction, and returns its result once that is on the disk. There are as many
    connections as were read from at once: threads come and go, and would leave theirs behind.
    """

    def __init__(self, path: AnyPath) -> None:
        self.path = path
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[tuple[Callable[[sqlite3.Connection], Any], Future[Any]] | None] = (
            queue.SimpleQueue()
        )
        self._writer = connect(path)
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()
        self.changed_at = 0.0

    def read(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Return what a function reads."""
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        connection = connect(self.path, read_only=True) if idle is None else idle
        try:
            with one_snapshot(connection):
                return function(connection)
        finally:
            with self._lock:
                if self._closed:
                    connection.close()
                else:
                    self._idle.append(connection)

    def write(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Return the result of a function that writes, once it is stored.

        Raises
        ------
        StorageError
            If the disk did not take it. An error of the function itself is raised as it is; nothing is stored then.
        """
        future: Future[T] = Future()
        self._queue.put((function, future))
        return future.result()

    def close(self) -> None:
        """Store what waits, and close all connections."""
        self._queue.put(None)
        self._thread.join()
        self._writer.close()
        with self._lock:
            self._closed = True
            for connection in self._idle:
                connection.close()

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            batch = [first]
            ends = False
            while len(batch) < MOST_AT_ONCE:
                try:
                    item = self._queue.get_nowait()
                except queue.Empty:
                    break
                if item is None:
                    ends = True
                    break
                batch.append(item)
            self._store(batch)
            if ends:
                return

    def _store(self, batch: list[tuple[Callable[[sqlite3.Connection], Any], Future[Any]]]) -> None:
        """Run several writes in one transaction, each of which may fail alone."""
        writer = self._writer
        results: list[tuple[Future[Any], Any]] = []
        try:
            writer.execute("BEGIN IMMEDIATE")
            for function, future in batch:
                writer.execute("SAVEPOINT one")
                try:
                    result = function(writer)
                except sqlite3.OperationalError:
                    raise
                except Exception as error:
                    writer.execute("ROLLBACK TO one")
                    future.set_exception(error)
                else:
                    results.append((future, result))
                writer.execute("RELEASE one")
            writer.execute("COMMIT")
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):
                writer.execute("ROLLBACK")
            for _, future in batch:
                if not future.done():
                    future.set_exception(StorageError(self.path, str(error)))
            return
        self.changed_at = time.monotonic()
        for future, result in results:
            future.set_result(result)


@contextlib.contextmanager
def one_snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Make all reads in this block see the same state."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")
