"""Names of a package that are loaded when they are first used (PEP 562)."""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to import than this module
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy(package: str, home: Mapping[str, str]) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package.

    Parameters
    ----------
    package
        Name of the package.
    home
        The module of each public name, relative to the package.
    """

    def load(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415 - only a name that is used needs it

        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(package)
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(module, name, value)
        return value

    return load
