"""The formats of moments, by the ending of their file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import msgspec

from truemoment.base.boundary import documents
from truemoment.base.boundary.tables import csv_of
from truemoment.base.boundary.text import one_line, printable_lines
from truemoment.base.errors import UsageError
from truemoment.data.datasets.base import numbered
from truemoment.data.datasets.own import OwnQuery
from truemoment.report.words import clock
from truemoment.searching.exporting.edit_lists import edl_text
from truemoment.searching.exporting.final_cut import fcp7_text, fcpxml_text
from truemoment.searching.exporting.moments import ExportedMoment
from truemoment.searching.exporting.subtitles import srt_text, vtt_text
from truemoment.searching.exporting.timelines import otio_text

TIMELINES: Mapping[str, Callable[..., str]] = MappingProxyType(
    {".otio": otio_text, ".edl": edl_text, ".fcpxml": fcpxml_text, ".xml": fcp7_text}
)
"""Editing timelines, which name files."""


def table_text(moments: Sequence[ExportedMoment]) -> str:
    """Return a row a moment as CSV: frames, seconds and clock times."""
    return csv_of(_rows(moments))


def json_text(moments: Sequence[ExportedMoment]) -> str:
    """Return the same rows as JSON."""
    return documents.json_text(_rows(moments))


OTHERS: Mapping[str, Callable[[Sequence[ExportedMoment]], str]] = MappingProxyType(
    {".srt": srt_text, ".vtt": vtt_text, ".csv": table_text, ".json": json_text}
)

ENDINGS = (*TIMELINES, *OTHERS)


def check_ending(path: Path) -> str:
    """Return the ending of a file to write, in small letters.

    Raises
    ------
    UsageError
        If it names no format.
    """
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise UsageError(f"-o: got {path.name}, expected a name that ends in {', '.join(ENDINGS)}")
    return ending


def export_text(moments: Sequence[ExportedMoment], ending: str, *, names_only: bool = False) -> str:
    """Return moments in the format of an ending.

    Parameters
    ----------
    names_only
        Whether timelines name files without their folders.

    Raises
    ------
    UsageError
        If the format cannot represent them: several videos in subtitles, a variable or several rates in a timeline.
    MissingPackageError
        If a library is not installed.
    """
    if ending in TIMELINES:
        return printable_lines(TIMELINES[ending](moments, names_only=names_only))
    return printable_lines(OTHERS[ending](moments))


def _rows(moments: Sequence[ExportedMoment]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for rank, moment in enumerate(moments, start=1):
        start_s, end_s = moment.times_s
        rows.append(
            {
                "rank": rank,
                "sentence": moment.sentence,
                "video_id": moment.film.video_id,
                "path": str(moment.film.path),
                "start_s": start_s,
                "end_s": end_s,
                "start": clock(start_s),
                "end": clock(end_s),
                "first_frame": moment.first,
                "last_frame": moment.last,
                "rate": str(moment.film.rate) if moment.film.rate else "variable",
                "score": moment.score,
                "match": moment.match,
                "note": moment.note,
            }
        )
    return rows


# --------------------------------------------------------------------------------------- the package's own files


def annotations_text(moments: Sequence[ExportedMoment]) -> str:
    """Return a line for each sentence of a video, with its moments as references."""
    return _lines(
        OwnQuery(
            query_id=query_id,
            video_id=video_id,
            duration_s=parts[0].film.table.duration_s,
            sentence=sentence,
            moments=sorted(moment.times_s for moment in parts),
        )
        for query_id, (video_id, sentence), parts in _queries(moments)
    )


def predictions_text(moments: Sequence[ExportedMoment]) -> str:
    """Return a line for each sentence of a video, with its moments by falling score; order decides without scores."""
    entries = []
    for query_id, (video_id, sentence), parts in _queries(moments):
        scores = [-float(rank) if moment.score is None else moment.score for rank, moment in enumerate(parts)]
        ranked = sorted(zip(parts, scores, strict=True), key=lambda pair: -pair[1])
        rows = [[*moment.times_s, score] for moment, score in ranked]
        entries.append({"query_id": query_id, "video_id": video_id, "sentence": sentence, "moments": rows})
    return '{"truemoment":1}\n' + _lines(entries)


def _queries(
    moments: Sequence[ExportedMoment],
) -> list[tuple[str, tuple[str, str], list[ExportedMoment]]]:
    """Return id, video and sentence, and moments of each query, in order of first occurrence."""
    queries: dict[tuple[str, str], list[ExportedMoment]] = {}
    for moment in moments:
        key = moment.film.video_id, one_line(moment.sentence).strip() or "a moment"
        queries.setdefault(key, []).append(moment)
    ids = numbered(video_id for video_id, _ in queries)
    return [(query_id, key, parts) for query_id, (key, parts) in zip(ids, queries.items(), strict=True)]


def _lines(values: Iterable[object]) -> str:
    return "".join(msgspec.json.encode(value).decode() + "\n" for value in values)
