"""Files: typed reading with errors that name the line, atomic writing, checksums.

A reader returns a fully checked value, or raises :class:`~truemoment.base.errors.InputError` with the place
(:class:`~truemoment.base.errors.MissingFileError` if there is no file).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import math
import os
import re
import stat
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Annotated, Any, TypeVar

import msgspec

from truemoment.base.boundary.folders import temporary_file, temporary_folder
from truemoment.base.boundary.inputs import reading, writing
from truemoment.base.boundary.own_path import AnyPath, OwnPath, any_path, in_its_folder, open_regular, refuse_no_file
from truemoment.base.boundary.text import printable_lines
from truemoment.base.boundary.unpacking import BLOCK_BYTES, open_gzip
from truemoment.base.errors import InputError, MissingFileError

T = TypeVar("T")

Seed = Annotated[int, msgspec.Meta(ge=0)]
"""Seed of what is drawn, as files have it."""

AS_UTF_8 = "save it as UTF-8"
"""Hint for text in another encoding."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UNREADABLE = (OSError, EOFError, zlib.error)
"""Errors that reading or unpacking a file may raise."""

SETTINGS_BYTES, DATA_BYTES, LINE_BYTES = 16 << 20, 4 << 30, 64 << 20
"""Limits of a file of settings, of a file of annotations or predictions that is read whole, and of one line.

A sparse file has any size, and a damaged one may be a single line: reading it would take all memory.
"""

LARGE_FILE_BYTES = 20_000_000
"""Reading more than this takes long enough to show progress."""

_AT = re.compile(r"^(?P<problem>.*?)(?: - at `(?P<field>[^`]*)`)?$", re.DOTALL)
_BYTE = re.compile(r"\(byte (\d+)\)")
_COLON = re.compile(rb"\s*:\s*")
_TEXT = re.compile(rb'"((?:[^"\\]++|\\.)*+)"?\s*(:?)', re.DOTALL)  # one that does not end runs to the end


def read_bytes(path: AnyPath, *, most: int = SETTINGS_BYTES) -> bytes:
    """Return the content of `path`, which has at most so many bytes; a name ending in ``.gz`` is unpacked."""
    try:
        with open_binary(path) as stream:
            if os.fstat(stream.fileno()).st_size <= most and len(data := stream.read()) <= most:
                return data
    except FileNotFoundError:
        raise MissingFileError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError("is a folder, expected a file", path=path) from None
    except UNREADABLE as error:
        raise InputError(f"cannot be read ({error})", path=path) from None
    raise InputError(f"is larger than {most >> 20:,} MiB, the most of a file of its kind", path=path)


def read_text(path: AnyPath, *, most: int = SETTINGS_BYTES) -> str:
    """Return the content of `path` as UTF-8 text, a leading byte-order mark removed."""
    data = read_bytes(path, most=most).removeprefix(BYTE_ORDER_MARK)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        came = f"got byte 0x{data[error.start]:02x}, expected UTF-8 text"
        raise InputError(came, path=path, line=line, hint=AS_UTF_8) from None


def decode_json(data: bytes, kind: type[T], *, path: AnyPath, line: int = 1, field: str = "") -> T:
    """Decode JSON as a value of a type that msgspec knows; it begins at `line` of `path`, as the value of `field`."""
    data = data.removeprefix(BYTE_ORDER_MARK)
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise _invalid(error, data, path, line, field) from None
    except UnicodeDecodeError as error:
        came = f"got byte 0x{error.object[error.start]:02x}, expected UTF-8 text"
        raise InputError(came, path=path, line=line, field=field or None, hint=AS_UTF_8) from None
    except RecursionError:
        raise InputError("is nested too deeply", path=path, line=line, field=field or None) from None
    except msgspec.DecodeError as error:
        match = _BYTE.search(str(error))
        at = int(match[1]) if match else len(data.rstrip())
        word = re.match(rb"NaN|-?Infinity", data[max(at - data[:at].endswith(b"-"), 0) :])
        came = f"got {word[0].decode()}, expected a number" if word else f"{lower_first(str(error))}, expected JSON"
        raise InputError(came, path=path, line=line + data.count(b"\n", 0, at), field=field or None) from None


def read_json(path: AnyPath, kind: type[T], *, most: int = SETTINGS_BYTES) -> T:
    """Read a JSON file of at most so many bytes that contains one value of type `kind`."""
    data = read_bytes(path, most=most)
    refuse_repeated_keys(data, path)
    return decode_json(data, kind, path=path)


def read_json_mapping(path: AnyPath, kind: type[T]) -> dict[str, T]:
    """Read a JSON object of annotations or predictions, whose values are all of type `kind`."""
    data = read_bytes(path, most=DATA_BYTES)
    refuse_repeated_keys(data, path)
    return decode_entries(decode_json(data, dict[str, msgspec.Raw], path=path), kind, data=data, path=path)


def decode_entries(
    raw: dict[str, msgspec.Raw], kind: type[T], *, data: bytes, path: AnyPath, within: str = ""
) -> dict[str, T]:
    """Decode the raw values of an object, so that an error names its key.

    Parameters
    ----------
    raw
        Raw values by key, parts of `data`.
    kind
        Type of each value.
    data, path
        Content of the file, to find a line in, and its name.
    within
        Field that contains the object; "" for the file itself.
    """
    decoder = msgspec.json.Decoder(kind)
    entries = {}
    for key, value in raw.items():
        try:
            entries[key] = decoder.decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            line = _line_of_entry(data, key, bytes(value))
            decode_json(bytes(value), kind, path=path, line=line, field=f"{within}.{key}" if within else key)
            raise
    return entries


def _line_of_entry(data: bytes, key: str, value: bytes) -> int:
    """Line at which the value of a key begins, found by its text."""
    for spelled in (json.dumps(key).encode(), json.dumps(key, ensure_ascii=False).encode()):
        at = data.find(spelled)
        while at >= 0:
            colon = _COLON.match(data, at + len(spelled))
            if colon and data.startswith(value, colon.end()):
                return data.count(b"\n", 0, colon.end()) + 1
            at = data.find(spelled, at + 1)
    return 1


def refuse_repeated_keys(data: bytes, path: AnyPath, line: int | None = None) -> None:
    """Refuse JSON with a repeated key in an object: one of the two values would be lost silently."""

    def check(pairs: list[tuple[str, object]]) -> None:
        if len(dict(pairs)) < len(pairs):
            count = Counter(key for key, _ in pairs)
            twice = next(key for key in count if count[key] > 1)
            raise InputError(f"{twice!r} appears twice, expected each key once", path=path, line=line, field=twice)

    with contextlib.suppress(ValueError, RecursionError):  # the reader of the values reports what is no JSON
        json.loads(data.removeprefix(BYTE_ORDER_MARK), object_pairs_hook=check, parse_int=float)


def read_json_lines(path: AnyPath, kind: type[T], *, progress: bool = False) -> Iterator[tuple[int, T]]:
    """Yield (line number, value of type `kind`) for each line that is not blank."""
    decoder = msgspec.json.Decoder(kind)
    for number, line in iterate_json_lines(path, progress=progress):
        try:
            value = decoder.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            value = decode_json(line, kind, path=path, line=number)  # raises in words; a byte-order mark is no fault
        yield number, value


def iterate_json_lines(path: AnyPath, *, progress: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield (line number, undecoded line) for each line of JSON that is not blank."""
    usual: list[bytes] = []  # keys of the row before, with their colons: of as many colons each is then one of them
    for number, line in enumerate(iterate_lines(path, progress=progress), start=1):
        if line.isspace():
            continue
        if line.count(b":") != len(usual) or not all(key in line for key in usual):
            last = line.rfind(b'"')  # after it come numbers, and a colon if it ends a key
            texts = _TEXT.findall(line[: max(line.find(b":", last), last) + 1])
            keys = [text for text, colon in texts if colon]  # of all objects in the line, as they are spelled
            certain = len(set(keys)) == len(keys) and b"\\" not in b"".join(keys)  # an escape may spell any key
            usual = [b'"' + key + b'":' for key in keys] if certain else []
            if not certain:  # or a key is in several objects
                refuse_repeated_keys(line, path, number)
        yield number, line


def iterate_lines(path: AnyPath, *, progress: bool = False) -> Iterator[bytes]:
    """Yield the lines of `path` as bytes, line ends kept, a byte-order mark removed.

    A name ending in ``.gz`` is unpacked on the way. With `progress`, reading a large unpacked file shows a bar on
    standard error.
    """
    try:
        with open_binary(path) as stream:
            lines = _short_lines(stream, path)
            first = next(lines, b"").removeprefix(BYTE_ORDER_MARK)
            if first:
                yield first
                yield from _with_progress(lines, path) if progress else lines
    except FileNotFoundError:
        raise MissingFileError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError("is a folder, expected a file", path=path) from None
    except UNREADABLE as error:
        raise InputError(f"cannot be read ({error})", path=path) from None


def _short_lines(stream: IO[bytes], path: AnyPath) -> Iterator[bytes]:
    """Yield the lines of a stream; one of more than :data:`LINE_BYTES` is refused before it fills the memory."""
    for number, line in enumerate(iter(partial(stream.readline, LINE_BYTES + 1), b""), start=1):
        if len(line) > LINE_BYTES:
            raise InputError(f"is longer than {LINE_BYTES >> 20} MiB, expected shorter lines", path=path, line=number)
        yield line


def _with_progress(lines: Iterator[bytes], path: AnyPath) -> Iterator[bytes]:
    """Yield the lines of a file under a progress bar, if it is large enough to wait for."""
    size = path.stat().st_size
    if size < LARGE_FILE_BYTES or path.suffix.lower() == ".gz":
        yield from lines
        return
    from tqdm import tqdm  # noqa: PLC0415 - only large files need it, and importing takes time

    with tqdm(total=size, desc=f"reading {path.name}", unit="B", unit_scale=True, leave=False) as bar:
        for line in lines:
            bar.update(len(line))
            yield line


def open_binary(path: AnyPath) -> IO[bytes]:
    """Open a regular file for reading; a name ending in ``.gz`` is unpacked on the way."""
    return open_gzip(path) if path.suffix.lower() == ".gz" else open_regular(reading(path))


def current_umask() -> int:
    """Return the umask; it can be read only by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def atomic_write(path: str | AnyPath) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only when it is complete and on the disk.

    After any error, or a power cut, an existing file is unchanged; it keeps its permissions. If the user named
    the path, a pipe or device gets the whole in the end, and the target of a link is replaced. In a folder of ours,
    everything but a regular file is refused.

    Raises
    ------
    InputError
        If `path` is a folder, or no file can be made beside it.
    OutputError
        If the command has read it (:mod:`truemoment.base.boundary.inputs`).
    """
    path = writing(any_path(path))
    try:
        if isinstance(path, Path):
            path = _behind_link(path)
            if not stat.S_ISREG(_mode(path)) and not path.is_dir():
                with open(path, "wb", opener=_open_pipe) as stream:
                    whole = io.BytesIO()  # archives and videos go back in what they write, which a pipe cannot
                    yield whole
                    stream.write(whole.getbuffer())
                return
        target = in_its_folder(path)
        refuse_no_file(permissions := _mode(target), target)
        with temporary_file(target.parent) as fresh:
            with fresh.open("wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
                if hasattr(os, "fchmod"):  # temporary files are private; ours are ordinary ones
                    os.fchmod(stream.fileno(), stat.S_IMODE(permissions))
            fresh.rename(target)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", path=str(path)) from None


def _open_pipe(path: str, flags: int) -> int:
    """Open a pipe or device to write it; a pipe that nothing reads is refused, where opening it would wait for ever."""
    try:
        opened = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        problem = "is a pipe that no program reads, or a device that is missing; start the program that reads it first"
        raise OSError(error.errno, problem) from None
    os.set_blocking(opened, True)
    return opened


def write_bytes(path: str | AnyPath, data: bytes) -> None:
    """Write a file as :func:`atomic_write` does."""
    with atomic_write(path) as stream:
        stream.write(data)


def write_durably(path: AnyPath, data: bytes) -> None:
    """Write a file, whole or not at all; it is on the disk when this returns, also after a power cut."""
    path = in_its_folder(path)
    with temporary_file(path.parent) as fresh:
        with fresh.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        fresh.chmod(0o644)
        fresh.rename(path)
    path.parent.sync()


def write_text(path: str | AnyPath, text: str) -> None:
    """Write a text for people; what would steer a terminal or hide is written as an escape."""
    write_bytes(path, printable_lines(text).encode())


def write_json(path: AnyPath, value: object, *, indent: int | None = 2) -> None:
    """Write a value that :func:`read_json` reads; on one line without `indent`."""
    data = msgspec.json.encode(value)
    write_bytes(path, (data if indent is None else msgspec.json.format(data, indent=indent)) + b"\n")


def write_json_lines(path: AnyPath, values: Iterable[object]) -> int:
    """Write a line of JSON for each value, as :func:`read_json_lines` reads them; return how many."""
    encoder, count = msgspec.json.Encoder(), 0
    with atomic_write(path) as stream:
        for value in values:
            stream.write(encoder.encode(value) + b"\n")
            count += 1
    return count


@contextlib.contextmanager
def atomic_folder(path: AnyPath, on_complete: Callable[[], None] = lambda: None) -> Iterator[OwnPath]:
    """Yield a folder to write into that appears under its name only when complete, and only if the name is free.

    What it contains is on the disk then: after a power cut the folder is whole, or not there. `on_complete` is called
    just before the folder gets its name: where a report cannot be printed, there is no folder that the same command
    would refuse.
    """
    path = writing(path)
    target = in_its_folder(_behind_link(path) if isinstance(path, Path) else path)
    try:
        with temporary_folder(target.parent) as folder:
            yield folder
            folder.sync_files()
            folder.chmod(0o777 & ~current_umask())
            _refuse_taken(target)
            on_complete()
            folder.rename(target)  # in place of an empty folder at most
    except OSError as error:
        if error.filename and not str(error.filename).startswith(str(target.parent)):
            raise  # of something else, such as standard output
        raise InputError(f"cannot be made ({error.strerror})", path=str(path)) from None


def _refuse_taken(path: OwnPath) -> None:
    """Raise what renaming to a path would raise: it is no folder, or has something in it."""
    with contextlib.suppress(FileNotFoundError):
        is_folder = stat.S_ISDIR(path.lstat().st_mode)
        if not is_folder or path.iterdir():
            number = errno.ENOTEMPTY if is_folder else errno.ENOTDIR
            raise OSError(number, os.strerror(number))


def _mode(path: AnyPath) -> int:
    """Return kind and permissions of a file, or those of a new one; another command may remove it at any time."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return stat.S_IFREG | (0o666 & ~current_umask())


def _behind_link(path: Path) -> Path:
    """Return the file or folder that a link leads to, and any other path as it is."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def read_number(text: str | None) -> float:
    """Return a number from text; NaN if it is no number (``1_0``, ``nan`` and ``inf`` are none).

    Examples
    --------
    >>> read_number(" 1.5e1"), read_number("1_0")
    (15.0, nan)
    """
    text = (text or "").strip()
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else math.nan


def sha256_of(path: AnyPath) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with open_regular(reading(path)) as stream:
        digest = hashlib.sha256()
        while block := stream.read(BLOCK_BYTES):
            digest.update(block)
        return digest.hexdigest()


def source_of(path: AnyPath) -> dict[str, str]:
    """Return the path of a file, and the SHA-256 of its bytes."""
    return {"path": str(path), "sha256": sha256_of(path)}


def _invalid(error: msgspec.ValidationError, data: bytes, path: AnyPath, line: int, field: str) -> InputError:
    match = _AT.match(str(error))
    problem = match.group("problem") if match else str(error)
    inner = (match.group("field") or "") if match else ""
    inner = inner.removeprefix("$").removeprefix(".")
    expected = re.match(r"Expected (.*), got (.*)$", problem)
    missing = re.match(r"Object missing required field `(.*)`$", problem)
    if missing:
        problem, inner = "is missing", f"{inner}.{missing[1]}" if inner else missing[1]
    elif expected:
        problem = f"got {in_words(expected.group(2))}, expected {in_words(expected.group(1))}"
    elif re.fullmatch(r"Expected `(float|int)` [<>]=? \S+", problem):
        problem = f"got {_number_at(data, inner)}, expected {in_words(problem.removeprefix('Expected '))}"
    else:
        problem = in_words(lower_first(problem))
    name = f"{field}.{inner}" if field and inner and not inner.startswith("[") else field + inner
    return InputError(problem, path=path, line=line, field=name or None)


def _number_at(data: bytes, field: str) -> str:
    """Return the number at a field of JSON, as msgspec names fields: ``moments[0][1]``."""
    try:
        value: Any = msgspec.json.decode(data)
        for name, number in re.findall(r"([^.\[\]]+)|\[(\d+)\]", field):
            value = value[name or int(number)]
    except (
        ValueError,
        LookupError,
        TypeError,
        RecursionError,
    ):  # it is no JSON after the number, or the key is "[...]"
        return "another number"
    return f"{value:.10g}" if isinstance(value, float) else str(value)[:40]


_WORDS = {
    "float": "a number",
    "int": "a whole number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


def in_words(kinds: str) -> str:
    """Return JSON types in words: "a number", "text", "a list of length 3"."""

    def words(kind: re.Match[str]) -> str:
        return " or ".join(_WORDS.get(name, name) for name in kind[1].split(" | "))

    return re.sub(r"`([a-z]+(?: \| [a-z]+)*)`", words, kinds)


def lower_first(text: str) -> str:
    """Return a text that starts in lower case, as after a colon."""
    return text if text.startswith("JSON") else text[:1].lower() + text[1:]
