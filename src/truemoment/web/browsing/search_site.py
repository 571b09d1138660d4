"""The server of the search page: one index, its videos, and who may look."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from truemoment.base.boundary.pictures import MOST_BYTES as MOST_PICTURE_BYTES
from truemoment.searching.encoder_options import EncoderOptions
from truemoment.searching.index import Index
from truemoment.searching.several_models import IndexModel, models_of
from truemoment.web.browsing.exports import ExportService
from truemoment.web.browsing.kept import Collections
from truemoment.web.browsing.kept_routes import KeptService
from truemoment.web.browsing.search_routes import SearchService
from truemoment.web.browsing.searches import Model, ModelSearches, Searches
from truemoment.web.browsing.video_routes import LinkTokens, VideoService
from truemoment.web.browsing.videos import ShownVideos
from truemoment.web.pages.app import Home, Site, make_app
from truemoment.web.pages.security import Address, Application
from truemoment.web.pages.sessions import cookie_name
from truemoment.web.pages.static_files import StaticFiles
from truemoment.web.pages.templates import PageTemplates

HERE = Path(__file__).parent

MOST_BODY_BYTES = MOST_PICTURE_BYTES * 4 // 3 + (1 << 16)
"""Size of a picture in base64; a collection of 10,000 moments has 4 MiB."""

THREADS = 100
"""Requests that are answered at a time: searches, pictures and parts of videos wait in threads."""


AtWork = Callable[[], AbstractContextManager[None]]
"""Returns the context in which the threads and processes of a page work."""


@dataclass
class SearchServer:
    """A search page that is being served."""

    app: Application
    service: SearchService
    collections: Collections
    tokens: LinkTokens
    at_work: AtWork


@contextmanager
def open_search(
    index: Index,
    options: EncoderOptions,
    *,
    cache: Path,
    collections: Path,
    models: Sequence[str] = (),
    exports: Path | None = None,
    guests: bool = False,
    address: Address | None = None,
    home: Home | None = None,
) -> Iterator[SearchServer]:
    """Open the search page of an index.

    Parameters
    ----------
    index
        The index.
    options
        Model and device, as far as a user names them.
    models
        The models of the index that are searched; none for all.
    cache
        Folder of pictures and prepared videos.
    collections
        Folder of collections.
    exports
        Folder that exports are written to; None to send them to the browser.
    guests
        Whether there is a link for guests, who may look, search and play.
    address
        Names under which the page is reached.
    home
        The folder that it is opened from; None for a page of its own.
    """
    videos = VideoService(ShownVideos.of_index(index), cache)

    def open_models(index: Index) -> tuple[list[IndexModel], list[str]]:
        notes: list[str] = []
        return models_of(index, options, models, notes.append), notes

    opened_models, notes = open_models(index)
    by_model = [ModelSearches(each, Model(each.index, each.options)) for each in opened_models]
    service = SearchService(Searches(index, by_model, notes), videos, open_models)
    tokens = LinkTokens(guests=guests)
    site = Site(
        f"Search {index.path.name}",
        cookie_name(str(index.path.resolve())) if home is None else home.cookie,
        address or Address(),
        tokens.find if home is None else home.find_visitor,
        PageTemplates(HERE / "templates"),
        StaticFiles(HERE / "static"),
        most_body_bytes=MOST_BODY_BYTES,
        home=home,
    )
    fingerprint = index.settings.fingerprint
    with Collections.opened(collections, index=index.path.name, fingerprint=fingerprint) as opened:
        exporting = ExportService(opened, videos, exports)

        @contextmanager
        def at_work() -> Iterator[None]:
            videos.start()
            for each in by_model:
                each.model.start()
            try:
                yield
            finally:
                service.close()
                videos.close()
                exporting.close()

        routes = [*service.routes(), *videos.routes(), *KeptService(opened, videos).routes(), *exporting.routes()]
        app = make_app(site, routes, lifespan=while_serving(at_work))
        yield SearchServer(app, service, opened, tokens, at_work)


def while_serving(at_work: AtWork) -> Callable[[], AbstractAsyncContextManager[None]]:
    """Return the context of a server in which a page is at work, with enough threads for its requests."""

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        more_threads()
        with at_work():
            yield

    return running


def more_threads() -> None:
    """Let more requests be answered at a time."""
    import anyio.to_thread  # noqa: PLC0415 - only pages need it

    anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
