"""The server of the page of a folder: its results, and the pages that they open on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from starlette.responses import HTMLResponse

from truemoment.base.boundary.caching import Cache
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import MissingFileError, TrueMomentError
from truemoment.data.datasets.source import AnnotationSource
from truemoment.web.browsing.looking import FloorChoice
from truemoment.web.browsing.search_site import MOST_BODY_BYTES, while_serving
from truemoment.web.browsing.video_routes import LinkTokens
from truemoment.web.opening.catalogue import Catalogue
from truemoment.web.opening.choices import DataChoices
from truemoment.web.opening.folder_routes import OWNERS, FolderService
from truemoment.web.opening.rooms import Rooms, RoomSettings
from truemoment.web.opening.study_sites import StudySites
from truemoment.web.opening.work import StartedStudies
from truemoment.web.pages.app import Home, Site, make_app, rooms_route
from truemoment.web.pages.errors import PageError
from truemoment.web.pages.security import Address, Application
from truemoment.web.pages.sessions import cookie_name
from truemoment.web.pages.static_files import StaticFiles
from truemoment.web.pages.templates import PageTemplates

HERE = Path(__file__).parent


@dataclass
class FolderServer:
    """A page of a folder that is being served."""

    app: Application
    service: FolderService
    tokens: LinkTokens


@contextmanager
def open_folder(
    folder: Path,
    source: AnnotationSource,
    *,
    cache: Cache,
    videos: Path | None = None,
    floors: FloorChoice = "none",
    address: Address | None = None,
) -> Iterator[FolderServer]:
    """Open the page of a folder.

    Parameters
    ----------
    folder
        The folder; nothing outside it is shown, but annotations and videos that are named here.
    source
        Annotations that predictions are compared with first; without dataset and file, those in the folder.
    cache
        Where pictures, prepared videos and answers of floors are kept.
    videos
        Folder of video files, named by video id; None for none.
    floors
        Blind baselines that pages of predictions show.
    address
        Names under which the page is reached.

    Raises
    ------
    MissingFileError
        If there is no such folder.
    """
    if not folder.is_dir():
        raise MissingFileError(f"{folder}: {'is a file' if folder.exists() else 'no such folder'}, expected a folder")
    tokens, address = LinkTokens(), address or Address()
    title = as_text(folder.resolve().name) or "folder"
    home = Home(title, cookie_name(f"open {folder.resolve()}"), tokens.find)
    site = Site(
        title,
        home.cookie,
        address,
        home.find_visitor,
        PageTemplates(HERE / "templates"),
        StaticFiles(HERE / "static"),
        most_body_bytes=MOST_BODY_BYTES,
        home=home,
    )
    catalogue = Catalogue(OwnPath(folder))
    choices, work, sites = DataChoices(catalogue, source), StartedStudies(), StudySites()
    settings = RoomSettings(home, address, cache.folder or Path(), videos, floors, cache)
    rooms = Rooms(catalogue, choices, settings)

    @contextmanager
    def at_work() -> Iterator[None]:
        catalogue.known()  # reading begins before the first visit
        try:
            yield
        finally:
            catalogue.close()
            work.close()
            sites.close()
            rooms.close()

    def enter(
        open_room: Callable[[str], Application], others: Callable[[str], list[tuple[str, str]]] = lambda _: []
    ) -> Callable[[str], Application]:
        def entered(name: str) -> Application:
            try:
                return open_room(name)
            except (PageError, TrueMomentError) as error:
                status = error.status if isinstance(error, PageError) else 400
                context = {"site": site, "visitor": None, "problem": str(error), "others": others(name)}
                return HTMLResponse(site.templates.render("no_room.html.j2", **context), status_code=status)

        return entered

    service = FolderService(catalogue, choices, work, None if address.names else sites)
    routes = [
        *service.routes(),
        rooms_route("/browse", enter(rooms.browse, rooms.other_data), roles=OWNERS),
        rooms_route("/search", enter(rooms.search), roles=OWNERS),
    ]
    yield FolderServer(make_app(site, routes, lifespan=while_serving(at_work)), service, tokens)
