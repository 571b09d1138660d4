"""TACoS: 18 thousand sentences about 127 cooking videos of several minutes, times in frames."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated

import msgspec

from truemoment.base.boundary.files import read_json_mapping
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.intervals import frames_to_seconds
from truemoment.base.papers import TACOS, TAN_2D
from truemoment.base.records import MAX_TIME_S, Annotations
from truemoment.data.datasets.base import Dataset, Split, VideoEntry, VideoRow, required_file, source_files, with_ids

_VIDEOX = "https://raw.githubusercontent.com/microsoft/VideoX/1744b2159c3d11694f94dab4fcde8660c685e79a/2D-TAN/data"


MOST_FRAMES = 1 << 53
"""Largest number below which float64 represents every whole number."""


class FramedVideo(VideoEntry):
    """An entry of the file: `timestamps` are frames at `fps`."""

    timestamps: list[tuple[float, float]]
    fps: Annotated[float, msgspec.Meta(gt=0)]
    num_frames: Annotated[int, msgspec.Meta(ge=-MOST_FRAMES, le=MOST_FRAMES)]

    def __post_init__(self) -> None:
        """Refuse frames later than the latest time that a video may have."""
        super().__post_init__()
        frame = max((float(self.num_frames), *itertools.chain.from_iterable(self.timestamps)), key=abs)
        if abs(frame) > MAX_TIME_S * self.fps:
            came = f"got frame {frame:.10g} at {self.fps:.10g} frames a second"
            raise ValueError(f"{came}, expected seconds up to {MAX_TIME_S:g}")


def rows_of(path: AnyPath) -> list[VideoRow]:
    """Return rows (video_id, duration_s, sentence, start_s, end_s) of one file; frames become seconds."""
    rows: list[VideoRow] = []
    for video_id, entry in read_json_mapping(path, FramedVideo).items():
        seconds = frames_to_seconds(entry.timestamps, entry.fps).reshape(-1, 2).tolist()
        duration_s = float(frames_to_seconds(entry.num_frames, entry.fps))
        rows.extend(
            (video_id, duration_s, sentence, start_s, end_s)
            for sentence, (start_s, end_s) in zip(entry.sentences, seconds, strict=True)
        )
    return rows


def read(folder: Path, split: str) -> Annotations:
    """Read a split."""
    path = required_file(folder, f"{split}.json", dataset="tacos")
    return Annotations.from_rows(with_ids(rows_of(path)), dataset="tacos", split=split)


DATASET = Dataset(
    name="tacos",
    title="TACoS",
    papers=(TACOS, TAN_2D),
    homepage="https://aclanthology.org/Q13-1003/",
    licence="not stated",
    access="open",
    files=source_files(
        f"{_VIDEOX}/TACoS",
        ("train.json", "ee5e1527885122f0d3cf1dbfcf0efb0de0c54f8290937fe3ff8b5844742112e9", 601_727),
        ("val.json", "f8f350e5727e8c0ab3ca2a5d4df93027dcd0546aebe8e2087ae220c850db59fe", 277_474),
        ("test.json", "1c64c8a5ada2b812ee7e230d1577139c5ee8e1e5d9ae2141479c980a0c3fb847", 246_672),
    ),
    splits=(
        Split("train", 9_790, 75, "counted in the file 2D-TAN released"),
        Split("val", 4_436, 27, "counted in the file 2D-TAN released"),
        Split("test", 4_001, 25, "counted in the file 2D-TAN released"),
    ),
    read=read,
    notes=(
        "Two populations share the name: TALL's has 10,146, 4,589 and 4,083 pairs, 2D-TAN's (this one) fewer.",
        "A video and a sentence do not name a pair: the same sentence often occurs several times.",
    ),
)
