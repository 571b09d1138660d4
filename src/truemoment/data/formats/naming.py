"""Names of videos and queries in a file, and in the annotations.

Files name a video by its file (``videos/3MSZA.mp4``), with or without ActivityNet's ``v_``, in other case; some number
the queries themselves. A name that the annotations have is that video. Another one is the video whose name differs in
the least of: folder; suffix; ``v_`` and case. Each is counted, and a name that fits two videos is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from truemoment.base.errors import MatchError
from truemoment.base.records import Queries
from truemoment.data.formats.base import Format, PredictionRows
from truemoment.data.formats.matching import plain_text

SUFFIX = re.compile(
    r"\.(?:mp4|avi|mkv|webm|mov|m4v|mpe?g|flv|wmv|3gp|m?ts|gif|ogv|wav|mp3|m4a|flac|ogg|npy|npz|pt|pth|h5|hdf5)\Z", re.I
)
"""Suffixes of files of videos, sounds and features."""


def as_annotated(rows: PredictionRows, format_: Format, queries: Queries) -> tuple[PredictionRows, str]:
    """Return rows with videos named as in the annotations, without the file's own ids; and a note on it."""
    rows, videos = _with_videos(rows, queries.video_id.tolist())
    rows, ids = _without_own_numbers(rows, queries) if format_.numbers_queries else (rows, "")
    return rows, videos + ids


def spellings(name: str) -> list[str]:
    """Return the name of a video without its folder, then also without its suffix, then without ``v_`` and case.

    Examples
    --------
    >>> spellings("videos/v_3MSZA.mp4")
    ['v_3MSZA.mp4', 'v_3MSZA', '3msza']
    """
    file = re.split(r"[/\\\\]", name)[-1] or name
    stem = SUFFIX.sub("", file) or file
    return [file, stem, (stem.removeprefix("v_") or stem).casefold()]


def _with_videos(rows: PredictionRows, video_ids: Sequence[str]) -> tuple[PredictionRows, str]:
    """Name each video as the annotations do, if one of them has a spelling of its name."""
    others = {name for name in rows.video_id if name is not None}
    meant: dict[str, str] = {}
    for name, fitting in videos_meant(others, video_ids).items():
        if len(fitting) > 1:
            first, second = sorted(fitting)[:2]
            row = rows.video_id.index(name)
            raise MatchError(
                f"got video {name!r}, which may be {first!r} or {second!r}, expected one of them",
                path=rows.path,
                line=rows.line_of(row),
            )
        meant.update((name, video_id) for video_id in fitting)
    if not meant:
        return rows, ""
    named = [name if name is None else meant.get(name, name) for name in rows.video_id]
    return replace(rows, video_id=named), _note(meant, rows.video_id)


def videos_meant(names: Iterable[str], video_ids: Iterable[str]) -> dict[str, set[str]]:
    """Return the known videos that each unknown name may mean: none, one, or several.

    Examples
    --------
    >>> videos_meant(["videos/a.mp4", "b"], ["a", "b"])
    {'videos/a.mp4': {'a'}}
    """
    known = set(video_ids)
    others = [name for name in names if name not in known]
    if not others:
        return {}
    by_spelling: list[dict[str, set[str]]] = [{}, {}, {}]
    for video_id in known:
        for spelled, spelling in zip(by_spelling, spellings(video_id), strict=True):
            spelled.setdefault(spelling, set()).add(video_id)
    return {name: _fitting(name, by_spelling, known) for name in others}


def _fitting(name: str, by_spelling: Sequence[dict[str, set[str]]], known: set[str]) -> set[str]:
    """Return the videos that a name may mean: those that differ from it in the least."""
    own = spellings(name)
    for spelling in own[:2]:
        if spelling in known:
            return {spelling}
    return next((names[spelling] for names, spelling in zip(by_spelling, own, strict=True) if spelling in names), set())


def _note(meant: dict[str, str], names: Iterable[str | None]) -> str:
    """Return how many rows name videos otherwise, by what differs."""
    counts = Counter(_difference(name, meant[name]) for name in names if name in meant)
    return "".join(
        f"; {count:,} {'row names its video' if count == 1 else 'rows name videos'} {what}"
        for what, count in counts.most_common()
    )


def _difference(name: str, video_id: str) -> str:
    """Return what differs between two names of a video, and that it was matched nevertheless."""
    extra, missing = _extra(name, video_id), _extra(video_id, name)
    if not extra and not missing:
        return "in other case, matched without regard to it"
    words = [f"with {' and '.join(extra)}"] * bool(extra) + [f"without {' and '.join(missing)}"] * bool(missing)
    opposite = "without it" if extra else "with it"
    if len(extra) + len(missing) > 1:
        opposite = "nevertheless"
    return f"{' and '.join(words)}, matched {opposite}"


def _extra(name: str, other: str) -> list[str]:
    """Return what a name of a video has, and another one has not."""
    (file, stem, _), (other_file, other_stem, _) = spellings(name), spellings(other)
    suffix, other_suffix = file[len(stem) :], other_file[len(other_stem) :]
    folder = ["a folder"] * (file != name and other_file == other)
    ending = [f"{suffix!r}"] * (bool(suffix) and suffix.casefold() != other_suffix.casefold())
    return folder + ending + ["'v_'"] * (stem.startswith("v_") and not other_stem.startswith("v_"))


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
