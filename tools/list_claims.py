"""List the sentences of README and docs that claim a number or a comparison: python tools/list_claims.py [PAGE...].

Each is one line with page and line. Left out is what other checks hold: code blocks and their output, doctests, Markdown
tables and generated tables.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = re.compile(
    r"^(?P<fence>`{3,})[^\n]*\n.*?^(?P=fence)`*$|^<!-- table: .*?<!-- end -->$|^\|[^\n]*$|^>>>[^\n]*(?:\n(?!\n)[^\n]*)*",
    re.MULTILINE | re.DOTALL,
)
CLAIM = re.compile(
    r"(?<![\w#/.-])\d[\d,.]*(?![\w/-])|\b(?:above|below|best|worst|better|worse|higher|highest|lower|lowest|fewer|fewest|most|least"
    r"|faster|slower|twice|half|third|significant\w*|equals?|exactly|never|always|every|none|only|all|no (?:method|measure|other))\b"
)
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
    pages = [Path(page) for page in sys.argv[1:]] or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        for line, sentence in claims(page.read_text(encoding="utf-8")):
            print(f"{page.resolve().relative_to(ROOT)}:{line}: {sentence}")


if __name__ == "__main__":
    main()
