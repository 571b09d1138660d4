"""Lists of expected names for messages, with the probable meaning of a misspelt name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def one_of_known(name: str, names: Iterable[str]) -> str:
    """Return "one of NAMES", and a suggestion if one of them is similar to `name`.

    Examples
    --------
    >>> one_of_known("tst", ["train", "val", "test"])
    'one of train, val, test; did you mean test?'
    >>> one_of_known("nothing", ["train", "val"])
    'one of train, val'
    """
    names = list(dict.fromkeys(names))
    listed = f"one of {', '.join(names)}"
    suggestion = nearest(name, names)
    return listed if suggestion is None else f"{listed}; did you mean {suggestion}?"


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name that is most similar to `name`, ignoring case; None if none is similar."""
    by_lower = {candidate.lower(): candidate for candidate in names}
    matches = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.7)
    return by_lower[matches[0]] if matches else None
