"""Paths on a page: without the folders of the machine that made it, so that the page can be sent to others."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

_OF_MACHINE = re.compile(r"(?:[^/\\]*?[=:] ?)??((?:/(?!/)|~[/\\]|\.\.[/\\]|[A-Za-z]:[/\\]).+)", re.DOTALL)
"""A path that names folders of the machine, perhaps after ``NAME=`` or ``NAME: ``; an address is none."""


@dataclass(frozen=True)
class ShortPaths:
    """Paths that name folders of a machine, the longest first, and what a page shows in place of each.

    A path below the working folder stays: it names nothing else of the machine, and commands with it work there.

    Examples
    --------
    >>> ShortPaths.among(["/home/me/runs/p.json", "charades", "a=../a/q.json", "b=../b/q.json", "https://x.org/y"]).names
    {'/home/me/runs/p.json': 'p.json', '../a/q.json': 'a/q.json', '../b/q.json': 'b/q.json'}
    """

    names: dict[str, str]

    @classmethod
    def among(cls, texts: Iterable[str]) -> ShortPaths:
        """Return the paths that some texts are."""
        paths = {match[1] for text in texts if (match := _OF_MACHINE.fullmatch(text))}
        parts = {path: [part for part in re.split(r"[/\\]+", path) if part] for path in paths}
        in_order = sorted(paths, key=lambda path: (-len(path), path))
        return cls({path: _name(parts[path], list(parts.values())) or path for path in in_order})

    @cached_property
    def _place(self) -> re.Pattern[str] | None:
        paths = "|".join(map(re.escape, self.names))
        return re.compile(rf"(?<![\w/])(?:{paths})(?!\w)") if paths else None

    def in_text(self, text: str) -> str:
        """Return a text with names in place of paths."""
        return text if self._place is None else self._place.sub(lambda match: self.names[match[0]], text)

    def in_command(self, command: str) -> str:
        """Return a command with names in place of paths."""
        return shlex.join(map(self.in_text, shlex.split(command))) if self.names else command


def _name(parts: Sequence[str], everyone: Sequence[Sequence[str]]) -> str:
    """Return the last part of a path, with as many folders before it as no other path ends in."""
    ends = ["/".join(parts[at:]) for at in reversed(range(len(parts)))]
    others = [f"/{'/'.join(other)}" for other in everyone if other != parts]
    return next((end for end in ends if not any(other.endswith(f"/{end}") for other in others)), "".join(ends[-1:]))
