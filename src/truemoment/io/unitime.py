"""UniTime's JSON: a list with an entry a query, as its ``inference.py`` writes it.

``[{"qid": 7, "id": VIDEO, "annos": [{"query": ..., "window": ...}], "duration": ..., "pred_relevant_windows":
[[start, end], ...]}]``. `annos` holds the reference, of which only the sentence is read; moments have no score there
but may have one. ``[[-1, -1]]`` says that no number was found in the model's answer: it counts as failed, not as a
moment. Numbers in `qid` are of UniTime's own annotation files, so rows may go by video and sentence. Where `vid` and
`query` stand in the entry itself, as in moment_detr's lines, they are read. Source: Lzq5/UniTime, ``inference.py`` and
``eval_metrics.py``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.exceptions import InputError
from truemoment.files import atomic_write
from truemoment.io.base import Format, PredictionRows, flatten, listed
from truemoment.io.entries import read_entries, whole_id
from truemoment.io.head import Head
from truemoment.records import Status

NOTHING_FOUND = [(-1.0, -1.0)]


class Anno(msgspec.Struct):
    """The query of an entry."""

    query: str | None = None


class Entry(msgspec.Struct):
    """An entry of the list."""

    qid: str | int
    pred_relevant_windows: list[tuple[float, ...]]
    id: str | None = None
    annos: list[Anno] = msgspec.field(default_factory=list)
    vid: str | None = None
    query: str | None = None


def recognise(head: Head) -> str | None:
    """Say why a file looks like UniTime's."""
    if head.is_list and "pred_relevant_windows" in head.entry_keys:
        return 'it is a list of entries with "pred_relevant_windows"'
    return None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file."""
    lines: list[int] = []
    entries: list[Entry] = []
    for line, entry in read_entries(path, Entry, progress=progress):
        lines.append(line)
        entries.append(entry)
    if not entries:
        raise InputError("holds no entry, expected one a query", path=path)
    failed = [entry.pred_relevant_windows == NOTHING_FOUND for entry in entries]
    moments = [[] if fails else entry.pred_relevant_windows for fails, entry in zip(failed, entries, strict=True)]
    status: list[Status] = [
        "failed" if fails else "parsed" if windows else "no answer"
        for fails, windows in zip(failed, moments, strict=True)
    ]
    return PredictionRows(
        path,
        FORMAT.name,
        lines,
        [str(entry.qid) for entry in entries],
        [entry.id if entry.vid is None else entry.vid for entry in entries],
        [_sentence(entry) for entry in entries],
        *flatten(path, lines, moments, field="pred_relevant_windows"),
        status=status if any(failed) else None,
        moments_field="pred_relevant_windows",
    )


def _sentence(entry: Entry) -> str | None:
    return entry.annos[0].query if entry.query is None and len(entry.annos) == 1 else entry.query


def write(path: Path, rows: PredictionRows) -> None:
    """Write the file, complete or not at all."""
    entries: list[dict[str, object]] = []
    for query_id, video_id, sentence, moments in zip(
        rows.query_id, rows.video_id, rows.sentence, listed(rows), strict=True
    ):
        about = {"id": video_id, "annos": None if sentence is None else [{"query": sentence}]}
        entry: dict[str, object] = {"qid": whole_id(query_id or "")}
        entry |= {name: value for name, value in about.items() if value is not None}
        entries.append(entry | {"pred_relevant_windows": moments})
    with atomic_write(path) as stream:
        stream.write(msgspec.json.encode(entries) + b"\n")


FORMAT = Format(
    "unitime",
    "UniTime JSON (qid, annos, pred_relevant_windows)",
    recognise,
    read,
    write,
    loses=frozenset({"ratings", "statuses", "ids"}),
    numbers_queries=True,
)
