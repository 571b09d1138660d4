"""VIA, the VGG video annotator: its project (JSON) and its CSV export, temporal segments in seconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

import msgspec

from truemoment.base.boundary.files import DATA_BYTES, decode_json, read_bytes, refuse_repeated_keys
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.tables import cells_in, read_sheet
from truemoment.base.errors import InputError
from truemoment.base.records import Seconds
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.head import Head
from truemoment.data.references.base import ReferenceForm, ReferenceOptions, VideoNames, merged

T = TypeVar("T")

MARK = b"# Exported using VGG Image Annotator"
HEADER = "# CSV_HEADER = "
FILES, TIMES, VALUES = "file_list", "temporal_coordinates", "metadata"
"""Columns of the CSV export, each with JSON."""


class ViaFile(msgspec.Struct):
    """A file of the project."""

    fname: str


class ViaView(msgspec.Struct):
    """What is shown together: here one video."""

    fid_list: list[int | str]


class ViaAttribute(msgspec.Struct):
    """An attribute that people fill in; options by their number where they choose."""

    aname: str = ""
    options: dict[str, str] = {}


class ViaMetadata(msgspec.Struct):
    """A marked part of a view: times `z`, region `xy`, and values of attributes `av`."""

    vid: int | str
    z: list[Seconds] = []
    xy: list[float] = []
    av: dict[str, str] = {}


class ViaProject(msgspec.Struct):
    """The whole project."""

    file: dict[str, ViaFile]
    view: dict[str, ViaView]
    metadata: dict[str, ViaMetadata]
    attribute: dict[str, ViaAttribute] = {}


class MarkedPart(NamedTuple):
    """A part of a video: its file, times, values of attributes, and line or field."""

    file: str
    times_s: list[float]
    values: list[str]
    line: int | None


def _recognise(head: Head) -> str | None:
    if head.data.startswith(MARK):
        return "its first line names the VGG annotator"
    keys = {path[0] for path in head.outline if len(path) == 1}
    return "it has file, view and metadata" if {"file", "view", "metadata"} <= keys and head.is_object else None


def _read(path: AnyPath, how: ReferenceOptions) -> list[ReferenceEntry]:
    names = VideoNames(path)
    entries, n_untimed, n_empty = [], 0, 0
    data = read_bytes(path, most=DATA_BYTES)
    for part in _of_csv(path) if data.startswith(MARK) else _of_project(data, path):
        sentence = ", ".join(filter(None, (value.strip() for value in part.values)))
        if len(part.times_s) != 2:
            n_untimed += 1
        elif not sentence:
            n_empty += 1
        else:
            moment = (part.times_s[0], part.times_s[1])
            entries.append(ReferenceEntry(names.id_of(part.file, part.line), sentence, [moment], line=part.line))
    how.note_left_out(path, n_untimed, "marks without a start and an end")
    how.note_left_out(path, n_empty, "segments without text")
    return merged(entries)


def _of_project(data: bytes, path: AnyPath) -> Iterator[MarkedPart]:
    refuse_repeated_keys(data, path)
    project = decode_json(data, ViaProject, path=path)
    for name, mark in project.metadata.items():
        view = project.view.get(str(mark.vid))
        files = [] if view is None else [project.file.get(str(number)) for number in view.fid_list]
        if not files or files[0] is None:
            problem = f"got the view {mark.vid!r}, expected one that names a file of the project"
            raise InputError(problem, path=path, field=f"metadata.{name}.vid")
        values = [
            project.attribute.get(number, ViaAttribute()).options.get(value, value) for number, value in mark.av.items()
        ]
        yield MarkedPart(files[0].fname, mark.z, values, None)


def _of_csv(path: AnyPath) -> Iterator[MarkedPart]:
    lines = read_sheet(path, most=DATA_BYTES).splitlines(keepends=True)
    n_comments = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    header = next((line for line in lines[:n_comments] if line.startswith(HEADER)), "").removeprefix(HEADER)
    missing = {FILES, TIMES, VALUES} - {name.strip() for name in header.split(",")}
    if missing:
        problem = f"has no {', '.join(sorted(missing))} in its CSV_HEADER"
        raise InputError(problem, path=path, line=1)
    rows = cells_in("".join([header, *lines[n_comments:]]), path)
    _, names = next(rows)
    names = [name.strip() for name in names]
    for number, row in rows:
        line, cells = number + n_comments - 1, dict(zip(names, row, strict=True))

        def decoded(column: str, kind: type[T], line: int = line, cells: dict[str, str] = cells) -> T:
            return decode_json(cells[column].encode(), kind, path=path, line=line, field=column)

        files, times_s = decoded(FILES, list[str]), decoded(TIMES, list[Seconds])
        if not files:
            raise InputError("got no file, expected the file of a video", path=path, line=line, field=FILES)
        yield MarkedPart(files[0], times_s, list(decoded(VALUES, dict[str, str]).values()), line)


FORM = ReferenceForm("via", "VGG video annotator, project (JSON) or CSV export", _recognise, _read)
