"""The answers of a study as rows, in seconds, for export and for the owner's view."""

from __future__ import annotations

import datetime as dt
import sqlite3
from functools import cache
from pathlib import Path

import msgspec

from truemoment.annotating.answers import SavedAnswer
from truemoment.annotating.study import StudyFolder
from truemoment.datasets.answer_file import PersonAnswer
from truemoment.exceptions import InputError
from truemoment.files import decode_json
from truemoment.video.prepared import FRAMES, VideoFrames
from truemoment.video.stamps import FrameTable


class StudyFrameTables:
    """Frame tables of a study's videos, read once each."""

    def __init__(self, study: StudyFolder) -> None:
        self._study = study
        self.of = cache(self._read)

    def _read(self, video: int) -> FrameTable:
        path: Path = self._study.media(video) / FRAMES
        try:
            data = path.read_bytes()
        except OSError:
            raise InputError("is missing; 'truemoment annotate prepare' makes it", path=path) from None
        return FrameTable.of_runs(decode_json(data, VideoFrames, path=path))


DAY_S = 86400


@cache
def _day(days: int) -> str:
    """Return the date of a number of days since 1970."""
    return dt.datetime.fromtimestamp(days * DAY_S, dt.UTC).date().isoformat()


_ANSWERS = (
    "SELECT t.id AS task, t.place, t.control, t.state, t.shown, p.name, q.query_id, q.sentence, v.id AS video, "
    "v.video_id, v.duration_s, v.copy, a.body, a.submitted_at, a.active_s FROM answers a JOIN tasks t ON t.id = a.task "
    "JOIN people p ON p.id = t.person JOIN queries q ON q.id = t.query JOIN videos v ON v.id = q.video "
)


class TaskAnswer(msgspec.Struct, frozen=True):
    """An answer and its task."""

    task: int
    line: PersonAnswer


def read_study_answers(
    connection: sqlite3.Connection, tables: StudyFrameTables, *, query: int | None = None
) -> list[TaskAnswer]:
    """Return the answers of a study, or of one of its queries, by query and person."""
    where, values = ("", ()) if query is None else ("WHERE q.id = ? ", (query,))
    rows = connection.execute(f"{_ANSWERS}{where}ORDER BY q.id, p.id, t.place", values).fetchall()
    return [TaskAnswer(row["task"], _line(row, tables)) for row in rows]


def _line(row: sqlite3.Row, tables: StudyFrameTables) -> PersonAnswer:
    answer = msgspec.json.decode(row["body"], type=SavedAnswer)
    table = tables.of(row["video"]) if answer.moments else None
    at = row["submitted_at"]
    return PersonAnswer(
        query_id=row["query_id"],
        video_id=row["video_id"],
        sentence=row["sentence"],
        duration_s=row["duration_s"],
        annotator=row["name"],
        verdict=answer.verdict,
        reasons=list(answer.reasons),
        comment=answer.comment,
        moments=[] if table is None else [table.moment_s(of.first, of.last) for of in answer.moments],
        frames=[(of.first, of.last) for of in answer.moments],
        control=row["control"],
        task_place=row["place"],
        active_s=row["active_s"],
        copy=bool(row["copy"]),
        submitted_day="" if at is None else _day(at // DAY_S),
        submitted=at is not None,
        set_aside=row["state"] == "set aside",
        shown=msgspec.json.decode(row["shown"], type=tuple[float, float]) if row["shown"] else None,
    )
