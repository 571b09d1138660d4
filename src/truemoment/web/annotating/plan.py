"""What a new study is to be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from truemoment.base.boundary.files import read_json_lines
from truemoment.base.errors import InputError, UsageError
from truemoment.web.annotating.study import MOST_SHARE, ControlShares, Task

if TYPE_CHECKING:
    from truemoment.base.records import Annotations

NO_CONTROLS = ControlShares(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class StudyPlan:
    """The settings of a new study; fields are those of :class:`~truemoment.web.annotating.study.StudySettings`.

    Parameters
    ----------
    n_queries
        Number of queries, chosen by lot; None for all.
    gold
        Queries with agreed moments, as controls.
    only
        Ids of the queries to take; None for all.
    instructions
        Markdown file; None for the usual text.
    """

    task: Task = "mark"
    n_queries: int | None = None
    per_query: int = 5
    people: int = 20
    seed: int = 0
    gold: Annotations | None = None
    only: frozenset[str] | None = None
    controls: ControlShares = NO_CONTROLS
    same_video: str = "apart"
    several: bool = True
    review: str = "required"
    sound: bool = True
    lang: str = ""
    instructions: Path | None = None
    title: str = ""
    practice: int = 3
    gold_iou: float = 0.5


def parse_controls(text: str) -> ControlShares:
    """Read shares of control tasks, e.g. ``gold=0.05,repeat=0.02,absent=0.03``; ``none`` has none."""
    shares = {"gold": 0.0, "repeat": 0.0, "absent": 0.0}
    for part in [] if text == "none" else text.split(","):
        name, _, value = part.strip().partition("=")
        if name not in shares or not re.fullmatch(r"0?\.\d+|0|0\.", value) or float(value) > MOST_SHARE:
            raise UsageError(
                f"--controls: got {part!r}, expected gold, repeat or absent = a share from 0 to {MOST_SHARE}"
            )
        shares[name] = float(value)
    return ControlShares(**shares)


def check_language(tag: str) -> str:
    """Return the tag of a language; refuse what is none."""
    if tag and not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}", tag):
        raise UsageError(f"--lang: got {tag!r}, expected a language such as en, ar or pt-BR")
    return tag


class OnlyLine(msgspec.Struct):
    """A line of a file that names queries, e.g. notes of ``truemoment browse``; other fields are ignored."""

    query_id: str
    tags: list[str] | None = None


MARK_ANEW = "mark-anew"
"""Tag of the queries that are taken, in a file whose lines have tags."""


def read_only(path: Path) -> frozenset[str]:
    """Return the query ids in a file of JSON Lines; of lines with tags, those tagged :data:`MARK_ANEW`."""
    lines = [line for _, line in read_json_lines(path, OnlyLine)]
    query_ids = frozenset(line.query_id for line in lines if line.tags is None or MARK_ANEW in line.tags)
    if not query_ids:
        raise InputError("names no queries, expected lines with a query_id", path=path)
    return query_ids
