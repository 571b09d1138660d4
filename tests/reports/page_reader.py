"""How tests of pages read a page."""

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
