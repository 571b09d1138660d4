"""Entries of JSON files: a list or JSON Lines (many programs write either), and lists by video."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from truemoment.base.boundary.files import (
    BYTE_ORDER_MARK,
    DATA_BYTES,
    decode_entries,
    decode_json,
    iterate_lines,
    read_bytes,
    read_json_lines,
    refuse_repeated_keys,
)
from truemoment.base.boundary.own_path import AnyPath

T = TypeVar("T")


def read_entries(path: AnyPath, kind: type[T], *, progress: bool = False) -> Iterator[tuple[int, T]]:
    """Yield (line on which it begins, entry) of a JSON list or of JSON Lines; lines are read one by one."""
    if not first_line(path).startswith(b"["):
        yield from read_json_lines(path, kind, progress=progress)
        return
    data = read_bytes(path, most=DATA_BYTES).removeprefix(BYTE_ORDER_MARK)
    refuse_repeated_keys(data, path)
    decoder = msgspec.json.Decoder(kind)
    line, at = 1, 0
    for number, raw in enumerate(decode_json(data, list[msgspec.Raw], path=path)):
        text = bytes(raw)
        begins = data.index(text, at)
        line += data.count(b"\n", at, begins)
        try:
            entry = decoder.decode(raw)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            decode_json(text, kind, path=path, line=line, field=f"[{number}]")  # raises with the place in words
            raise
        yield line, entry
        line += text.count(b"\n")
        at = begins + len(text)


def is_one_object(path: AnyPath) -> bool:
    """Whether a JSON file is one object rather than an object a line."""
    lines = (line.strip() for line in iterate_lines(path) if line.strip())
    first, second = next(lines, None), None
    if first is not None and first.endswith(b"}"):
        second = next(lines, None)
    return second is None or not second.startswith(b"{")


def first_line(path: AnyPath) -> bytes:
    """Return the first line of a file that is not blank."""
    return next((line.strip() for line in iterate_lines(path) if line.strip()), b"")


def read_by_video(path: AnyPath, kind: type[T], *, field: str) -> list[tuple[str, T]]:
    """Return (video, entry) for each entry of ``{field: {VIDEO: [entry, ...]}}``."""
    data = read_bytes(path, most=DATA_BYTES)
    refuse_repeated_keys(data, path)
    file = decode_json(data, msgspec.defstruct("ByVideo", [(field, dict[str, msgspec.Raw])]), path=path)
    lists = decode_entries(getattr(file, field), list[kind], data=data, path=path, within=field)  # type: ignore[valid-type]  # a type to msgspec
    return [(video_id, entry) for video_id, entries in lists.items() for entry in entries]


MOST_DIGITS = 15
"""Most digits of an id that is written as a whole number: every reader of JSON reads these exactly."""


def whole_id(query_id: str | None) -> str | int:
    """Return an id as a whole number if reading that gives the same text again; "" if there is none.

    Examples
    --------
    >>> whole_id("7"), whole_id("007"), whole_id("v#0")
    (7, '007', 'v#0')
    """
    query_id = query_id or ""
    digits = query_id.isascii() and query_id.isdigit() and len(query_id) <= MOST_DIGITS
    return int(query_id) if digits and str(int(query_id)) == query_id else query_id
