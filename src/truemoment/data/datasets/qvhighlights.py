"""QVHighlights: several moments a sentence in 150-second clips, with ratings of every relevant clip."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from truemoment.base.boundary.files import read_json_lines
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.base.papers import QVHIGHLIGHTS
from truemoment.base.records import MAX_RATING, MAX_TIME_S, Annotations, Saliency, Seconds
from truemoment.data.datasets.base import Dataset, Split, refuse_repeated_id, required_file, source_files

CLIP_LENGTH_S = 2.0
N_ANNOTATORS = 3
_OWNER = "https://raw.githubusercontent.com/jayleicn/moment_detr/b7e553ac3b0c898ee6b85e03ee507c064eab89ca/data"
_FILES = {
    "train": ("highlight_train_release.jsonl",),
    "val": ("highlight_val_release.jsonl",),
    "test": ("highlight_test_with_gt.jsonl", "highlight_test_release.jsonl"),
}
"""Files of each split, the first that is there; the second one of test has no references."""


class HighlightQuery(msgspec.Struct):
    """A line of the file."""

    qid: int | str
    query: str
    vid: str
    duration: Seconds
    relevant_windows: list[tuple[Seconds, Seconds]] | msgspec.UnsetType = msgspec.UNSET
    relevant_clip_ids: list[int] = []
    saliency_scores: list[tuple[int, int, int]] = []


def refuse_wrong_ratings(
    clips: Sequence[int], ratings: Sequence[Sequence[int]], duration_s: float, path: AnyPath, line: int
) -> None:
    """Refuse ratings that are not one list for each clip of the video, or not from 0 to 4."""
    if len(clips) != len(ratings):
        raise InputError(
            f"got {len(ratings)} ratings, expected {len(clips)} as relevant_clip_ids has",
            path=path,
            line=line,
            field="saliency_scores",
        )
    n_clips = int((MAX_TIME_S if math.isnan(duration_s) else duration_s) / CLIP_LENGTH_S)
    seen: set[int] = set()
    for clip in clips:
        if not 0 <= clip < n_clips or clip in seen:
            repeat = " again" if clip in seen else ""
            raise InputError(
                f"got clip {clip}{repeat}, expected each of 0 to {n_clips - 1} at most once",
                path=path,
                line=line,
                field="relevant_clip_ids",
            )
        seen.add(clip)
    wrong = next((r for of_clip in ratings for r in of_clip if not 0 <= r <= MAX_RATING), None)
    if wrong is not None:
        problem = f"got rating {wrong}, expected 0 to {MAX_RATING}"
        raise InputError(problem, path=path, line=line, field="saliency_scores")


def read(folder: Path, split: str) -> Annotations:
    """Read a split; one row a window, ratings beside them where the file has them.

    The test file that was released first has no windows: its queries have no references.
    """
    path = required_file(folder, *_FILES[split], dataset="qvhighlights")
    has_windows = path.name == _FILES[split][0]
    rows: list[tuple[str, str, float, str, float, float]] = []
    clips: list[int] = []
    ratings: list[tuple[int, int, int]] = []
    offsets = [0]
    ids: list[str] = []
    for number, entry in read_json_lines(path, HighlightQuery):
        refuse_wrong_ratings(entry.relevant_clip_ids, entry.saliency_scores, entry.duration, path, number)
        windows = entry.relevant_windows or ([] if has_windows else [(math.nan, math.nan)])
        if not windows:
            problem = (
                "is missing" if entry.relevant_windows is msgspec.UNSET else "got no window, expected at least one"
            )
            raise InputError(problem, path=path, line=number, field="relevant_windows")
        query_id = str(entry.qid)
        ids.append(query_id)
        rows.extend((query_id, entry.vid, entry.duration, entry.query, start_s, end_s) for start_s, end_s in windows)
        clips.extend(entry.relevant_clip_ids)
        ratings.extend(entry.saliency_scores)
        offsets.append(len(clips))
    refuse_repeated_id(ids, path, "qid")
    saliency = None
    if clips:
        table = np.array(ratings, dtype=np.int64).reshape(-1, N_ANNOTATORS)
        saliency = Saliency(np.array(offsets), np.array(clips), table, CLIP_LENGTH_S)
    annotations = Annotations.from_rows(rows, dataset="qvhighlights", split=split)
    return dataclasses.replace(annotations, saliency=saliency)


DATASET = Dataset(
    name="qvhighlights",
    title="QVHighlights",
    papers=(QVHIGHLIGHTS,),
    homepage="https://github.com/jayleicn/moment_detr",
    licence="annotations: CC BY-NC-SA 4.0",
    access="open",
    files=source_files(
        _OWNER,
        (
            "highlight_train_release.jsonl",
            "fd28404187468f57cf99242be2963127dc9b4aef26c7de3cb9469569801f2625",
            3_956_580,
        ),
        (_FILES["val"][0], "f668a1eaea156ec5315e14718999cea043a8cf948d3cafbd8e8d655318c3cd02", 821_101),
        (_FILES["test"][0], "bd50ec6bb5dd3f72571126ba5fdc7418efdd9219a9487984e483a02e2ce5d493", 824_658),
    ),
    splits=(
        Split("train", 7_218, 7_100, "counted in the released file"),
        Split("val", 1_550, 1_519, "counted in the released file"),
        Split("test", 1_542, 1_529, "counted in the released file"),
    ),
    read=read,
    notes=(
        "Test labels are public now: score test locally, the old evaluation server is gone.",
        "Without the file of these labels, test is highlight_test_release.jsonl: queries that have no references.",
        "A third of the queries have several windows; which counts changes R@1,IoU=0.5 by up to 24 points.",
        "All times lie on a 2-s grid, so exact ties with a threshold are common.",
    ),
)
