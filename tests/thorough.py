"""Which parameters of a test are quick: the others are thorough, and run weekly (CONTRIBUTING.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest


def quick_are(quick: Iterable[Any], values: Iterable[Any] | Mapping[str, Any]) -> list[Any]:
    """Return parameters, of which all but the `quick` are thorough; those of a mapping are named by its keys."""
    named = values.items() if isinstance(values, Mapping) else ((str(value), value) for value in values)
    chosen = {str(of) for of in quick}
    params = [
        pytest.param(value, id=name, marks=[] if name in chosen else pytest.mark.thorough) for name, value in named
    ]
    unknown = chosen - {of.id for of in params}
    assert not unknown, f"no parameters are called {', '.join(sorted(unknown))}"
    return params
