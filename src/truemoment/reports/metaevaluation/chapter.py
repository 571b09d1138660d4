"""A chapter: what one study of measures has to say, whatever it is shown on.

Each module of this folder makes a chapter of its study's result. The terminal, the JSON file, the figures and the page
are made of chapters alone (``delivery`` and ``page``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from truemoment.reports.model import Drawing, Table


@dataclass(frozen=True)
class Chapter:
    """What one study found.

    Parameters
    ----------
    name
        Of the study, as on the command line: its anchor on the page and its key in JSON.
    title
        The question it answers, in a short line.
    said
        What was found, in sentences; the finding first, each complete in itself.
    tables
        Its figures. Numbers are text already.
    drawings
        Its pictures; their names begin with the study's.
    document
        Its figures for JSON: fractions, null where undefined with a field ``why``, nothing rounded.
    notes
        What a reader must know of how it was done: assumptions, approximations, what was left out.
    """

    name: str
    title: str
    said: tuple[str, ...]
    tables: tuple[Table, ...]
    drawings: tuple[Drawing, ...]
    document: dict[str, Any]
    notes: tuple[str, ...] = ()
