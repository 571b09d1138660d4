"""Pages in a real browser: the system's Chromium, driven by Playwright. Without one, tests are skipped, and say so."""

import contextlib
import json
import math
import os
import shutil
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette")
sync_api = pytest.importorskip("playwright.sync_api")

from truemoment.base.records import Annotations  # noqa: E402
from truemoment.web.annotating.creation import new_study  # noqa: E402 - skipped above without the packages
from truemoment.web.annotating.people import OWNER, new_link  # noqa: E402
from truemoment.web.annotating.plan import StudyPlan  # noqa: E402
from truemoment.web.annotating.preparing import prepare_study  # noqa: E402
from truemoment.web.annotating.serving import open_study  # noqa: E402
from truemoment.web.annotating.store import Store  # noqa: E402
from truemoment.web.annotating.study import ControlShares, StudyFolder  # noqa: E402
from truemoment.web.pages.launch import Listening, bind  # noqa: E402

from ..video.conftest import make_video  # noqa: E402
from .steps import ready  # noqa: E402

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
        # Pages share a process: the start of one for each takes longer than what most of them do.
        options = ["--no-sandbox", "--disable-gpu", "--renderer-process-limit=1"]
        browser = playwright.chromium.launch(executable_path=path, args=options)
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


TASKS = {
    "three queries that a model answers confidently and wrong, from its audit": ("impossible", "2 clicks"),
    "why the verdict is what it is": ("5 screens", "0 screens"),
    "the table of an audit as LaTeX": ("a command", "1 click"),
    "mark ten moments": ("50 keys", "30 keys"),
    "find, play and save a clip": ("7 clicks", "4 clicks"),
    "compare five models": ("a command", "2 clicks"),
    "share an audit": ("several files", "1 file"),
}
"""Tasks of people, with what each took before and what it should take."""


@pytest.fixture(scope="session")
def tasks():
    """Give a dictionary for what tasks took: "2 clicks", seconds; TRUEMOMENT_TASKS names a file for the table."""
    took = {}
    yield took
    if path := os.environ.get("TRUEMOMENT_TASKS"):
        lines = ["| task | before | aim | now | seconds of the pages |", "| --- | --- | --- | --- | ---: |"]
        for task, (before, aim) in TASKS.items():
            now, seconds = took.get(task, ("not run", math.nan))
            lines.append(f"| {task} | {before} | {aim} | {now} | {seconds:.1f} |")
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


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


# ------------------------------------------------------------------------------------------------ studies

N_FRAMES = 150
MS = range(0, 40 * N_FRAMES, 40)
FILES = ("constant", "ntsc", "variable", "vp9", "late-clock", "late-video")


def write_video(folder, name):
    """Write a video whose pictures spell their own number."""
    rng = np.random.default_rng(0)
    faststart = {"movflags": "faststart"}
    match name:
        case "ntsc":
            times = [1001 * k for k in range(N_FRAMES)]
            return make_video(folder / "ntsc.mp4", times, codec="libx264", rate=30000, gop=30, options=faststart)
        case "variable":
            steps = rng.choice([17, 33, 40, 90, 130], N_FRAMES).tolist()
            times = [sum(steps[:k]) for k in range(N_FRAMES)]
            return make_video(folder / "variable.mp4", times, codec="libx264", options=faststart)
        case "vp9":
            return make_video(folder / "vp9.webm", MS, codec="libvpx-vp9", gop=25)
        case "late-clock":
            return make_video(folder / "late-clock.mp4", [ms + 9980 for ms in MS], codec="libx264")
        case "late-video":
            return make_video(folder / "late-video.mp4", [ms + 700 for ms in MS], codec="libx264", audio_s=6.0)
    return make_video(folder / f"{name}.mp4", MS, codec="libx264", gop=25, options=faststart)


@pytest.fixture(scope="session")
def videos(tmp_path_factory):
    return tmp_path_factory.mktemp("videos")


@dataclass
class Study:
    """A study that is being served: its address and the tokens of people."""

    base: str
    tokens: dict
    server: object
    watch: object
    browser: object

    def context(self, **settings):
        size = settings.pop("viewport", {"width": 1400, "height": 1000})
        return self.browser.new_context(viewport=size, **settings)

    def page(self, name, context=None, **settings):
        """Open a person's link in a new tab."""
        page = self.watch.add((context or self.context(**settings)).new_page())
        page.goto(f"{self.base}/in#{self.tokens[name]}")
        page.wait_for_url(lambda url: "/in" not in url)
        return page

    def task_page(self, name, context=None, **settings):
        """Open a person's first task."""
        page = self.page(name, context, **settings)
        page.check("#read")
        page.click("#begin")
        ready(page)
        return page

    def answer(self, task):
        """Return the stored answer of a task, and its state."""
        row = self.server.store.read(
            lambda connection: connection.execute(
                "SELECT a.body, t.state FROM answers a JOIN tasks t ON t.id = a.task WHERE t.id = ?", (task,)
            ).fetchone()
        )
        return (None, "waiting") if row is None else (json.loads(row["body"]), row["state"])


@pytest.fixture(scope="session")
def prepared_once(tmp_path_factory, videos):
    """Make and prepare a study once a run: prepared_once(rows, plan) -> its folder, to be copied, and its links."""
    made = {}

    def prepare(rows, plan):
        key = repr((rows, plan))
        if key not in made:
            for name in {row[1] for row in rows}:
                write_video(videos, name)
            folder = tmp_path_factory.mktemp("prepared") / "study"
            links = new_study(folder, Annotations.from_rows(rows), videos, plan, source="test").links
            study = StudyFolder(folder)
            with contextlib.closing(Store(study.database)) as store:
                prepare_study(study, store)
            made[key] = folder, links
        return made[key]

    return prepare


@pytest.fixture
def study(tmp_path, prepared_once, chromium, serve_in_thread, watch):
    """Serve a study: study(names of videos, **plan) -> Study; afterwards no page has broken a rule."""
    with contextlib.ExitStack() as stack:
        made = []

        def make(names=("constant",), sentences=("a person opens a door",), moment_s=(1.0, 2.0), **plan):
            rows = [
                (f"{name}#{k}", name, 6.0, sentence, *moment_s, "")
                for name in names
                for k, sentence in enumerate(sentences)
            ]
            settings = {"people": 1, "per_query": 1, "practice": 0, "review": "offered", "same_video": "any"} | plan
            settings.setdefault("controls", ControlShares(0.0, 0.0, 0.0))
            whole, links = prepared_once(rows, StudyPlan(**settings))
            folder = StudyFolder(shutil.copytree(whole, tmp_path / f"study{len(made)}"))
            server = stack.enter_context(open_study(folder))
            base = stack.enter_context(serve_in_thread(server.app))
            tokens = {link.name: link.token for link in links}
            tokens[OWNER] = server.store.write(lambda connection: new_link(connection, OWNER)).token
            made.append(Study(base, tokens, server, watch(base), chromium))
            return made[-1]

        yield make
        for context in chromium.contexts:
            context.close()
        for one in made:
            assert one.watch.foreign == []
            assert one.watch.errors == []
