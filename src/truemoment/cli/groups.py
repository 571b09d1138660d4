"""Groups of options, each bound to one typed value: a command takes ``data`` rather than four parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar, cast

from truemoment.base.request import Request
from truemoment.cli import binder, options
from truemoment.cli.command import headed
from truemoment.cli.parts import Output, Workers
from truemoment.studies.request import Data

F = TypeVar("F", bound=Callable[..., Any])
Q = TypeVar("Q", bound=Request)


def bound(name: str, kind: type, *decorators: Callable[[Any], Any], heading: str | None = None) -> Callable[[F], F]:
    """Add options to a command, which takes them as one value; its fields are the names of the options' parameters.

    The help lists them under a heading.
    """
    names = [field.name for field in fields(kind)]

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def command(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - a command's own
            return function(*args, **{name: kind(**{of: given.pop(of) for of in names})}, **given)

        return cast(F, options.together(*decorators)(command))

    return decorate if heading is None else headed(heading, decorate)


def of_record(name: str, record: type[Q], made: Callable[[Q], Any] = lambda request: request) -> Callable[[F], F]:
    """Add the options of a request to a command, which takes them as one value."""
    parameters = list(binder.parameters(record))

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def command(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - a command's own
            request = record(**{of.name: given.pop(of.name) for of in parameters if of.name in given})
            return function(*args, **{name: made(request)}, **given)

        command.__click_params__ = [*getattr(function, "__click_params__", ()), *reversed(parameters)]  # type: ignore[attr-defined]
        return cast(F, command)

    return decorate


data_options = of_record("data", Data, lambda of: of.source)
"""--dataset or --annotations, --split, --data-dir, as ``data``."""


workers_options = of_record("processes", Workers)
"""--engine and --workers, as ``processes``."""

output_options = of_record("output", Output)
"""--json, --table and --quiet, as ``output``."""
