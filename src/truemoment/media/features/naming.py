"""Names of videos: annotations use ``v_abc``, and feature files ``abc``, ``v_abc`` or ``v_abc.mp4``."""

from __future__ import annotations

from collections.abc import Iterable

PREFIX = "v_"
"""What ActivityNet puts before a video's id, and some files leave out."""

ENDINGS = (".avi", ".mkv", ".mov", ".mp4", ".webm")
"""Of video files, which some feature files keep in the name."""


def bare_name(name: str) -> str:
    """Return the name of a video without prefix and suffix.

    Examples
    --------
    >>> bare_name("v_abc.mp4"), bare_name("abc"), bare_name("s13-d21.avi")
    ('abc', 'abc', 's13-d21')
    """
    ending = next((suffix for suffix in ENDINGS if name.lower().endswith(suffix)), "")
    bare = name[: len(name) - len(ending)].removeprefix(PREFIX)
    return bare or name


class Names:
    """The names of a store's videos; a video without an exact match is the only one with the same bare name.

    Examples
    --------
    >>> names = Names(["v_abc", "def.mp4", "v_def"])
    >>> names.find("abc"), names.find("def"), names.alike("def")
    ('v_abc', None, ('def.mp4', 'v_def'))
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self._known = frozenset(self.names)
        self._by_bare: dict[str, list[str]] = {}
        for name in self.names:
            self._by_bare.setdefault(bare_name(name), []).append(name)

    def find(self, video_id: str) -> str | None:
        """Return the store's name of a video; None if there is none, or several match."""
        if video_id in self._known:
            return video_id
        alike = self.alike(video_id)
        return alike[0] if len(alike) == 1 else None

    def alike(self, video_id: str) -> tuple[str, ...]:
        """Return the names with the bare name of a video."""
        return tuple(self._by_bare.get(bare_name(video_id), ()))
