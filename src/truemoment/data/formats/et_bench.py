"""Answers of E.T. Bench in words: its JSON list of samples, each with an entry ``a``.

Samples of tasks whose answer is no moment are left out. In VHD the first number of an answer is a time, read as a
moment of no length: the task's F1 is ``R@1,IoP=1``, whether that time is inside a reference. Ids are
``TASK_SOURCE_IDX``, which identify a sample for the evaluator. Source: PolyU-ChenLab/ETBench at 445f620,
docs/BENCHMARK.md, and its evaluator as public repositories copy it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import msgspec

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.records import Seconds
from truemoment.data.formats.base import Format
from truemoment.data.formats.entries import read_entries
from truemoment.data.formats.head import Head
from truemoment.data.formats.rows import FileRow, reader

TASKS = frozenset({"tvg", "epm", "tal", "evs", "tem", "vhd"})
"""The tasks whose answer is moments, or a time (VHD)."""
_NUMBER = re.compile(r"[-+]?(?:\d*\.)?\d+", re.ASCII)


class EtBenchSample(msgspec.Struct):
    """A sample of the list: `q` is the prompt, `a` the answer, and `tgt` the moment or moments of these tasks."""

    task: str
    source: str
    idx: int
    video: str
    q: str
    duration: Seconds = math.nan
    tgt: msgspec.Raw = msgspec.Raw(b"null")
    a: str | msgspec.UnsetType | None = msgspec.UNSET

    @property
    def query_id(self) -> str:
        """Its id, unique in the file."""
        return f"{self.task}_{self.source}_{self.idx}"


def is_list_of_samples(head: Head) -> bool:
    """Whether a file looks like such a list, with answers or without."""
    return head.is_list and {"task", "source", "idx", "q"} <= head.entry_keys


def _recognise(head: Head) -> str | None:
    return 'its entries have "task", "idx" and "a"' if is_list_of_samples(head) and "a" in head.entry_keys else None


def _rows(path: AnyPath, progress: bool) -> Iterator[FileRow]:
    for line, sample in read_entries(path, EtBenchSample, progress=progress):
        if sample.task in TASKS:
            text = sample.a
            if sample.task == "vhd" and isinstance(text, str):  # its first number is a moment of no length
                number = _NUMBER.search(text)
                text = number and f"{float(number[0])} - {float(number[0])}"
            yield FileRow(sample.query_id, sample.video, sample.q, text=text, line=line)


FORMAT = Format(
    "et-bench",
    "JSON list of E.T. Bench (task, source, idx, video, q, a)",
    _recognise,
    reader(_rows, text_field="a"),
    numbers_queries=True,
    needs=frozenset({"task", "source", "idx", "video", "q", "a"}),
)
