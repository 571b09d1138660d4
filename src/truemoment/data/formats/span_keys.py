"""Keys ``video>>>query>>>span``, used by TimeChat, TimeLens and lmms-eval; the span is the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.data.formats.head import Head, Kind

PART = ">>>"
TEXT = cast(type[str | None], str | None)  # a type to msgspec, not to mypy
"""An answer, or none."""


def is_key(text: str) -> bool:
    """Whether a text is such a key."""
    return text.count(PART) >= 2


def split_key(key: str, form: str, path: AnyPath, line: int | None = None) -> tuple[str, str]:
    """Return the video and the query of a key in a `form`; the query may contain the mark itself.

    Examples
    --------
    >>> from pathlib import Path
    >>> split_key("3MSZA.mp4>>>a door opens>>>[2.0, 5.0]", "video>>>query>>>span", Path("answers.json"))
    ('3MSZA.mp4', 'a door opens')
    """
    if not is_key(key):
        raise InputError(f"got key {key[:60]!r}, expected {form}", path=path, line=line)
    video, rest = key.split(PART, 1)
    return video, rest.rsplit(PART, 1)[0]


def recognise_keys(form: str, kind: Kind, values: str) -> Callable[[Head], str | None]:
    """Return a function that recognises an object whose first key is such a key with a value of a kind."""

    def recognise(head: Head) -> str | None:
        key, key_kind = head.first_key or ("", None)
        return f'its keys are "{form}", its values {values}' if is_key(key) and key_kind == kind else None

    return recognise
