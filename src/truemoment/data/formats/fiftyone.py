"""FiftyOne's temporal detections, the label in place of the query: ``labels.json``, or a dataset's ``samples.json``.

``labels.json`` (FiftyOneTemporalDetectionDataset): ``{"classes": [...], "labels": {VIDEO: [{"label": ..., "support":
[first, last], "confidence": ...}]}}``, or ``timestamps`` [start, stop] in seconds in place of `support`; a label is
text or the number of one of the `classes`. Frames count from 1, both included: frames 1 to 30 at 30 per second are
second 0 to 1. The file has no frame rate, so ``--axis fps=F`` is needed.

``samples.json`` (FiftyOneDataset): ``{"samples": [{"filepath": ..., "metadata": {"frame_rate": ...}, FIELD: {"_cls":
"TemporalDetections", "detections": [...]}}]}``. If there are several such fields, ``predictions`` is
read; ``ground_truth`` never is.
A rate for every video converts its frames to seconds.

The detections of one label are one ranked list. Source: voxel51/fiftyone, its page on exporting datasets and
``fiftyone/core/labels.py`` (TemporalDetection).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, NamedTuple, cast

import msgspec

from truemoment.base.boundary.files import DATA_BYTES, decode_entries, decode_json, read_bytes, refuse_repeated_keys
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.base.intervals import frames_to_seconds
from truemoment.data.axes import SECONDS
from truemoment.data.formats.base import AnswerRows, Format, PredictionRows
from truemoment.data.formats.head import Head
from truemoment.data.formats.rows import as_columns, by_video_writer, merged_by_label

PREDICTIONS, REFERENCE = "predictions", "ground_truth"
Frame = Annotated[int, msgspec.Meta(ge=1, le=10**9)]
Rate = Annotated[float, msgspec.Meta(gt=0)]


class Detection(msgspec.Struct):
    """A predicted moment: in frames or in seconds."""

    label: str | int
    support: tuple[Frame, Frame] | None = None
    timestamps: tuple[float, float] | None = None
    confidence: float | None = None


DETECTIONS = cast(type[list[Detection] | None], list[Detection] | None)  # a type to msgspec, not to mypy


class FiftyOneLabels(msgspec.Struct):
    """``labels.json``."""

    labels: dict[str, msgspec.Raw]
    classes: list[str] | None = None


class FiftyOneMetadata(msgspec.Struct):
    """Metadata of a video."""

    frame_rate: Rate | None = None


class FiftyOneSample(msgspec.Struct):
    """A video of ``samples.json``; its other fields are found by their content."""

    filepath: str
    metadata: FiftyOneMetadata | None = None


class FiftyOneSamples(msgspec.Struct):
    """``samples.json``."""

    samples: list[msgspec.Raw]


class FiftyOneField(msgspec.Struct):
    """A field of a sample."""

    cls: str | None = msgspec.field(name="_cls", default=None)
    detections: list[msgspec.Raw] = msgspec.field(default_factory=list)


class PlacedDetection(NamedTuple):
    """A detection, its place in the file, and the frame rate of its video if known."""

    video: str
    detection: Detection
    place: str
    frame_rate: float | None


def _recognise(head: Head) -> str | None:
    for key in ("support", "timestamps"):
        if head.kind_at("labels", "*", "[]", key) and head.kind_at("labels", "*", "[]", "label") is not None:
            return f'it has "labels" with "{key}"'
    if head.kind_at("samples", "[]", "filepath") and head.kind_at("samples", "[]", "*", "detections", "[]", "support"):
        return 'it has "samples" with detections that have "support"'
    return None


def _read(path: AnyPath, _progress: bool) -> PredictionRows | AnswerRows:
    data = read_bytes(path, most=DATA_BYTES)
    refuse_repeated_keys(data, path)
    top = decode_json(data, dict[str, msgspec.Raw], path=path)
    detections = list(_in_samples(data, path) if "samples" in top and "labels" not in top else _in_labels(data, path))
    counts_frames = _counts_frames(detections, path)
    rows = merged_by_label(
        (detection.video, str(detection.detection.label), _moment(detection)) for detection in detections
    )
    axis = None if counts_frames else SECONDS
    return as_columns(path, rows, field="detections", axis=axis, counts_frames=counts_frames)


def _in_labels(data: bytes, path: AnyPath) -> Iterator[PlacedDetection]:
    """Yield the detections of ``labels.json``."""
    file = decode_json(data, FiftyOneLabels, path=path)
    entries = decode_entries(file.labels, DETECTIONS, data=data, path=path, within="labels")
    for video, detections in entries.items():
        for number, detection in enumerate(detections or ()):
            field = f"labels.{video}[{number}]"
            yield PlacedDetection(video, _named(detection, file.classes, path, field), field, None)


def _named(detection: Detection, classes: list[str] | None, path: AnyPath, field: str) -> Detection:
    """Return a detection with the name of its class in place of its number."""
    if isinstance(detection.label, str):
        return detection
    if classes is None or not 0 <= detection.label < len(classes):
        class_list = "none are listed" if classes is None else f"{len(classes)} are listed"
        problem = f"got class {detection.label}, expected text or the number of a class ({class_list})"
        raise InputError(problem, path=path, field=f"{field}.label")
    return msgspec.structs.replace(detection, label=classes[detection.label])


def _in_samples(data: bytes, path: AnyPath) -> Iterator[PlacedDetection]:
    """Yield the detections of ``samples.json``."""
    file = decode_json(data, FiftyOneSamples, path=path)
    field_name = _field(file, path)
    for number, raw in enumerate(file.samples):
        place = f"samples[{number}]"
        sample = decode_json(bytes(raw), FiftyOneSample, path=path, field=place)
        rate = None if sample.metadata is None else sample.metadata.frame_rate
        for name, field in _fields(raw, path, place):
            for at, detection in enumerate(field.detections if name == field_name else ()):
                within = f"{place}.{name}.detections[{at}]"
                read = decode_json(bytes(detection), Detection, path=path, field=within)
                yield PlacedDetection(sample.filepath, _named(read, None, path, within), within, rate)


def _fields(sample: msgspec.Raw, path: AnyPath, place: str) -> Iterator[tuple[str, FiftyOneField]]:
    """Yield the fields of a sample that contain temporal detections, by name."""
    for name, raw in decode_json(bytes(sample), dict[str, msgspec.Raw], path=path, field=place).items():
        if bytes(raw).startswith(b"{") and b"TemporalDetections" in bytes(raw):
            field = decode_json(bytes(raw), FiftyOneField, path=path, field=f"{place}.{name}")
            if field.cls == "TemporalDetections":
                yield name, field


def _field(file: FiftyOneSamples, path: AnyPath) -> str:
    """Return the name of the one field of predictions."""
    all_fields = (_fields(raw, path, f"samples[{number}]") for number, raw in enumerate(file.samples))
    names = sorted({name for fields in all_fields for name, _ in fields} - {REFERENCE})
    if PREDICTIONS in names:
        return PREDICTIONS
    if len(names) != 1:
        came = f"got fields {', '.join(names)} of temporal detections" if names else "has no temporal detections"
        raise InputError(f"{came}, expected one, or one named {PREDICTIONS}", path=path, field="samples")
    return names[0]


def _counts_frames(detections: list[PlacedDetection], path: AnyPath) -> bool:
    """Whether the numbers stay frames, because no rate is known; frames and seconds are not mixed."""
    for detection in detections:
        if detection.detection.support is None and detection.detection.timestamps is None:
            raise InputError("is missing, expected it or timestamps", path=path, field=f"{detection.place}.support")
    frames = [
        detection for detection in detections if detection.detection.timestamps is None and detection.frame_rate is None
    ]
    if frames and len(frames) < len(detections):
        came = "counts frames of an unknown rate, and others are seconds; expected all or none"
        raise InputError(came, path=path, field=frames[0].place)
    return bool(frames)


def _moment(placed: PlacedDetection) -> tuple[float, ...]:
    """Return seconds, or frames from 0 if the rate is not known, with the confidence if there is one."""
    score = () if placed.detection.confidence is None else (placed.detection.confidence,)
    if placed.detection.timestamps is not None:
        return *placed.detection.timestamps, *score
    first, last = placed.detection.support or (1, 1)
    start, end = frames_to_seconds([first - 1, last], 1.0 if placed.frame_rate is None else placed.frame_rate)
    return float(start), float(end), *score


FORMAT = Format(
    "fiftyone",
    "FiftyOne temporal detections (labels.json, samples.json)",
    _recognise,
    _read,
    by_video_writer("labels", sentence="label", times="timestamps", score="confidence"),
    loses=frozenset({"ratings", "statuses", "abstentions", "videos and sentences", "repeated sentences"}),
)
