"""What a check is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from truemoment.auditing.findings import Finding
from truemoment.auditing.results import Results


@dataclass(frozen=True)
class Check:
    """A check by name.

    Parameters
    ----------
    name
        As a gate writes it.
    look
        Returns its finding, or None where it does not apply.
    looks_at
        What it looks at, in words.
    passes
        When it holds; "" where it cannot fail.
    figure
        What its figure is, a fraction; "" where it has none.
    """

    name: str
    look: Callable[[Results], Finding | None]
    looks_at: str
    passes: str = ""
    figure: str = ""
