"""Requests: records whose fields are the options of a command, and the keywords of a function.

A field that is made by :func:`option` has its help, limits and default there, once. The command line makes an option of
it (:mod:`truemoment.cli.binder`), and :func:`function_of` makes a function whose keywords are the fields. The role of a
path (:data:`In`, :data:`Out`, ...) says whether it is read or written: a command refuses to write what it reads.

A request inherits the fields of its parts, such as the data. A part may have ``HEADING``, a title in the help,
``check()``, which refuses values that do not fit together, and ``inputs()``, files that it reads beside its own fields.
This module and the modules of requests load no NumPy, so that ``--help`` is quick.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints, overload

from truemoment.base.known_names import SYNONYMS, nearest

P = ParamSpec("P")
Q = TypeVar("Q")
R = TypeVar("R")
T = TypeVar("T")

READ, READ_RUN, READ_DATASET = "read", "read run", "read dataset"
WRITE, WRITE_INTO, WRITE_NEW, RESUME = "write", "write into", "write new", "resume"
"""Roles of paths."""

In = Annotated[T, READ]
"""File or folder that is read."""

InRun = Annotated[T, READ_RUN]
"""Folder of a trained run; only the files of the run are read."""

InDataset = Annotated[T, READ_DATASET]
"""The name of a dataset, DATASET/SPLIT, or a file."""

Out = Annotated[T, WRITE]
"""A file that is written."""

OutFolder = Annotated[T, WRITE_INTO]
"""Folder in which files are written; it may exist."""

NewFolder = Annotated[T, WRITE_NEW]
"""A folder that is written, which must be new or empty."""

Resumed = Annotated[T, RESUME]
"""A folder of runs, which is made or resumed; other outputs may lie in it."""

AnyFile = Path | str | os.PathLike[str]

MOST_SEED = 999_999_999
MOST_RESAMPLES = 100_000
"""Resamples beyond which nothing is gained and memory is lost."""


def ignore(_: str) -> None:
    """Ignore a message."""


@overload
def several(value: str | Sequence[str] | None) -> tuple[str, ...]: ...
@overload
def several(value: AnyFile | Sequence[AnyFile] | None) -> tuple[AnyFile, ...]: ...
def several(value: AnyFile | Sequence[AnyFile] | None) -> tuple[AnyFile, ...]:
    """Return a word or file, or some, as a tuple; None is none.

    An option that can be repeated has one value or several in Python: ``split="test"`` or ``split=["val", "test"]``.
    """
    return () if value is None else (value,) if isinstance(value, str | os.PathLike) else tuple(value)


def option(
    text: str,
    default: Any = None,  # noqa: ANN401 - of any type
    *,
    name: str = "",
    limits: tuple[float | None, float | None] | None = None,
    is_open: bool = False,
    metavar: str | None = None,
    choices: tuple[str, ...] = (),
    complete: str = "",
    words: Any = None,  # noqa: ANN401 - a type
    read: Callable[[Any], Any] | None = None,
    show: bool = True,
    required: bool = False,
    rare: bool = False,
) -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return a field that is an option.

    Parameters
    ----------
    text
        Help: what it sets, and its unit.
    default
        Default value.
    name
        Name on the command line, where it is not ``--`` and the name of the field; several with blanks between.
    limits, is_open
        Smallest and largest number, and whether they are excluded.
    metavar
        Placeholder of the value.
    choices
        Values, where they are not in the type.
    complete
        What a shell completes: a name of :mod:`truemoment.cli.completing`.
    words, read
        Type of the words of the command line, and the function that makes the value of them.
    show
        Whether the help shows the default.
    required
        Whether it must be given.
    rare
        Whether only ``--help-all`` lists it.
    """
    metadata = {
        "text": text,
        "name": name,
        "limits": limits,
        "is_open": is_open,
        "metavar": metavar,
        "choices": choices,
        "complete": complete,
        "words": words,
        "read": read,
        "show": show,
        "rare": rare,
    }
    return field(metadata=metadata) if required else field(default=default, metadata=metadata)


def argument(
    *,
    metavar: str | None = None,
    complete: str = "",
    words: Any = None,  # noqa: ANN401 - a type
    read: Callable[[Any], Any] | None = None,
    required: bool = True,
) -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return a field that is a word without an option before it, in this place."""
    metadata = {"argument": True, "metavar": metavar, "complete": complete, "words": words, "read": read}
    return field(metadata=metadata) if required else field(default=None, metadata=metadata)


def in_python(text: str, default: Any) -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return a field that is a keyword in Python, and no option."""
    return field(default=default, metadata={"python": text})


def number(
    text: str,
    default: int | None,
    least: int,
    most: int | None = None,
    *,
    metavar: str = "N",
    name: str = "",
    rare: bool = False,
) -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return an option with a whole number from `least` to `most`."""
    return option(text, default, limits=(least, most), metavar=metavar, name=name, rare=rare)


def seed(subject: str) -> Any:  # noqa: ANN401 - as dataclasses.field
    """Return the option --seed; `subject` is what is drawn."""
    return number(f"Seed of {subject}.", 0, 0, MOST_SEED)


_ROLE = re.compile(r"^(?:In|InRun|InDataset|Out|OutFolder|NewFolder|Resumed)\[(.*)\]$")


@dataclass(frozen=True, kw_only=True)
class Request:
    """Base class of requests: the options of a command, or the keywords of a function."""

    def __post_init__(self) -> None:
        """Refuse values that do not fit together, part by part."""
        for part in parts(type(self)):
            if "check" in vars(part):
                vars(part)["check"](self)


@dataclass(frozen=True, kw_only=True)
class Running(Request):
    """How a function reports progress and warnings; the command line has its own way."""

    on_status: Callable[[str], None] = in_python("Called with what is being done.", ignore)
    on_warning: Callable[[str], None] = in_python("Called with what cannot be kept for later.", ignore)
    progress: bool = in_python("Whether a progress bar is shown on standard error.", False)


def parts(record: type) -> list[type]:
    """Return a request and the parts that it inherits from, its own fields first."""
    return [part for part in record.__mro__ if issubclass(part, Request) and part is not Request]


class _ModuleNames(dict[str, Any]):
    """Names of a module; one that only type checkers import is of any type."""

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - any type
        return getattr(builtins, name, Any)


@functools.cache
def types_of(part: type) -> dict[str, Any]:
    """Return the types of the fields of a part, without those that it inherits."""
    names = _ModuleNames(vars(sys.modules[part.__module__]))
    own = inspect.get_annotations(part)
    return get_type_hints(type("Own", (), {"__annotations__": own}), {}, names, include_extras=True)


def fields_of(record: type) -> Iterator[tuple[type, dataclasses.Field[Any], Any]]:
    """Yield part, field and type of every option, argument and keyword of a request, in the order of the help."""
    fields = {field.name: field for field in dataclasses.fields(record)}
    seen = set()
    for part in parts(record):
        for name, hint in types_of(part).items():
            if name in fields and name not in seen:
                seen.add(name)
                yield part, fields[name], hint


def role_of(hint: Any) -> str | None:  # noqa: ANN401 - any type
    """Return the role of a path; None for another value."""
    return get_args(hint)[1] if get_origin(hint) is Annotated else None


def named_files(text: str) -> list[Path]:
    """Return the files and folders that a text names and that exist: itself, or the sources between its commas."""
    names = [text] if os.path.exists(text) else text.split(",")  # noqa: PTH110 - pathlib raises at a name too long
    return [Path(name.strip()) for name in names if os.path.exists(name.strip())]  # noqa: PTH110 - as above


def option_of(field: dataclasses.Field[Any]) -> str:
    """Return the names of an option, with blanks between."""
    return field.metadata.get("name") or f"--{field.name.replace('_', '-')}"


def function_of(record: Callable[P, Q], run: Callable[[Q], R], name: str) -> Callable[P, R]:
    """Return the function of the fields of a request, with the docstring of `run` and the help of the fields."""
    assert isinstance(record, type)  # noqa: S101 - a class, which mypy sees as a function
    names = [field.name for _, field, _ in fields_of(record)]
    places = [field.name for field in dataclasses.fields(record) if not field.kw_only]
    needed = [field.name for field in dataclasses.fields(record) if field.default is dataclasses.MISSING]

    @functools.wraps(run)
    def function(*args: P.args, **keywords: P.kwargs) -> R:
        if unknown := next((word for word in keywords if word not in names), None):
            meant = SYNONYMS.get(f"--{unknown.replace('_', '-')}", "").removeprefix("--")
            meant = meant if meant in names else nearest(unknown, names) or ""
            hint = f". Did you mean {meant!r}?" if meant else ""
            raise TypeError(f"{name}() got an unexpected keyword argument {unknown!r}{hint}")
        if len(args) > len(places):
            first = "annotations" if "annotations" in names else next(word for word in names if word not in places)
            raise TypeError(
                f"{name}() got {len(args)} arguments without a name, expected {', '.join(places) or 'none'}; the "
                f"others have one, as in {name}({', '.join([*places, f'{first}=...'])})"
            )
        given = {*places[: len(args)], *keywords}
        if missing := [word for word in needed if word not in given]:
            raise TypeError(f"{name}() is missing {', '.join(missing)}, as in {name}({missing[0]}=...)")
        return run(record(*args, **keywords))

    function.__name__ = function.__qualname__ = name
    arguments = sorted((_parameter(field) for _, field, _ in fields_of(record)), key=lambda parameter: parameter.kind)
    signature = inspect.Signature(arguments, return_annotation=run.__annotations__["return"])
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = _documented(inspect.cleandoc(run.__doc__ or ""), record)
    del function.__wrapped__
    return function


def _parameter(field: dataclasses.Field[Any]) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY if field.kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
    default = inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default
    return inspect.Parameter(field.name, kind, default=default, annotation=_ROLE.sub(r"\1", str(field.type)))


def _documented(text: str, record: type) -> str:
    """Insert the parameters into a docstring: the arguments as it has them, and the help of every option."""
    head, returns, rest = text.partition("\nReturns\n")
    lines = [] if "\nParameters\n" in head else ["", "Parameters", "----------"]
    pattern = re.compile(r"--([a-z][a-z-]*)")
    for _, entry, _ in fields_of(record):
        if words := entry.metadata.get("text") or entry.metadata.get("python"):
            lines += [entry.name, "    " + pattern.sub(lambda match: f"`{match[1].replace('-', '_')}`", words)]
    return f"{head.rstrip()}\n" + "\n".join(lines) + f"\n{returns}{rest}"
