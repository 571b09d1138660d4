"""Parts by name: ours, and those that other installed packages add by entry points.

A package adds a part in its ``pyproject.toml``, for example a format of prediction files::

    [project.entry-points."truemoment.formats"]
    ours = "package.module:FORMAT"

Our own parts come first and their names cannot be taken. Other packages are searched only when a name is not ours,
or when all names are needed.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from truemoment.base.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

_LOADED: dict[str, str] = {}
"""Packages whose parts are loaded, by the first name of their modules."""


class Registry(Mapping[str, T]):
    """Parts of a kind by name.

    Parameters
    ----------
    kind
        measures, protocols, formats, references, datasets, baselines, checks, models or commands; the group of entry
        points is ``truemoment.`` and this.
    own
        Our parts, in order.
    expected
        Type of a part.
    reserved
        Further names that are ours, of parts that are imported when they are used.
    """

    def __init__(
        self, kind: str, own: Mapping[str, T], expected: type[Any], *, reserved: Collection[str] = frozenset()
    ) -> None:
        self.kind, self.own, self.expected, self.reserved = kind, dict(own), expected, reserved

    def __getitem__(self, name: str) -> T:
        """Return a part.

        Raises
        ------
        UsageError
            If the part of another package cannot be loaded, or is of another type.
        """
        return self.own[name] if name in self.own else self._loaded(self._others[name])

    def __iter__(self) -> Iterator[str]:
        yield from self.own
        yield from self._others

    def __len__(self) -> int:
        return len(self.own) + len(self._others)

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self._others

    @functools.cached_property
    def _others(self) -> dict[str, EntryPoint]:
        from importlib.metadata import entry_points  # noqa: PLC0415 - it reads the metadata of every package

        entries: dict[str, EntryPoint] = {}
        for entry in entry_points(group=f"truemoment.{self.kind}"):
            if entry.name in self.own or entry.name in self.reserved:
                raise UsageError(f"{_origin(entry, self.kind)}, whose name is taken; rename it there")
            entries.setdefault(entry.name, entry)
        return entries

    def _loaded(self, entry: EntryPoint) -> T:
        origin = _origin(entry, self.kind)
        try:
            part = entry.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a package of others may fail in any way, and even end the program
            raise UsageError(f"{origin}, which cannot be loaded ({type(error).__name__}: {error})") from error
        if not isinstance(part, self.expected):
            problem = f"{entry.value} is of type {type(part).__name__}, expected {self.expected.__name__}"
            raise UsageError(f"{origin}, but {problem}")
        _LOADED[_top(entry.module)] = _package(entry)
        return cast(T, part)


def package_at_fault(error: BaseException) -> str | None:
    """Return the other package whose part raised an error, e.g. ``package theirs 1.2``; None for our code.

    It is the last caller that counts, of us and those that add parts: what it calls in a library is its own use of it.
    """
    package = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        name = _top(frame.f_globals.get("__name__", ""))
        if name == "truemoment" or name in _LOADED:
            package = _LOADED.get(name)
    return package


def _top(module: str) -> str:
    return module.partition(".")[0]


def _package(entry: EntryPoint) -> str:
    return "a package" if entry.dist is None else f"package {entry.dist.name} {entry.dist.version}"


def _origin(entry: EntryPoint, kind: str) -> str:
    return f"{_package(entry)} adds {entry.name!r} to {kind}"
