"""The server of the page of answers: queries, systems, videos, notes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from truemoment.media.video.files import find_videos
from truemoment.searching.encoder_options import EncoderOptions
from truemoment.searching.index import Index
from truemoment.web.browsing.looking import AnswerColumns
from truemoment.web.browsing.looking_routes import Commands, LookingService
from truemoment.web.browsing.notes import Notes
from truemoment.web.browsing.search_site import HERE, AtWork, while_serving
from truemoment.web.browsing.searches import Model
from truemoment.web.browsing.video_routes import LinkTokens, VideoService
from truemoment.web.browsing.videos import ShownVideos
from truemoment.web.pages.app import Home, Site, make_app
from truemoment.web.pages.security import Address, Application
from truemoment.web.pages.sessions import cookie_name
from truemoment.web.pages.static_files import StaticFiles
from truemoment.web.pages.templates import PageTemplates


@dataclass
class LookingServer:
    """A page of answers that is being served."""

    app: Application
    service: LookingService
    tokens: LinkTokens
    at_work: AtWork


@contextmanager
def open_looking(
    looked: AnswerColumns,
    *,
    cache: Path,
    notes: Path,
    commands: Commands,
    videos: Path | None = None,
    index: Index | None = None,
    options: EncoderOptions | None = None,
    view: str | None = None,
    guests: bool = False,
    address: Address | None = None,
    home: Home | None = None,
) -> Iterator[LookingServer]:
    """Open the page of answers.

    Parameters
    ----------
    looked
        All columns.
    cache
        Folder of pictures and prepared videos.
    notes
        File of notes and tags.
    commands
        Commands that the page shows.
    videos
        Folder of video files, named by video id; None for none.
    index, options
        Index of the videos for a lane of what a sentence resembles, and its model; None for none.
    view
        View that the page begins with; None for all queries.
    guests
        Whether there is a link for guests, who only look.
    address
        Names under which the page is reached.
    home
        The folder that it is opened from; None for a page of its own.

    Raises
    ------
    InputError, MissingFileError, UsageError
        If the notes are damaged, or the folder of videos is missing.
    """
    queries = looked.annotations.queries
    durations_s = queries.video_duration_s
    files = {} if videos is None else find_videos(videos, durations_s)
    service = VideoService(ShownVideos.of_files(durations_s.items(), files), cache)
    tokens = LinkTokens(guests=guests)
    title = f"Answers on {looked.annotations.dataset}, {looked.annotations.split}"
    site = Site(
        title,
        cookie_name(f"browse {notes.absolute()}") if home is None else home.cookie,
        address or Address(),
        tokens.find if home is None else home.find_visitor,
        PageTemplates(HERE / "templates"),
        StaticFiles(HERE / "static"),
        home=home,
    )
    with Notes.opened(notes, queries) as opened:
        model = None if index is None else Model(index, options or EncoderOptions())
        looking = LookingService(looked, service, opened, commands, index, model, view)

        @contextmanager
        def at_work() -> Iterator[None]:
            if files:
                service.start()
            if model is not None:
                model.start()
            try:
                yield
            finally:
                service.close()

        app = make_app(site, [*looking.routes(), *service.routes()], lifespan=while_serving(at_work))
        yield LookingServer(app, looking, tokens, at_work)
