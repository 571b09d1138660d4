"""Names of videos and queries in a file, and in the annotations.

Some formats name a video by its file (``videos/3MSZA.mp4``), some omit ActivityNet's ``v_``, and some number the
queries themselves. The spelling is looked up in the annotations, in a fixed order, and reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from truemoment.base.records import Queries
from truemoment.data.formats.base import Format, PredictionRows, Videos
from truemoment.data.formats.matching import plain_text


def as_annotated(rows: PredictionRows, format_: Format, queries: Queries) -> tuple[PredictionRows, str]:
    """Return rows with videos named as in the annotations, without the file's own ids; and a note on it."""
    rows, videos = _with_videos(rows, format_.videos, set(queries.video_id))
    rows, ids = _without_own_numbers(rows, queries) if format_.numbers_queries else (rows, "")
    return rows, videos + ids


def _with_videos(rows: PredictionRows, videos: Videos, video_ids: set[str]) -> tuple[PredictionRows, str]:
    """Name each video as the annotations do, if one of its spellings is there."""
    named = [
        video_id
        if video_id is None
        else next((name for name in spellings(video_id, videos) if name in video_ids), video_id)
        for video_id in rows.video_id
    ]
    changed = len({video_id for video_id, name in zip(rows.video_id, named, strict=True) if video_id != name})
    if not changed:
        return rows, ""
    spelling = "without the folder or ending of their file" if videos == "files" else 'with "v_" before them'
    return replace(rows, video_id=named), f"; {changed:,} videos were found {spelling}"


def spellings(video_id: str, videos: Videos) -> Iterator[str]:
    """Yield the names a video may have in annotations, the likeliest first.

    Examples
    --------
    >>> list(spellings("videos/3MSZA.mp4", "files"))
    ['videos/3MSZA.mp4', '3MSZA.mp4', '3MSZA']
    >>> list(spellings("abc", "without v_"))
    ['abc', 'v_abc']
    """
    yield video_id
    if videos == "without v_":
        yield f"v_{video_id}"
    if videos == "files":
        file = video_id.replace("\\", "/").rsplit("/", 1)[-1]
        yield file
        yield file.rsplit(".", 1)[0]


def _without_own_numbers(rows: PredictionRows, queries: Queries) -> tuple[PredictionRows, str]:
    """Drop the ids if the annotations know none of them, but know a video and sentence that are beside one."""
    if not any(rows.query_id):
        return rows, ""
    if any(query_id in queries.index for query_id in rows.query_id):
        bare = all(sentence is None for sentence in rows.sentence) and all(str(i).isdigit() for i in rows.query_id)
        return rows, "; it names queries by numbers only, which may follow an order of its own" * bare
    if None in rows.video_id or None in rows.sentence:
        return rows, ""
    pairs = {(video, plain_text(words)) for video, words in zip(queries.video_id, queries.sentence, strict=True)}
    names = zip(rows.video_id, rows.sentence, strict=True)
    if not any((video, plain_text(sentence or "")) in pairs for video, sentence in names):
        return rows, ""
    nameless: list[str | None] = [None] * len(rows)
    return replace(
        rows, query_id=nameless
    ), "; its ids are not in the annotations, so rows are matched by video and sentence"
