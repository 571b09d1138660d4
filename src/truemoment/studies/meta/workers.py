"""Work in pieces by several threads, with the same result for any number of threads.

Threads suffice, because nearly all time is spent in NumPy. Each piece draws from its own generator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from truemoment.base.boundary.distribution import available_cores
from truemoment.base.errors import UsageError
from truemoment.evaluation.progress import with_progress

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def map_in_order(
    work: Callable[[Piece], Result], pieces: Sequence[Piece], *, workers: int | None, description: str, progress: bool
) -> Iterator[Result]:
    """Do every piece of work and yield the results in the order of the pieces."""
    workers = available_cores() if workers is None else workers
    if workers < 1:
        raise UsageError(f"got {workers} workers, expected 1 or more")
    with ThreadPoolExecutor(min(workers, max(len(pieces), 1))) as pool:
        running = [pool.submit(work, piece) for piece in pieces]
        try:
            for future in with_progress(running, description, show=progress, unit="block", fewest=8):
                yield future.result()
        finally:
            for future in running:
                future.cancel()  # after Ctrl-C or an error, waiting pieces do not start
