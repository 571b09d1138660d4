"""From the rows of a file to its columns, and back: what the formats share.

A format is a ``msgspec.Struct`` of an entry, a function that makes a :class:`FileRow` of it, and a writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from truemoment.base.boundary.files import write_json, write_json_lines
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.base.records import Status
from truemoment.data.formats.base import (
    AnswerRows,
    Moments,
    PredictionRows,
    Read,
    Write,
    checked_statuses,
    flatten,
    offsets_of,
)
from truemoment.data.formats.entries import read_entries

T = TypeVar("T")


class FileRow(NamedTuple):
    """One row of a file: what it states about its query, and the answer.

    Parameters
    ----------
    query_id, video_id, sentence
        The query; None where the row does not state it.
    moments, text
        The answer as numbers, or in words; a text of None is missing.
    status
        How the answer was understood, if the file states it.
    saliency
        Predicted clip ratings, or None.
    line
        Its line, if the format has lines.
    within
        Field of the file that contains the row, followed by a dot, for messages.
    number
        Number of the query in its video, from 0, if the file states it.
    """

    query_id: str | None = None
    video_id: str | None = None
    sentence: str | None = None
    moments: Moments = ()
    text: str | msgspec.UnsetType | None = msgspec.UNSET
    status: Status | None = None
    saliency: Sequence[float] | None = None
    line: int | None = None
    within: str = ""
    number: int | None = None


def as_id(query_id: str | int | None) -> str | None:
    """Return a query id, which a file may state as a number, as text."""
    return None if query_id is None else str(query_id)


def require_query(
    path: AnyPath, line: int | None, query_id: object, video_id: str | None, sentence: str | None
) -> None:
    """Refuse an entry that does not state its query."""
    if query_id is None and (video_id is None or sentence is None):
        problem = "is missing, expected it or video_id and sentence"
        raise InputError(problem, path=path, line=line, field="query_id")


def each_entry(
    kind: type[T], row: Callable[[T], FileRow], source: Callable[..., Iterator[tuple[int, T]]] = read_entries
) -> Callable[[AnyPath, bool], Iterator[FileRow]]:
    """Return a reader of the rows of a JSON list or of JSON Lines; an error of `row` gets its file and line."""

    def rows(path: AnyPath, progress: bool) -> Iterator[FileRow]:
        for line, entry in source(path, kind, progress=progress):
            try:
                yield row(entry)._replace(line=line)
            except InputError as error:
                raise error.at(path, line) from None

    return rows


def reader(
    rows: Callable[[AnyPath, bool], Iterable[FileRow]],
    *,
    field: str = "moments",
    text_field: str = "answer",
    within: str | None = None,
) -> Read:
    """Return a reader of a file as columns; the fields are those of :func:`as_columns`."""
    return lambda path, progress: as_columns(
        path, list(rows(path, progress)), field=field, text_field=text_field, within=within
    )


def as_columns(
    path: AnyPath,
    rows: Sequence[FileRow],
    *,
    field: str = "moments",
    text_field: str = "answer",
    within: str | None = None,
    **more: Any,  # noqa: ANN401 - further fields of PredictionRows or AnswerRows
) -> PredictionRows | AnswerRows:
    """Return the rows of a file as columns; a file without any is refused.

    Parameters
    ----------
    field, text_field
        Names of the list of moments and of the answer in words in the format.
    within
        Field that contains all rows, for the error of a file without any.
    **more
        Further fields of the result.
    """
    if not rows:
        raise InputError("has no predictions", path=path, field=within)
    line = [row.line for row in rows if row.line is not None] or None
    query_id = [row.query_id for row in rows]
    video_id = [row.video_id for row in rows]
    sentence = [row.sentence for row in rows]
    text = [row.text for row in rows if row.text is not msgspec.UNSET]
    more |= {"number": [row.number for row in rows]} if any(row.number is not None for row in rows) else {}
    where = [row.within for row in rows]
    if _all_have([row.text is not msgspec.UNSET for row in rows], path, line, text_field, where):
        return AnswerRows(path, line, query_id, video_id, sentence, text, text_field, **more)
    moments = flatten(path, line, [row.moments for row in rows], field=field)
    more |= rating_columns([row.saliency for row in rows], path, line, "pred_saliency_scores", where)
    status = checked_statuses([row.status for row in rows], moments[0], path, line)
    more = {"status": status, "moments_field": field} | more
    return PredictionRows(path, line, query_id, video_id, sentence, *moments, **more)


def _all_have(
    has: Sequence[bool], path: AnyPath, line: Sequence[int] | None, field: str, within: Sequence[str] | None = None
) -> bool:
    """Whether all rows of a file have a field; a file in which only some have it is refused."""
    if any(has) and not all(has):
        without = has.index(False)
        raise InputError(
            f"is missing, and {sum(has):,} other entries have it; expected all or none",
            path=path,
            line=None if line is None else line[without],
            field=f"{within[without] if within else ''}{field}",
        )
    return all(has)


def rating_columns(
    ratings: Sequence[Sequence[float] | None],
    path: AnyPath,
    line: Sequence[int] | None,
    field: str,
    within: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the columns of clip ratings by name, none where no row has some."""
    if not _all_have([rating is not None for rating in ratings], path, line, field, within):
        return {}
    lists = [rating or () for rating in ratings]
    return {"saliency_offsets": offsets_of(lists), "saliency": np.array([*chain(*lists)], dtype=np.float64)}


def merged_by_label(entries: Iterable[tuple[str, str, Sequence[float]]]) -> list[FileRow]:
    """Return a row for each video and label of (video, label, moment), with its moments in the order of the file."""
    lists: dict[tuple[str, str], list[Sequence[float]]] = {}
    for video_id, label, moment in entries:
        lists.setdefault((video_id, label), []).append(moment)
    return [FileRow(None, video, label, moments) for (video, label), moments in lists.items()]


def written_rows(rows: PredictionRows) -> Iterator[FileRow]:
    """Yield each row to be written; its moments are (start, end, score), or (start, end) where there are no scores."""
    columns = [column.tolist() for column in (rows.start, rows.end, *[rows.score] * rows.scored)]
    status: Sequence[Status | None] = rows.status or [None] * len(rows)
    for row, (low, high) in enumerate(pairwise(rows.offsets.tolist())):
        moments = list(zip(*(column[low:high] for column in columns), strict=True))
        ratings = None
        if rows.saliency is not None and rows.saliency_offsets is not None:
            ratings = rows.saliency[rows.saliency_offsets[row] : rows.saliency_offsets[row + 1]].tolist()
        about = rows.query_id[row], rows.video_id[row], rows.sentence[row]
        yield FileRow(*about, moments, status=status[row], saliency=ratings)


def lines_writer(entry: Callable[[FileRow], dict[str, object]]) -> Write:
    """Return a writer of JSON Lines, an entry per row."""
    return lambda path, rows: write_lines(path, map(entry, written_rows(rows)))


def write_lines(path: AnyPath, lines: Iterable[dict[str, object]]) -> None:
    """Write JSON Lines; keys whose value is None are left out."""
    write_json_lines(path, map(_known, lines))


def _known(entry: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in entry.items() if value is not None}


def document_writer(entry: Callable[[FileRow], dict[str, object]], within: str = "", **about: object) -> Write:
    """Return a writer of one JSON document: a list of entries, or one `within` an object with fields `about` it."""

    def write(path: AnyPath, rows: PredictionRows) -> None:
        try:
            entries = [_known(entry(row)) for row in written_rows(rows)]
        except InputError as error:
            raise error.at(path, None) from None
        write_json(path, {**about, within: entries} if within else entries, indent=None)

    return write


def by_video_writer(within: str, *, sentence: str, times: str, score: str, **about: object) -> Write:
    """Return a writer of ``{within: {VIDEO: [entry, ...]}}``, an entry per moment; the parameters name its keys."""

    def write(path: AnyPath, rows: PredictionRows) -> None:
        videos: dict[str, list[dict[str, object]]] = {}
        for row in written_rows(rows):
            for start, end, *scores in row.moments:
                entry: dict[str, object] = {sentence: row.sentence, times: (start, end)}
                if scores:
                    entry[score] = scores[0]
                videos.setdefault(row.video_id or "", []).append(entry)
        write_json(path, {**about, within: videos}, indent=None)

    return write
