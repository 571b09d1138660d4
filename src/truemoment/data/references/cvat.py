"""CVAT's XML export: tracks and tags of frames; a label is shown from its first frame to the end of its last."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.xml_files import XmlElement, read_xml
from truemoment.base.errors import InputError
from truemoment.data.datasets.entries import Moment, ReferenceEntry
from truemoment.data.formats.head import Head
from truemoment.data.references.base import ReferenceForm, ReferenceOptions, VideoNames, merged

WORDS = ("sentence", "description", "caption", "text", "query")
"""Attributes whose value is the sentence; without one it is the label."""


def _recognise(head: Head) -> str | None:
    start = head.data[: 1 << 16]
    is_cvat = start.startswith(b"<") and b"<annotations" in start[:4096]
    return "it has annotations of tasks" if is_cvat and (b"<meta" in start or b"<track" in start) else None


def _read(path: AnyPath, how: ReferenceOptions) -> list[ReferenceEntry]:
    root = read_xml(path)
    rate = how.rate_for(path)
    names = VideoNames(path)
    tasks = [*root.all("meta", "task"), *root.all("meta", "job"), *root.all("meta", "project", "tasks", "task")]
    for task in tasks:
        step = task.text_at("frame_filter").removeprefix("step=").strip()
        if step not in ("", "1"):
            hint = "export the task without a frame step"
            raise InputError(f"got step={step}, expected every frame", path=path, field="frame_filter", hint=hint)
    by_task = {task.text_at("id"): task for task in tasks}

    def about(element: XmlElement) -> tuple[str, float]:
        """Return id and duration of the video of an element."""
        task = by_task.get(element.attributes.get("task_id", ""), tasks[0] if len(tasks) == 1 else None)
        if task is None and len(tasks) > 1:
            raise InputError("names no task, expected its task_id", path=path, line=element.line)
        source = "" if task is None else _source(task, root)
        size = "" if task is None else task.text_at("size")
        duration_s = int(size) / rate if size.isdecimal() and len(size) < 10 else math.nan
        return names.id_of(source, element.line) if source else PurePath(path.name).stem, duration_s

    entries = []
    for track in root.all("track"):
        video_id, duration_s = about(track)
        for first, end in _shown(track, path):
            moment = (first / rate, end / rate)
            entries.append(ReferenceEntry(video_id, _sentence(track), [moment], duration_s, line=track.line))
    tagged: dict[tuple[str, float, str], list[int]] = {}
    n_shapes = 0
    for image in root.all("image"):
        tags = [child for child in image.children if child.tag == "tag"]
        n_shapes += len(image.children) - len(tags)
        for tag in tags:
            tagged.setdefault((*about(image), _sentence(tag)), []).append(_frame(image, "id", path))
    for (video_id, duration_s, sentence), frames in tagged.items():
        moments: list[Moment] = [(first / rate, (last + 1) / rate) for first, last in _runs(frames)]
        entries.append(ReferenceEntry(video_id, sentence, moments, duration_s))
    how.note_left_out(path, n_shapes, "shapes of single images, which have no start and end")
    return merged(entries)


def _source(task: XmlElement, root: XmlElement) -> str:
    return task.text_at("source") or root.text_at("meta", "source") or task.text_at("name")


def _sentence(element: XmlElement) -> str:
    """Return the text of a track or tag: its attribute for words, or its label."""
    attributes = [*element.all("attribute"), *(inner for child in element.children for inner in child.all("attribute"))]
    for words in WORDS:
        for attribute in attributes:
            if attribute.attributes.get("name", "").lower() == words and attribute.text.strip():
                return attribute.text.strip()
    return element.attributes.get("label", "")


def _shown(track: XmlElement, path: AnyPath) -> Iterator[tuple[int, int]]:
    """Yield first frame and the frame after the last of each time that a track is shown."""
    first: int | None = None
    last = -1
    shapes = [(_frame(shape, "frame", path), shape) for shape in track.children if "frame" in shape.attributes]
    for frame, shape in sorted(shapes, key=lambda pair: pair[0]):
        outside = shape.attributes.get("outside", "0")
        if outside not in ("0", "1"):
            raise InputError(f"got {outside[:40]!r}, expected 0 or 1", path=path, line=shape.line, field="outside")
        if outside == "1":
            if first is not None:
                yield first, frame
            first = None
        else:
            first, last = (frame if first is None else first), frame
    if first is not None:
        yield first, last + 1
    if not shapes:
        raise InputError("has no shape with a frame", path=path, line=track.line, field="track")


def _frame(element: XmlElement, name: str, path: AnyPath) -> int:
    text = element.attributes.get(name, "")
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        problem = f"got {text[:40]!r}, expected the number of a frame"
        raise InputError(problem, path=path, line=element.line, field=name)
    return int(text)


def _runs(frames: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield first and last frame of each run of consecutive frames."""
    ordered = sorted(set(frames))
    starts = [frame for k, frame in enumerate(ordered) if k == 0 or ordered[k - 1] != frame - 1]
    ends = [frame for k, frame in enumerate(ordered) if k == len(ordered) - 1 or ordered[k + 1] != frame + 1]
    return zip(starts, ends, strict=True)


FORM = ReferenceForm("cvat", "CVAT's XML export, tracks and tags of frames", _recognise, _read)
