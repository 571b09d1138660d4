"""E.T. Bench's JSON: a list of ``{"task", "source", "idx", "video", "duration", "tgt", "q"}``.

Read are the tasks of grounding (TVG, EPM, TAL, EVS, TEM, VHD): the task is the split, the prompt `q` the sentence.
Source: :mod:`truemoment.data.formats.et_bench`, whose files have the answers, too.
"""

from __future__ import annotations

import contextlib

import msgspec

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.base.records import Seconds
from truemoment.data.datasets.entries import Moment, ReferenceEntry
from truemoment.data.formats.entries import read_entries
from truemoment.data.formats.et_bench import TASKS, EtBenchSample, is_list_of_samples
from truemoment.data.formats.head import Head
from truemoment.data.references.base import ReferenceForm, ReferenceOptions, warn


def _recognise(head: Head) -> str | None:
    return 'its entries have "task", "idx" and "q"' if is_list_of_samples(head) else None


def _read(path: AnyPath, _: ReferenceOptions) -> list[ReferenceEntry]:
    entries: list[ReferenceEntry] = []
    others: set[str] = set()
    for line, sample in read_entries(path, EtBenchSample):
        if sample.task not in TASKS:
            others.add(sample.task)
            continue
        moments, annotators = _moments(sample, path, line)
        about = (sample.video, sample.q, moments, sample.duration, sample.query_id, annotators)
        entries.append(ReferenceEntry(*about, split=sample.task, line=line))
    if others:
        warn(f"{path}: samples of the tasks {', '.join(sorted(others))} are left out: their answer is no moment")
    return entries


def _moments(sample: EtBenchSample, path: AnyPath, line: int) -> tuple[list[Moment], list[str]]:
    """Return the moments of a sample, and who marked each: TVG and EPM have one without a list, VHD lists by person."""
    with contextlib.suppress(msgspec.ValidationError):
        return [msgspec.json.decode(sample.tgt, type=tuple[Seconds, Seconds])], []
    with contextlib.suppress(msgspec.ValidationError):
        if moments := msgspec.json.decode(sample.tgt, type=list[tuple[Seconds, Seconds]]):
            return moments, []
    with contextlib.suppress(msgspec.ValidationError):
        by_person = msgspec.json.decode(sample.tgt, type=list[list[tuple[Seconds, Seconds]]])
        if marked := [(moment, str(person)) for person, moments in enumerate(by_person) for moment in moments]:
            return [moment for moment, _ in marked], [person for _, person in marked]
    raise InputError("expected [start, end] or a list of them, in seconds", path=path, line=line, field="tgt")


FORM = ReferenceForm("et-bench", "JSON list of task, source, idx, video, tgt and q (E.T. Bench)", _recognise, _read)
