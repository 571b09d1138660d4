"""Human-ActivityNet: 1,288 queries of ActivityNet Captions' val_2, annotated by five workers (Hidden Challenges)."""

from __future__ import annotations

from pathlib import Path

from truemoment.datasets import activitynet_captions
from truemoment.datasets.base import Dataset, SourceFile, Split
from truemoment.datasets.reannotation import (
    CITATION,
    COUNTED_IN,
    HOMEPAGE,
    LICENCE,
    NOTES,
    OWNER,
    read_files,
    with_workers,
)
from truemoment.records import Annotations

_FILES = tuple(
    SourceFile(name, sha256, f"{OWNER}/activitynet/re-annotated/{name}")
    for name, sha256 in (
        ("test_00.csv", "8cd2f8131de705758c8625c4801294eb3ea7e8d091f959acf7030eb60a552b8c"),
        ("test_01.csv", "a0391d99885d250810363e86f7b13e60a7593ee5c5e25b17f041577eac7ae301"),
        ("test_02.csv", "755ca2945ea421c449f2adbbdb7b3f356df6d347a1d344e1e395a725739da26d"),
        ("test_03.csv", "d1e2b6d4901f89d0aae8c11e5154b06601a3115e10594ad9cbb70fa3a26e4ab9"),
        ("test_04.csv", "3c6ae77474847ad16157bfbf684e75b469f4e5438f48c695f57a68afdcc949f7"),
    )
)


def read(folder: Path, split: str) -> Annotations:
    """Read the split, a row a worker; durations and query ids come from the folder ``activitynet-captions`` beside."""
    marked = read_files(folder, _FILES, dataset="human-activitynet")
    original = activitynet_captions.read(folder.parent / "activitynet-captions", split)
    return with_workers(marked, original, lambda video_id: f"v_{video_id}", dataset="human-activitynet")


DATASET = Dataset(
    name="human-activitynet",
    title="ActivityNet Captions, re-annotated (Hidden Challenges)",
    citation=CITATION,
    homepage=HOMEPAGE,
    licence=LICENCE,
    access="open",
    files=_FILES,
    splits=(Split("val_2", 1_288, 1_066, COUNTED_IN),),
    read=read,
    notes=NOTES,
)
