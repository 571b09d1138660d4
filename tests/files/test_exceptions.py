"""The tree of errors, and how a message is put together: where, field, problem, hint."""

import pytest

from truemoment.base import errors as exceptions
from truemoment.base.errors import InputError, MissingPackageError, TrueMomentError


@pytest.mark.parametrize(
    ("about", "text"),
    [
        ({}, "got x"),
        ({"path": "a.json"}, "a.json: got x"),
        ({"path": "a.json", "line": 3}, "a.json:3: got x"),
        ({"path": "a.json", "line": 3, "field": "f"}, "a.json:3: field f: got x"),
        ({"field": "f", "hint": "do y"}, "field f: got x; do y"),
        ({"line": 3}, "got x"),  # a line of no file says nothing
    ],
)
def test_the_parts_of_a_message(about, text):
    error = InputError("got x", **about)
    assert str(error) == text
    assert error.problem == "got x"
    assert (error.path, error.line, error.field, error.hint) == tuple(
        about.get(name) for name in ("path", "line", "field", "hint")
    )


def test_a_message_is_one_line_whatever_a_file_holds():
    # A key of a file with line ends of every kind in it (those of str.splitlines).
    error = InputError("unknown field 'a\nb\r\nc\u2028d'", path="a.json", field="x\n")
    assert str(error) == "a.json: field x : unknown field 'a b c d'"


def test_a_missing_package_names_the_install_line():
    error = MissingPackageError("pyarrow", "parquet", "reading Parquet")
    assert str(error) == "reading Parquet needs the package pyarrow: pip install 'truemoment[parquet]'"


def test_the_tree():
    # As drawn at the top of exceptions.py.
    parents = {
        "InputError": "TrueMomentError",
        "MatchError": "InputError",
        "DownloadError": "InputError",
        "MissingFileError": "TrueMomentError",
        "UsageError": "TrueMomentError",
        "OutputError": "UsageError",
        "MeasureError": "UsageError",
        "ProtocolError": "UsageError",
        "MissingPackageError": "TrueMomentError",
    }
    found = {
        name: kind.__mro__[1].__name__
        for name, kind in vars(exceptions).items()
        if isinstance(kind, type) and issubclass(kind, TrueMomentError) and kind is not TrueMomentError
    }
    assert found == parents
    for name in parents:
        assert f" {name} " in exceptions.__doc__
