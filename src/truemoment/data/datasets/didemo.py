"""DiDeMo: videos of up to six 5-second segments, several annotators a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from truemoment.base.boundary.files import DATA_BYTES, read_json
from truemoment.base.errors import InputError
from truemoment.base.intervals import segments_to_seconds
from truemoment.base.papers import DIDEMO
from truemoment.base.records import MAX_TIME_S, Annotations
from truemoment.data.datasets.base import Dataset, SourceFile, Split, refuse_repeated_id, required_file, source_files

SEGMENT_LENGTH_S = 5.0
MOST_SEGMENTS = int(MAX_TIME_S / SEGMENT_LENGTH_S) - 1
"""Largest number of segments within the latest time that a video may have."""

_OWNER = "https://raw.githubusercontent.com/LisaAnne/LocalizingMoments/b6a555c8134581305d0ed4716fbc192860e0b88c/data"


Segments = Annotated[int, msgspec.Meta(ge=-MOST_SEGMENTS, le=MOST_SEGMENTS)]
"""An index of a segment, or how many there are."""


class DescribedVideo(msgspec.Struct):
    """An entry of the file: `times` has one pair of inclusive segment indices per annotator."""

    annotation_id: int
    video: str
    description: str
    times: list[tuple[Segments, Segments]]
    num_segments: Segments


def read(folder: Path, split: str) -> Annotations:
    """Read a split; one row an annotator, the duration nominal (5 s a segment)."""
    path = required_file(folder, f"{split}_data.json", dataset="didemo")
    rows: list[tuple[str, str, float, str, float, float, str]] = []
    entries = read_json(path, list[DescribedVideo], most=DATA_BYTES)
    refuse_repeated_id((str(entry.annotation_id) for entry in entries), path, "annotation_id")
    for entry in entries:
        if not entry.times:
            raise InputError("got no moment, expected at least one", path=path, field=f"{entry.annotation_id}.times")
        first, last = zip(*entry.times, strict=True)
        start_s, end_s = segments_to_seconds(first, last, SEGMENT_LENGTH_S)
        rows.extend(
            (
                str(entry.annotation_id),
                entry.video,
                SEGMENT_LENGTH_S * entry.num_segments,
                entry.description,
                start,
                end,
                str(annotator),
            )
            for annotator, (start, end) in enumerate(zip(start_s.tolist(), end_s.tolist(), strict=True))
        )
    return Annotations.from_rows(rows, dataset="didemo", split=split)


DATASET = Dataset(
    name="didemo",
    title="DiDeMo",
    papers=(DIDEMO,),
    homepage="https://github.com/LisaAnne/LocalizingMoments",
    licence="BSD 2-Clause (owner's README); each video under a Creative Commons licence of its own",
    access="open",
    files=(
        SourceFile(
            "train_data.json", url=f"{_OWNER}/train_data.json", git_blob="ce7c7cb68c776bfcdc790bd7b1bbbbdd4278a7df"
        ),
        *source_files(
            _OWNER,
            ("val_data.json", "b0364cc256553332feb19d46bcc4cd2b09774949fe6c0b25e7ed0ff3c6aefebb", 1_111_448),
            ("test_data.json", "1891c04ec48b3d364c739594b2b6413806b74bd9027c092d896e7ebb930ff1cd", 0),
        ),
    ),
    splits=(
        Split("train", None, None, "not counted"),
        Split("val", 4_180, 1_094, "counted in the released file"),
        Split("test", 4_021, 1_037, "counted in the released file"),
    ),
    read=read,
    notes=(
        "Segment indices are inclusive: (2, 2) is the third segment, 10 to 15 s.",
        "The files have no durations; 5 s a segment is nominal, the last segment may be shorter.",
        "Four or more annotators mark each sentence; choose how they count with [ref=...].",
    ),
)
