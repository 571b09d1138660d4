"""splits.jsonl: the split of each film of a collection, and the films that belong together."""

from __future__ import annotations

from pathlib import Path

import msgspec

from truemoment.collection import layout
from truemoment.files import read_json_lines


class SplitLine(msgspec.Struct, frozen=True):
    """A line of splits.jsonl."""

    video_id: str
    split: str
    group: str
    n_sentences: int


def read_groups(out: Path) -> dict[str, str]:
    """Return the group of each film that has one; empty for a folder that is no collection, or is not split."""
    path = out / layout.SPLITS
    if not ((out / layout.COLLECTION).is_file() and path.is_file()):
        return {}
    return {line.video_id: line.group for _, line in read_json_lines(path, SplitLine) if line.group}


def read_splits(out: Path) -> dict[str, str]:
    """Return the split of each film; empty before films are split."""
    if not (out / layout.SPLITS).is_file():
        return {}
    return {line.video_id: line.split for _, line in read_json_lines(out / layout.SPLITS, SplitLine)}
