"""Charades-STA: 16,128 sentences about 9,848 short indoor videos, one moment each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

from truemoment.base.boundary.files import DATA_BYTES, read_number, read_text
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.tables import read_csv
from truemoment.base.errors import InputError
from truemoment.base.papers import CHARADES, TALL
from truemoment.base.records import Annotations
from truemoment.data.datasets.base import (
    Dataset,
    Split,
    VideoRow,
    checked_seconds,
    required_file,
    source_files,
    with_ids,
)

_VIDEOX = "https://raw.githubusercontent.com/microsoft/VideoX/1744b2159c3d11694f94dab4fcde8660c685e79a/2D-TAN/data"
LINE = re.compile(r"(?P<video>\S+) (?P<start>\S+) (?P<end>\S+)##(?P<sentence>.*)")


def lines_of(path: AnyPath) -> Iterator[tuple[int, str, str, float, float]]:
    """Yield (line, video_id, sentence, start_s, end_s) of each line ``VIDEO START END##sentence``."""
    for number, line in enumerate(read_text(path, most=DATA_BYTES).split("\n"), start=1):
        if not line.strip():
            continue
        parts = LINE.fullmatch(line.removesuffix("\r"))
        if parts is None:
            raise InputError(f"got {line[:60]!r}, expected 'VIDEO START END##sentence'", path=path, line=number)
        start_s, end_s = (
            checked_seconds(read_number(parts[field]), parts[field], path=path, line=number, field=field)
            for field in ("start", "end")
        )
        yield number, parts["video"], parts["sentence"], start_s, end_s


def read(folder: Path, split: str) -> Annotations:
    """Read a split: its lines, and durations from the Charades list."""
    path = required_file(folder, f"charades_sta_{split}.txt", dataset="charades-sta")
    duration_s = read_durations(required_file(folder, f"Charades_v1_{split}.csv", dataset="charades-sta"))
    rows: list[VideoRow] = [
        (video_id, duration_s.get(video_id, math.nan), sentence, start_s, end_s)
        for _, video_id, sentence, start_s, end_s in lines_of(path)
    ]
    return Annotations.from_rows(with_ids(rows), dataset="charades-sta", split=split)


def read_durations(path: Path) -> dict[str, float]:
    """Return durations in seconds by video, from the columns ``id`` and ``length`` of a Charades list."""
    durations = {}
    for line, record in read_csv(path, ("id", "length")):
        length = record["length"]
        durations[record["id"]] = checked_seconds(read_number(length), length, path=path, line=line, field="length")
    return durations


DATASET = Dataset(
    name="charades-sta",
    title="Charades-STA",
    papers=(TALL, CHARADES),
    homepage="https://github.com/jiyanggao/TALL",
    licence="sentences and times: not stated; Charades has a licence of its own (license.txt in its archive)",
    access="open",
    files=source_files(
        f"{_VIDEOX}/Charades-STA",
        ("charades_sta_train.txt", "47ec9b6b488fca753373d9cc29b07a959f7237a922cb29463cd088cd6198e805", 622_491),
        ("charades_sta_test.txt", "fab341679c20b0917173dcffffde367a71113fe63f3a645558cef2ebfbfefb55", 186_686),
        ("Charades_v1_train.csv", "59273c6dc2139ec7eb95b980fd26bc8529774b1ede0602f6ca90b546ed12f0fc", 3_622_045),
        ("Charades_v1_test.csv", "8b8b207b55fb95b949018027f69d83bd46cd844d15834f8f592ee8e7446173eb", 1_173_833),
    ),
    splits=(
        Split("train", 12_408, 5_338, "Closer Look (2021), Table 1"),
        Split("test", 3_720, 1_334, "Closer Look (2021), Table 1"),
    ),
    read=read,
    notes=(
        "There is no official validation split: choosing by test results is choosing on the test set.",
        "Other toolkits repair the same faults differently: some drop 4 training rows, some rewrite them, some "
        "clip 562 test moments.",
    ),
)
