"""Options of the commands that are no functions of requests yet: ``search``, ``predict``, ``index``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from truemoment.base.request import MOST_SEED
from truemoment.cli.binder import FILE

F = TypeVar("F", bound=Callable[..., Any])


def together(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several options as one, in the order of the help."""

    def decorate(function: F) -> F:
        for option in reversed(decorators):
            function = option(function)
        return function

    return decorate


def count_option(
    name: str, default: int | None, text: str, *, least: int, most: int | None = None, metavar: str = "N"
) -> Callable[[F], F]:
    """An option with a whole number from `least` to `most`."""
    return click.option(
        name, type=click.IntRange(least, most), default=default, show_default=True, metavar=metavar, help=text
    )


def seed_option(of: str) -> Callable[[F], F]:
    """--seed, the seed of `of`."""
    return count_option("--seed", 0, f"Seed of {of}.", least=0, most=MOST_SEED)


def json_option(text: str) -> Callable[[F], F]:
    """--json, a file or standard output."""
    return click.option("--json", "json_path", type=FILE, metavar="FILE", help=text)
