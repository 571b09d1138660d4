"""Sites of studies of ``annotate`` that the page starts: each in a process of its own, as ``annotate serve`` does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

from truemoment.base.boundary.processes import run_apart
from truemoment.base.errors import TrueMomentError
from truemoment.web.annotating import PORT
from truemoment.web.annotating.people import OWNER, new_link
from truemoment.web.annotating.serving import open_study
from truemoment.web.annotating.study import StudyFolder
from truemoment.web.pages.launch import Listening, bind, serve


class SiteEndedError(TrueMomentError):
    """The page of the folder has ended, and its sites with it."""


class StudySites:
    """The sites that were started; they end with the page of the folder.

    Parameters
    ----------
    port
        Port of a site; 0 takes a free one.
    """

    def __init__(self, port: int = PORT) -> None:
        self.port = port
        self._links: dict[Path, Future[str]] = {}  # of the owner, once the site answers
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
            link = self._links.get(study)
            if link is None:
                link = self._links[study] = Future()
                threading.Thread(target=self._run, args=(study, link), daemon=True).start()
        return link.result()

    def close(self) -> None:
        """End all sites."""
        self._end.set()

    def _run(self, study: Path, link: Future[str]) -> None:
        try:
            run_apart(serve_study, study, self.port, on_status=link.set_result, check=self._check)
        except TrueMomentError as error:
            if not link.done():
                link.set_exception(error)
        finally:
            with self._lock:
                del self._links[study]

    def _check(self) -> None:
        if self._end.is_set():
            raise SiteEndedError("the page of the folder has ended")


def serve_study(study: Path, port: int, on_start: Callable[[str], None]) -> None:
    """Serve a study on this machine until the process ends; give the owner's new link when it answers."""
    listening = Listening(port=port)
    with closing(bind(listening)) as sock:
        base = listening.base(sock.getsockname()[1])
        with open_study(StudyFolder(study), base=base) as server:
            link = server.store.write(lambda connection: new_link(connection, OWNER))
            serve(server.app, sock, listening, on_start=lambda: on_start(f"{base}/in#{link.token}"))
