"""Collections: saved moments, each collection a file of JSON Lines.

::

    {"schema": "truemoment/collection/1", "name": "doors", "revision": 7, "index": "video.index", "fingerprint": "1a2b"}
    {"id": "k3f9", "video_id": "video", "identity": "2702737335:ab12", "start_s": 2472.0, "end_s": 2477.0,
     "frames": [59328, 59447], "sentence": "a man opens a door", "like": null, "score": 0.294, "match": 0.98,
     "note": "", "at_day": "2026-11-22"}

One server writes a folder. Each change names the revision that it changes, so that no tab overwrites another one's.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec

from truemoment.base.boundary.files import decode_json, iterate_json_lines, write_durably
from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError, UsageError
from truemoment.base.records import MAX_TIME_S
from truemoment.web.pages.errors import PageError

SCHEMA = "truemoment/collection/1"

ENDING = ".jsonl"

MOST_MOMENTS = 10_000

NAME = re.compile(r"[A-Za-z0-9_-](?:[A-Za-z0-9 _-]{0,58}[A-Za-z0-9_-])?")

RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)")
"""Names that some systems use for devices."""

Time = Annotated[float, msgspec.Meta(ge=0, le=MAX_TIME_S)]
Text = Annotated[str, msgspec.Meta(max_length=10_000)]


class CollectionHead(msgspec.Struct, frozen=True):
    """First line of a collection."""

    schema: str
    name: str
    revision: int
    index: str
    fingerprint: str


class KeptMoment(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A moment that is kept.

    Parameters
    ----------
    id
        Made by the page, unique in the collection.
    identity
        Identity of the video's file, which shows when another file has taken its place.
    frames
        First and last frame, both included; None where they were not known.
    sentence
        The sentence that found it; "" for none.
    like
        The moment that it resembles, in words; None for none.
    """

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=40, pattern=r"^[A-Za-z0-9_-]+\Z")]
    video_id: str
    identity: str
    start_s: Time
    end_s: Time
    frames: tuple[int, int] | None = None
    sentence: Text = ""
    like: Text | None = None
    score: float | None = None
    match: float | None = None
    note: Text = ""
    at_day: str = ""


class MomentCollection(msgspec.Struct, frozen=True):
    """A collection: its revision, 0 for one that does not exist, and its moments in order."""

    name: str
    revision: int
    moments: list[KeptMoment]


class RevisionError(Exception):
    """The collection has another revision than the change names."""

    def __init__(self, collection: MomentCollection) -> None:
        super().__init__(collection.name)
        self.current = collection


class Collections:
    """The collections of a folder.

    Parameters
    ----------
    folder
        The folder; it is made with the first collection.
    index, fingerprint
        Name of the index that is searched, and hash of its model, for the first line of each file.
    read_only
        Why nothing can be written; "" if it can.
    """

    def __init__(self, folder: Path, *, index: str, fingerprint: str, read_only: str = "") -> None:
        self.folder, self.index = OwnPath(folder), as_text(index)
        self.fingerprint, self.read_only = fingerprint, read_only

    @classmethod
    @contextmanager
    def opened(cls, folder: Path, *, index: str, fingerprint: str) -> Iterator[Collections]:
        """Open a folder as the only one that writes it; read-only if another server does."""
        with contextlib.ExitStack() as stack:
            why = ""
            try:
                stack.enter_context(lock_folder(folder))
            except (UsageError, InputError) as error:
                why = str(error)
            yield cls(folder, index=index, fingerprint=fingerprint, read_only=why)

    def names(self) -> list[dict[str, object]]:
        """Return name, revision and number of moments of each collection that can be read."""
        entries: list[dict[str, object]] = []
        for path in self.folder.glob(f"*{ENDING}"):
            with contextlib.suppress(InputError, PageError):
                collection = self.read(path.stem)
                entries.append(
                    {"name": collection.name, "revision": collection.revision, "count": len(collection.moments)}
                )
        return entries

    def read(self, name: str) -> MomentCollection:
        """Return a collection; one that does not exist has revision 0 and no moments.

        Raises
        ------
        InputError
            If its file is damaged.
        """
        path = self._path(name)
        if not path.is_file():
            return MomentCollection(name, 0, [])
        lines = list(iterate_json_lines(path))
        if not lines:
            raise InputError("is empty, expected a collection", path=path)
        head = decode_json(lines[0][1], CollectionHead, path=path, line=lines[0][0])
        if head.schema != SCHEMA:
            raise InputError(f"got {head.schema!r}, expected {SCHEMA!r}", path=path, line=1, field="schema")
        moments = [decode_json(data, KeptMoment, path=path, line=line) for line, data in lines[1:]]
        return MomentCollection(name, head.revision, moments)

    def write(self, name: str, revision: int, moments: list[KeptMoment]) -> MomentCollection:
        """Replace a collection; it is on disk when this returns.

        Raises
        ------
        RevisionError
            If the collection has another revision.
        PageError
            If the folder is read-only, or the disk is full: the earlier collection is unchanged then.
        """
        self._refuse_read_only()
        current = self.read(name)
        if current.revision != revision:
            raise RevisionError(current)
        if len(moments) > MOST_MOMENTS:
            raise PageError(413, f"got {len(moments):,} moments, expected at most {MOST_MOMENTS:,}", "moments")
        if len({moment.id for moment in moments}) != len(moments):
            raise PageError(400, "expected each id once", "id")
        head = CollectionHead(SCHEMA, name, revision + 1, self.index, self.fingerprint)
        encoded = [msgspec.json.encode(record) for record in (head, *moments)]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_durably(self._path(name), b"\n".join(encoded) + b"\n")
        except OSError as error:
            raise PageError(507, f"nothing was kept: {error.strerror}; make room on the disk") from None
        return MomentCollection(name, revision + 1, moments)

    def remove(self, name: str) -> None:
        """Remove a collection."""
        self._refuse_read_only()
        path = self._path(name)
        if not path.is_file():
            raise PageError(404, "there is no such collection")
        path.unlink()

    def _refuse_read_only(self) -> None:
        if self.read_only:
            raise PageError(409, f"collections are read-only here: {self.read_only}")

    def _path(self, name: str) -> OwnPath:
        if not NAME.fullmatch(name) or RESERVED.fullmatch(name):
            raise PageError(400, "expected a name of 1 to 60 letters A to Z, digits, blanks, _ and -", "name")
        return self.folder / f"{name}{ENDING}"


def today() -> str:
    """Return the current day, the time of a saved moment in a collection."""
    return dt.datetime.now(dt.UTC).date().isoformat()
