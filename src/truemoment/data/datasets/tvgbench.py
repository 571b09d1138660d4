"""TVGBench: 800 queries of five test sets, balanced by kind of query, for models that answer in words.

A query about a part of a video has times within that part, so the part is its video: ``VIDEO_START_END``. Query ids are
those of Time-R1's answers: the name of the file that the query comes from, and its position in TVGBench from 0.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import msgspec

from truemoment.base.boundary.files import DATA_BYTES, read_json, read_number
from truemoment.base.errors import InputError
from truemoment.base.records import Annotations, Seconds
from truemoment.data.datasets.base import Dataset, Row, Split, checked_seconds, required_file, source_files

_OWNER = (
    "https://raw.githubusercontent.com/xiaomi-research/time-r1/7f2b5944a0c35993da80634a459d5a48a3a5431e/"
    "dataset/timer1/annotations"
)
_NUMBER = r"[0-9.]+(?:[eE][+-]?[0-9]+)?"
_ANSWER = re.compile(rf"(?P<start>{_NUMBER})-(?P<end>{_NUMBER})")


class BenchQuery(msgspec.Struct):
    """An entry of the file; `answer` is the moment, `start` and `end` are the part of the video, if it is not whole."""

    path: str
    question: str
    answer: str
    duration: Seconds
    source: str
    start: Seconds | None = None
    end: Seconds | None = None


def read(folder: Path, split: str) -> Annotations:
    """Read the split ``test``."""
    path = required_file(folder, "tvgbench.json", dataset="tvgbench")
    rows = [
        _row(number, query, path) for number, query in enumerate(read_json(path, list[BenchQuery], most=DATA_BYTES))
    ]
    return Annotations.from_rows(rows, dataset="tvgbench", split=split)


def _row(number: int, query: BenchQuery, path: Path) -> Row:
    field = f"[{number}].answer"
    parts = _ANSWER.fullmatch(query.answer)
    if parts is None:
        raise InputError(f"got {query.answer[:60]!r}, expected 'START-END' in seconds", path=path, line=1, field=field)
    start_s, end_s = (
        checked_seconds(read_number(parts[name]), parts[name], path=path, line=1, field=field)
        for name in ("start", "end")
    )
    if (query.start is None) != (query.end is None):
        raise InputError("got one of start and end, expected both or none", path=path, line=1, field=f"[{number}]")
    part = "" if query.start is None else f"_{query.start:.2f}_{query.end:.2f}"
    source = PurePosixPath(query.source).stem.replace(".", "_").replace("-", "_")
    return (
        f"{source}_{number}",
        f"{PurePosixPath(query.path).stem}{part}",
        query.duration,
        query.question,
        start_s,
        end_s,
    )


DATASET = Dataset(
    name="tvgbench",
    title="TVGBench",
    citation=(
        "Wang, Wang, Xu, Du, Lin, Xiao, Yue, Ju, Zhang, Yang, Fang, He, Luo, Wang, Lin, Luan, Jin: Time-R1: "
        "Post-Training Large Vision Language Model for Temporal Video Grounding, arXiv 2503.13377, 2025; queries: "
        "Charades-STA, ActivityNet Captions, TACoS, HiREST and Ego4D NLQ"
    ),
    homepage="https://github.com/xiaomi-research/time-r1",
    licence="Apache-2.0 (owner's repository); videos and first annotations have the licences of their owners",
    access="open",
    files=source_files(
        _OWNER, ("tvgbench.json", "76df764c0c856a196e2900b5366c81c83478bbd03d117e3b2f23b5b6bfbc59a2", 520_933)
    ),
    splits=(Split("test", 800, 540, "counted in the released file; videos are whole ones and parts"),),
    read=read,
    notes=(
        "168 queries each come from ActivityNet Captions, TACoS and Ego4D NLQ, 158 from HiREST, 138 from Charades-STA.",
        "Time-R1 leaves out queries whose video is missing and numbers the others: its ids fit if it had all videos.",
        "The file was looked at. It also names the kind of each query (11 kinds), which is not read.",
    ),
)
