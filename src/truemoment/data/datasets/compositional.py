"""Charades-CG and ActivityNet-CG: re-splits whose tests have new words, or new compositions of known words."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

from truemoment.base.records import Annotations
from truemoment.data.datasets.activitynet_captions import rows_of
from truemoment.data.datasets.base import Dataset, Split, required_file, source_files

_OWNER = (
    "https://raw.githubusercontent.com/YYJMJC/Compositional-Temporal-Grounding/2372337e9166b8e26b83ce936a8474c6ae127290"
)

FILES = MappingProxyType(
    {
        "train": "train.json",
        "test-trivial": "test_trivial.json",
        "test-novel-composition": "novel_composition.json",
        "test-novel-word": "novel_word.json",
    }
)
"""File of each split. The names of the tests begin with "test", by which TrueMoment knows that they are tests."""

_TABLE = "Compositional Temporal Grounding (2022), Table 1"
_AUTHORS = (
    "Li, Xie, Qian, Zhu, Tang, Wu, Yang, Zhuang, Wang: Compositional Temporal Grounding with Structured Variational "
    "Cross-Graph Correspondence Learning, CVPR 2022; "
)
_NOTES = (
    "Query ids contain the test (test-novel-word/VIDEO#0), because the tests share videos with each other.",
    "There is no validation split: choosing by a test is choosing on the test set.",
    "All files were looked at. They also name the new word or composition of each query, which is not read.",
)


def read(name: str, folder: Path, split: str) -> Annotations:
    """Read a split of one of the two."""
    prefix = "" if split == "train" else f"{split}/"
    rows = rows_of(required_file(folder, FILES[split], dataset=name))
    return Annotations.from_rows(((f"{prefix}{row[0]}", *row[1:]) for row in rows), dataset=name, split=split)


CHARADES = Dataset(
    name="charades-cg",
    title="Charades-CG",
    citation=f"{_AUTHORS}Gao, Sun, Yang, Nevatia: TALL: Temporal Activity Localization via Language Query, ICCV 2017",
    homepage="https://github.com/YYJMJC/Compositional-Temporal-Grounding",
    licence="not stated",
    access="open",
    files=source_files(
        f"{_OWNER}/Charades-CG",
        ("train.json", "c66556077d8b6a1fd7ee91641f994cd1341c11adfa4fc078434c9fe7a4b93d8d", 621_558),
        ("test_trivial.json", "45eec9d3c46187235309344ab937a065b409cbdc3f3f9d926da6fd05302d822d", 254_584),
        ("novel_composition.json", "c92beda2c861bb0da356d94bba131d49e20a59d893d6e182bda1ee68a852514d", 518_615),
        ("novel_word.json", "f3ccd59c9f18e221028138faaf9bdddb5215e2550215ca62c8f24659168eb7f3", 95_693),
    ),
    splits=(
        Split("train", 8_281, 3_555, _TABLE),
        Split("test-trivial", 3_096, 1_689, _TABLE),
        Split("test-novel-composition", 3_442, 2_480, _TABLE),
        Split("test-novel-word", 695, 580, f"counted in the released file; {_TABLE}, has 703 and 588"),
    ),
    read=lambda folder, split: read("charades-cg", folder, split),
    notes=(
        "2,447 of the 3,039 test videos are training ones of Charades-STA; 729 training videos are test ones there: "
        "a model trained on the one cannot be scored on the other.",
        "15,514 of the 16,128 queries of Charades-STA are here, with their sentences and times as they are there.",
        *_NOTES,
    ),
)

ACTIVITYNET = Dataset(
    name="activitynet-cg",
    title="ActivityNet-CG",
    citation=f"{_AUTHORS}Krishna, Hata, Ren, Fei-Fei, Niebles: Dense-Captioning Events in Videos, ICCV 2017",
    homepage="https://github.com/YYJMJC/Compositional-Temporal-Grounding",
    licence="not stated",
    access="open",
    files=source_files(
        f"{_OWNER}/ActivityNet_CG",
        ("train.json", "31a6e0aa938f1f0d469bcb8d5492de7f9e9f77f74ba5676772db052057e26102", 3_927_073),
        ("test_trivial.json", "32c4d12ff1cdf35f4b48cf4d93bbb2c71beb802d693f57e0afc90347aaa937a4", 1_546_347),
        ("novel_composition.json", "d44d2c456974a4661bf14008d6316926e3b04d7ab9d48ed694861dc28602fe1b", 2_181_314),
        ("novel_word.json", "74e071738ece6d75ab1237c04a9a8cdebc939d3d65b015181596a84ae14f782c", 613_759),
    ),
    splits=(
        Split("train", 36_724, 9_659, _TABLE),
        Split("test-trivial", 15_712, 4_775, _TABLE),
        Split("test-novel-composition", 12_028, 4_202, _TABLE),
        Split("test-novel-word", 3_920, 1_991, f"counted in the released file; {_TABLE}, has 3,944 and 2,011"),
    ),
    read=lambda folder, split: read("activitynet-cg", folder, split),
    notes=(
        "1,724 queries are in both test-novel-composition and test-novel-word, with the same video and times: figures "
        "on the two are not independent.",
        "347 training videos are validation ones of ActivityNet Captions, and 668 test videos are training ones there: "
        "a model trained on the one cannot be scored on the other.",
        *_NOTES,
    ),
)

DATASETS = (CHARADES, ACTIVITYNET)
