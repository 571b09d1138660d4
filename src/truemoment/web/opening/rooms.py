"""Pages of predictions and of indexes, below the page of the folder: opened when they are visited, a few at a time.

``/browse/KEY/`` is the page of a prediction file, ``/browse/KEY-KEY/`` that of several, on the annotations that go with
the first; ``/browse/KEY.CHOICE/`` names the annotations. ``/search/KEY/`` is the page of an index.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from truemoment.base.boundary.caching import Cache
from truemoment.searching.encoder_options import EncoderOptions
from truemoment.searching.index import Index
from truemoment.web.browsing.looking import MOST_SYSTEMS, FloorChoice, look_at
from truemoment.web.browsing.looking_routes import Commands
from truemoment.web.browsing.looking_site import open_looking
from truemoment.web.browsing.notes import notes_beside
from truemoment.web.browsing.search_site import open_search
from truemoment.web.opening.catalogue import Card, Catalogue
from truemoment.web.opening.choices import DataChoices
from truemoment.web.opening.joining import audits_of
from truemoment.web.pages.app import Home
from truemoment.web.pages.errors import PageError
from truemoment.web.pages.security import Address, Application

MOST_ROOMS = 4
"""Pages that are open at a time; the one that was visited longest ago is closed for another."""


@dataclass(frozen=True)
class RoomSettings:
    """How pages are opened.

    Parameters
    ----------
    home
        The folder.
    address
        Names under which the page is reached.
    cache
        Folder of pictures and prepared videos.
    videos
        Folder of video files; None for none.
    floors
        Blind baselines that pages of predictions show.
    floor_cache
        Where answers of floors are kept.
    """

    home: Home
    address: Address
    cache: Path
    videos: Path | None
    floors: FloorChoice
    floor_cache: Cache


@dataclass(frozen=True)
class Room:
    """A page that is open, and what closes it."""

    app: Application
    open: ExitStack


class Rooms:
    """The pages that are open.

    Parameters
    ----------
    catalogue, choices
        The results in the folder, and annotations for predictions.
    settings
        How pages are opened.
    """

    def __init__(self, catalogue: Catalogue, choices: DataChoices, settings: RoomSettings) -> None:
        self.catalogue, self.choices, self.settings = catalogue, choices, settings
        self._rooms: OrderedDict[tuple[object, ...], Room] = OrderedDict()
        self._lock = threading.Lock()

    def browse(self, name: str) -> Application:
        """Return the page of predictions that a part of a path names."""
        keys, _, choice = name.partition(".")
        cards = [self.catalogue.find(key, "predictions") for key in dict.fromkeys(keys.split("-"))]
        if len(cards) > MOST_SYSTEMS:
            raise PageError(400, f"got {len(cards)} prediction files, expected {MOST_SYSTEMS} at most")
        versions = tuple(card.entry.version for card in cards)
        return self._entered(("browse", name, versions), lambda room: self._browse(room, name, cards, choice))

    def other_data(self, name: str) -> list[tuple[str, str]]:
        """Return the address of a page of predictions on each of their annotations, with the title of these."""
        keys = name.partition(".")[0]
        try:
            card = self.catalogue.find(keys.partition("-")[0], "predictions")
        except PageError:
            return []
        return [(f"/browse/{keys}.{choice.key}/queries", choice.title) for choice in self.choices.for_predictions(card)]

    def search(self, name: str) -> Application:
        """Return the page of the index that a part of a path names."""
        card = self.catalogue.find(name, "index")
        return self._entered(("search", card.entry.version), lambda room: self._search(room, name, card))

    def close(self) -> None:
        """Close all pages."""
        with self._lock:
            for room in self._rooms.values():
                room.open.close()
            self._rooms.clear()

    # ------------------------------------------------------------------------------------------- private

    def _entered(self, key: tuple[object, ...], make: Callable[[ExitStack], Application]) -> Application:
        """Return a page that is open, or open it; others wait meanwhile."""
        with self._lock:
            if key not in self._rooms:
                with ExitStack() as room:
                    app = make(room)
                    self._rooms[key] = Room(app, room.pop_all())
                while len(self._rooms) > MOST_ROOMS:
                    self._rooms.popitem(last=False)[1].open.close()
            self._rooms.move_to_end(key)
            return self._rooms[key].app

    def _browse(self, room: ExitStack, name: str, cards: Sequence[Card], choice: str) -> Application:
        source = self.choices.of(cards[0], choice).source
        files = [(_name(card, cards), card.entry.path.checked()) for card in cards]
        looked = look_at(files, source, floors=self.settings.floors, cache=self.settings.floor_cache)
        words = tuple(source.words())
        videos = self.settings.videos
        video_words = () if videos is None else ("--videos", str(videos))
        command = ("truemoment", "browse", *(f"{method}={path}" for method, path in files), *words, *video_words)
        server = room.enter_context(
            open_looking(
                looked,
                cache=self.settings.cache,
                notes=notes_beside(files[0][1]),
                commands=Commands(command, words, video_words),
                videos=videos,
                address=self.settings.address,
                home=replace(self.settings.home, root=f"/browse/{name}", back=lambda: self._audit_of(cards[0])),
            )
        )
        room.enter_context(server.at_work())
        return server.app

    def _search(self, room: ExitStack, name: str, card: Card) -> Application:
        path = card.entry.path.checked()
        server = room.enter_context(
            open_search(
                Index(path),
                EncoderOptions(),
                cache=self.settings.cache,
                collections=path.with_name(f"{path.name.removesuffix('.index')}.collections"),
                address=self.settings.address,
                home=replace(self.settings.home, root=f"/search/{name}"),
            )
        )
        room.enter_context(server.at_work())
        return server.app

    def _audit_of(self, card: Card) -> tuple[str, str] | None:
        """Return the address of the newest audit of predictions."""
        audit = next(iter(audits_of(self.catalogue, card)), None)
        return None if audit is None else (f"/item/{audit.entry.key}", "audit")


def _name(card: Card, cards: Sequence[Card]) -> str:
    """Return the name of a method: that of its file, with its folder where two files have one name."""
    stems = [other.entry.path.stem for other in cards]
    return card.entry.path.stem if stems.count(card.entry.path.stem) == 1 else card.entry.name
