"""The grammar ``NAME,key=value,...`` in which protocols, worlds, dials, axes and proposals are written.

A value is read as the type of its field: a number, ``yes`` or ``no``, ``none``, or a choice of a ``Literal``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin

from truemoment.base.boundary.files import read_number
from truemoment.base.errors import UsageError
from truemoment.base.known_names import one_of_known

_WORDS = {bool: "yes or no", type(None): "none", int: "a whole number", float: "a number"}

_MOST = 1e15
"""Whole numbers below it are exact, and fit every array."""


def split_pair(text: str) -> tuple[str, str | None]:
    """Return key and value of ``key=value``, without surrounding white space; the value is None without ``=``."""
    key, equals, value = text.partition("=")
    return key.strip(), value.strip() if equals else None


def read_pairs(
    texts: Iterable[str], keys: Iterable[str], *, within: str, error: type[UsageError] = UsageError
) -> dict[str, str]:
    """Return the values of ``key=value`` texts by key; each key is one of `keys` and occurs once.

    Errors begin with `within`, e.g. the whole text or the option that contains the pairs.

    Examples
    --------
    >>> read_pairs("fps=5, window = 128".split(","), ["fps", "window"], within="--grid")
    {'fps': '5', 'window': '128'}
    """
    keys = list(keys)
    pairs: dict[str, str] = {}
    for text in texts:
        key, value = split_pair(text)
        if value is None:
            raise error(f"{within}: got {text.strip()!r}, expected KEY=VALUE")
        if key not in keys:
            raise error(f"{within}: got the key {key!r}, expected {one_of_known(key, keys)}")
        if key in pairs:
            raise error(f"{within}: got the key {key!r} twice, expected it once")
        pairs[key] = value
    return pairs


def read_value(key: str, text: str, hint: Any, *, error: type[UsageError] = UsageError) -> Any:  # noqa: ANN401 - of the hinted type
    """Return the value that a text spells for a field.

    Parameters
    ----------
    key
        Name of the field, for the error.
    text
        What :func:`write_value` writes.
    hint
        Type of the field: ``float``, ``int``, ``bool``, a ``Literal``, or a union of these with None.

    Examples
    --------
    >>> read_value("top", "5", int | None), read_value("tail", "covered", Literal["dropped", "covered"])
    (5, 'covered')
    """
    for kind in kinds(hint):
        if kind is type(None) and text == "none":
            return None
        if kind is bool and text in ("yes", "no"):
            return text == "yes"
        if get_origin(kind) is Literal and text in get_args(kind):
            return text
        number = read_number(text) if kind in (int, float) else math.nan
        if kind is int and number.is_integer() and abs(number) >= _MOST:
            raise error(f"{key}: got {text[:40]!r}, expected a whole number below {_MOST:.0e}")
        if not math.isnan(number) and (kind is float or number.is_integer()):
            return kind(number)
    raise error(f"{key}: got {text[:40]!r}, expected {expected(hint)}")


def write_value(value: object) -> str:
    """Write a value as :func:`read_value` reads it; a number keeps all its digits."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return print_number(value) if isinstance(value, float) else str(value)


def kinds(hint: Any) -> tuple[Any, ...]:  # noqa: ANN401 - a type, or a form of typing, which is none
    """Return the kinds of value that a type hint allows: types, and choices as ``Literal``."""
    return (hint,) if get_origin(hint) is Literal or not get_args(hint) else get_args(hint)


def is_allowed(hint: Any, value: object) -> bool:  # noqa: ANN401 - as in kinds
    """Whether a value is of a type hint. A whole number is a number; a boolean is not."""
    for kind in kinds(hint):
        if get_origin(kind) is Literal:
            if value in get_args(kind):
                return True
        elif isinstance(value, bool):
            if kind is bool:
                return True
        elif isinstance(value, (int, float) if kind is float else kind):
            return True
    return False


def expected(hint: Any) -> str:  # noqa: ANN401 - as in kinds
    """Return the values of a type hint in words, as :func:`read_value` reads them."""
    return " or ".join(
        " or ".join(get_args(kind)) if get_origin(kind) is Literal else _WORDS[kind] for kind in kinds(hint)
    )


def print_number(value: float) -> str:
    """Write a number so that it reads back as itself: short where that is enough."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)
