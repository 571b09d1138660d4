"""MomentSeeker's JSON: a list of ``{"qry_text", "candidate_video_list": [{"output_path"}], "gt_indices"}``.

The candidates at `gt_indices` are the moments: a clip is a path ``.../VIDEO/START_END.mp4``, in seconds. The picture or
video of a query is not read. Source: yhy-2000/MomentSeeker at cc1090a, ``build_dataset`` of its programs in
evaluation_code.
"""

from __future__ import annotations

import msgspec

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.entries import read_entries
from truemoment.data.formats.head import Head
from truemoment.data.formats.momentseeker import moments_of_clips
from truemoment.data.references.base import ReferenceForm, ReferenceOptions, warn
from truemoment.report.words import counted


class ClipPaths(msgspec.Struct):
    """A clip of the video, or its frame."""

    output_path: str = ""
    frame_path: str = ""


class SeekerQuery(msgspec.Struct):
    """A query: a sentence, perhaps with a picture or a video, and the numbers of the right candidates."""

    qry_text: str
    candidate_video_list: list[ClipPaths]
    gt_indices: list[int]
    qry_img_path: str = ""
    qry_video_path: str = ""


def _recognise(head: Head) -> str | None:
    named = head.is_list and {"qry_text", "candidate_video_list"} <= head.entry_keys
    return 'its entries have "qry_text" and "candidate_video_list"' if named else None


def _read(path: AnyPath, _: ReferenceOptions) -> list[ReferenceEntry]:
    entries: list[ReferenceEntry] = []
    shown = 0
    for line, query in read_entries(path, SeekerQuery):
        clips = [clip.output_path or clip.frame_path for clip in query.candidate_video_list]
        if wrong := [number for number in query.gt_indices if not 0 <= number < len(clips)]:
            problem = f"got {wrong[0]}, expected the number of one of the {len(clips):,} candidates, from 0"
            raise InputError(problem, path=path, line=line, field="gt_indices")
        right = [clips[number] for number in query.gt_indices]
        video_id, moments = moments_of_clips(right, path, "candidate_video_list", line)
        entries.append(ReferenceEntry(video_id, query.qry_text, moments, line=line))
        shown += bool(query.qry_img_path or query.qry_video_path)
    if shown:
        queries = counted(shown, "query has", "queries have")
        warn(f"{path}: {queries} a picture or a video besides the sentence, which is not read")
    return entries


FORM = ReferenceForm(
    "momentseeker", "JSON list of qry_text, candidate_video_list and gt_indices (MomentSeeker)", _recognise, _read
)
