"""Splitting a collection: the films, the groups they form, and checks of the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.inputs import updating
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError
from truemoment.collection import layout
from truemoment.collection.assembling import write_splits
from truemoment.collection.layout import films_in
from truemoment.collection.same_film import joined, same_films
from truemoment.collection.splits import NAMES, read_clean, read_shares, split_clean, split_films
from truemoment.data.datasets.faults import find_shared
from truemoment.data.datasets.own import read


@dataclass(frozen=True)
class MadeSplits:
    """The splits of a collection.

    Parameters
    ----------
    films
        Split of each film.
    counts
        Number of sentences of each film.
    groups
        Group of each film that has one.
    same_films
        Pairs that are the same film.
    warnings
        What is shared between splits.
    seed
        Seed of the order.
    """

    films: dict[str, str]
    counts: dict[str, int]
    groups: dict[str, str]
    same_films: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    seed: int

    def n_films(self, split: str) -> int:
        """Return the number of films of a split."""
        return sum(name == split for name in self.films.values())

    def n_sentences(self, split: str) -> int:
        """Return the number of sentences of a split."""
        return sum(self.counts[film] for film, name in self.films.items() if name == split)


def split_collection(
    out: Path,
    *,
    shares: str,
    clean: Path | None = None,
    seed: int = 0,
    compare: bool = True,
    on_status: Callable[[str], None] = lambda _: None,
) -> MadeSplits:
    """Split the films of a collection, and write its splits, annotations and card.

    Parameters
    ----------
    out
        Folder of the collection.
    shares
        Shares of train, val and test, e.g. ``0.75,0.08,0.17``.
    clean
        List of films with clean annotations, which are val and test; None to split all by shares.
    seed
        Seed of the order of films of one size.
    compare
        Whether all pairs of films are compared by their sound: the same film twice lies in one split.
    on_status
        Called with what is being done.
    """
    targets = read_shares(shares)
    layout.read_collection(out)
    folder = OwnPath(updating(out))
    folder.refuse_links()
    with lock_folder(folder):
        films = films_in(folder)
        counts = {film.report.name: film.report.n_kept for film in films if film.report.n_kept}
        if not counts:
            raise InputError("has no film with sentences", path=out)
        folders = {film.report.name: film.folder for film in films if film.report.n_kept}
        pairs = same_films(folders, on_status=on_status) if compare else []
        groups = joined({film.report.name: film.report.group for film in films if film.report.n_kept}, pairs)
        groups = {name: group for name, group in groups.items() if group}
        if clean is not None:
            splits = split_clean(counts, groups, read_clean(clean), targets, clean)
        else:
            splits = split_films(counts, groups, targets, np.random.default_rng(seed))
        write_splits(folder, splits, groups)
        warnings = _shared(folder, splits)
    return MadeSplits(splits, counts, groups, tuple(pairs), warnings, seed)


def _shared(out: OwnPath, splits: dict[str, str]) -> tuple[str, ...]:
    """Return what splits share: sentences verbatim, videos."""
    names = [name for name in NAMES if name in splits.values()]
    parts = {name: read((out / layout.ANNOTATIONS).checked(), name) for name in names}
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    faults = [fault for a, b in pairs for fault in find_shared(parts[a], parts[b], train=a == "train")]
    return tuple(f"{fault.split}: {fault.kind}: {fault.amount}" for fault in faults)
