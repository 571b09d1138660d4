"""Small YAML files that somebody wrote: read without traps, checked against a type, and refused with file and field."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Struct

from truemoment.base.boundary.files import in_words, lower_first, read_bytes
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError, MissingPackageError, UsageError

S = TypeVar("S", bound=Struct)

MOST_NUMBER = 1e30
"""No setting is larger: below what networks compute with, in 32 bits."""

MOST_BYTES, DEEPEST = 1 << 16, 16
"""Size and nesting of a recipe beyond which it is not read; ours have 500 bytes in two levels."""


def read_yaml(path: AnyPath) -> Any:  # noqa: ANN401 - checked by the caller
    """Read a small YAML file: no aliases, 16 levels, 64 KB."""
    return parse_yaml(read_bytes(path), path)


def parse_yaml(data: bytes, path: AnyPath) -> Any:  # noqa: ANN401 - checked by the caller
    """Parse the content of a small YAML file; an error names `path`."""
    try:
        import yaml  # noqa: PLC0415 - optional
    except ImportError:
        raise MissingPackageError("pyyaml", "models", "reading YAML") from None
    try:
        _refuse_traps(yaml, data, path)
        return msgspec.yaml.decode(data)
    except (msgspec.DecodeError, yaml.YAMLError) as error:
        raise InputError(f"is not YAML ({' '.join(str(error).split())})", path=path) from None
    except ValueError:
        raise InputError("is not YAML that can be read", path=path) from None


def _refuse_traps(yaml: Any, data: bytes, path: AnyPath) -> None:  # noqa: ANN401 - an optional package
    """Refuse YAML that is too large, nested too deeply (which ends the process), has aliases, or has a key twice.

    A few aliases of aliases represent more values than fit into any memory. Of a key that appears twice, one of the two
    values would be lost silently.
    """
    if len(data) > MOST_BYTES:
        raise InputError(f"got {len(data):,} bytes, expected {MOST_BYTES:,} at most", path=path)
    within: list[_OpenNode] = []
    too_deep = f"is nested too deeply, expected {DEEPEST} levels at most"
    try:
        for event in yaml.parse(data, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            line = None if event.start_mark is None else event.start_mark.line + 1
            if isinstance(event, yaml.AliasEvent):
                raise InputError(f"got the alias *{event.anchor}, expected the value itself", path=path, line=line)
            if isinstance(event, yaml.NodeEvent) and within and within[-1].repeats(getattr(event, "value", None)):
                twice = event.value
                raise InputError(f"{twice!r} appears twice, expected each key once", path=path, line=line, field=twice)
            if isinstance(event, yaml.CollectionStartEvent):
                within.append(_OpenNode(has_keys=isinstance(event, yaml.MappingStartEvent)))
            elif isinstance(event, yaml.CollectionEndEvent):
                within.pop()
            if len(within) > DEEPEST:
                raise InputError(too_deep, path=path, line=line)
    except yaml.scanner.ScannerError as error:  # libyaml reads ahead, and some versions end at 1,000 open brackets
        if "nesting depth" not in str(error) or error.problem_mark is None:
            raise
        raise InputError(too_deep, path=path, line=error.problem_mark.line + 1) from None


@dataclass
class _OpenNode:
    """A mapping or list whose end was not read yet: its keys so far, and whether the next value is one."""

    has_keys: bool
    keys: set[str] = field(default_factory=set)
    at_key: bool = True

    def repeats(self, text: str | None) -> bool:
        """Take the next value, None if it is no scalar; return whether it is a key that was there before."""
        is_key, self.at_key = self.has_keys and self.at_key, not self.at_key
        if not is_key or text is None:
            return False
        is_old = text in self.keys
        self.keys.add(text)
        return is_old


def convert(values: Mapping[str, Any], kind: type[S], path: AnyPath | None, field: str = "") -> S:
    """Check the values of a YAML file, or of the field `field` of it, against a type."""
    try:
        record = msgspec.convert(values, kind, strict=False)  # YAML reads 1e-3 as text
    except msgspec.ValidationError as error:
        problem, _, at = str(error).partition(" - at `$")
        inner = at.rstrip("`").lstrip(".")
        words = in_words(lower_first(problem))
        if re.search("unknown field|invalid enum value", words) and (names := _names_at(kind, inner)):
            words += f", expected one of {', '.join(names)}"
        raise InputError(words, path=path, field=(field + inner).rstrip(".") or None) from None
    for key, value in leaves(msgspec.to_builtins(record)).items():
        numbers = value if isinstance(value, list) else [value]
        if wrong := [
            number for number in numbers if isinstance(number, int | float) and not abs(number) <= MOST_NUMBER
        ]:  # or NaN
            number_text = (
                f"{wrong[0]:g}"
                if isinstance(wrong[0], float)
                else f"a whole number of {len(str(abs(wrong[0])))} digits"
            )
            problem = f"got {number_text}, expected a number from {-MOST_NUMBER:g} to {MOST_NUMBER:g}"
            raise InputError(problem, path=path, field=field + key)
    return record


def _names_at(kind: type[Struct], inner: str) -> tuple[str, ...]:
    """Return the fields of the part of a value at a dotted key, or the words it may be; none if it is not one part."""
    hint: Any = kind
    for name in filter(None, re.sub(r"\[[^\]]*\]", "", inner).split(".")):
        hint = get_type_hints(kind).get(name)
        parts = [part for part in _types_in(hint) if isinstance(part, type) and issubclass(part, Struct)]
        if len(parts) == 1:
            kind = parts[0]
        elif parts:
            return ()
    words = [word for word in _types_in(hint) if isinstance(word, str)]
    return tuple(words) if words else kind.__struct_fields__ if kind in _types_in(hint) else ()


def _types_in(hint: Any) -> list[Any]:  # noqa: ANN401 - any annotation
    """Return a type, and all types and values in it: ``list[Literal["a"]]`` has the list, the literal and "a"."""
    return [hint, *(inner for part in get_args(hint) for inner in _types_in(part))]


def leaves(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return all values that contain no further keys, by dotted key."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= leaves(value, f"{before}{key}.") if isinstance(value, dict) else {before + key: value}
    return flat


@contextlib.contextmanager
def naming(path: AnyPath | None, field: str) -> Iterator[None]:
    """Let errors about a value name the file and the field."""
    try:
        yield
    except UsageError as error:
        raise InputError(str(error), path=path, field=field) from None
