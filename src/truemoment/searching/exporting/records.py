"""Moments as the package's own files: predictions for ``evaluate``, and references for ``--annotations``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from truemoment.base.boundary.text import one_line
from truemoment.data.datasets.base import numbered
from truemoment.data.datasets.own import OwnQuery
from truemoment.searching.exporting.moments import ExportedMoment


def annotations_text(moments: Sequence[ExportedMoment]) -> str:
    """Return a line for each sentence of a video, with its moments as references."""
    return _lines(
        OwnQuery(
            query_id=query_id,
            video_id=video_id,
            duration_s=parts[0].film.table.duration_s,
            sentence=sentence,
            moments=sorted(of.times_s for of in parts),
        )
        for query_id, (video_id, sentence), parts in _queries(moments)
    )


def predictions_text(moments: Sequence[ExportedMoment]) -> str:
    """Return a line for each sentence of a video, with its moments by falling score; order decides without scores."""
    found = []
    for query_id, (video_id, sentence), parts in _queries(moments):
        scores = [-float(rank) if of.score is None else of.score for rank, of in enumerate(parts)]
        ranked = sorted(zip(parts, scores, strict=True), key=lambda of: -of[1])
        rows = [[*of.times_s, score] for of, score in ranked]
        found.append({"query_id": query_id, "video_id": video_id, "sentence": sentence, "moments": rows})
    return '{"truemoment":1}\n' + _lines(found)


def _queries(
    moments: Sequence[ExportedMoment],
) -> list[tuple[str, tuple[str, str], list[ExportedMoment]]]:
    """Return id, video and sentence, and moments of each query, in order of first occurrence."""
    found: dict[tuple[str, str], list[ExportedMoment]] = {}
    for of in moments:
        found.setdefault((of.film.video_id, one_line(of.sentence).strip() or "a moment"), []).append(of)
    ids = numbered(video_id for video_id, _ in found)
    return [(query_id, key, parts) for query_id, (key, parts) in zip(ids, found.items(), strict=True)]


def _lines(values: Iterable[object]) -> str:
    return "".join(msgspec.json.encode(value).decode() + "\n" for value in values)
