"""Check the built documentation.

Run: python tools/check_docs.py docs/_build/html [--without-browser]

Every page of docs/ is there under its own title, no link, anchor or picture is missing, and nothing comes from the
network. In Chromium no page prints an error or scrolls sideways at 1400 and 400 pixels, and the search finds words.
Status 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import functools
import html
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

DOCS = Path(__file__).parents[1] / "docs"
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
WIDTHS = (1400, 400)
SEARCHES = {"skill": "audit", "shortcut share": "audit", "moment-detr": "protocols"}
"""What is typed into the search, and a page that must be found."""


class Page(HTMLParser):
    """What a page names: its anchors, links, pictures and scripts, and its title."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)
        found = re.search(r"<h1[^>]*>(.*?)</h1>", text, re.DOTALL)
        self.title = "" if found is None else html.unescape(re.sub(r"<[^>]*>", "", found[1])).rstrip("#¶ \n").strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what a tag names."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        attribute = {"img": "src", "script": "src", "source": "src", "link": "href"}.get(tag, "")
        if attribute in given:
            self.loaded.append(given[attribute])


def wrong_links(root: Path) -> Iterator[str]:
    """Yield what a page names that is not there, or comes from elsewhere."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    for path, page in pages.items():
        here = path.relative_to(root.resolve())
        for name in (*page.links, *page.loaded):
            parts = urlsplit(name)
            if parts.scheme in ("http", "https", "mailto", "data") or parts.netloc:
                if name in page.loaded and parts.scheme != "data":
                    yield f"{here}: loads {name} from the network"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{here}: {name} is missing"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{here}: {name} has no such anchor"


def missing_guides(root: Path) -> Iterator[str]:
    """Yield the pages of docs/ that are not built, or are another page's."""
    for source in sorted(DOCS.rglob("*.md")):
        if "_build" in source.parts:
            continue
        built = root / source.relative_to(DOCS).with_suffix(".html")
        heading = re.search(r"^# (.+)$", source.read_text(encoding="utf-8"), re.MULTILINE)
        title = "" if heading is None else re.sub(r"[`*{}]", "", heading[1]).strip()
        found = Page(built.read_text(encoding="utf-8")).title if built.is_file() else "no page"
        if re.sub(r"\W", "", found) != re.sub(r"\W", "", title):
            yield f"{source.relative_to(DOCS)}: is built as {found!r}, expected {title!r}"


@contextmanager
def served(root: Path) -> Iterator[str]:
    """Serve a folder on loopback."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            """Print nothing."""

        def do_GET(self) -> None:
            """Answer; browsers ask for an icon that no page names."""
            if self.path == "/favicon.ico":
                self.send_response(204)
                self.end_headers()
            else:
                super().do_GET()

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


def wrong_in_browser(root: Path) -> Iterator[str]:
    """Yield what goes wrong in Chromium."""
    from playwright.sync_api import sync_playwright

    pages = [path.relative_to(root).as_posix() for path in sorted(root.rglob("*.html"))]
    with served(root) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        errors: list[str] = []
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        for name in pages:
            page.goto(f"{address}/{name}", wait_until="load")
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                if wide > 1:
                    yield f"{name}: scrolls sideways by {wide} at {width} pixels"
            yield from (f"{name}: {error}" for error in errors)
            errors.clear()
        for words, expected in SEARCHES.items():
            page.goto(f"{address}/search.html?q={words.replace(' ', '+')}")
            page.wait_for_selector("#search-results li a", timeout=20_000)
            page.wait_for_function("document.querySelector('#search-results p.search-summary')?.textContent.trim()")
            found = page.eval_on_selector_all("#search-results li a", "links => links.map(link => link.href)")
            if not any(f"/{expected}.html" in link for link in found):
                yield f"the search for {words!r} does not find {expected}"
        browser.close()


def main() -> int:
    """Print what is wrong."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--without-browser", action="store_true")
    given = arguments.parse_args()
    root = given.folder.resolve()
    wrong = [*missing_guides(root), *wrong_links(root)]
    if given.without_browser or CHROMIUM is None:
        print(
            "not looked at in a browser"
            + ("" if given.without_browser else ": no Chromium here (apt install chromium)")
        )
    else:
        wrong += wrong_in_browser(root)
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
