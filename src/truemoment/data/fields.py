"""A mapping of fields: which column of a file is which of our fields, and in which unit.

::

    sentence=caption, start_s=begin, end_s=finish, duration_s=len/30, video_id=file

``duration_s=len/30`` is the column ``len`` divided by 30 (frames at 30 a second), ``start_s=ms*0.001`` one that is
multiplied. A name with a comma, ``=``, ``/`` or ``*`` is written in double quotes. A dot leads into an object:
``sentence=info.text``. A file of a mapping has a field a line; a line that begins with ``#`` is a comment.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from truemoment.base.boundary.files import read_number, read_text, write_text
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.base.known_names import nearest, one_of_known

OPTION = "--fields"
_PART = re.compile(
    r'\s*(?P<field>[^=,"]*?)\s*=\s*(?:"(?P<quoted>[^"]*)"|(?P<plain>[^"=,*/]*?))\s*(?:(?P<sign>[*/])\s*(?P<number>[^,*/]*?))?\s*'
    r"(?:,|$)"
)
MOST_COLUMNS = 12
"""Columns of a file that a message lists."""


class Column(NamedTuple):
    """A column of a file and its unit.

    Parameters
    ----------
    name
        Its name; dots lead into objects.
    sign, number
        ``/`` or ``*`` and the number by which values are divided or multiplied; "" and 1 for values in our unit.
    """

    name: str
    sign: str = ""
    number: float = 1.0

    def __str__(self) -> str:
        name = f'"{self.name}"' if re.search(r"[,=/*]|^\s|\s$|^$", self.name) else self.name
        return f"{name}{self.sign}{self.number:.17g}" if self.sign else name

    def scaled(self, value: float) -> float:
        """Return a value of the column in our unit."""
        return value / self.number if self.sign == "/" else value * self.number


@dataclass(frozen=True)
class FieldMap:
    """The column of each of our fields that a user has named, and the option with which."""

    columns: Mapping[str, Column]
    option: str = OPTION

    def __str__(self) -> str:
        return ", ".join(f"{name}={column}" for name, column in self.columns.items())

    @classmethod
    def parse(cls, text: str, fields: Collection[str], numbers: Collection[str]) -> FieldMap:
        """Read ``FIELD=COLUMN, ...``; only fields in `numbers` have a unit.

        Examples
        --------
        >>> mapping = FieldMap.parse("sentence=caption, start_s=frame/30", ("sentence", "start_s"), ("start_s",))
        >>> mapping.columns["start_s"].scaled(45.0), str(mapping)
        (1.5, 'sentence=caption, start_s=frame/30')
        """
        columns: dict[str, Column] = {}
        at = 0
        while at < len(text.rstrip()):
            part = _PART.match(text, at)
            if part is None or not part["field"]:
                raise UsageError(f"got {text[at:].strip()[:60]!r}, expected FIELD=COLUMN, as in start_s=begin/30")
            field, name = part["field"], part["plain"] if part["quoted"] is None else part["quoted"]
            if field not in fields:
                raise UsageError(f"got the field {field!r}, expected {one_of_known(field, fields)}")
            if field in columns:
                raise UsageError(f"got the field {field} twice, expected it once")
            if not name:
                raise UsageError(f"got no column for the field {field}, expected {field}=COLUMN")
            columns[field] = Column(name, *_unit(part, field, numbers))
            at = part.end()
        if not columns:
            raise UsageError("got no field, expected FIELD=COLUMN, as in sentence=caption")
        return cls(columns)

    @classmethod
    def read(cls, word: str, fields: Collection[str], numbers: Collection[str], option: str = OPTION) -> FieldMap:
        """Read a mapping, or the file of one: ``@FILE``, or a path without ``=``."""
        file = file_of(word)
        if not file:
            try:
                return cls(cls.parse(word, fields, numbers).columns, option)
            except UsageError as error:
                raise UsageError(f"{option}: {error}") from None
        columns: dict[str, Column] = {}
        path = Path(file)
        try:
            lines = read_text(path).splitlines()
        except MissingFileError as error:
            raise UsageError(f"{option}: {error}; expected FIELD=COLUMN, or the file of a mapping") from None
        for line, text in enumerate(lines, start=1):
            if not text.strip() or text.lstrip().startswith("#"):
                continue
            try:
                fresh = cls.parse(text, fields, numbers).columns
            except UsageError as error:
                raise InputError(str(error), path=path, line=line) from None
            if twice := next((name for name in fresh if name in columns), None):
                raise InputError(f"got the field {twice} twice, expected it once", path=path, line=line)
            columns |= fresh
        if not columns:
            raise InputError("has no field, expected lines FIELD=COLUMN", path=path)
        return cls(columns, option)

    def save(self, path: AnyPath) -> None:
        """Write the mapping to a file, a field a line."""
        write_text(path, "".join(f"{name}={column}\n" for name, column in self.columns.items()))


def file_of(word: str) -> str:
    """Return the file that a word names in place of a mapping; "" for a mapping."""
    return word[1:] if word.startswith("@") else word if "=" not in word else ""


def _unit(part: re.Match[str], field: str, numbers: Collection[str]) -> tuple[str, float]:
    sign, text = part["sign"] or "", part["number"]
    if not sign:
        return "", 1.0
    if field not in numbers:
        raise UsageError(f"got the unit {sign}{text} of the field {field}, which is text; expected {field}=COLUMN")
    number = read_number(text)
    if not number > 0:
        raise UsageError(f"got {text!r} after {sign!r} of the field {field}, expected a number above 0")
    return sign, number


def unknown_column(
    name: str, columns: Iterable[str], *, path: AnyPath, field: str, line: int | None = 1, option: str = OPTION
) -> InputError:
    """Return the error of a column that a file does not have, with those that it has and the nearest."""
    columns = list(dict.fromkeys(columns))
    listed = ", ".join(columns[:MOST_COLUMNS]) + (", ..." if len(columns) > MOST_COLUMNS else "")
    meant = nearest(name, columns)
    problem = f"got {name!r} as the column of {field}, the file has {listed or 'no columns'}"
    hint = None if meant is None else f"did you mean {meant!r}?"
    return InputError(problem, path=path, line=line, field=option, hint=hint)
