"""A folder that ``truemoment resplit`` made, read as a dataset: the split of each query of another dataset.

::

    DIR/train.jsonl, val.jsonl, test-iid.jsonl, test-ood.jsonl    lines {"query_id": "v1#0", "video_id": "v1"}
    DIR/datasheet.json                                            source of the queries, and how it was made
    DIR/annotations.jsonl                                         the queries, if no file of our own form has them

The queries themselves are read from their dataset (``--data-dir``), or from the annotations that were split, which are
looked for in DIR and then at their original place, relative to DIR. Queries in random order get their new ids from the
seed of the datasheet.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from truemoment.base.boundary.files import Seed, read_json, read_json_lines, write_json_lines
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError, MissingFileError, TrueMomentError
from truemoment.base.records import Annotations
from truemoment.data.datasets import own
from truemoment.data.datasets.base import Dataset, Split
from truemoment.data.datasets.random_order import Order, without_order

DATASHEET = "datasheet.json"
SPLITS = ("train", "val", "test-iid", "test-ood")
COPY = "annotations.jsonl"
"""The queries themselves, in a folder that was made of a Python value or of a file in another form than ours."""

ASIDE = "aside"
"""Left out of all splits: queries that would let new words into training, or known ones into test-ood."""

Load = Callable[[str, str], Annotations]
"""Reads a split of a dataset, both by name."""


class ResplitSource(msgspec.Struct, omit_defaults=True):
    """Source of the queries of a folder: a dataset, or a file relative to the folder.

    `splits` has the hash of the annotations of each split that was read; ``all`` for a file.
    """

    dataset: str | None = None
    annotations: str | None = None
    splits: dict[str, str] = {}


class Member(msgspec.Struct):
    """Size of a split, and the hash of its annotations."""

    n_queries: int
    n_videos: int
    sha256: str


class Datasheet(msgspec.Struct):
    """The fields of a datasheet that are read; the rest is for people."""

    source: ResplitSource
    splits: dict[str, Member]
    order: Order = "file"
    seed: Seed = 0


class ResplitLine(msgspec.Struct):
    """A line of a split's file."""

    query_id: str
    video_id: str


def is_folder(name: str) -> bool:
    """Whether a dataset name is a folder: it exists, or is written as a path."""
    return os.sep in name or (name != "" and Path(name).is_dir())


def read_datasheet(folder: Path) -> Datasheet:
    """Read the datasheet of a folder."""
    path = OwnPath(folder) / DATASHEET
    if not path.is_file():
        problem = f"contains no {DATASHEET}" if folder.is_dir() else "no such folder"
        raise MissingFileError(
            f"{folder}: {problem}; expected a dataset's name, or a folder that 'truemoment resplit' made"
        )
    sheet = read_json(path, Datasheet)
    if (sheet.source.dataset is None) == (sheet.source.annotations is None) or not sheet.source.splits:
        raise InputError("expected a dataset or annotations, with splits", path=path, field="source")
    if missing := [name for name in SPLITS if name not in sheet.splits]:
        raise InputError(f"{missing[0]} is missing, expected {', '.join(SPLITS)}", path=path, field="splits")
    return sheet


def dataset_of(folder: Path) -> Dataset:
    """Return a folder as a dataset."""
    sheet = read_datasheet(folder)
    source = sheet.source.dataset or Path(sheet.source.annotations or "").name

    def refused(_: Path, split: str) -> Annotations:
        raise InputError(f"{split} contains queries of {source}, expected that dataset", path=folder)

    return Dataset(
        name=str(folder),
        title=f"{folder.resolve().name}: {source}, split again",
        citation=f"that of {source}",
        homepage="none",
        licence=f"that of {source}",
        access="open",
        files=(),
        splits=tuple(
            Split(name, count.n_queries, count.n_videos, DATASHEET)
            for name, count in sheet.splits.items()
            if name in SPLITS
        ),
        read=refused,
        notes=(f"Made by truemoment resplit; see {folder / DATASHEET}.",),
    )


def read(folder: Path, split: str, load: Load) -> Annotations:
    """Read a split of a folder; `load` reads its source dataset."""
    sheet = read_datasheet(folder)
    whole = source_annotations(folder, sheet.source, load)
    if sheet.order == "random":
        whole = without_order(whole, sheet.seed)
    number = whole.queries.index
    keep = np.zeros(len(number), dtype=bool)
    path = OwnPath(folder) / f"{split}.jsonl"
    if not path.is_file():
        raise InputError("is missing, expected as in the datasheet", path=path, hint="split again")
    for line, entry in read_json_lines(path, ResplitLine):
        at = number.get(entry.query_id)
        if at is None or whole.queries.video_id[at] != entry.video_id:
            came = f"got query {entry.query_id!r} of video {entry.video_id!r}"
            raise InputError(f"{came}, which {whole.dataset} does not contain", path=path, line=line, field="query_id")
        if keep[at]:
            raise InputError(f"got {entry.query_id!r} again, expected each query once", path=path, line=line)
        keep[at] = True
    part = replace(whole.select_queries(keep), dataset=as_text(folder.resolve().name), split=split)
    if part.sha256 != sheet.splits[split].sha256:
        raise InputError(
            f"contains {part.n_queries:,} queries that differ from the datasheet", path=path, hint="split again"
        )
    return part


def source_annotations(folder: Path, source: ResplitSource, load: Load) -> Annotations:
    """Read the source of a folder; refuse it if it has changed."""
    parts = []
    for name, expected in source.splits.items():
        if source.dataset is not None:
            part, place = load(source.dataset, name), f"{source.dataset}/{name}"
        else:
            path = found_file(folder, source.annotations or "")
            part, place = own.read(path, None), str(path)
        if part.sha256 != expected:
            raise InputError(
                f"{place}: got annotations with hash {part.sha256[:12]}, expected {expected[:12]}: they have changed "
                "since they were split",
                path=folder / DATASHEET,
                hint="split them again",
            )
        parts.append(part)
    return Annotations.joined(parts)


def found_file(folder: Path, name: str) -> Path:
    """Find the annotations that were split: in the folder, or at their original place."""
    inside = folder / Path(name).name
    places = ([] if inside.stem in (*SPLITS, ASIDE) or inside.name == DATASHEET else [inside]) + [folder / name]
    for place in places:
        if place.is_file():
            return place
    raise MissingFileError(
        f"{folder / DATASHEET}: the annotations it was made from are missing at {' and at '.join(map(str, places))}; "
        "put the file there"
    )


def files_of_folder(folder: Path) -> list[Path]:
    """Return the files of a folder, and its source annotations if known."""
    files = sorted(path for path in folder.glob("*") if path.is_file())
    with contextlib.suppress(TrueMomentError):  # the reader reports what is wrong with it
        source = read_datasheet(folder).source
        if source.annotations is not None:
            files.append(found_file(folder, source.annotations))
    return files


def write_members(folder: OwnPath, members: Mapping[str, Annotations]) -> None:
    """Write the query ids of each split."""
    for name, part in members.items():
        write_json_lines(folder / f"{name}.jsonl", map(ResplitLine, part.queries.query_id, part.queries.video_id))
