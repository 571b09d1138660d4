"""A collection's dataset in a new folder: all of it, or only what may be passed on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from truemoment.base.boundary.files import atomic_folder, read_bytes, write_bytes, write_json_lines
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError
from truemoment.collection import layout
from truemoment.collection.export import kept_of, write_annotations, write_mad
from truemoment.collection.layout import films_in, read_collection
from truemoment.data.split_file import read_splits

TIMES = "times.jsonl"
"""Times without sentences."""


class TimesLine(msgspec.Struct, frozen=True):
    """A line of times.jsonl."""

    query_id: str
    video_id: str
    duration_s: float
    moments: list[tuple[float, float]]
    split: str | None


def export_collection(
    collection: Path,
    out: Path,
    *,
    with_sentences: bool = True,
    on_complete: Callable[[list[str]], None] = lambda _: None,
) -> list[str]:
    """Write a collection's dataset into a new folder, and return the names of the files.

    Without sentences, the folder has identities, times, counts and the card. `on_complete` is called with the names
    before the folder gets its name; after an error of it there is no folder.
    """
    source = OwnPath(collection)
    films, settings = films_in(source), read_collection(source).settings
    if not films:
        raise InputError("has no finished films", path=collection)
    splits = read_splits(source)
    names: list[str] = []
    with atomic_folder(out, lambda: on_complete(names)) as folder:
        for name in (layout.CARD, layout.CARD_TEXT, layout.DISCARDED, layout.SPLITS):
            if (source / name).is_file():
                write_bytes(folder / name, read_bytes(source / name))
        if with_sentences:
            write_annotations(folder, films, settings, splits)
            write_mad(folder, films, settings, splits)
        else:
            lines = (
                TimesLine(
                    sentence.id,
                    film.report.name,
                    film.report.duration_s,
                    [sentence.film_s],
                    splits.get(film.report.name),
                )
                for film in films
                for sentence in kept_of(film)
            )
            write_json_lines(folder / TIMES, lines)
        names += [path.name for path in folder.iterdir()]
    return names
