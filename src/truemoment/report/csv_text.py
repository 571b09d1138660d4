"""Rows as CSV: numbers in full, nothing where a number is undefined, and no text that a spreadsheet computes."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence

from truemoment.base.boundary.text import no_formula, printable_lines


def csv_text(rows: Sequence[Mapping[str, object]]) -> str:
    r"""Return rows with the same keys as CSV; the first line has the keys.

    Examples
    --------
    >>> csv_text([{"method": "=ours", "value": 0.5}, {"method": "base", "value": float("nan")}])
    "method,value\n'=ours,0.5\nbase,\n"
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if rows:
        writer.writerow(list(rows[0]))
    for row in rows:
        writer.writerow([_cell(value) for value in row.values()])
    return stream.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    return no_formula(printable_lines(value)) if isinstance(value, str) else value
