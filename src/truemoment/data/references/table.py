"""CSV and TSV: a row a moment, delimited by ``,``, ``;`` or a tab, as UTF-8 or a spreadsheet's UTF-16."""

from __future__ import annotations

import math

from truemoment.base.boundary.files import write_bytes
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.tables import csv_text
from truemoment.base.records import Annotations
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.head import Head
from truemoment.data.formats.records import read_table
from truemoment.data.formats.table import headings, headings_text
from truemoment.data.references.base import ReferenceForm, ReferenceOptions
from truemoment.data.references.queries import queries_of
from truemoment.data.references.records import entries_of, looks_like_references, reference_columns


def _recognise(head: Head) -> str | None:
    return f"its headings are {headings_text(head)}" if looks_like_references(headings(head)) else None


def _read(path: AnyPath, how: ReferenceOptions) -> list[ReferenceEntry]:
    names, records, commas = read_table(path)
    return entries_of(records, reference_columns(names, how.fields, path), path, decimal_commas=commas)


def _write(path: AnyPath, annotations: Annotations) -> None:
    queries = list(queries_of(annotations))
    rows = [
        (query.query_id, query.video_id, query.sentence, start_s, end_s, query.duration_s, annotator)
        for query in queries
        for (start_s, end_s), annotator in zip(
            query.moments or [(math.nan, math.nan)], query.annotators or [""] * (len(query.moments) or 1), strict=True
        )
    ]
    names = ["query_id", "video_id", "sentence", "start_s", "end_s", "duration_s", "annotator"]
    write_bytes(path, csv_text(names, rows, line_end="\r\n").encode())


FORM = ReferenceForm(
    "csv",
    "CSV or TSV, a row a moment (video_id, sentence, start_s, end_s, duration_s)",
    _recognise,
    _read,
    _write,
    frozenset({"ids", "durations", "annotators", "several moments", "no moment"}),
)
