"""Cards of the results in a folder: each is made once, and again only when its file changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from truemoment.base.boundary.own_path import OwnPath
from truemoment.web.opening.entries import Entry, entries_in
from truemoment.web.opening.kinds import TITLES, Facts, is_result_folder, recognise
from truemoment.web.pages.errors import PageError

FRESH_S = 1.0
"""Seconds for which a listing of the folder is not repeated."""


@dataclass(frozen=True)
class Card:
    """A result: its entry, and what its beginning states."""

    entry: Entry
    facts: Facts

    @cached_property
    def title(self) -> str:
        """Its name without its folder."""
        return self.entry.name.rpartition("/")[2]

    @property
    def address(self) -> str:
        """Where it is opened; "" for nowhere."""
        key = self.entry.key
        places = {"browse": f"/browse/{key}/queries", "search": f"/search/{key}/", "item": f"/item/{key}"}
        return places.get(self.facts.opens, "")


@dataclass(frozen=True)
class Listing:
    """Entries of the folder, the newest first.

    Parameters
    ----------
    entries
        The entries.
    is_whole
        Whether they are all.
    """

    entries: list[Entry]
    is_whole: bool

    @cached_property
    def by_key(self) -> dict[str, Entry]:
        """Entries by key."""
        return {entry.key: entry for entry in self.entries}

    @cached_property
    def pages(self) -> dict[str, str]:
        """Key of the report page by the key of the JSON document beside it: of the same name, or of a leaderboard."""
        by_path = {entry.path: entry for entry in self.entries}
        pages = {}
        for entry in self.entries:
            if entry.path.suffix == ".json":
                stems = [entry.path.stem, *(["index"] if entry.path.stem == "leaderboard" else [])]
                named = (by_path.get(entry.path.with_name(f"{stem}.html")) for stem in stems)
                if (page := next(filter(None, named), None)) is not None:
                    pages[entry.key] = page.key
        return pages


class Catalogue:
    """The results in a folder.

    Parameters
    ----------
    root
        The folder.
    """

    def __init__(self, root: OwnPath) -> None:
        self.root = root
        self._facts: dict[tuple[str, int, int], Facts] = {}
        self._listing: Listing | None = None
        self._listed = 0.0
        self._lock = threading.Lock()
        self._reader: threading.Thread | None = None
        self._is_closed = False

    def listing(self, *, fresh: bool = False) -> Listing:
        """Return the entries of the folder, listed a moment ago at most."""
        with self._lock:
            if fresh or self._listing is None or time.monotonic() - self._listed > FRESH_S:
                self._listing = Listing(*entries_in(self.root, is_result_folder))
                self._listed = time.monotonic()
            return self._listing

    def card(self, entry: Entry) -> Card:
        """Return the card of an entry."""
        facts = self._facts.get(entry.version)
        if facts is None:
            facts = self._facts[entry.version] = recognise(entry)
        return Card(entry, facts)

    def find(self, key: str, *kinds: str) -> Card:
        """Return the card with a key, of one of some kinds; another is not there."""
        entry = self.listing().by_key.get(key) or self.listing(fresh=True).by_key.get(key)  # perhaps it is new
        card = None if entry is None else self.card(entry)
        if card is None or (kinds and card.facts.kind not in kinds):
            raise PageError(404, "there is no such result in this folder")
        return card

    def known(self) -> tuple[list[Card], int]:
        """Return the cards that are made, and how many are not yet; these are made in the background."""
        entries = self.listing().entries
        known = [Card(entry, facts) for entry in entries if (facts := self._facts.get(entry.version))]
        waiting = len(entries) - len(known)
        if waiting and (self._reader is None or not self._reader.is_alive()):
            self._reader = threading.Thread(target=self._read_all, args=(entries,), daemon=True)
            self._reader.start()
        return known, waiting

    def of_kind(self, kind: str) -> list[Card]:
        """Return all cards of a kind, the newest first."""
        cards = map(self.card, self.listing().entries)
        return [card for card in cards if card.facts.kind == kind]

    def close(self) -> None:
        """End the reading in the background."""
        self._is_closed = True

    def _read_all(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if self._is_closed:
                return
            self.card(entry)

    # ------------------------------------------------------------------------------------------ listing

    def page(self, words: str, kind: str, offset: int, limit: int) -> dict[str, object]:
        """Return some cards: of a kind ("" for all), whose name or facts contain all words; and counts by kind."""
        listing = self.listing()
        first = listing.entries[: offset + limit] if not kind and not words else []
        for entry in first:  # what is seen first is made first
            self.card(entry)
        known, waiting = self.known()
        beside = set(listing.pages.values())
        shown = [card for card in known if card.entry.key not in beside]
        parts = words.casefold().split()
        matching = [card for card in shown if all(part in _text(card) for part in parts)]
        counts = dict.fromkeys(TITLES, 0)
        for card in matching:
            counts[card.facts.kind] += 1
        selected = [card for card in matching if not kind or card.facts.kind == kind]
        selected.sort(key=lambda card: card.facts.kind == "other")  # what nothing is known of goes last
        return {
            "cards": [as_json(card, listing) for card in selected[offset : offset + limit]],
            "total": len(selected),
            "waiting": waiting,
            "is_whole": listing.is_whole,
            "kinds": [{"kind": name, "title": TITLES[name], "count": n} for name, n in counts.items() if n],
        }


def as_json(card: Card, listing: Listing) -> dict[str, object]:
    """Return what the page shows of a card."""
    entry = card.entry
    return {
        "key": entry.key,
        "name": entry.name,
        "title": card.title,
        "kind": card.facts.kind,
        "lines": card.facts.lines,
        "address": card.address,
        "page": listing.pages.get(entry.key),
        "size": entry.size if entry.kind == "file" else None,
        "changed_s": entry.mtime_ns / 1e9,
    }


def _text(card: Card) -> str:
    return " ".join([card.entry.name, card.facts.kind, *card.facts.lines]).casefold()
