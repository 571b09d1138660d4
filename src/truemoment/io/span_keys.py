"""Keys ``video>>>query>>>span``, used by TimeChat, TimeLens and lmms-eval; the span is the reference."""

from __future__ import annotations

from typing import cast

PART = ">>>"
TEXT = cast(type[str | None], str | None)  # a type to msgspec, not to mypy
"""An answer, or none."""


def is_key(text: str) -> bool:
    """Whether a text is such a key."""
    return text.count(PART) >= 2


def split_key(key: str) -> tuple[str, str]:
    """Return the video and the query of a key; the query may contain the mark itself.

    Examples
    --------
    >>> split_key("3MSZA.mp4>>>a door opens>>>[2.0, 5.0]")
    ('3MSZA.mp4', 'a door opens')
    """
    video, rest = key.split(PART, 1)
    return video, rest.rsplit(PART, 1)[0]
