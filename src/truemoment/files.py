"""Files: typed reading with errors that name the line, atomic writing, checksums.

A file from outside is wrong until parsed. Everything here either returns a fully checked value or
raises :class:`~truemoment.exceptions.InputError` saying where and what; nothing half-read leaves.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TypeVar, cast

import msgspec

from truemoment.exceptions import InputError, MissingFileError

T = TypeVar("T")

LARGE_FILE_BYTES = 20_000_000
"""Reading more than this takes long enough to show progress."""

_AT = re.compile(r"^(?P<problem>.*?)(?: - at `(?P<field>[^`]*)`)?$", re.DOTALL)
_BYTE = re.compile(r"\(byte (\d+)\)")


def read_bytes(path: Path) -> bytes:
    """Return the content of `path`; a name ending in ``.gz`` is unpacked.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InputError
        If it cannot be read or unpacked.
    """
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except FileNotFoundError:
        raise MissingFileError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError("is a folder, expected a file", path=path) from None
    except (OSError, EOFError) as error:
        raise InputError(f"cannot be read ({error})", path=path) from None


def read_text(path: Path) -> str:
    """Return the content of `path` as UTF-8 text, a leading byte-order mark removed.

    Raises
    ------
    InputError
        If the content is not UTF-8; the line is named.
    """
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"got byte 0x{data[error.start]:02x}, expected UTF-8 text", path=path, line=line) from None


def decode_json(data: bytes, kind: type[T], *, path: Path, line: int = 1) -> T:
    """Decode JSON `data` as a value of type `kind`.

    Parameters
    ----------
    data
        The JSON text, which begins at `line` of `path`.
    kind
        Any type msgspec knows: a ``Struct``, ``dict[str, X]``, ``list[X]`` ...

    Raises
    ------
    InputError
        Naming file, line, field, what came and what was expected.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise _invalid(error, path, line, "") from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        found = _BYTE.search(str(error))
        word = re.match(rb"NaN|-?Infinity", data[int(found.group(1)) :]) if found else None
        if word is not None:
            raise InputError(f"got {word[0].decode()}, expected a number", path=path, line=line) from None
        at = line + data.count(b"\n", 0, int(found.group(1))) if found else line
        raise InputError(f"{_lower_first(str(error))}, expected JSON", path=path, line=at) from None


def read_json_mapping(path: Path, kind: type[T]) -> dict[str, T]:
    """Read a JSON object whose values are all of type `kind`, e.g. one entry a video.

    Raises
    ------
    InputError
        Naming the key at fault and the field below it; also if a key stands twice, since one of the two
        would be lost.
    """
    data = read_bytes(path)
    raw = decode_json(data, dict[str, msgspec.Raw], path=path)
    json.loads(data, object_pairs_hook=lambda pairs: _unique_keys(pairs, path))
    return decode_entries(raw, kind, data=data, path=path)


def decode_entries(
    raw: dict[str, msgspec.Raw], kind: type[T], *, data: bytes, path: Path, within: str = ""
) -> dict[str, T]:
    """Decode the values of an object that were left raw, so that an error names the key at fault.

    Parameters
    ----------
    raw
        Undecoded values by key, parts of `data`.
    within
        Field that holds the object; "" for the file itself.
    """
    decoder = msgspec.json.Decoder(kind)
    entries = {}
    for key, value in raw.items():
        try:
            entries[key] = decoder.decode(value)
        except msgspec.ValidationError as error:
            line = data.count(b"\n", 0, max(data.find(bytes(value)), 0)) + 1
            raise _invalid(error, path, line, f"{within}.{key}" if within else key) from None
    return entries


def _unique_keys(pairs: list[tuple[str, object]], path: Path) -> None:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        twice = next(key for position, key in enumerate(keys) if key in keys[:position])
        raise InputError(f"{twice!r} stands twice, expected each key once", path=path, field=twice)


def read_json_lines(path: Path, kind: type[T], *, progress: bool = False) -> Iterator[tuple[int, T]]:
    """Yield (line number, value of type `kind`) for each line that is not blank.

    Raises
    ------
    InputError
        Naming file, line and field, at the first line that is not as it must be.
    """
    decoder = msgspec.json.Decoder(kind)
    for number, line in enumerate(iterate_lines(path, progress=progress), start=1):
        if line.isspace():
            continue
        try:
            value = decoder.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            decode_json(line, kind, path=path, line=number)  # raises, with the place in words
            raise
        yield number, value


def iterate_lines(path: Path, *, progress: bool = False) -> Iterator[bytes]:
    """Yield the lines of `path` as bytes, line ends kept, a byte-order mark removed.

    A name ending in ``.gz`` is unpacked on the way; memory stays bounded by the longest line. With
    `progress` a bar on standard error follows the reading of a large file.
    """
    try:
        with open_binary(path) as stream:
            first = stream.readline()
            if first:
                yield first.removeprefix(b"\xef\xbb\xbf")
                yield from _followed(stream, path) if progress else stream
    except FileNotFoundError:
        raise MissingFileError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError("is a folder, expected a file", path=path) from None
    except (OSError, EOFError) as error:
        raise InputError(f"cannot be read ({error})", path=path) from None


def _followed(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    """Yield the lines of a stream under a progress bar, if the file is large enough to wait for."""
    size = path.stat().st_size
    if size < LARGE_FILE_BYTES or path.suffix == ".gz":
        yield from stream
        return
    from tqdm import tqdm  # noqa: PLC0415 - only large files need it, and importing takes time

    with tqdm(total=size, desc=f"reading {path.name}", unit="B", unit_scale=True, leave=False) as bar:
        for line in stream:
            bar.update(len(line))
            yield line


def open_binary(path: Path) -> IO[bytes]:
    """Open `path` for reading; a name ending in ``.gz`` is unpacked on the way."""
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only when complete.

    Whatever goes wrong inside the block, an existing file stays as it was and nothing half-written
    remains.
    """
    path = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", path=path) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)  # mkstemp makes private files; ours are ordinary ones
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _invalid(error: msgspec.ValidationError, path: Path, line: int, field: str) -> InputError:
    found = _AT.match(str(error))
    problem = found.group("problem") if found else str(error)
    inner = (found.group("field") or "") if found else ""
    inner = inner.removeprefix("$").removeprefix(".")
    expected = re.match(r"Expected (.*), got (.*)$", problem)
    if expected:
        problem = f"got {_in_words(expected.group(2))}, expected {_in_words(expected.group(1))}"
    else:
        problem = _in_words(_lower_first(problem))
    name = f"{field}.{inner}" if field and inner and not inner.startswith("[") else field + inner
    return InputError(problem, path=path, line=line, field=name or None)


_WORDS = {
    "float": "a number",
    "int": "a whole number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


def _in_words(kinds: str) -> str:
    """Say what JSON calls `float`, `str` or `array` in words; a length is kept: "a list of length 3"."""
    return re.sub(r"`([a-z]+)`", lambda kind: _WORDS.get(kind.group(1), kind.group(1)), kinds).replace(" | ", " or ")


def _lower_first(text: str) -> str:
    return text if text.startswith("JSON") else text[:1].lower() + text[1:]
