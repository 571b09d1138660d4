"""TVR: 109 thousand sentences about 22 thousand clips of television series with subtitles, one moment each."""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.base.boundary.files import read_json_lines
from truemoment.base.records import Annotations, Seconds
from truemoment.data.datasets.base import (
    Dataset,
    Row,
    SourceFile,
    Split,
    refuse_repeated_id,
    required_file,
    source_files,
)

_OWNER = "https://raw.githubusercontent.com/jayleicn/TVRetrieval/d99a9ea7e724249047d6357f2a607c7ae256f8c6/data"
_TRAIN, _VAL = "tvr_train_release.jsonl", "tvr_val_release.jsonl"


class DescribedClip(msgspec.Struct):
    """A line of the file; the moment is `ts`."""

    desc_id: int | str
    desc: str
    vid_name: str
    duration: Seconds
    ts: tuple[Seconds, Seconds]


def read(folder: Path, split: str) -> Annotations:
    """Read a split."""
    path = required_file(folder, {"train": _TRAIN, "val": _VAL}[split], dataset="tvr")
    rows: list[Row] = [
        (str(clip.desc_id), clip.vid_name, clip.duration, clip.desc, *clip.ts)
        for _, clip in read_json_lines(path, DescribedClip)
    ]
    refuse_repeated_id((row[0] for row in rows), path, "desc_id")
    return Annotations.from_rows(rows, dataset="tvr", split=split)


DATASET = Dataset(
    name="tvr",
    title="TVR",
    citation=(
        "Lei, Yu, Berg, Bansal: TVR: A Large-Scale Dataset for Video-Subtitle Moment Retrieval, ECCV 2020; videos: "
        "Lei, Yu, Bansal, Berg: TVQA: Localized, Compositional Video Question Answering, EMNLP 2018"
    ),
    homepage="https://github.com/jayleicn/TVRetrieval",
    licence="MIT (owner's repository); the annotations have no licence of their own",
    access="open",
    files=(
        SourceFile(_TRAIN, url=f"{_OWNER}/{_TRAIN}", git_blob="e57fbf997da11d8de8cc2174985a49077409a3a2"),
        *source_files(_OWNER, (_VAL, "033d358632c5333cc5492ff308d4dd2c85f714f352bc92cd35fbae5797c5fbec", 2_088_256)),
    ),
    splits=(
        Split("train", 87_175, 17_435, "the owner's list of videos; five queries each, as in val"),
        Split("val", 10_895, 2_179, "counted in the released file"),
    ),
    read=read,
    notes=(
        "The file of val was looked at. That of train was not; its checksum is Git's in the owner's repository.",
        "The released test sets have sentences only, without video and moment, so they cannot be scored.",
        "A quarter of the queries of val need the subtitles (types t and vt); the type is not read.",
    ),
)
