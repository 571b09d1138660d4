"""A dataset: constants with its source, and a reader.

To add a dataset: write one module in this folder with a ``DATASET`` and its reader, name it in
``data/datasets/__init__.py``, and record the faults of its files (``tools/record_known_faults.py``).
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import msgspec

from truemoment.base.boundary.files import sha256_of
from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.own_path import AnyPath, open_regular
from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.base.known_names import one_of_known, spelled_alike
from truemoment.base.papers import Paper
from truemoment.base.records import MAX_TIME_S, Annotations, Seconds


@dataclass(frozen=True)
class SourceFile:
    """A published annotation file.

    Parameters
    ----------
    name
        Path below the dataset's folder.
    sha256
        Checksum; "" if unknown.
    url
        Public address, pinned to a commit where possible; "" if there is none.
    git_blob
        Git's name of the content, for files without a known SHA-256.
    needed
        False for an optional file.
    n_bytes
        Its length; 0 if unknown.
    """

    name: str
    sha256: str = ""
    url: str = ""
    git_blob: str = ""
    needed: bool = True
    n_bytes: int = 0

    def agrees(self, path: Path) -> bool | None:
        """Whether a file has the published content; None if no checksum is known."""
        if self.sha256:
            return sha256_of(path) == self.sha256
        if self.git_blob:
            with open_regular(reading(path)) as stream:
                data = stream.read()
            named = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)
            return named.hexdigest() == self.git_blob
        return None


def source_files(address: str, *files: tuple[str, str, int]) -> tuple[SourceFile, ...]:
    """Return files (name, SHA-256, length in bytes or 0) of one address."""
    return tuple(SourceFile(name, sha256, f"{address}/{name}", n_bytes=n_bytes) for name, sha256, n_bytes in files)


@dataclass(frozen=True)
class Split:
    """A part of a dataset with its published counts.

    Parameters
    ----------
    name
        ``train``, ``val``, ``test``, ``test-iid``, ``test-ood``, ``val_1``, ``val_2``, or another test (``test-...``).
    n_queries, n_videos
        Published counts, or None.
    counted_in
        Source of the counts.
    merges
        Other splits that it consists of.
    """

    name: str
    n_queries: int | None
    n_videos: int | None
    counted_in: str
    merges: tuple[str, ...] = ()


Access = Literal["open", "by hand", "agreement"]

WHY_NOT_FETCHED: Mapping[Access, str] = MappingProxyType(
    {
        "agreement": "needs an agreement with its owner",
        "by hand": "is public, but has no recorded checksum to verify a download",
    }
)
"""Why the files of a dataset cannot be fetched; its steps say how to obtain them."""


@dataclass(frozen=True)
class Dataset:
    """A dataset: its source, its content, and its reader.

    Parameters
    ----------
    name, title
        Short and full name.
    homepage, licence
        As its owner states them, or "not stated".
    access
        ``open``, ``by hand`` (public, but without a checksum to verify a download), or ``agreement`` with the owner.
    files, splits
        Annotation files with checksums, and splits with counts.
    read
        ``read(folder, split)``; the parent of `folder` contains the other datasets.
    notes
        Notes for users of the data.
    steps
        Steps to obtain files that cannot be fetched.
    papers
        The paper of the queries first, then those of what it builds on.
    citation
        Reference if `papers` is empty: authors, title, venue, year.
    """

    name: str
    title: str
    homepage: str
    licence: str
    access: Access
    files: tuple[SourceFile, ...]
    splits: tuple[Split, ...]
    read: Callable[[Path, str], Annotations]
    notes: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    papers: tuple[Paper, ...] = ()
    citation: str = ""

    def references(self) -> tuple[str, ...]:
        """Return the references to cite: a line per paper, the paper of the queries first."""
        return tuple(paper.text() for paper in self.papers) or (self.citation,)

    def split(self, name: str) -> Split:
        """Return a split by name in any case, with ``-`` or ``_``."""
        splits = {split.name: split for split in self.splits}
        if (spelled := name if name in splits else spelled_alike(name, splits)) is None:
            raise UsageError(f"{self.name} has no split {name!r}, expected {one_of_known(name, splits)}")
        return splits[spelled]


class VideoEntry(msgspec.Struct):
    """Sentences and times of one video, the form of most JSON files of the field."""

    sentences: list[str]
    timestamps: list[tuple[Seconds, Seconds]]

    def __post_init__(self) -> None:
        """Refuse more sentences than times, or the other way round."""
        n_sentences, n_times = len(self.sentences), len(self.timestamps)
        if n_sentences != n_times:
            raise ValueError(f"got {n_sentences} sentences and {n_times} timestamps, expected as many")


def numbered(video_ids: Iterable[str]) -> list[str]:
    """Return query ids ``VIDEO#K``, K the position within the video in file order, from 0.

    Examples
    --------
    >>> numbered(["a", "b", "a"])
    ['a#0', 'b#0', 'a#1']
    """
    count: defaultdict[str, int] = defaultdict(int)
    ids = []
    for video_id in video_ids:
        ids.append(f"{video_id}#{count[video_id]}")
        count[video_id] += 1
    return ids


# (video_id, duration_s, sentence, start_s, end_s) of a file that names no queries, and the same after a query id.
VideoRow = tuple[str, float, str, float, float]
Row = tuple[str, str, float, str, float, float]


def with_ids(rows: Iterable[VideoRow]) -> list[Row]:
    """Return the rows of a file without query ids, each with its id ``VIDEO#K``.

    Examples
    --------
    >>> with_ids([("v", 30.0, "a door opens", 2.0, 5.0)])
    [('v#0', 'v', 30.0, 'a door opens', 2.0, 5.0)]
    """
    rows = list(rows)
    ids = numbered(video_id for video_id, *_ in rows)
    return [(query_id, *row) for query_id, row in zip(ids, rows, strict=True)]


def refuse_repeated_id(ids: Iterable[str], path: AnyPath, field: str) -> None:
    """Refuse a repeated id: two queries would become one silently."""
    count = Counter(ids)
    twice = next((name for name, times in count.items() if times > 1), None)
    if twice is not None:
        raise InputError(f"{twice!r} appears twice, expected each query once", path=path, field=field)


def checked_seconds(value: float, text: str | None, *, path: AnyPath, line: int, field: str) -> float:
    """Return a time that was read from `text`; NaN is refused, with its place."""
    if not abs(value) <= MAX_TIME_S:
        raise InputError(f"got {text!r}, expected seconds up to {MAX_TIME_S:g}", path=path, line=line, field=field)
    return value


def required_file(folder: Path, *names: str, dataset: str) -> Path:
    """Return the first of `names` that exists in `folder`."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    place = f"{folder / names[0]}" if folder.is_dir() else f"{folder} (no such folder)"
    raise MissingFileError(
        f"{dataset}: {place} is missing, expected {' or '.join(names)}; "
        f"'truemoment datasets fetch {dataset}' downloads it or prints the steps"
    )
