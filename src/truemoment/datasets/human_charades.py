"""Human-Charades: 1,000 queries of Charades-STA's test split, annotated by five workers each (Hidden Challenges)."""

from __future__ import annotations

from pathlib import Path

from truemoment.datasets import charades_sta
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
    SourceFile(name, sha256, f"{OWNER}/charades/re-annotated/{name}", n_bytes=n_bytes)
    for name, sha256, n_bytes in (
        ("test_00.csv", "710f5f9eff72542465a81f82c5541243fd9a29f054adf8aaa664665181eabf22", 121_518),
        ("test_01.csv", "d1bf0dcf67d5c7334ec686893fb2ea7e5f4072c5204d817fafd9d805e016e8cc", 121_572),
        ("test_02.csv", "be8d5ef7bb417d24d1962033340ac9386377abd855b8bb5cc74669342d2f95f0", 161_790),
    )
)


def read(folder: Path, split: str) -> Annotations:
    """Read the split, a row a worker; durations and query ids come from the folder ``charades-sta`` beside."""
    marked = read_files(folder, _FILES, dataset="human-charades")
    original = charades_sta.read(folder.parent / "charades-sta", split)
    return with_workers(marked, original, lambda video_id: video_id.removesuffix(".mp4"), dataset="human-charades")


DATASET = Dataset(
    name="human-charades",
    title="Charades-STA, re-annotated (Hidden Challenges)",
    citation=CITATION,
    homepage=HOMEPAGE,
    licence=LICENCE,
    access="open",
    files=_FILES,
    splits=(Split("test", 1_000, 723, COUNTED_IN),),
    read=read,
    notes=NOTES,
)
