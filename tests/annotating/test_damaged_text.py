"""A damaged database may hold names that are no UTF-8, text that is no JSON of ours, and nothing where text must be."""

import contextlib
import sqlite3
from pathlib import Path

import pytest

from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError
from truemoment.web.annotating.practice import hidden_moments
from truemoment.web.annotating.store import create_database, opened, undamaged


def test_it_is_named():
    with pytest.raises(InputError, match=r"s\.sqlite: cannot be read"), undamaged(Path("s.sqlite")):
        b"\xff".decode()


@pytest.mark.parametrize("hidden", ["\0", "[]", "{}", '{"moments": [[1]]}', '{"moments": [[1, "x"]]}'])
def test_references_that_are_none_are_named(hidden):
    with pytest.raises(InputError, match=r"s\.sqlite: cannot be read"), undamaged(Path("s.sqlite")):
        hidden_moments(hidden)


NAME, STATE = "name TEXT NOT NULL", "role TEXT NOT NULL,\n  state TEXT NOT NULL"


@pytest.mark.parametrize(
    ("column", "row", "said"),
    [
        (NAME, (None, "annotator", "invited"), "people.name: got None"),
        (STATE, ("w01", "annotator", None), r"cannot be read \(NULL value in people\.state\)"),
    ],
)
def test_nothing_where_text_must_be_is_named(tmp_path, column, row, said):
    path = OwnPath.of(tmp_path) / "study.sqlite"
    create_database(path)

    def rewrite(before, after):
        with contextlib.closing(sqlite3.connect(path.checked(), isolation_level=None)) as connection:
            connection.execute("PRAGMA writable_schema=ON")
            connection.execute("UPDATE sqlite_schema SET sql = replace(sql, ?, ?)", (before, after))

    without = column.removesuffix(" NOT NULL")
    rewrite(column, without)
    with contextlib.closing(sqlite3.connect(path.checked(), isolation_level=None)) as connection:
        connection.execute("INSERT INTO people (name, role, state, made_at) VALUES (?, ?, ?, 0)", row)
    rewrite(without, column)
    with pytest.raises(InputError, match=said), opened(path):
        pass


def test_a_row_that_refers_to_none_is_named(tmp_path):
    # A task of no query ended `annotate export` and `annotate status` as a bug.
    path = OwnPath.of(tmp_path) / "study.sqlite"
    create_database(path)
    with contextlib.closing(sqlite3.connect(path.checked(), isolation_level=None)) as connection:
        connection.execute("INSERT INTO people (id, name, role, state, made_at) VALUES (1, 'w01', 'person', 'read', 0)")
        connection.execute("INSERT INTO tasks (id, person, query, place) VALUES (7, 1, 99, 0)")
    said = r"cannot be read \(row 7 of tasks refers to a row of queries that does not exist\)"
    with pytest.raises(InputError, match=said), opened(path):
        pass
