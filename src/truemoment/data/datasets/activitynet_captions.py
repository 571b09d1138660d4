"""ActivityNet Captions: 72 thousand sentences about 15 thousand web videos, one moment each.

val_1 and val_2 are two annotations of the *same* videos. Their query ids contain the file (``val_1/v_abc#3``), also in
the merged ``test``, as two of the papers use it.
"""

from __future__ import annotations

from pathlib import Path

from truemoment.base.boundary.files import read_json_mapping
from truemoment.base.papers import ACTIVITYNET, ACTIVITYNET_CAPTIONS
from truemoment.base.records import Annotations, Seconds
from truemoment.data.datasets.base import Dataset, Row, Split, VideoEntry, required_file, source_files, with_ids

_VSLNET = "https://raw.githubusercontent.com/26hzhang/VSLNet/3793c625f2e251a5f19a0d59f0c83b12e386f808"
_FILES = {"train": ("train",), "val_1": ("val_1",), "val_2": ("val_2",), "test": ("val_1", "val_2")}


class TimedVideo(VideoEntry):
    """An entry of the file: times in seconds, and the duration."""

    duration: Seconds


def rows_of(path: Path) -> list[Row]:
    """Return rows (query_id, video_id, duration_s, sentence, start_s, end_s) of one file, in file order."""
    return with_ids(
        (video_id, entry.duration, sentence, start_s, end_s)
        for video_id, entry in read_json_mapping(path, TimedVideo).items()
        for sentence, (start_s, end_s) in zip(entry.sentences, entry.timestamps, strict=True)
    )


def read(folder: Path, split: str) -> Annotations:
    """Read a split; ``test`` is val_1 followed by val_2."""
    rows: list[Row] = []
    for name in _FILES[split]:
        prefix = "" if name == "train" else f"{name}/"
        path = required_file(folder, f"{name}.json", dataset="activitynet-captions")
        rows.extend((f"{prefix}{row[0]}", *row[1:]) for row in rows_of(path))
    return Annotations.from_rows(rows, dataset="activitynet-captions", split=split)


DATASET = Dataset(
    name="activitynet-captions",
    title="ActivityNet Captions",
    papers=(ACTIVITYNET_CAPTIONS, ACTIVITYNET),
    homepage="https://cs.stanford.edu/people/ranjaykrishna/densevid/",
    licence="not stated for the annotations",
    access="open",
    files=source_files(
        f"{_VSLNET}/data/dataset/activitynet",
        ("train.json", "7e887dd0fc85bd173358caf2c1e9adb6f79a8aa28d129ada22d89e7c6b23d49d", 4_041_275),
        ("val_1.json", "66834fea850b62fd69ec8c23295abae82f6a26518d0353ddd59d98778dbadb0a", 1_910_765),
        ("val_2.json", "37df50829c22e913b369af18c0bfb82277257f037082df3781d4dfc20c35f80d", 1_727_033),
    ),
    splits=(
        Split("train", 37_421, 10_009, "Closer Look (2021), Table 1"),
        Split("val_1", 17_505, 4_917, "counted in the released file"),
        Split("val_2", 17_031, 4_885, "counted in the released file; AxIoU (2022), section 6.1"),
        Split("test", 34_536, 4_917, "Closer Look (2021), Table 1", merges=("val_1", "val_2")),
    ),
    read=read,
    notes=(
        "val_1 and val_2 annotate the same videos: 'val_1 to choose, val_2 to test' chooses on the test videos.",
        "2D-TAN calls val_1 'val' and val_2 'test'; VSLNet calls val_2 'val' and val_1 'test'; two papers merge them.",
        "Two spellings circulate (6, 18 and 3 videos differ in their sentences); the checksums are VSLNet's copies.",
        "About two thirds of the sentences begin with a blank; it is kept.",
    ),
)
