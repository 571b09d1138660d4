"""ActivityNet-CD: ActivityNet Captions re-split so that test-ood moments lie where training ones do not."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from truemoment.base.boundary.files import read_json_mapping
from truemoment.base.papers import ACTIVITYNET_CAPTIONS, CLOSER_LOOK
from truemoment.base.records import Annotations
from truemoment.data.datasets.activitynet_captions import TimedVideo, rows_of
from truemoment.data.datasets.base import Dataset, Row, SourceFile, Split, required_file, source_files, with_ids

_OWNER = (
    "https://raw.githubusercontent.com/yytzsy/grounding_changing_distribution/"
    "83b07d484104e2b5a33da9e17352aeabcc10fe5a/ActivityNet-CD"
)
_FILES = {"val": "anet_val.json", "test-iid": "anet_test_iid.json", "test-ood": "anet_test_ood.json"}


def read(folder: Path, split: str) -> Annotations:
    """Read a split; ``train`` is derived from ActivityNet Captions if its file is missing."""
    if split != "train":
        rows = rows_of(required_file(folder, _FILES[split], dataset="activitynet-cd"))
    elif (folder / "anet_train.json").is_file():
        rows = rows_of(folder / "anet_train.json")
    else:
        rows = derive_train(folder)
    return Annotations.from_rows(rows, dataset="activitynet-cd", split=split)


def derive_train(folder: Path) -> list[Row]:
    """Return the rows of ActivityNet Captions without the videos of the other three files, as the authors split it.

    A video's val_1 sentences precede its val_2 ones. Each video is in one split, so 10,984 videos and 51,415 pairs
    remain, the published counts. The folder ``activitynet-captions`` lies beside `folder`.
    """
    elsewhere: set[str] = set()
    for name in _FILES.values():
        elsewhere |= read_json_mapping(required_file(folder, name, dataset="activitynet-cd"), TimedVideo).keys()
    by_video: defaultdict[str, list[Row]] = defaultdict(list)
    for name in ("train", "val_1", "val_2"):
        path = required_file(folder.parent / "activitynet-captions", f"{name}.json", dataset="activitynet-captions")
        for row in rows_of(path):
            if row[1] not in elsewhere:
                by_video[row[1]].append(row)
    return with_ids(row[1:] for of_video in by_video.values() for row in of_video)


DATASET = Dataset(
    name="activitynet-cd",
    title="ActivityNet-CD",
    papers=(CLOSER_LOOK, ACTIVITYNET_CAPTIONS),
    homepage="https://github.com/yytzsy/grounding_changing_distribution",
    licence="not stated",
    access="open",
    files=(
        SourceFile(
            "anet_train.json",
            url=f"{_OWNER}/anet_train.json",
            git_blob="f4fc9e88daeee3d71f03f03c083c77d6f19bf7cb",
            needed=False,
        ),
        *source_files(
            _OWNER,
            ("anet_val.json", "4f772595ac7717f7b269f7b71dac5cbe7308159fbea5f8946e4aadae27fadbef", 363_645),
            ("anet_test_iid.json", "8b281eee04bc61f9282445d4ec343f647c54024e66e50d657a7d440584004c5b", 354_327),
            ("anet_test_ood.json", "a374c9992b1c8940070e00aec0e5d9e12fe3888e03ccc60d2db41c4baec8b5da", 1_366_568),
        ),
    ),
    splits=(
        Split("train", 51_415, 10_984, "Closer Look (2021), Table 1"),
        Split("val", 3_521, 746, "Closer Look (2021), Table 1"),
        Split("test-iid", 3_443, 746, "Closer Look (2021), Table 1"),
        Split("test-ood", 13_578, 2_450, "Closer Look (2021), Table 1"),
    ),
    read=read,
    notes=(
        "Without anet_train.json the training split is derived from the folder activitynet-captions beside this one; "
        "its sentences then follow that copy's spelling (22 videos differ from the owner's).",
    ),
)
