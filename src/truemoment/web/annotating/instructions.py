"""What people read before they begin: Markdown of the owner, or the usual text."""

from __future__ import annotations

from types import MappingProxyType

from truemoment.base.boundary.files import read_text
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError

MOST_CHARACTERS = 50_000

_MARK = """\
You see a sentence and a video. Mark when the thing that the sentence describes happens.

- The **start** is the first frame on which it has begun. The **end** is the last frame on which it still happens.
- Watch the whole video before you mark: the thing may happen more than once, or later than you think.
- Mark what the sentence says, not more. Play your moment once before you submit it.
- If it does not happen in the video, answer *not in the video*. If you cannot decide, answer *unclear*, and why.

Press `?` for the keys. Everything is saved as you go: you may close the page and come back with the same link.
"""

_VERIFY = """\
You see a sentence and a part of a video. Judge whether the sentence describes exactly this part.

- **Fits**: it begins and ends with the part.
- **Partly**: it happens here, but the part is too long, too short or shifted, or only some of the sentence is there.
- **Does not fit**: it does not happen here.
- **Unclear**: you cannot decide.

Play the part at least once. Everything is saved as you go: you may close the page and come back with the same link.
"""

DEFAULT = MappingProxyType({"mark": _MARK, "verify": _VERIFY})
"""The usual text of each task."""


def read_instructions(path: AnyPath) -> str:
    """Return the instructions in a file."""
    text = read_text(path)
    if not text.strip() or len(text) > MOST_CHARACTERS:
        raise InputError(f"has {len(text)} characters, expected 1 to {MOST_CHARACTERS}", path=path)
    return text


def as_html(text: str) -> str:
    """Return Markdown as HTML; raw HTML in it is shown as text, and pictures and links from elsewhere are left out."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - only pages need it

    return str(MarkdownIt("commonmark", {"html": False}).disable(["image", "link", "autolink"]).render(text))
