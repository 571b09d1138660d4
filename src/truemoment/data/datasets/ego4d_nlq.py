"""Ego4D NLQ: questions about what one's own camera saw, in clips of about eight minutes; two releases.

The form is that of the owners' evaluation: videos of clips of annotations of ``language_queries``. The clip is the
video of a query, and its times are seconds within the clip (``clip_start_sec``), not within the long video
(``video_start_sec``). Query ids are ``ANNOTATION_UID_INDEX``, as in predictions
(:mod:`truemoment.data.formats.ego4d_nlq`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec

from truemoment.base.boundary.files import DATA_BYTES, read_json
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.records import Annotations, Seconds
from truemoment.data.datasets.base import Dataset, Row, SourceFile, Split, refuse_repeated_id, required_file


class LanguageQuery(msgspec.Struct):
    """A question; a few have no text."""

    clip_start_sec: Seconds
    clip_end_sec: Seconds
    query: str | None = None


class ClipAnnotation(msgspec.Struct):
    """Questions of one annotator about a clip."""

    annotation_uid: str
    language_queries: list[LanguageQuery]


class Clip(msgspec.Struct):
    """A part of a video."""

    clip_uid: str
    video_start_sec: Seconds
    video_end_sec: Seconds
    annotations: list[ClipAnnotation]


class FilmedVideo(msgspec.Struct):
    """A video and its clips."""

    clips: list[Clip]


class NlqFile(msgspec.Struct):
    """The whole file."""

    videos: list[FilmedVideo]


def _rows(videos: list[FilmedVideo]) -> Iterator[Row]:
    for clip in (clip for video in videos for clip in video.clips):
        duration_s = clip.video_end_sec - clip.video_start_sec
        for annotation in clip.annotations:
            for index, query in enumerate(annotation.language_queries):
                query_id = f"{annotation.annotation_uid}_{index}"
                times = (query.clip_start_sec, query.clip_end_sec)
                yield query_id, clip.clip_uid, duration_s, query.query or "", *times


def rows_of(path: AnyPath) -> list[Row]:
    """Return rows (query_id, video_id, duration_s, sentence, start_s, end_s) of one file.

    A question without text has an empty sentence.
    """
    rows = list(_rows(read_json(path, NlqFile, most=DATA_BYTES).videos))
    refuse_repeated_id((row[0] for row in rows), path, "annotation_uid")
    return rows


def read(name: str, folder: Path, split: str) -> Annotations:
    """Read a split."""
    path = required_file(folder, f"nlq_{split}.json", dataset=name)
    return Annotations.from_rows(rows_of(path), dataset=name, split=split)


def _release(version: str, splits: tuple[Split, ...], note: str) -> Dataset:
    name = f"ego4d-nlq-{version}"
    return Dataset(
        name=name,
        title=f"Ego4D NLQ, release {version[1:]}",
        citation=(
            "Grauman, Westbury, Byrne, Chavis, Furnari, Girdhar, Hamburger, Jiang, Liu, Liu et al.: Ego4D: Around the "
            "World in 3,000 Hours of Egocentric Video, CVPR 2022"
        ),
        homepage="https://ego4d-data.org",
        licence="videos and annotations under an agreement with the owners",
        access="agreement",
        files=(SourceFile("nlq_train.json"), SourceFile("nlq_val.json")),
        splits=splits,
        read=partial(read, name),
        notes=(
            "Form only: the files were not looked at. Both releases have files of the same names.",
            note,
            "Of release 1, 1,304 moments have zero length, so no answer reaches an IoU above 0 on them.",
            "The test file has no moments; it is scored by the owners' server.",
        ),
        steps=(
            "sign the agreement at https://ego4ddataset.com; the owners send keys",
            f"download the annotations of version {version} with the owners' command-line program",
            f"put nlq_train.json and nlq_val.json into the folder {name}/ of your data folder",
        ),
    )


DATASETS = (
    _release(
        "v1",
        (
            Split("train", 11_296, 998, "facebookresearch/Ego4d, issue 64; videos are clips"),
            Split("val", 3_875, 328, "facebookresearch/Ego4d, issue 64; videos are clips"),
        ),
        "Five questions of train and one of val have no text. They remain here, with an empty sentence; methods leave "
        "them out (11,291 and 3,874).",
    ),
    _release(
        "v2",
        (
            Split("train", 13_849, None, "facebookresearch/Ego4d, issue 432"),
            Split("val", 4_554, None, "facebookresearch/Ego4d, issue 432"),
        ),
        "Questions without text remain here, with an empty sentence; methods leave them out.",
    ),
)
