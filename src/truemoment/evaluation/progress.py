"""A progress bar around long work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def with_progress(
    items: Sequence[T], description: str, *, show: bool, unit: str = "it", fewest: int = 1
) -> Iterator[T]:
    """Yield `items` with a bar on standard error, if there are at least `fewest`."""
    if not show or len(items) < fewest:
        yield from items
        return
    from tqdm import tqdm  # noqa: PLC0415 - only long work needs it, and importing takes 60 ms

    yield from tqdm(items, desc=description, unit=unit, leave=False)
