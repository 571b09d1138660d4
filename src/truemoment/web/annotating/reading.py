"""The answers of a study as rows, in seconds, for export and for the owner's view."""

from __future__ import annotations

import datetime as dt
import sqlite3
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from truemoment.base.boundary.files import decode_json
from truemoment.base.errors import InputError
from truemoment.data.datasets.answer_file import PersonAnswer
from truemoment.media.video.prepared import FRAMES, VideoFrames
from truemoment.media.video.stamps import FrameTable
from truemoment.web.annotating.answers import SavedAnswer
from truemoment.web.annotating.study import StudyFolder


class StudyFrameTables:
    """Frame tables of a study's videos, read once each."""

    def __init__(self, study: StudyFolder) -> None:
        self._study = study
        self.table = cache(self._read)

    def _read(self, video: int) -> FrameTable:
        path = self._study.media(video) / FRAMES
        try:
            data = path.content()
        except OSError:
            raise InputError("is missing; 'truemoment annotate prepare' makes it", path=path) from None
        return FrameTable.of_runs(decode_json(data, VideoFrames, path=path))


DAY_S = 86400

_DECODER = msgspec.json.Decoder(SavedAnswer)


@cache
def _day(days: int) -> str:
    """Return the date of a number of days since 1970."""
    return dt.datetime.fromtimestamp(days * DAY_S, dt.UTC).date().isoformat()


class TaskAnswer(msgspec.Struct, frozen=True, gc=False):
    """An answer and its task."""

    task: int
    line: PersonAnswer


class _Query(NamedTuple):
    query_id: str
    sentence: str
    video: int
    video_id: str
    duration_s: float | None
    copy: int


_QUERIES = (
    "SELECT q.id, q.query_id, q.sentence, v.id, v.video_id, v.duration_s, v.copy FROM queries q "
    "JOIN videos v ON v.id = q.video "
)

_ANSWERS = (
    "SELECT t.query, t.person, t.place, t.id, t.control, t.state, t.shown, a.body, a.submitted_at, a.active_s "
    "FROM answers a JOIN tasks t ON t.id = a.task "
)


def read_study_answers(
    connection: sqlite3.Connection, tables: StudyFrameTables, *, query: int | None = None
) -> list[TaskAnswer]:
    """Return the answers of a study, or of one of its queries, by query and person.

    Queries and people are read once each, and answers are sorted here: with 50,000 answers, SQL needs more time for
    their joins and their order than for the rows.
    """
    cursor = connection.cursor()
    cursor.row_factory = None  # tuples: columns by name take longer than the decoding of answers
    values = () if query is None else (query,)
    statement = _QUERIES + ("" if query is None else "WHERE q.id = ?")
    queries = {number: _Query(*values_of_row) for number, *values_of_row in cursor.execute(statement, values)}
    names = dict(cursor.execute("SELECT id, name FROM people").fetchall())
    rows = cursor.execute(_ANSWERS + ("" if query is None else "WHERE t.query = ?"), values).fetchall()
    rows.sort(key=itemgetter(0, 1, 2))
    return [TaskAnswer(row[3], _line(row, queries[row[0]], names[row[1]], tables)) for row in rows]


def _line(row: tuple[Any, ...], query: _Query, name: str, tables: StudyFrameTables) -> PersonAnswer:
    _, _, place, _, control, state, span, body, submitted_at, active_s = row
    answer = _DECODER.decode(body)
    frames = [(moment.first, moment.last) for moment in answer.moments]
    table = tables.table(query.video) if frames else None
    return PersonAnswer(
        query_id=query.query_id,
        video_id=query.video_id,
        sentence=query.sentence,
        duration_s=query.duration_s,
        annotator=name,
        verdict=answer.verdict,
        reasons=list(answer.reasons),
        comment=answer.comment,
        moments=[] if table is None else [table.moment_s(*span_frames) for span_frames in frames],
        frames=frames,
        control=control,
        task_place=place,
        active_s=active_s,
        copy=bool(query.copy),
        submitted_day="" if submitted_at is None else _day(submitted_at // DAY_S),
        submitted=submitted_at is not None,
        set_aside=state == "set aside",
        shown=msgspec.json.decode(span, type=tuple[float, float]) if span else None,
    )
