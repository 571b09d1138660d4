"""NExT-GQA: 8,911 questions of NExT-QA about videos, with the moments that show the answers.

A question is a query; its options and its right one are not read. Query ids are those of its owner's files of answers:
``VIDEO_QID``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.base.boundary.files import read_json_mapping
from truemoment.base.boundary.tables import read_csv
from truemoment.base.errors import InputError
from truemoment.base.papers import NEXT_GQA
from truemoment.base.records import Annotations, Seconds
from truemoment.data.datasets.base import Dataset, Row, Split, refuse_repeated_id, required_file, source_files

_OWNER = "https://raw.githubusercontent.com/doc-doc/NExT-GQA/63772e0256ad9e34b83d6a108f1ba2041b924607/datasets/nextgqa"
_COUNTED = "counted in the released files"


class GroundedVideo(msgspec.Struct):
    """A video of the file of moments; `location` has those of each question, by its number."""

    duration: Seconds
    location: dict[str, list[tuple[Seconds, Seconds]]]


def read(folder: Path, split: str) -> Annotations:
    """Read a split: its questions, and their moments."""
    questions = required_file(folder, f"{split}.csv", dataset="next-gqa")
    path = required_file(folder, f"gsub_{split}.json", dataset="next-gqa")
    videos = read_json_mapping(path, GroundedVideo)
    rows: list[Row] = []
    ids = []
    for line, record in read_csv(questions, ("video_id", "qid", "question")):
        video_id, number = record["video_id"], record["qid"]
        moments = videos[video_id].location.get(number, []) if video_id in videos else []
        if not moments:
            problem = f"got question {number!r} of video {video_id!r}, expected one with moments in {path.name}"
            raise InputError(problem, path=questions, line=line, field="qid")
        ids.append(f"{video_id}_{number}")
        rows += [(ids[-1], video_id, videos[video_id].duration, record["question"], *moment) for moment in moments]
    refuse_repeated_id(ids, questions, "qid")
    return Annotations.from_rows(rows, dataset="next-gqa", split=split)


DATASET = Dataset(
    name="next-gqa",
    title="NExT-GQA",
    papers=(NEXT_GQA,),
    homepage="https://github.com/doc-doc/NExT-GQA",
    licence="MIT (owner's repository); the videos have the licences of their owners",
    access="open",
    files=source_files(
        _OWNER,
        ("val.csv", "ac5a1eb1d6dee9cd84ab7f9c94ab345b2404646f24b79ac182cd2aa9e2d424c1", 638_860),
        ("gsub_val.json", "4feb23e53102cb2d4779e857ff8f9fd9b552fc38435621406b2ed9b0bf76204b", 115_228),
        ("test.csv", "0443ede53f521de4cbfb5e4fb02253926b90f81f62041b18bd17207a3511d114", 1_052_149),
        ("gsub_test.json", "0c16c31699238a0f2b8ace45aeed7f193149ce2f011d6ed4f1ef7170ef5d41e9", 195_500),
    ),
    splits=(Split("val", 3_358, 567, _COUNTED), Split("test", 5_553, 990, _COUNTED)),
    read=read,
    notes=(
        "The training split has questions only, without moments, so it is not read.",
        "339 questions of val and 591 of test have several moments.",
        "The two files of each split were looked at; each question has moments. The owner's counts of videos in its "
        "files of moments are 570 and 999: some have no question.",
    ),
)
