"""A form of reference files: how it is recognised, read and written.

To add a form: write one module in this folder with its ``FORM``, and name it in ``data/references/__init__.py``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import unquote

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import DataWarning, InputError
from truemoment.base.records import MAX_TIME_S, Annotations
from truemoment.data.datasets.entries import Moment, ReferenceEntry
from truemoment.data.fields import FieldMap
from truemoment.data.formats.head import Head

Durations = Callable[[Sequence[str]], Mapping[str, float]]
"""Returns durations in seconds of those of some videos that have one."""


def warn(note: str) -> None:
    """Warn that a file is not read whole."""
    warnings.warn(note, DataWarning, stacklevel=2)


@dataclass(frozen=True)
class ReferenceOptions:
    """How reference files are read.

    Parameters
    ----------
    fields
        Columns of a table or of a list of objects, as the user maps them; None for those with usual names.
    frame_rate
        Frames per second of forms that count frames; None if unknown.
    durations
        Source of durations that the file does not state; None for none.
    save_fields
        File to which `fields` are written once annotations were read with them.
    given
        Options of the command line and their values, for commands that are suggested.
    """

    fields: FieldMap | None = None
    frame_rate: float | None = None
    durations: Durations | None = None
    save_fields: AnyPath | None = None
    given: tuple[tuple[str, str], ...] = ()

    def words(self) -> dict[str, str]:
        """Return the options of the command line that these are."""
        return dict(self.given)

    def rate_for(self, path: AnyPath) -> float:
        """Return the frame rate, which must be given."""
        if self.frame_rate is None:
            hint = "give the rate: --frame-rate F"
            raise InputError("counts frames and states no frame rate", path=path, hint=hint)
        return self.frame_rate

    def note_left_out(self, path: AnyPath, count: int, what: str) -> None:
        """Report entries that were left out, if there are any."""
        if count:
            warn(f"{path}: left out {count:,} {what}")


Property = Literal["ids", "durations", "annotators", "ratings", "several moments", "no moment", "split"]
"""What a form may be unable to represent."""


@dataclass(frozen=True)
class ReferenceForm:
    """A form of reference files.

    Parameters
    ----------
    name, summary
        Name in messages and of ``--to``, and description in a line.
    recognise
        Returns why the beginning of a file looks like the form, or None.
    read
        Returns the entries of a file.
    write
        Writes annotations, complete or not at all; None if the form is read only.
    holds
        What the form can represent, for the notes of ``convert``.
    """

    name: str
    summary: str
    recognise: Callable[[Head], str | None]
    read: Callable[[AnyPath, ReferenceOptions], list[ReferenceEntry]]
    write: Callable[[AnyPath, Annotations], None] | None = None
    holds: frozenset[Property] = frozenset()


_SUFFIX = re.compile(r"\.(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{2,4}$")
_UPLOAD = re.compile(r"^[0-9a-f]{8}-")


class VideoNames:
    """Ids of videos by the files that an annotation tool names: the name without folder and suffix."""

    def __init__(self, path: AnyPath) -> None:
        self._path = path
        self._source: dict[str, str] = {}

    def id_of(self, source: str, line: int | None = None) -> str:
        """Return the id of a video file; two files with one name are refused."""
        name = PurePosixPath(unquote(source).replace("\\", "/")).name.removeprefix("?d=")
        if "/data/upload/" in source:  # Label Studio puts a random number before the name
            name = _UPLOAD.sub("", name)
        video_id = _SUFFIX.sub("", name)
        if not video_id:
            raise InputError(f"got {source[:60]!r}, expected the file of a video", path=self._path, line=line)
        if self._source.setdefault(video_id, source) != source:
            problem = f"got {self._source[video_id]} and {source}, expected files of different names"
            raise InputError(problem, path=self._path, line=line)
        return video_id


def checked_time(value: float, path: AnyPath, *, line: int | None = None, field: str | None = None) -> float:
    """Return a time in seconds; NaN and times beyond three years are refused."""
    if not abs(value) <= MAX_TIME_S:
        problem = f"got {value:.10g}, expected seconds up to {MAX_TIME_S:g}"
        raise InputError(problem, path=path, line=line, field=field)
    return value


def merged(entries: Iterable[ReferenceEntry]) -> list[ReferenceEntry]:
    """Return entries of annotation tools; those of one video with the same text are moments of one query."""
    by_query: dict[tuple[str, str], list[ReferenceEntry]] = {}
    for entry in entries:
        by_query.setdefault((entry.video_id, entry.sentence), []).append(entry)
    return [joined(group) for group in by_query.values()]


def joined(group: Sequence[ReferenceEntry]) -> ReferenceEntry:
    """Return entries of one query as one."""
    moments: list[Moment] = [moment for entry in group for moment in entry.moments]
    annotators = [name for entry in group for name in entry.annotators or [""] * len(entry.moments)]
    return group[0]._replace(moments=moments, annotators=annotators if any(annotators) else ())
