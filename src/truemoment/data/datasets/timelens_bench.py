"""TimeLens-Bench: queries and moments of three test sets, corrected by people.

The form is that of the owners' loader: one JSON object, video to ``duration``, ``queries`` and ``spans``.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec

from truemoment.base.boundary.files import read_json_mapping
from truemoment.base.records import Annotations, Seconds
from truemoment.data.datasets.base import Dataset, SourceFile, Split, required_file, with_ids


class CorrectedVideo(msgspec.Struct):
    """An entry of the file."""

    duration: Seconds
    queries: list[str]
    spans: list[tuple[Seconds, Seconds]]

    def __post_init__(self) -> None:
        """Refuse more queries than spans, or the other way round."""
        if len(self.queries) != len(self.spans):
            raise ValueError(f"got {len(self.queries)} queries and {len(self.spans)} spans, expected as many")


def read(name: str, folder: Path, split: str) -> Annotations:
    """Read the split ``test`` of one of the three."""
    path = required_file(folder, f"{name}.json", dataset=name)
    rows = with_ids(
        (video_id, entry.duration, sentence, start_s, end_s)
        for video_id, entry in read_json_mapping(path, CorrectedVideo).items()
        for sentence, (start_s, end_s) in zip(entry.queries, entry.spans, strict=True)
    )
    return Annotations.from_rows(rows, dataset=name, split=split)


def _corrected(title: str, original: str, n_queries: int, n_videos: int, note: str) -> Dataset:
    name = title.lower()
    return Dataset(
        name=name,
        title=title,
        citation=(
            "Zhang, Wang, Ge, Ge, Li, Shan, Wang: TimeLens: Rethinking Video Temporal Grounding with Multimodal LLMs, "
            f"CVPR 2026; videos and first annotations: {original}"
        ),
        homepage="https://huggingface.co/datasets/TencentARC/TimeLens-Bench",
        licence="BSD-3-Clause, as the owners state it",
        access="by hand",
        files=(SourceFile(f"{name}.json"),),
        splits=(Split("test", n_queries, n_videos, "the owners' dataset card"),),
        read=partial(read, name),
        notes=(
            "Form only: the file was not looked at, so neither its checksum nor its faults are recorded.",
            note,
            "TimeLens drops blanks and full stops at the end of a query before it asks; the sentence here has them.",
        ),
        steps=(
            f"download {name}.json from https://huggingface.co/datasets/TencentARC/TimeLens-Bench",
            f"put it into the folder {name}/ of your data folder",
        ),
    )


DATASETS = (
    _corrected(
        "Charades-TimeLens",
        "Charades-STA, Gao et al., ICCV 2017",
        3_363,
        1_313,
        "The authors find that 20.6 % of Charades-STA's queries fit several moments and 34.9 % have wrong times.",
    ),
    _corrected(
        "ActivityNet-TimeLens",
        "ActivityNet Captions, Krishna et al., ICCV 2017",
        4_500,
        1_455,
        "It has 4,500 queries and ActivityNet Captions' val_2 17,031: figures on the two do not compare.",
    ),
    _corrected(
        "QVHighlights-TimeLens",
        "QVHighlights, Lei et al., NeurIPS 2021",
        1_541,
        1_511,
        "Its form has one moment a query, and a third of QVHighlights' queries have several: figures do not compare.",
    ),
)
