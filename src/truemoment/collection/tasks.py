"""Films to be collected: one by options, or a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from truemoment.base.boundary.files import read_json_lines
from truemoment.base.errors import InputError, MissingFileError
from truemoment.media.audio.sources import parse_source
from truemoment.media.speech.subtitles import embedded


@dataclass(frozen=True)
class FilmTask:
    """A film to be collected.

    Parameters
    ----------
    film, described
        File of the film, and of the described track; ``FILE#2`` and ``FILE#eng`` choose a stream of sound.
    subtitles
        File of the subtitles; None for none.
    name
        Name in the collection.
    group
        Films of one group lie in one split: a series, a remake; "" for none.
    transcript
        Words that another program heard; None where a recogniser hears them.
    """

    film: str
    described: str
    subtitles: Path | None = None
    name: str = ""
    group: str = ""
    transcript: Path | None = None


class _ListedFilm(msgspec.Struct, forbid_unknown_fields=True):
    """A line of a list of films."""

    film: str
    described: str
    subtitles: str | None = None
    name: str | None = None
    group: str = ""
    transcript: str | None = None


def make_task(
    film: str,
    described: str,
    subtitles: Path | None = None,
    *,
    name: str = "",
    group: str = "",
    transcript: Path | None = None,
) -> FilmTask:
    """Return a film to be collected; its name is that of the file unless it is given."""
    return FilmTask(film, described, subtitles, name or parse_source(film).path.stem, group, transcript)


def read_tasks(path: Path) -> list[FilmTask]:
    """Read a list of films, with relative paths from the folder of the list.

    It is JSON Lines with ``film`` and ``described``, and perhaps ``subtitles``, ``name``, ``group``, ``transcript``.
    """
    tasks: list[FilmTask] = []
    line_of: dict[str, int] = {}
    for line, entry in read_json_lines(path, _ListedFilm):
        task = make_task(
            _beside(path, entry.film),
            _beside(path, entry.described),
            _optional(path, entry.subtitles),
            name=entry.name or "",
            group=entry.group,
            transcript=_optional(path, entry.transcript),
        )
        film = parse_source(task.film)
        for field, value, key in (
            ("name", task.name, f"name {task.name}"),
            ("film", entry.film, f"film {film._replace(path=film.path.resolve())}"),
        ):
            if key in line_of:
                problem = f"got {value!r} again, expected each film once (first in line {line_of[key]})"
                raise InputError(problem, path=path, line=line, field=field)
            line_of[key] = line
        tasks.append(task)
    if not tasks:
        raise InputError("has no films", path=path)
    return tasks


def _optional(path: Path, name: str | None) -> Path | None:
    return None if name is None else Path(_beside(path, name))


def _beside(path: Path, name: str) -> str:
    return str(path.parent / name)


def refuse_missing(tasks: Iterable[FilmTask]) -> None:
    """Refuse films whose files do not exist, before any work."""
    for path in files_of_tasks(list(tasks)):
        if not path.exists():
            raise MissingFileError(f"{path}: no such file")


def files_of_tasks(tasks: Sequence[FilmTask]) -> list[Path]:
    """Return the files that are read."""
    files = [parse_source(text).path for task in tasks for text in (task.film, task.described)]
    files += [embedded(task.subtitles)[0] for task in tasks if task.subtitles is not None]
    return files + [task.transcript for task in tasks if task.transcript is not None]
