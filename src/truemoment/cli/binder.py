"""Commands of requests: every field of a record is an option, and no output overwrites an input.

A command is a function of one or more records (:mod:`truemoment.base.request`), whose docstring is its help.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import os
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import click

from truemoment.base import request as roles
from truemoment.base.errors import UsageError
from truemoment.base.request import Request, fields_of, named_files, option_of, parts, role_of
from truemoment.cli import completing
from truemoment.cli.command import Command
from truemoment.cli.expected import expect
from truemoment.cli.outputs import (
    STANDARD_OUTPUT,
    files_of_run,
    refuse_files,
    refuse_folder,
    refuse_no_parent,
    refuse_outputs,
)
from truemoment.cli.parts import Threads

MOST_WHOLE = 2**63 - 1
"""Largest whole number of 64 bits."""


class _NamedPath(click.Path):
    """A path of one character or more: an empty one would be the current folder, where a variable is not set."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Return a path; refuse an empty text."""
        return super().convert(value, param, ctx) if value != "" else self.fail("is empty, expected a path", param, ctx)


class _Name(click.types.StringParamType):
    """A name of one character or more: an empty one would be the default or all, where a variable is not set."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Return a text; refuse an empty one."""
        if value == "" and not (param is not None and param.default == ""):
            self.fail("is empty, expected a name", param, ctx)
        return super().convert(value, param, ctx)


class _WholeNumber(click.types.IntParamType):
    """A whole number of 64 bits at most: others are too large for arrays and for floating point."""

    name = "whole number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Return a number; refuse one of more than 64 bits."""
        number = super().convert(value, param, ctx)
        return (
            number
            if abs(number) <= MOST_WHOLE
            else self.fail(f"got {number}, expected {MOST_WHOLE:,} at most.", param, ctx)
        )


class _WholeRange(_WholeNumber, click.IntRange):
    """Such a number within limits."""


class _Number(click.FloatRange):
    """A finite number within limits: no comparison with a limit refuses NaN."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Return a number; refuse NaN and infinity."""
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value} is not a finite number.", param, ctx)


FILE = _NamedPath(path_type=Path)
"""A file or folder, which need not exist."""

NAME_METAVARS = ("NAME", "SOURCE")
"""Placeholders of options whose text names something, such as a split."""

STANDARD_OUTPUT_OPTIONS = ("--json", "--csv", "--bibtex", "--html")
"""Options whose file may be "-", which is standard output; a page refuses it itself."""


def command(name: str, group: click.Group | None = None) -> Callable[[Callable[..., None]], Command]:
    """Return a decorator that makes a command of a function of records, in a group where one is given."""

    def decorate(function: Callable[..., None]) -> Command:
        hints = get_type_hints(function)
        records = {parameter: hints[parameter] for parameter in inspect.signature(function).parameters}

        def call(**given: Any) -> None:  # noqa: ANN401 - values of options
            requests: dict[str, Request] = {}
            for parameter, record in records.items():
                names = {field.name for _, field, _ in fields_of(record)}
                requests[parameter] = record(**{name: value for name, value in given.items() if name in names})
            begin(*requests.values())
            expect(name, given)
            for request in requests.values():
                if isinstance(request, Threads):
                    click.get_current_context().with_resource(request.limit())
            function(**requests)

        params = [parameter for record in records.values() for parameter in parameters(record)]
        params.sort(key=lambda parameter: isinstance(parameter, click.Option))  # arguments first
        made = Command(name, params=params, callback=call, help=inspect.cleandoc(function.__doc__ or ""))
        if group is not None:
            group.add_command(made)
        return made

    return decorate


def parameters(record: type) -> Iterator[click.Parameter]:
    """Yield the arguments and options of a record."""
    made: click.Parameter
    for part, field, hint in fields_of(record):
        if "python" in field.metadata:
            continue
        made = _argument(field, hint) if "argument" in field.metadata else _option(field, hint)
        setattr(made, "rare", field.metadata.get("rare", False))  # noqa: B010 - click has no such attribute
        if heading := vars(part).get("HEADING"):
            setattr(made, "heading", heading)  # noqa: B010 - as above
        yield made


def _argument(field: dataclasses.Field[Any], hint: Any) -> click.Argument:  # noqa: ANN401 - a type
    kind, many = _kind(hint, field.metadata)
    required = field.default is dataclasses.MISSING
    return click.Argument(
        [field.name],
        type=kind,
        nargs=-1 if many else 1,
        required=required,
        metavar=field.metadata["metavar"],
        shell_complete=_completer(field),
        callback=_reader(field.metadata["read"]),
    )


def _option(field: dataclasses.Field[Any], hint: Any) -> click.Option:  # noqa: ANN401 - a type
    how = field.metadata
    kind, many = _kind(hint, how)
    default = None if field.default in (dataclasses.MISSING, ()) else field.default
    value: dict[str, Any] = {"is_flag": True} if kind is bool else {"type": kind, "multiple": many}
    if kind is not bool and default is not None:  # None would be a value, which a required option has then
        value["default"] = default
    return click.Option(
        [*option_of(field).split(), field.name],
        **value,
        nargs=len(kind) if isinstance(kind, tuple) else 1,
        required=field.default is dataclasses.MISSING,
        metavar=how["metavar"],
        show_default=how["show"] and default is not None and default is not False,
        help=how["text"],
        shell_complete=_completer(field),
        callback=(lambda _context, _parameter, value: value or remembered_data_dir())
        if field.name == "data_dir"
        else _reader(how.get("read")),
    )


def _completer(field: dataclasses.Field[Any]) -> Any:  # noqa: ANN401 - what click completes with
    return getattr(completing, field.metadata["complete"]) if field.metadata["complete"] else None


def _reader(read: Callable[[Any], Any] | None) -> Callable[..., Any] | None:
    """Return a callback that converts the words of an option; a ValueError names the option."""

    def callback(context: click.Context, parameter: click.Parameter, words: Any) -> Any:  # noqa: ANN401 - of any type
        try:
            return words if words is None or read is None else read(words)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx=context, param=parameter) from None

    return read and callback


def remembered_data_dir() -> Path | None:
    """Return the folder that ``truemoment config`` remembers, unless the environment names one."""
    if os.environ.get("TRUEMOMENT_DATA"):
        return None
    from truemoment.cli.settings_file import read_settings

    remembered = read_settings().data_dir
    return None if remembered is None else Path(remembered)


def _kind(hint: Any, how: Mapping[str, Any]) -> tuple[Any, bool]:  # noqa: ANN401 - types
    """Return the type of a value for click, and whether there may be several values."""
    role = None if how.get("words") else role_of(hint)
    hint = how.get("words") or (get_args(hint)[0] if role else hint)
    if get_origin(hint) in (Union, types.UnionType):  # the first is that of the command line
        hint = next(variant for variant in get_args(hint) if variant is not types.NoneType)
    many = get_origin(hint) is tuple and get_args(hint)[-1] is Ellipsis
    if many:
        hint = get_args(hint)[0]
    if get_origin(hint) is tuple:
        return tuple(_kind(item, {})[0] for item in get_args(hint)), many
    if get_origin(hint) is Literal or how.get("choices"):
        return click.Choice(how.get("choices") or get_args(hint)), many
    if limits := how.get("limits"):
        of_number: Any = _WholeRange if hint is int else _Number
        return of_number(*limits, min_open=how["is_open"], max_open=how["is_open"]), many
    if hint is int:
        return _WholeNumber(), many
    if hint is Path or (role and hint is not str):
        return FILE, many
    return (_Name() if hint is str and how.get("metavar") in NAME_METAVARS else hint), many


def begin(*requests: Request) -> None:
    """Refuse outputs that would overwrite an input, and register both, before any work."""
    data_dir = next(
        (folder for request in requests if (folder := getattr(request, "data_dir", None)) is not None), None
    )
    read: list[Path] = []
    written: list[Path] = []
    made: list[Path] = []
    for request in requests:
        for part in parts(type(request)):
            if "inputs" in vars(part):
                read += vars(part)["inputs"](request)
        for _, field, hint in fields_of(type(request)):
            paths, role = list(_paths(getattr(request, field.name))), role_of(hint)
            if role == roles.READ:
                read += paths
            elif role == roles.READ_DATASET:
                read += [file for name in _texts(getattr(request, field.name)) for file in _files_of(name, data_dir)]
                read += [path for path in paths if path.is_file()]
            elif role == roles.READ_RUN:
                read += [file for path in paths for file in files_of_run(path)]
            elif role in {roles.WRITE, roles.WRITE_NEW}:
                written += paths
            elif role == roles.RESUME:
                made += paths
            for path in paths:
                _refuse_what_is_there(path, role, option_of(field).split()[0])
    refuse_outputs(read, [path for path in written if path.parent not in made or path.parent.exists()])


def _refuse_what_is_there(path: Path, role: str | None, option: str) -> None:
    """Refuse a file in place of a folder, a folder in place of a file, and a folder that no folder can hold."""
    if role in {roles.WRITE_INTO, roles.RESUME}:
        refuse_files({option: path})
    if role == roles.RESUME:
        refuse_no_parent(path)
    elif role == roles.WRITE_NEW:
        refuse_folder(path)
    elif role == roles.WRITE and path.is_dir():
        raise UsageError(f"{option} {path}: is a folder, expected a file")
    elif role == roles.WRITE and path == STANDARD_OUTPUT and option not in STANDARD_OUTPUT_OPTIONS:
        raise UsageError(f"{option} -: cannot go to standard output, expected the name of a file")


def _files_of(dataset: str, data_dir: Path | None) -> list[Path]:
    """Return the files that reading a dataset may open."""
    from truemoment.data.datasets.source import files_of

    return files_of(dataset, data_dir)


def _texts(value: Any) -> list[str]:  # noqa: ANN401 - of any field
    """Return the texts of a field that has one, or several."""
    return [str(item) for item in (value if isinstance(value, tuple) else (value,)) if item is not None]


def _paths(value: Any) -> Iterator[Path]:  # noqa: ANN401 - of any field
    """Yield the paths in the value of a field: a path, the name of an existing file, or several of these."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, str):
        yield from named_files(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _paths(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _paths(item)
