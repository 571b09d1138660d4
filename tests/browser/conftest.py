"""Pages in a real browser: the system's Chromium, driven by Playwright. Without one, tests are skipped, and say so."""

import contextlib
import os
import shutil
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette")
sync_api = pytest.importorskip("playwright.sync_api")

from truemoment.pages.launch import Listening, bind  # noqa: E402 - skipped above without the packages

WAIT_MS = 20_000


def chromium_path():
    """Return the browser: that of the variable CHROMIUM, else the system's; None if there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def chromium():
    """Give the browser."""
    path = chromium_path()
    if path is None:
        pytest.skip("no Chromium here: browser tests need one (apt install chromium, or the variable CHROMIUM)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def serve_in_thread():
    """Serve an application in this process: with serve_in_thread(app) as base."""
    import uvicorn

    @contextlib.contextmanager
    def serve(app, listening=None):
        sock = bind(listening or Listening())
        config = uvicorn.Config(app, log_level="error", ws="none", http="h11", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([sock],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{sock.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)
            sock.close()

    return serve


@pytest.fixture(scope="session")
def axe():
    """Return the rules that a page breaks: axe(page) -> list of texts."""
    package = pytest.importorskip("axe_playwright_python")
    script = (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")

    def broken(page):
        page.evaluate(script)
        found = page.evaluate(
            "async () => (await axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', "
            "'best-practice']})).violations"
        )
        return [f"{of['id']}: {[node['html'][:120] for node in of['nodes']]}" for of in found]

    return broken


class Watch:
    """Requests, errors and reports of pages: what must not occur."""

    def __init__(self, base):
        self.base, self.foreign, self.errors = base, [], []

    def add(self, page):
        page.set_default_timeout(WAIT_MS)
        page.on("request", self._on_request)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._on_console)
        return page

    def _on_request(self, request):
        if not request.url.startswith((self.base, "blob:", "data:", "about:")):
            self.foreign.append(request.url)

    def _on_console(self, message):
        if "Content Security Policy" in message.text or "Refused to" in message.text:
            self.errors.append(message.text)


@pytest.fixture
def watch():
    """Give the maker of a watch."""
    return Watch
