"""Log of VTimeLLM's evaluation: JSON Lines with ``video_id``, ``task``, ``query_id``, ``answer``, ``info.sentence_id``.

The query is the `sentence_id`-th of its video, from 0, in the order of the annotations; `query_id` is the number of the
prompt. Only rows of the task ``grounding`` and of its first prompt are read, the others are counted. Answers state
hundredths of the video: ``--axis percent`` as its evaluator reads them, which rounds each IoU to two decimals. Source:
huangb23/VTimeLLM, ``vtimellm/eval/eval.py`` (`iou`) and ``metric.py``.
"""

from __future__ import annotations

import msgspec

from truemoment.base.boundary.files import read_json_lines
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.formats.base import AnswerRows, Format, PredictionRows
from truemoment.data.formats.head import first_line_has
from truemoment.data.formats.rows import FileRow, as_columns

TASK = "grounding"


class VTimeLLMInfo(msgspec.Struct):
    """What a row states about its query."""

    sentence_id: int | None = None


class VTimeLLMLine(msgspec.Struct):
    """A line of the file."""

    video_id: str
    task: str
    query_id: int = 0
    answer: str | None = None
    info: VTimeLLMInfo | None = None


def _read(path: AnyPath, progress: bool) -> PredictionRows | AnswerRows:
    rows: list[FileRow] = []
    lines = list(read_json_lines(path, VTimeLLMLine, progress=progress))
    grounding = [(number, line) for number, line in lines if line.task == TASK]
    first = min((line.query_id for _, line in grounding), default=0)
    for number, line in grounding:
        if line.query_id != first:
            continue
        if line.info is None or line.info.sentence_id is None:
            raise InputError("is missing", path=path, line=number, field="info.sentence_id")
        rows.append(FileRow(None, line.video_id, None, text=line.answer, line=number, number=line.info.sentence_id))
    others, again = len(lines) - len(grounding), len(grounding) - len(rows)
    note = "".join(
        f"; {count:,} {f'row of another {what} is' if count == 1 else f'rows of other {what}s are'} left out"
        for count, what in ((others, "task"), (again, "prompt"))
        if count
    )
    return as_columns(path, rows, note=note, within=f"task {TASK}")


FORMAT = Format(
    "vtimellm",
    "log of VTimeLLM (video_id, task, answer, info.sentence_id)",
    first_line_has("task", "video_id", "query_id", "answer"),
    _read,
    needs=frozenset({"video_id", "task", "query_id", "answer"}),
)
