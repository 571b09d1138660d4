"""From the rows of a file to its columns, and back: what the formats share.

A format is a ``msgspec.Struct`` of an entry, a function that makes a :class:`FileRow` of it, and a writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from truemoment.exceptions import InputError
from truemoment.files import atomic_write
from truemoment.io.base import AnswerRows, PredictionRows, flatten, listed
from truemoment.records import Status

Moments = Sequence[tuple[float, ...]]
"""Ranked (start, end) or (start, end, score)."""


class FileRow(NamedTuple):
    """One row of a file: what it states about its query, and the answer.

    Parameters
    ----------
    line
        Its line, if the format has lines.
    query_id, video_id, sentence
        The query; None where the row does not state it.
    moments
        The answer as numbers.
    text
        The answer in words; None if there is none.
    status
        How the answer was understood, if the format states it.
    """

    line: int | None = None
    query_id: str | None = None
    video_id: str | None = None
    sentence: str | None = None
    moments: Moments = ()
    text: str | None = None
    status: Status | None = None


def prediction_rows(
    path: Path,
    format_name: str,
    rows: Sequence[FileRow],
    *,
    field: str,
    within: str | None = None,
    **more: Any,  # noqa: ANN401 - further fields of PredictionRows
) -> PredictionRows:
    """Return rows of moments as columns; a file without any is refused.

    Parameters
    ----------
    path, format_name, rows
        The file, its format, and its rows.
    field
        Name of the list of moments in the format.
    within
        Field that contains all rows, for the error of a file without any.
    **more
        Further fields of :class:`PredictionRows`.
    """
    lines = _lines(path, rows, within)
    return PredictionRows(
        path,
        format_name,
        lines,
        [row.query_id for row in rows],
        [row.video_id for row in rows],
        [row.sentence for row in rows],
        *flatten(path, lines, [row.moments for row in rows], field=field),
        **{"moments_field": field} | more,
    )


def answer_rows(
    path: Path,
    format_name: str,
    rows: Sequence[FileRow],
    *,
    field: str = "answer",
    header: dict[str, object] | None = None,
) -> AnswerRows:
    """Return rows of answers in words as columns; a file without any is refused."""
    return AnswerRows(
        path,
        format_name,
        _lines(path, rows, None),
        [row.query_id for row in rows],
        [row.video_id for row in rows],
        [row.sentence for row in rows],
        [row.text for row in rows],
        text_field=field,
        header=header or {},
    )


def _lines(path: Path, rows: Sequence[FileRow], within: str | None) -> list[int] | None:
    if not rows:
        raise InputError("has no predictions", path=path, field=within)
    lines = [row.line for row in rows if row.line is not None]
    return lines or None


def all_have(has: Sequence[bool], path: Path, lines: Sequence[int | None], field: str | Callable[[int], str]) -> bool:
    """Whether all entries of a file have a field; a file in which only some have it is refused."""
    if any(has) and not all(has):
        first = has.index(False)
        raise InputError(
            f"is missing, and {sum(has):,} other entries have it; expected all or none",
            path=path,
            line=lines[first],
            field=field if isinstance(field, str) else field(first),
        )
    return all(has)


def merged_by_label(entries: Iterable[tuple[str, str, tuple[float, ...]]]) -> list[FileRow]:
    """Return a row for each video and label of (video, label, moment), with its moments in the order of the file."""
    lists: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    for video_id, label, moment in entries:
        lists.setdefault((video_id, label), []).append(moment)
    return [FileRow(video_id=video, sentence=label, moments=moments) for (video, label), moments in lists.items()]


def write_lines(path: Path, lines: Iterable[dict[str, object]]) -> None:
    """Write JSON Lines; keys whose value is None are left out."""
    encoder = msgspec.json.Encoder()
    with atomic_write(path) as stream:
        for line in lines:
            stream.write(encoder.encode({key: value for key, value in line.items() if value is not None}) + b"\n")


def write_document(path: Path, document: object) -> None:
    """Write one JSON document."""
    with atomic_write(path) as stream:
        stream.write(msgspec.json.encode(document) + b"\n")


def by_video(rows: PredictionRows, *, sentence: str, times: str, score: str) -> dict[str, list[dict[str, object]]]:
    """Return an entry for each moment, by video; the parameters name the keys of an entry."""
    found: dict[str, list[dict[str, object]]] = {}
    for video_id, text, moments in zip(rows.video_id, rows.sentence, listed(rows), strict=True):
        for moment in moments:
            entry: dict[str, object] = {sentence: text, times: moment[:2]}
            if rows.scored:
                entry[score] = moment[2]
            found.setdefault(video_id or "", []).append(entry)
    return found
