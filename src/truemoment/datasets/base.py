"""What a dataset is: constants that say where it comes from, and a reader.

To add a dataset: write one module in this folder with a ``DATASET`` and its reader, name it in
``datasets/__init__.py``, and record the faults its files have (``tools/record_known_faults.py``).
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from truemoment.exceptions import InputError, MissingFileError, UsageError
from truemoment.files import read_json_mapping, sha256_of
from truemoment.inputs import reading
from truemoment.records import MAX_TIME_S, Annotations, Seconds


@dataclass(frozen=True)
class SourceFile:
    """One annotation file as its owner, or a repository that carries it, publishes it.

    Parameters
    ----------
    name
        Path below the dataset's folder.
    sha256
        Checksum of its bytes; "" where no copy was at hand to take it from.
    url
        Public address, pinned to a commit where it has one; "" where there is none.
    git_blob
        Git's name of the content, for files whose SHA-256 is not known.
    needed
        False for a file the dataset can be read without.
    n_bytes
        Its length; 0 where no copy was at hand.
    """

    name: str
    sha256: str = ""
    url: str = ""
    git_blob: str = ""
    needed: bool = True
    n_bytes: int = 0

    def agrees(self, path: Path) -> bool | None:
        """Whether a file's content is the published one; None if nothing is known to compare with."""
        if self.sha256:
            return sha256_of(path) == self.sha256
        if self.git_blob:
            data = reading(path).read_bytes()
            named = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)
            return named.hexdigest() == self.git_blob
        return None


@dataclass(frozen=True)
class Split:
    """A part of a dataset with the counts published for it.

    Parameters
    ----------
    name
        ``train``, ``val``, ``test``, ``test-iid``, ``test-ood``, ``val_1`` or ``val_2``.
    n_queries, n_videos
        Published counts; None where none is published.
    counted_in
        Where the counts stand.
    merges
        Other splits of which this one is made.
    """

    name: str
    n_queries: int | None
    n_videos: int | None
    counted_in: str
    merges: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dataset:
    """A dataset: where it comes from, what it holds, how it is read.

    Parameters
    ----------
    name, title
        What to ask for, and what it is called.
    citation
        Authors, title, venue, year.
    homepage, licence
        As its owner states them; "not stated" where nothing was found.
    access
        ``open``, or ``agreement`` where the owner asks for one.
    files, splits
        Annotation files with checksums, and splits with counts.
    read
        ``read(folder, split)``; `folder` is the dataset's own, its parent holds the other datasets.
    notes
        What a user of the figures should know.
    steps
        What to do, one step after the other, where the owner asks for an agreement.
    """

    name: str
    title: str
    citation: str
    homepage: str
    licence: str
    access: Literal["open", "agreement"]
    files: tuple[SourceFile, ...]
    splits: tuple[Split, ...]
    read: Callable[[Path, str], Annotations]
    notes: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()

    def split(self, name: str) -> Split:
        """Return a split by name."""
        for split in self.splits:
            if split.name == name:
                return split
        names = ", ".join(split.name for split in self.splits)
        raise UsageError(f"{self.name} has no split {name!r}, expected one of {names}")


class VideoEntry(msgspec.Struct):
    """One video's sentences and their times, the form most of the field's JSON files share."""

    sentences: list[str]
    timestamps: list[tuple[Seconds, Seconds]]

    def __post_init__(self) -> None:
        """Refuse more sentences than times, or the other way round."""
        n_sentences, n_times = len(self.sentences), len(self.timestamps)
        if n_sentences != n_times:
            raise ValueError(f"got {n_sentences} sentences and {n_times} timestamps, expected as many")


Entry = TypeVar("Entry", bound=VideoEntry)


def read_by_video(path: Path, kind: type[Entry]) -> Iterator[tuple[str, Entry]]:
    """Yield (video id, entry) of a JSON object with one entry a video."""
    yield from read_json_mapping(path, kind).items()


def numbered(video_ids: Iterable[str]) -> list[str]:
    """Query ids ``VIDEO#K``, K the position within the video in file order, from 0.

    Examples
    --------
    >>> numbered(["a", "b", "a"])
    ['a#0', 'b#0', 'a#1']
    """
    seen: defaultdict[str, int] = defaultdict(int)
    ids = []
    for video_id in video_ids:
        ids.append(f"{video_id}#{seen[video_id]}")
        seen[video_id] += 1
    return ids


# (video_id, duration_s, sentence, start_s, end_s) of a file that names no queries, and the same behind a query id.
VideoRow = tuple[str, float, str, float, float]
Row = tuple[str, str, float, str, float, float]


def with_ids(rows: Iterable[VideoRow]) -> list[Row]:
    """Rows of a file that names no queries, each behind its query id ``VIDEO#K``.

    Examples
    --------
    >>> with_ids([("v", 30.0, "a door opens", 2.0, 5.0)])
    [('v#0', 'v', 30.0, 'a door opens', 2.0, 5.0)]
    """
    rows = list(rows)
    ids = numbered(video_id for video_id, *_ in rows)
    return [(query_id, *row) for query_id, row in zip(ids, rows, strict=True)]


def refuse_repeated_id(ids: Iterable[str], path: Path, field: str) -> None:
    """Refuse an id that stands twice: two queries would become one in silence."""
    count = Counter(ids)
    twice = next((name for name, times in count.items() if times > 1), None)
    if twice is not None:
        raise InputError(f"{twice!r} stands twice, expected each query once", path=path, field=field)


def checked_seconds(value: float, found: str | None, *, path: Path, line: int, field: str) -> float:
    """Return a time that was read from text as it is.

    Parameters
    ----------
    value, found
        Seconds, NaN where the text is no number; and the text.
    path, line, field
        Where it stands.
    """
    if not abs(value) <= MAX_TIME_S:
        raise InputError(f"got {found!r}, expected seconds up to {MAX_TIME_S:g}", path=path, line=line, field=field)
    return value


def required_file(folder: Path, *names: str, dataset: str) -> Path:
    """Return the first of `names` that exists in `folder`."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    where = f"{folder / names[0]}" if folder.is_dir() else f"{folder} (no such folder)"
    raise MissingFileError(
        f"{dataset}: {where} is missing, expected {' or '.join(names)}; "
        f"'truemoment datasets fetch {dataset}' gets it or says how"
    )
