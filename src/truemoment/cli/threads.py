"""--threads: how many threads NumPy and PyTorch use in one process."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

from truemoment.cli.command import headed

F = TypeVar("F", bound=Callable[..., Any])

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What NumPy's libraries and PyTorch read when they are loaded; processes that this one starts inherit them."""

OF_MODELS = 1
"""Threads of a model that is trained or asked: those of small models mostly wait for each other.

A user measured an epoch of blind-tan on a busy machine: 86 s with one thread, over 500 s with PyTorch's own number.
"""


def threads_option(default: int | None) -> Callable[[F], F]:
    """--threads, which the command itself does not see; `default` None leaves the number to the libraries."""
    shown = "all cores" if default is None else str(default)
    text = f"Number of threads of this process. [default: OMP_NUM_THREADS, or {shown}]"
    option = click.option(
        "--threads",
        type=click.IntRange(1, 1024),
        metavar="N",
        help=text,
        expose_value=False,
        callback=lambda context, _, number: _limit(context, number, default),
    )
    return headed("Workers", option)


def _limit(context: click.Context, number: int | None, default: int | None) -> None:
    if not context.resilient_parsing:
        context.with_resource(limited_threads(number, default))


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
