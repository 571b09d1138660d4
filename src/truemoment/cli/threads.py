"""--threads: how many threads NumPy and PyTorch use in one process."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What NumPy's libraries and PyTorch read when they are loaded; processes that this one starts inherit them."""


@contextlib.contextmanager
def limited_threads(number: int | None, default: int | None = None) -> Iterator[None]:
    """Let libraries that are loaded, and those that will be, use so many threads inside this block.

    None for the default where OMP_NUM_THREADS is not set; without a default, for their own number.
    """
    if number is None and "OMP_NUM_THREADS" not in os.environ:
        number = default
    if number is None:
        yield
        return
    from threadpoolctl import threadpool_limits

    before = {name: os.environ.get(name) for name in VARIABLES}
    os.environ.update(dict.fromkeys(VARIABLES, str(number)))
    torch = sys.modules.get("torch")
    torch_before = torch.get_num_threads() if torch is not None else None
    if torch is not None:
        torch.set_num_threads(number)
    try:
        with threadpool_limits(number):
            yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)
        if torch is not None and torch_before is not None:
            torch.set_num_threads(torch_before)


def threads_of_workers(engine: str, workers: int | None) -> int:
    """Return the default number of threads of each worker: the cores, divided; 1 on Ray, which gives each a core."""
    from truemoment.base.boundary.distribution import available_cores

    return 1 if engine == "ray" else max(1, available_cores() // (workers or 1))
