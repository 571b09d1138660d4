"""Columns of records: found by their usual names, or mapped by the user, and read with their units."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from truemoment.base.boundary.files import read_number
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.fields import OPTION, Column, FieldMap, unknown_column
from truemoment.data.formats.records import Record
from truemoment.data.formats.table import predicted

Usual = Mapping[str, tuple[str, ...]]
"""Usual names of the columns of each field, in lower case."""


def columns_of(
    header: Sequence[str], usual: Usual, mapping: FieldMap | None, path: AnyPath, line: int | None = 1
) -> dict[str, Column]:
    """Return the column of each field: those of the mapping, else those with a usual name.

    Raises
    ------
    InputError
        If a mapped column is not there, or two columns have one meaning.
    """
    columns = dict(mapping.columns) if mapping is not None else {}
    option = OPTION if mapping is None else mapping.option
    for field, column in columns.items():
        if column.name not in header and column.name.split(".")[0] not in header:
            raise unknown_column(column.name, header, path=path, field=field, line=line, option=option)
    used = {column.name for column in columns.values()}
    for field, usual_names in usual.items():
        names = [name for name in header if name.strip().lower() in usual_names and name not in used]
        if field in columns or (field == "moments" and {"start_s", "end_s"} & columns.keys()):
            continue
        if len(names) > 1:
            names = predicted(names, names)
        if len(names) > 1:
            hint = f'name it: {option} "{field}={names[0]}"'
            raise InputError(
                f"got columns {' and '.join(names)}, expected one of them", path=path, line=line, hint=hint
            )
        if names:
            columns[field] = Column(names[0])
    return columns


def without_columns(
    missing: Sequence[str], header: Sequence[str], path: AnyPath, line: int | None, option: str = OPTION
) -> InputError:
    """Return the error of a file without a column for needed fields."""
    problem = f"has no column for {', '.join(missing)}, got {', '.join(header)[:120] or 'none'}"
    hint = f'name them: {option} "' + ", ".join(f"{field}=COLUMN" for field in missing) + '"'
    return InputError(problem, path=path, line=line, hint=hint)


class RecordFields:
    """Reads the fields of a record, with errors that name its place."""

    def __init__(self, record: Record, columns: Mapping[str, Column], path: AnyPath, *, decimal_commas: bool) -> None:
        self.record, self.columns, self.path, self.decimal_commas = record, columns, path, decimal_commas

    def value(self, field: str) -> Any:  # noqa: ANN401 - as in the file
        """Return the value of a field; None if there is none."""
        column = self.columns.get(field)
        if column is None:
            return None
        if column.name in self.record.values:
            return self.record.values[column.name]
        value: Any = self.record.values
        for step in column.name.split("."):
            if isinstance(value, Mapping):
                value = value.get(step)
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            else:
                return None
        return value

    def text(self, field: str, *, needed: bool = False) -> str:
        """Return a field as text; "" for none."""
        value = self.value(field)
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = f"{value:.15g}" if isinstance(value, float) else str(value)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or (needed and not value.strip() and field == "video_id"):
            raise self.wrong(field, value, "text")
        return value

    def number(self, field: str, value: object) -> float:
        """Return a number of a field in our unit; NaN for none."""
        number = math.nan
        if isinstance(value, str):
            text = value.strip()
            if not text:
                return math.nan
            if self.decimal_commas and text.count(",") == 1 and "." not in text:
                text = text.replace(",", ".")
            number = read_number(text)
        elif value is None or (isinstance(value, float) and math.isnan(value)):
            return math.nan
        elif isinstance(value, int | float) and not isinstance(value, bool):
            number = _as_float(value)
        if not math.isfinite(number):
            raise self.wrong(field, value, "a number")
        return self.columns[field].scaled(number)

    def moments(self, widths: tuple[int, ...] = (2,)) -> list[tuple[float, ...]]:
        """Return the moments: a list of them, or one of a start and an end; none where both are empty."""
        if "moments" in self.columns:
            return self._listed(self.value("moments"), widths)
        start, end = (self.number(field, self.value(field)) for field in ("start_s", "end_s"))
        if math.isnan(start) and math.isnan(end):
            return []
        for field, time in (("start_s", start), ("end_s", end)):
            if math.isnan(time):
                raise self.wrong(field, self.value(field), "a number, or neither start nor end")
        return [(start, end)]

    def _listed(self, value: object, widths: tuple[int, ...]) -> list[tuple[float, ...]]:
        """Return the moments of a list: one moment, or a list of such."""
        expected = "[start, end] or a list of these"
        if not isinstance(value, list):
            raise self.wrong("moments", value, expected)
        lists = value if not value or isinstance(value[0], list | dict) else [value]
        moments = []
        for item in lists:
            numbers = list(item.values()) if isinstance(item, dict) else item  # a struct of Parquet
            if not isinstance(numbers, list) or len(numbers) not in widths:
                raise self.wrong("moments", value, expected)
            start, end = (self.number("moments", time) for time in numbers[:2])
            rest = tuple(self._score(score) for score in numbers[2:])
            if math.isnan(start + end + sum(rest)):
                raise self.wrong("moments", value, "numbers")
            moments.append((start, end, *rest))
        return moments

    def _score(self, value: object) -> float:
        """Return a number that has no unit."""
        return _as_float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan

    def place(self, field: str) -> str:
        """Return the name of a field's column, with the row where it has no line."""
        name = self.columns[field].name if field in self.columns else field
        return name if self.record.line is not None else f"{name} of row {self.record.number}"

    def wrong(self, field: str, value: object, expected: str) -> InputError:
        """Return the error of a wrong value."""
        got = "nothing" if value is None or value == "" else repr(value)[:60]
        problem = f"got {got}, expected {expected}"
        return InputError(problem, path=self.path, line=self.record.line, field=self.place(field))


def _as_float(number: float) -> float:
    """Return a number of JSON, infinite where a whole one has too many digits."""
    try:
        return float(number)
    except OverflowError:
        return math.inf
