"""The server of a study: one process, the only one that writes."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from truemoment.base.boundary.folders import temporary_file
from truemoment.base.boundary.own_path import OwnPath
from truemoment.web.annotating.owner import OwnerService
from truemoment.web.annotating.people import find_visitor
from truemoment.web.annotating.preparing import BackgroundPreparation
from truemoment.web.annotating.routes import StudyService
from truemoment.web.annotating.store import Store, copy_database
from truemoment.web.annotating.study import StudyFolder
from truemoment.web.annotating.video_seal import check_videos
from truemoment.web.pages.app import Site, make_app
from truemoment.web.pages.security import Address, Application
from truemoment.web.pages.sessions import cookie_name
from truemoment.web.pages.static_files import StaticFiles
from truemoment.web.pages.templates import PageTemplates

HERE = Path(__file__).parent

BACKUP_S = 600.0
"""Seconds between two copies of a database that changes."""

BACKUPS = 10
"""Copies that are kept."""


@dataclass
class StudyServer:
    """A study that is being served: its application and its store."""

    app: Application
    store: Store
    study: StudyFolder


@contextmanager
def open_study(
    study: StudyFolder, *, base: str = "http://127.0.0.1", address: Address | None = None, videos: Path | None = None
) -> Iterator[StudyServer]:
    """Open a study for serving; another server of it is refused.

    Parameters
    ----------
    videos
        Folder of the videos; None for those that this user chose when the study was made.
    base
        Beginning of the links that the owner's page shows.
    address
        Names under which it is reached.
    """
    settings = study.settings()
    with study.locked():
        check_videos(study, videos)
        store = Store(study.database)
        try:
            service = StudyService(study, settings, store)
            owner = OwnerService(service, base)
            site = Site(
                settings.title,
                cookie_name(settings.name),
                address or Address(),
                lambda digest: store.read(lambda connection: find_visitor(connection, digest)),
                PageTemplates(HERE / "templates"),
                StaticFiles(HERE / "static"),
            )

            @asynccontextmanager
            async def running() -> AsyncIterator[None]:
                preparation = BackgroundPreparation(study, store)
                preparation.start()
                backups = asyncio.create_task(_keep_backups(study, store))
                try:
                    yield
                finally:
                    backups.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await backups
                    preparation.stop()
                    owner.end()
                    service.jobs.close()

            yield StudyServer(make_app(site, [*service.routes(), *owner.routes()], lifespan=running), store, study)
        finally:
            store.close()


async def _keep_backups(study: StudyFolder, store: Store) -> None:
    """Copy the database every 10 minutes of change."""
    copied_at = time.monotonic()
    while True:
        await asyncio.sleep(BACKUP_S)
        if store.changed_at > copied_at:
            copied_at = time.monotonic()
            with contextlib.suppress(OSError, sqlite3.Error):  # the next one may succeed; the study itself is safe
                await asyncio.to_thread(back_up, study)


def back_up(study: StudyFolder) -> OwnPath:
    """Copy the database of a study into ``backups``, also while it is served; return the copy."""
    study.backups.mkdir(exist_ok=True)
    name = dt.datetime.now(dt.UTC).strftime("study-%Y%m%d-%H%M%S.sqlite")
    with temporary_file(study.backups) as fresh:
        copy_database(study.database, fresh)
        fresh.rename(study.backups / name)
    for old in study.backups.glob(f"study-{'[0-9]' * 8}-{'[0-9]' * 6}.sqlite")[:-BACKUPS]:
        old.unlink()
    return study.backups / name
