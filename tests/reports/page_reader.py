"""How tests of pages read a page."""

import base64
import hashlib
import re
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "wbr", "img", "use", "path", "rect"}
"""Elements that need not be closed."""


class Reader(HTMLParser):
    """Reads a page as a browser does: elements, their attributes, text, and whether what is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[tuple[str, str]] = []
        self.faults: list[str] = []
        self.feed(text)
        self.close()
        self.faults += self.opened

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.opened.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.opened or self.opened.pop() != tag:
            self.faults.append(f"</{tag}>")

    def handle_data(self, data):
        self.text.append((self.opened[-1] if self.opened else "", data))

    def texts_of(self, tag: str) -> list[str]:
        return [data.strip() for opened, data in self.text if opened == tag and data.strip()]


def without_script(page: str) -> str:
    """Return a page without its one script, of which the page's policy has the hash, so that no other can run."""
    scripts = re.findall(r"<script\b[^>]*>.*?</script>", page, re.DOTALL)
    assert len(scripts) == 1
    code = scripts[0].removeprefix("<script>").removesuffix("</script>")
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode("ascii")
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:\"" in page
    return page.replace(scripts[0], "")
