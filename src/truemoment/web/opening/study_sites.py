"""Sites of studies of ``annotate`` that the page starts: each in a process of its own, as ``annotate serve`` does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from truemoment.base.boundary.processes import run_apart
from truemoment.base.errors import TrueMomentError
from truemoment.web.annotating import PORT
from truemoment.web.annotating.people import OWNER, new_link
from truemoment.web.annotating.serving import open_study
from truemoment.web.annotating.study import StudyFolder
from truemoment.web.pages.launch import Listening, bind, serve


class SiteEndedError(Exception):
    """The page of the folder has ended, and the site with it."""


@dataclass(eq=False)
class _Site:
    """A site: the link of its owner, once it answers."""

    link: Future[str] = field(default_factory=Future)


class StudySites:
    """The sites that were started; they end with the page of the folder."""

    def __init__(self) -> None:
        self._sites: dict[Path, _Site] = {}
        self._lock = threading.Lock()
        self._end = threading.Event()

    def link(self, study: Path) -> str:
        """Return the link of a study's owner; start its site first if it does not run.

        Raises
        ------
        TrueMomentError
            If the site cannot start, such as when another program serves the study.
        """
        with self._lock:
            site = self._sites.get(study)
            if site is None:
                site = self._sites[study] = _Site()
                threading.Thread(target=self._run, args=(study, site), daemon=True).start()
        return site.link.result()

    def close(self) -> None:
        """End all sites."""
        self._end.set()

    def _run(self, study: Path, site: _Site) -> None:
        try:
            run_apart(serve_study, study, on_status=site.link.set_result, check=self._check)
        except (TrueMomentError, SiteEndedError) as error:
            if not site.link.done():
                site.link.set_exception(error)
        finally:
            with self._lock:
                del self._sites[study]

    def _check(self) -> None:
        if self._end.is_set():
            raise SiteEndedError


def serve_study(study: Path, on_start: Callable[[str], None]) -> None:
    """Serve a study on this machine until the process ends; give the owner's new link when it answers."""
    listening = Listening(port=PORT)
    with closing(bind(listening)) as sock:
        base = listening.base(sock.getsockname()[1])
        with open_study(StudyFolder(study), base=base) as server:
            link = server.store.write(lambda connection: new_link(connection, OWNER))
            serve(server.app, sock, listening, on_start=lambda: on_start(f"{base}/in#{link.token}"))
