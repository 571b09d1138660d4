"""Entries of a JSON list or of JSON Lines: many programs write now the one, now the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from truemoment.files import (
    BYTE_ORDER_MARK,
    decode_json,
    iterate_lines,
    read_bytes,
    read_json_lines,
    refuse_repeated_keys,
)

T = TypeVar("T")


def read_entries(path: Path, kind: type[T], *, progress: bool = False) -> Iterator[tuple[int, T]]:
    """Yield (line on which it begins, entry) of a JSON list or of JSON Lines; lines are read one by one."""
    if not is_list(path):
        yield from read_json_lines(path, kind, progress=progress)
        return
    data = read_bytes(path).removeprefix(BYTE_ORDER_MARK)
    refuse_repeated_keys(data, path)
    decoder = msgspec.json.Decoder(kind)
    line, at = 1, 0
    for number, raw in enumerate(decode_json(data, list[msgspec.Raw], path=path)):
        begins = data.index(bytes(raw), at)
        line += data.count(b"\n", at, begins)
        at = begins
        try:
            entry = decoder.decode(raw)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            decode_json(bytes(raw), kind, path=path, line=line, field=f"[{number}]")  # raises, with the place in words
            raise
        yield line, entry
        line += raw_lines(raw)
        at += len(bytes(raw))


def raw_lines(raw: msgspec.Raw) -> int:
    """How many line ends a value holds."""
    return bytes(raw).count(b"\n")


def is_list(path: Path) -> bool:
    """Whether a file's first character that is no blank opens a JSON list."""
    for line in iterate_lines(path):
        if line.strip():
            return line.lstrip().startswith(b"[")
    return False


MOST_DIGITS = 15
"""Of ids written as whole numbers: every reader of JSON holds these exactly."""


def whole_id(query_id: str) -> str | int:
    """Write an id as a whole number where reading it gives the same text again, as numbered ids are written.

    Examples
    --------
    >>> whole_id("7"), whole_id("007"), whole_id("v#0")
    (7, '007', 'v#0')
    """
    digits = query_id.isascii() and query_id.isdigit() and len(query_id) <= MOST_DIGITS
    return int(query_id) if digits and str(int(query_id)) == query_id else query_id
