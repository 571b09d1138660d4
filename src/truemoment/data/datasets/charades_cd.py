"""Charades-CD: Charades-STA re-split so that test-ood moments lie where training ones do not."""

from __future__ import annotations

from pathlib import Path

from truemoment.base.boundary.files import read_json_mapping
from truemoment.base.papers import CLOSER_LOOK, TALL
from truemoment.base.records import Annotations, Seconds
from truemoment.data.datasets.base import Dataset, Split, VideoEntry, required_file, source_files, with_ids

_OWNER = (
    "https://raw.githubusercontent.com/yytzsy/grounding_changing_distribution/"
    "83b07d484104e2b5a33da9e17352aeabcc10fe5a/Charades-CD"
)
_FILES = {
    "train": "charades_train.json",
    "val": "charades_val.json",
    "test-iid": "charades_test_iid.json",
    "test-ood": "charades_test_ood.json",
}


class CharadesVideo(VideoEntry):
    """An entry of the file: times in seconds, and the duration under its own name."""

    video_duration: Seconds


def read(folder: Path, split: str) -> Annotations:
    """Read a split."""
    path = required_file(folder, _FILES[split], dataset="charades-cd")
    rows = with_ids(
        (video_id, entry.video_duration, sentence, start_s, end_s)
        for video_id, entry in read_json_mapping(path, CharadesVideo).items()
        for sentence, (start_s, end_s) in zip(entry.sentences, entry.timestamps, strict=True)
    )
    return Annotations.from_rows(rows, dataset="charades-cd", split=split)


DATASET = Dataset(
    name="charades-cd",
    title="Charades-CD",
    papers=(CLOSER_LOOK, TALL),
    homepage="https://github.com/yytzsy/grounding_changing_distribution",
    licence="not stated",
    access="open",
    files=source_files(
        _OWNER,
        ("charades_train.json", "e8bd49b87d6e166ba349035136396fa4bb3fbc8f85f9612544215624c7042651", 1_611_562),
        ("charades_val.json", "05d451cbf0cc6441405d071440915974c52ea820a2627c8be4a6bbfff88cce3e", 122_619),
        ("charades_test_iid.json", "c75e4393425a21842abc6d5f75deb5ee64c54d38148bcd4adac7417099b82566", 118_860),
        ("charades_test_ood.json", "a73847ada163bfcbbad2f616311098e6139b63ca6f93f537ca41b01b81961166", 500_447),
    ),
    splits=(
        Split("train", 11_071, 4_564, "Closer Look (2021), Table 1"),
        Split("val", 859, 333, "Closer Look (2021), Table 1"),
        Split("test-iid", 823, 333, "Closer Look (2021), Table 1"),
        Split("test-ood", 3_375, 1_442, "Closer Look (2021), Table 1"),
    ),
    read=read,
    notes=(
        "The four swapped pairs of Charades-STA were sorted here; three of them now start after the end of the video.",
        "Durations differ from the Charades list by up to 0.29 s.",
        "In 14 sentences the removal of a full stop glued two words together.",
    ),
)
