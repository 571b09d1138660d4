"""splits.jsonl: the split of each film of a collection, and the films that belong together."""

from __future__ import annotations

import msgspec

from truemoment.base.boundary.files import read_json_lines
from truemoment.base.boundary.own_path import AnyPath, OwnPath

COLLECTION, SPLITS = "collection.json", "splits.jsonl"
"""Files in the folder of a collection: its settings, and the split of each film."""


class SplitLine(msgspec.Struct, frozen=True):
    """A line of splits.jsonl."""

    video_id: str
    split: str
    group: str
    n_sentences: int


def read_groups(out: AnyPath) -> dict[str, str]:
    """Return the group of each film that has one; empty for a folder that is no collection, or is not split."""
    folder = OwnPath.of(out)
    path = folder / SPLITS
    if not ((folder / COLLECTION).is_file() and path.is_file()):
        return {}
    return {line.video_id: line.group for _, line in read_json_lines(path, SplitLine) if line.group}


def read_splits(out: AnyPath) -> dict[str, str]:
    """Return the split of each film; empty before films are split."""
    path = OwnPath.of(out) / SPLITS
    if not path.is_file():
        return {}
    return {line.video_id: line.split for _, line in read_json_lines(path, SplitLine)}
