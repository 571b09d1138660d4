"""Answers of MomentSeeker's programs: ``{SENTENCE: {"gt": [CLIP, ...], "pred": [CLIP, ...]}}``, best first.

A clip is a path ``.../VIDEO/START_END.mp4``, in seconds. `gt` is the reference and is not used. The sentence is the
key, so such a file has one answer for a sentence that occurs twice. Source: yhy-2000/MomentSeeker at cc1090a,
evaluation_code/evaluate_uniir.py, ``write_to_file`` and ``parse_interval``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from truemoment.base.boundary.files import read_json_mapping
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.formats.base import Format
from truemoment.data.formats.head import ITEM, Head
from truemoment.data.formats.rows import FileRow, reader

_CLIP = re.compile(r"(?:.*/)?([^/]+)/(\d{1,8}(?:\.\d+)?)_(\d{1,8}(?:\.\d+)?)(?:_[^/]*)?\.\w+", re.ASCII)


class SeekerAnswer(msgspec.Struct):
    """The clips of a query, best first."""

    pred: list[str]


def moments_of_clips(
    clips: Sequence[str], path: AnyPath, field: str, line: int | None = None
) -> tuple[str, list[tuple[float, float]]]:
    """Return the one video of clips, and the moments that they are."""
    moments: dict[str, list[tuple[float, float]]] = {}
    for clip in clips:
        parts = _CLIP.fullmatch(clip)
        if parts is None:
            problem = f"got the clip {clip[-60:]!r}, expected .../VIDEO/START_END.mp4, in seconds"
            raise InputError(problem, path=path, line=line, field=field)
        moments.setdefault(parts[1], []).append((float(parts[2]), float(parts[3])))
    if len(moments) != 1:
        got = " and ".join(map(repr, [*moments][:2])) or "no clip"
        raise InputError(f"got {got}, expected clips of one video", path=path, line=line, field=field)
    return next(iter(moments.items()))


def _recognise(head: Head) -> str | None:
    has = head.kind_at("*", "gt") == "list" and head.kind_at("*", "pred", ITEM) == "text"
    return 'its sentences have "gt" and "pred", lists of clips' if has else None


def _rows(path: AnyPath, _progress: bool) -> Iterator[FileRow]:
    for sentence, clips in read_json_mapping(path, SeekerAnswer).items():
        video_id, moments = moments_of_clips(clips.pred, path, f"{sentence[:60]}.pred")
        yield FileRow(None, video_id, sentence, moments, within=f"{sentence}.")


FORMAT = Format(
    "momentseeker",
    "MomentSeeker JSON ({SENTENCE: {gt, pred}}, clips START_END.mp4)",
    _recognise,
    reader(_rows, field="pred"),
)
