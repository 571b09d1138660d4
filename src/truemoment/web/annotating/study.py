"""A study: its folder and its settings."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from truemoment.base.boundary.files import Seed, read_bytes, read_json, write_json
from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import InputError, MissingFileError, TrueMomentError
from truemoment.web.annotating.store import connect, undamaged

SCHEMA = "truemoment/study/1"

EXPORTED = "exported.json"

NETWORK_FILE_SYSTEMS = (
    "nfs",
    "nfs4",
    "cifs",
    "smb",
    "smb3",
    "smbfs",
    "afpfs",
    "9p",
    "fuse.sshfs",
    "lustre",
    "glusterfs",
)
"""File systems on which the database's shared memory does not work."""

Task = Literal["mark", "verify"]


MOST_SHARE = 0.5

ControlShare = Annotated[float, msgspec.Meta(ge=0, le=MOST_SHARE)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]


class ControlShares(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Share of control tasks among the tasks of a person, each from 0 to `MOST_SHARE`."""

    gold: ControlShare = 0.05
    repeat: ControlShare = 0.02
    absent: ControlShare = 0.03


class StudySettings(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Settings of a study, as ``study.json`` has them; they never change.

    Parameters
    ----------
    name
        Name of the study; the page's cookie contains it.
    task
        ``mark``: people mark moments; ``verify``: people judge whether a sentence fits a moment.
    per_query
        Number of answers per query.
    people
        Number of people that queries are dealt to at the start; 0 where whoever comes gets the next query.
    same_video
        Whether two queries of one video are at least 20 tasks apart.
    several
        Whether an answer may have several moments.
    review
        Whether each moment must be played before it is submitted.
    lang
        Language of the sentences, a BCP 47 tag; "" if unknown.
    gold_iou
        IoU from which on an answer to a gold query counts as right.
    practice
        Number of practice tasks at the start of each person.
    """

    name: str
    title: str
    seed: Seed
    source: str
    truemoment: str
    made_day: str
    instructions_sha256: str
    schema: str = SCHEMA
    task: Task = "mark"
    per_query: Count = 5
    people: Count = 20
    same_video: Literal["apart", "any"] = "apart"
    several: bool = True
    review: Literal["required", "offered"] = "required"
    sound: bool = True
    lang: str = ""
    controls: ControlShares = ControlShares()
    gold_iou: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5
    practice: Count = 3


@dataclass(frozen=True)
class StudyFolder:
    """The files of a study."""

    path: AnyPath

    @property
    def folder(self) -> OwnPath:
        """The folder, in which no link is followed."""
        return OwnPath.of(self.path)

    @property
    def settings_file(self) -> OwnPath:
        """``study.json``."""
        return self.folder / "study.json"

    @property
    def database(self) -> OwnPath:
        """``study.sqlite``."""
        return self.folder / "study.sqlite"

    @property
    def instructions(self) -> OwnPath:
        """``instructions.md``."""
        return self.folder / "instructions.md"

    @property
    def backups(self) -> OwnPath:
        """Folder of copies of the database."""
        return self.folder / "backups"

    def exported_change(self) -> int:
        """Return the number of the last change that was exported; 0 for none."""
        file = self.folder / EXPORTED
        return read_json(file, ExportRecord).last_change if file.is_file() else 0

    def record_export(self, last_change: int) -> None:
        """Write which change was exported last; a study that cannot be written is exported all the same."""
        with contextlib.suppress(InputError):
            write_json(self.folder / EXPORTED, ExportRecord(last_change), indent=None)

    def media(self, video: int) -> OwnPath:
        """Return the folder of a video."""
        return self.folder / "media" / str(video)

    def settings(self) -> StudySettings:
        """Read the settings; refuse a folder that is no study, one of a newer form, and files of two studies."""
        self.folder.refuse_links()
        if not self.settings_file.is_file() or not self.database.is_file():
            raise MissingFileError(
                f"{self.path}: is no study, expected a folder made by 'truemoment annotate new' or 'start'"
            )
        form = read_json(self.settings_file, StudyForm)
        if form.schema != SCHEMA:
            problem = f"got {form.schema!r}, expected {SCHEMA!r}"
            hint = "a newer version of TrueMoment made this study; install that version"
            raise InputError(problem, path=self.settings_file, field="schema", hint=hint)
        settings = read_json(self.settings_file, StudySettings)
        self._refuse_other_database(settings)
        return settings

    def _refuse_other_database(self, settings: StudySettings) -> None:
        """Refuse a database that was made with other settings: its first event has them."""
        with undamaged(self.database), contextlib.closing(connect(self.database, read_only=True)) as connection:
            rows = connection.execute("SELECT body FROM events WHERE kind = 'made' ORDER BY seq LIMIT 1").fetchall()
            made = [msgspec.json.decode(body, type=StudySettings) for (body,) in rows]
        for field in StudySettings.__struct_fields__ if made else ():
            got, expected = getattr(settings, field), getattr(made[0], field)
            if got != expected:
                problem = f"got {got!r}, but the study in {self.database.name} was made with {expected!r}"
                hint = "put back the file of the same study; settings of a study never change"
                raise InputError(problem, path=self.settings_file, field=field, hint=hint)

    def write_settings(self, settings: StudySettings) -> None:
        """Write ``study.json``."""
        write_json(self.settings_file, settings)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other commands from writing the study."""
        refuse_network(self.folder.path)
        with lock_folder(self.folder):
            yield


class ExportRecord(msgspec.Struct, forbid_unknown_fields=True):
    """Content of ``exported.json``; not in the database, which only the server of a study writes."""

    last_change: int


class StudyForm(msgspec.Struct):
    """The form that a ``study.json`` has."""

    schema: str


def refuse_network(folder: Path) -> None:
    """Refuse a folder on a network file system: the database would not be safe there."""
    kind = file_system_of(folder)
    if kind in NETWORK_FILE_SYSTEMS:
        problem = f"lies on a network file system ({kind}), on which the study's database is not safe"
        raise InputError(problem, path=folder, hint="put the study on a disk of this machine")


def file_system_of(path: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """Return the kind of file system that a path lies on; "" where the system does not list it."""
    try:
        lines = read_bytes(mounts).decode("utf-8", "replace").splitlines()
    except TrueMomentError:
        return ""
    real = os.path.realpath(path)
    best, kind = "", ""
    for line in lines:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].replace("\\040", " ")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, fields[2]
    return kind
