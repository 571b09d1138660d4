"""The results of all films of a collection: annotations, splits, the card, and what was discarded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from truemoment.base.boundary.documents import document_head, write_document
from truemoment.base.boundary.files import write_json_lines, write_text
from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.inputs import updating
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.collection import layout
from truemoment.collection.card import card_of, card_text
from truemoment.collection.export import kept_of, write_annotations, write_mad
from truemoment.collection.layout import FoundFilm, films_in, read_collection
from truemoment.collection.review_file import read_review
from truemoment.data.split_file import SplitLine, read_splits


def reassemble(out: Path) -> dict[str, Any]:
    """Rewrite the results of all films of a collection, and return its card."""
    read_collection(out)
    folder = OwnPath(updating(out))
    folder.refuse_links()
    with lock_folder(folder):
        return assemble(folder)


def assemble(folder: AnyPath) -> dict[str, Any]:
    """Write the results of all films, and return the card; splits stay as long as the films are the same.

    All that is stored is read before anything is written: a damaged file changes nothing.
    """
    out = OwnPath.of(folder)
    films, collection = films_in(out), read_collection(out)
    splits = stored = read_splits(out)
    if set(splits) != {film.report.name for film in films if film.report.n_kept}:
        splits = {}  # they were of other films
    card, dropped = card_of(collection, films, splits, read_review(out)), discarded(films)
    if splits != stored:
        (out / layout.SPLITS).unlink(missing_ok=True)
    write_annotations(out, films, collection.settings, splits)
    write_mad(out, films, collection.settings, splits)
    write_document(out / layout.DISCARDED, dropped)
    write_document(out / layout.CARD, card)
    write_text(out / layout.CARD_TEXT, card_text(card))
    return card


def write_splits(out: OwnPath, splits: Mapping[str, str], groups: Mapping[str, str]) -> None:
    """Write splits.jsonl with the split and group of each film, and all files that depend on it."""
    films = {film.report.name: film.report for film in films_in(out)}
    lines = [SplitLine(name, splits[name], groups.get(name, ""), films[name].n_kept) for name in sorted(splits)]
    write_json_lines(out / layout.SPLITS, lines)
    assemble(out)


def discarded(films: Sequence[FoundFilm]) -> dict[str, Any]:
    """Return the counts of sentences by what dropped them, by film and in all, and films without sentences."""
    by_film = {film.report.name: dict(film.report.dropped) for film in films if not film.report.discarded}
    total: Counter[str] = Counter()
    for counts in by_film.values():
        total.update(counts)
    return {
        **document_head("truemoment/collection-discarded/1"),
        "films": {film.report.name: film.report.discarded for film in films if film.report.discarded},
        "sentences": dict(sorted(total.items())),
        "sentences_by_film": by_film,
        "kept": sum(len(kept_of(film)) for film in films),
    }
