"""moment_detr JSON Lines, also written by lighthouse, UniVTG, R2-Tuning and others.

A line a query: ``qid``, ``query``, ``vid``, ``pred_relevant_windows`` [[start, end, score], ...] in
seconds and, for highlights, ``pred_saliency_scores``, one number a clip.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.exceptions import InputError
from truemoment.files import read_json_lines
from truemoment.io.base import Format, PredictionRows, flatten, flatten_lists


class Line(msgspec.Struct):
    """A line of the file."""

    qid: str | int
    pred_relevant_windows: list[tuple[float, ...]]
    vid: str | None = None
    query: str | None = None
    pred_saliency_scores: list[float] | None = None


def recognise(path: Path, head: bytes) -> str | None:
    """Say why a file looks like moment_detr's."""
    del path
    line = head.lstrip().split(b"\n", 1)[0]
    if line.startswith(b"{") and b'"pred_relevant_windows"' in line:
        return 'its first line has "pred_relevant_windows"'
    return None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file; either every line has clip ratings or none has.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InputError
        Naming the line and field at fault; also if the file is empty, or only some lines have ratings.
    """
    numbers: list[int] = []
    lines: list[Line] = []
    for number, line in read_json_lines(path, Line, progress=progress):
        numbers.append(number)
        lines.append(line)
    if not lines:
        raise InputError("is empty, expected a line a query", path=path)
    saliency_offsets = saliency = None
    rated = [line.pred_saliency_scores for line in lines if line.pred_saliency_scores is not None]
    if len(rated) == len(lines):
        saliency_offsets, saliency = flatten_lists(rated)
    elif rated:
        first = next(n for n, line in zip(numbers, lines, strict=True) if line.pred_saliency_scores is None)
        raise InputError(
            f"is missing, and {len(rated)} other lines have it; expected all or none",
            path=path,
            line=first,
            field="pred_saliency_scores",
        )
    return PredictionRows(
        path,
        FORMAT.name,
        numbers,
        [str(line.qid) for line in lines],
        [line.vid for line in lines],
        [line.query for line in lines],
        *flatten(path, numbers, [line.pred_relevant_windows for line in lines], field="pred_relevant_windows"),
        saliency_offsets=saliency_offsets,
        saliency=saliency,
        moments_field="pred_relevant_windows",
    )


FORMAT = Format("moment-detr", "moment_detr JSON Lines (qid, pred_relevant_windows)", recognise, read)
