"""Lists of expected names for messages, with the probable meaning of a misspelt name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from types import MappingProxyType

SYNONYMS = MappingProxyType(
    {
        "eval": "evaluate",
        "score": "evaluate",
        "metrics": "measures",
        "--metrics": "--measures",
        "--metric": "--measures",
        "--measure": "--measures",
        "--output": "--out",
        "--gt": "--annotations",
        "--ground-truth": "--annotations",
        "--references": "--annotations",
        "--fps": "--axis",
    }
)
"""What other programs call our commands and options."""

SWAPPED = "are predictions and annotations swapped?"
"""Hint where one is read as the other."""

NO_DURATION, GIVES_DURATIONS = "no video's duration is known", "--durations FILE or --videos DIR gives them"
"""What is missing where references have no durations, and the options that help."""


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


def spelled_alike(name: str, names: Iterable[str]) -> str | None:
    """Return the one name that is `name` in another case, or with other dashes and blanks; None if none is.

    Examples
    --------
    >>> spelled_alike("Charades_STA", ["charades-sta", "charades-cd"])
    'charades-sta'
    """
    alike = [candidate for candidate in names if _without_dashes(candidate) == _without_dashes(name)]
    return alike[0] if len(alike) == 1 else None


def _without_dashes(name: str) -> str:
    return name.lower().translate(_DASHES)


_DASHES = str.maketrans("", "", "-_ ")
