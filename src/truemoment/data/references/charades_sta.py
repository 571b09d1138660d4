"""The form of Charades-STA: lines ``VIDEO START END##sentence``."""

from __future__ import annotations

from truemoment.base.boundary.files import write_bytes
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.base.records import Annotations
from truemoment.data.datasets.charades_sta import LINE, lines_of
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.head import Head
from truemoment.data.references.base import ReferenceForm, ReferenceOptions
from truemoment.data.references.queries import queries_of


def _recognise(head: Head) -> str | None:
    line = head.line.decode("utf-8", "replace").rstrip("\r")
    return "its first line is VIDEO START END##sentence" if LINE.fullmatch(line) else None


def _read(path: AnyPath, _: ReferenceOptions) -> list[ReferenceEntry]:
    return [
        ReferenceEntry(video_id, sentence, [(start_s, end_s)], line=line)
        for line, video_id, sentence, start_s, end_s in lines_of(path)
    ]


def _write(path: AnyPath, annotations: Annotations) -> None:
    lines = []
    for query in queries_of(annotations):
        if len(query.video_id.split()) != 1 or len(query.sentence.splitlines()) > 1:
            problem = f"got the video {query.video_id!r} and {query.sentence[:40]!r}, expected a video without blanks"
            raise InputError(f"{problem} and a sentence on one line", path=path, hint="write csv")
        lines += [f"{query.video_id} {start_s!r} {end_s!r}##{query.sentence}\n" for start_s, end_s in query.moments]
    write_bytes(path, "".join(lines).encode())


FORM = ReferenceForm("charades-sta", "text, lines VIDEO START END##sentence", _recognise, _read, _write)
