"""List the sentences of README and docs that claim a number or a comparison: python tools/list_claims.py [PAGE...].

Each is a line with its page and line. Left out is what other checks hold: code and its output, doctests, and tables.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = re.compile(
    r"^(?P<fence>`{3,})[^\n]*\n.*?^(?P=fence)`*$"
    r"|^<!-- table: .*?<!-- end -->$"
    r"|^\|[^\n]*$"
    r"|^>>>[^\n]*(?:\n(?!\n)[^\n]*)*",
    re.MULTILINE | re.DOTALL,
)
WORDS = (
    "above below best worst better worse higher highest lower lowest fewer fewest most least faster slower twice half "
    "third significant significantly equal equals exactly never always every none only all"
)
CLAIM = re.compile(rf"(?<![\w#/.-])\d[\d,.]*(?![\w/-])|\b(?:{'|'.join(WORDS.split())})\b")
END = re.compile(r"(?<=[.:!?])[*)_\"]*\s+(?=[A-Z*`\[(\"])|\n\s*\n|\n(?=\s*[-*] |\s*\d+\. |#)")


def claims(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the sentence of each claim of a page."""
    text = SKIPPED.sub(lambda match: "\n" * match[0].count("\n"), text)
    at = 0
    for end in [*(match.span() for match in END.finditer(text)), (len(text), len(text))]:
        sentence = text[at : end[0]]
        if CLAIM.search(sentence) and not sentence.lstrip().startswith("#"):
            yield text.count("\n", 0, at + len(sentence) - len(sentence.lstrip())) + 1, " ".join(sentence.split())
        at = end[1]


def main() -> None:
    """Print the claims of the pages, by default of all."""
    pages = [Path(page) for page in sys.argv[1:]] or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        for line, sentence in claims(page.read_text(encoding="utf-8")):
            print(f"{page}:{line}: {sentence}")


if __name__ == "__main__":
    main()
