"""Label Studio's JSON export: labels of parts of a video (frames) or of its sound (seconds)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.base.records import Seconds
from truemoment.data.datasets.entries import Moment, ReferenceEntry
from truemoment.data.formats.entries import read_entries
from truemoment.data.formats.head import Head
from truemoment.data.references.base import ReferenceForm, ReferenceOptions, VideoNames, checked_time, merged

Frame = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
"""Number of a frame."""


class FrameRange(msgspec.Struct):
    """First and last frame of a part, both included, from 1."""

    start: Frame
    end: Frame


class RegionValue(msgspec.Struct):
    """What a region is: frames, or seconds, with labels or a text."""

    ranges: list[FrameRange] = []
    start: Seconds | None = None
    end: Seconds | None = None
    timelinelabels: list[str] = []
    labels: list[str] = []
    text: str | list[str] = []


class LabelRegion(msgspec.Struct):
    """A region of a task; several results with one id are about one region."""

    type: str
    value: RegionValue
    id: str | None = None


class TaskAnnotation(msgspec.Struct):
    """Results of one annotator."""

    result: list[LabelRegion] = []
    completed_by: Any = None
    was_cancelled: bool = False


class LabelTask(msgspec.Struct):
    """A task: its data, and the annotations of it."""

    data: dict[str, Any]
    annotations: list[TaskAnnotation]


def _recognise(head: Head) -> str | None:
    return "its tasks have data and annotations" if {"data", "annotations"} <= head.entry_keys else None


def _read(path: AnyPath, how: ReferenceOptions) -> list[ReferenceEntry]:
    names = VideoNames(path)
    entries: list[ReferenceEntry] = []
    n_tasks = n_cancelled = n_others = 0
    for line, task in read_entries(path, LabelTask):
        kept = [annotation for annotation in task.annotations if not annotation.was_cancelled]
        n_cancelled += len(task.annotations) - len(kept)
        n_tasks += not task.annotations
        several = len({_annotator(annotation) for annotation in kept}) > 1
        for annotation in kept:
            regions, others = _regions(annotation)
            n_others += others
            for texts, values in regions:
                moments = [moment for value in values for moment in _moments(value, how, path, line)]
                annotators = [_annotator(annotation)] * len(moments) if several else ()
                about = (names.id_of(_video(task, path, line), line), ", ".join(texts), moments)
                entries.append(ReferenceEntry(*about, annotators=annotators, line=line))
    how.note_left_out(path, n_tasks, "tasks without an annotation")
    how.note_left_out(path, n_cancelled, "cancelled annotations")
    how.note_left_out(path, n_others, "results without a time or without a label")
    return merged(entries)


def _regions(annotation: TaskAnnotation) -> tuple[list[tuple[list[str], list[RegionValue]]], int]:
    """Return texts and times of each region of an annotation, and the number of results that have no part of these."""
    by_id: dict[str, list[RegionValue]] = {}
    for number, region in enumerate(annotation.result):
        by_id.setdefault(region.id or f" {number}", []).append(region.value)
    regions, n_others = [], 0
    for values in by_id.values():
        written = [text for value in values for text in ([value.text] if isinstance(value.text, str) else value.text)]
        labels = [label for value in values for label in (*value.timelinelabels, *value.labels)]
        texts = list(dict.fromkeys(filter(None, (text.strip() for text in written)))) or list(dict.fromkeys(labels))
        timed = next(([value] for value in values if value.ranges or value.start is not None), [])
        if texts and timed:
            regions.append((texts, timed))
        else:
            n_others += len(values)
    return regions, n_others


def _moments(value: RegionValue, how: ReferenceOptions, path: AnyPath, line: int) -> Iterator[Moment]:
    if value.start is not None:
        if value.end is None:
            raise InputError("is missing, expected seconds", path=path, line=line, field="value.end")
        yield value.start, value.end
    for frames in value.ranges:
        rate = how.rate_for(path)
        times_s = ((frames.start - 1) / rate, frames.end / rate)
        start_s, end_s = (checked_time(time_s, path, line=line, field="value.ranges") for time_s in times_s)
        yield start_s, end_s


def _annotator(annotation: TaskAnnotation) -> str:
    by = annotation.completed_by
    return str(by.get("email") or by.get("id") or "") if isinstance(by, dict) else "" if by is None else str(by)


def _video(task: LabelTask, path: AnyPath, line: int) -> str:
    """Return the file of a task: its data named video, or the only text that looks like a file."""
    files = {name: value for name, value in task.data.items() if isinstance(value, str) and "." in value}
    named = [files[name] for name in ("video", "video_url", "audio") if name in files] or list(files.values())
    if not named or (len(files) > 1 and not {"video", "video_url", "audio"} & files.keys()):
        problem = f"got data {', '.join(task.data) or 'nothing'}, expected the file of a video as video"
        raise InputError(problem, path=path, line=line, field="data")
    return named[0]


FORM = ReferenceForm("label-studio", "Label Studio's JSON export", _recognise, _read)
