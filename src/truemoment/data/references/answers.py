"""Answers of a study of ``truemoment annotate``: the moments that people marked."""

from __future__ import annotations

import math
from pathlib import Path

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.datasets.answer_file import read_answers
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.head import Head
from truemoment.data.references.base import ReferenceForm, ReferenceOptions


def _recognise(head: Head) -> str | None:
    return "its first line names truemoment/answers" if b'"truemoment/answers/' in head.line else None


def _read(path: AnyPath, _: ReferenceOptions) -> list[ReferenceEntry]:
    entries = []
    for query_id, people in read_answers(Path(str(path))).by_query().items():
        marked = [(moment, person) for person in people if person.verdict == "marked" for moment in person.moments]
        if marked:
            first = marked[0][1]
            entries.append(
                ReferenceEntry(
                    first.video_id,
                    first.sentence,
                    [moment for moment, _ in marked],
                    math.nan if first.duration_s is None else first.duration_s,
                    query_id,
                    [person.annotator for _, person in marked],
                )
            )
    if not entries:
        raise InputError("has no answer with a moment", path=path)
    return entries


FORM = ReferenceForm("answers", "answers.jsonl of a study of truemoment annotate", _recognise, _read)
