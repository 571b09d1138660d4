"""CSV tables: rows with their lines from a file, and text that no spreadsheet computes."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from truemoment.base.boundary.files import DATA_BYTES, SETTINGS_BYTES, read_bytes, read_text
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.text import from_cell, no_formula
from truemoment.base.errors import InputError


def read_csv(path: AnyPath, columns: Collection[str], *, strict: bool = False) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line number, values by heading) for each row of a CSV file that has these columns."""
    reader = csv.DictReader(io.StringIO(read_text(path, most=DATA_BYTES), newline=""), strict=strict)
    try:
        missing = set(columns) - set(reader.fieldnames or ())
        if missing:
            raise InputError(f"columns {', '.join(sorted(missing))} are missing", path=path, line=1)
        for record in reader:
            yield reader.line_num, {k: from_cell(cell) if isinstance(cell, str) else cell for k, cell in record.items()}
    except csv.Error as error:
        raise InputError(f"{error}, expected CSV", path=path, line=reader.reader.line_num) from None


def read_cells(path: AnyPath, *, most: int = SETTINGS_BYTES) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) of the headings and of each row, which has as many.

    The delimiter is a tab if the first line contains one, else ";" if it contains more of these than commas, else ",".
    """
    yield from cells_in(read_sheet(path, most=most), path)


def cells_in(text: str, path: AnyPath) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) of the headings and of each row of the text of a table."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=_delimiter(text.split("\n", 1)[0]))
    try:
        headings = next(reader, [])
        yield 1, headings
        for row in filter(None, reader):
            if len(row) != len(headings):
                problem = f"got {len(row)} values, expected {len(headings)} as in the headings"
                raise InputError(problem, path=path, line=reader.line_num)
            yield reader.line_num, [from_cell(cell) for cell in row]
    except csv.Error as error:
        raise InputError(f"{error}, expected CSV", path=path, line=reader.line_num) from None


UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""Byte-order marks of UTF-16, in which spreadsheets save "Unicode text"."""


def read_sheet(path: AnyPath, *, most: int = SETTINGS_BYTES) -> str:
    """Return the text of a table: UTF-8, or UTF-16 with its byte-order mark."""
    data = read_bytes(path, most=most)
    if not data.startswith(UTF_16):
        return read_text(path, most=most)
    try:
        return data.decode("utf-16")
    except UnicodeDecodeError:
        raise InputError("got broken UTF-16, expected text", path=path) from None


def cells_of(line: str) -> list[str]:
    """Return the cells of a line of CSV or TSV; none if it is no such line."""
    try:
        return next(csv.reader([line], delimiter=_delimiter(line)), [])
    except csv.Error:
        return []


def _delimiter(line: str) -> str:
    return "\t" if "\t" in line else ";" if line.count(";") > line.count(",") else ","


def has_decimal_commas(line: str) -> bool:
    """Whether numbers of a table may have a decimal comma: its first line shows another delimiter."""
    return _delimiter(line) != ","


def csv_text(headings: Sequence[str], rows: Iterable[Iterable[object]], *, line_end: str = "\n") -> str:
    r"""Return a table as CSV: numbers in full, nothing where a number is undefined.

    Examples
    --------
    >>> csv_text(["method", "value"], [["=ours", 0.5], ["base", float("nan")]])
    "method,value\n'=ours,0.5\nbase,\n"
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator=line_end)
    if headings:
        writer.writerow(headings)
    writer.writerows(map(_cell, row) for row in rows)
    return stream.getvalue()


def csv_of(records: Sequence[Mapping[str, object]]) -> str:
    """Return records with the same keys, which are the headings, as CSV."""
    return csv_text(list(records[0]) if records else [], (record.values() for record in records))


def _cell(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    return no_formula(value) if isinstance(value, str) else value
