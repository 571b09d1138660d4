"""The beginning of a file, by which its format is recognised: its keys and their kinds of values."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from truemoment.base.boundary.files import AS_UTF_8, BYTE_ORDER_MARK, UNREADABLE, open_binary
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.tables import UTF_16
from truemoment.base.errors import InputError, MissingFileError

HEAD_BYTES = 1 << 18
HOW = "where you trust it, write it as JSON Lines: 'truemoment convert --help' shows how"
EXPORT = (
    'where you trust it, export it: python -c "import pandas, sys; pandas.DataFrame(pandas.read_pickle(sys.argv[1]))'
    '.to_csv(sys.argv[2], index=False)" {name} {stem}.csv'
)
PICKLE = re.compile(
    rb"\x80[\x02-\x05]"  # protocols 2 to 5
    rb"|[(]([dlt]p\d+|[dlt])\n"  # protocol 0: a dict, list or tuple
    rb"|[(\]}]q\x00"  # protocol 1
    rb"|c(numpy|collections|builtins|__builtin__|copy_reg|copyreg|torch)[\w.]*\n"  # 0 and 1: an object
)


@dataclass(frozen=True)
class Head:
    """The first bytes of a file, unpacked, without a byte-order mark and leading blanks."""

    path: AnyPath
    data: bytes

    @classmethod
    def read(cls, path: AnyPath) -> Head:
        """Read the beginning of a file as UTF-8, and refuse what is no text at all."""
        try:
            with open_binary(path) as stream:
                data = stream.read(HEAD_BYTES)
        except FileNotFoundError:
            raise MissingFileError(f"{path}: no such file") from None
        except IsADirectoryError:
            raise InputError("is a folder, expected a file", path=path) from None
        except UNREADABLE as error:
            raise InputError(f"cannot be read ({error})", path=path) from None
        if data.startswith(UTF_16):
            data = data[: len(data) // 2 * 2].decode("utf-16", "replace").encode("utf-8", "replace")
            if data.lstrip()[:1] in (b"{", b"["):
                raise InputError("is JSON in UTF-16, expected UTF-8", path=path, hint=AS_UTF_8)
        data = data.removeprefix(BYTE_ORDER_MARK)
        refuse_what_is_no_text(path, data)
        return cls(path, data.lstrip())

    @property
    def line(self) -> bytes:
        """The first line, or its beginning."""
        return self.data.split(b"\n", 1)[0]

    @property
    def is_object(self) -> bool:
        """Whether it begins as a JSON object, or as JSON Lines of objects."""
        return self.data.startswith(b"{")

    @property
    def is_list(self) -> bool:
        """Whether it begins as a JSON list."""
        return self.data.startswith(b"[")

    @functools.cached_property
    def line_keys(self) -> frozenset[str]:
        """Outermost keys of the object on the first line."""
        line = self.line
        kinds = self.outline if line == self.data else outline(line)
        return frozenset(path[0] for path in kinds if len(path) == 1) if line.startswith(b"{") else frozenset()

    @functools.cached_property
    def outline(self) -> Mapping[Steps, Kind]:
        """Result of :func:`outline`, if the file is JSON."""
        return outline(self.data) if self.is_object or self.is_list else {}

    @property
    def entry_keys(self) -> frozenset[str]:
        """Keys of the entries of a JSON list, or of the object on the first line of JSON Lines."""
        if self.is_list:
            return frozenset(path[1] for path in self.outline if len(path) == 2 and path[0] == ITEM)
        return self.line_keys

    @property
    def first_key(self) -> tuple[str, Kind] | None:
        """The first key of the outermost object, and the kind of its value."""
        return next(((path[0], kind) for path, kind in self.outline.items() if len(path) == 1), None)

    def kind_at(self, *names: str) -> Kind | None:
        """Return the kind of value at a path, as ``kind_at("results", "*", "[]", "segment")``, or None.

        ``[]`` is an item of a list, and ``*`` any key; the first match counts.
        """
        for path, kind in self.outline.items():
            if len(path) == len(names) and all(want in ("*", got) for want, got in zip(names, path, strict=True)):
                return kind
        return None


def first_line_has(key: str, *more: str) -> Callable[[Head], str | None]:
    """Return a function that recognises a file by the keys on its first line."""
    return lambda head: f'its first line has "{key}"' if {key, *more} <= head.line_keys else None


def has_paths(why: str, *paths: tuple[str, ...]) -> Callable[[Head], str | None]:
    """Return a function that recognises a file by values at all of some paths (see :meth:`Head.kind_at`)."""
    return lambda head: why if all(head.kind_at(*path) for path in paths) else None


Steps = tuple[str, ...]
Kind = Literal["object", "list", "text", "other"]
ITEM = "[]"
DEEPEST = 6
_TOKEN = re.compile(rb'"(?P<text>(?:[^"\\]|\\.)*)"|(?P<mark>[{}\[\],:])|(?P<other>[^\s{}\[\],:"]+)|(?P<cut>")')


@functools.lru_cache(maxsize=4)  # a file of several splits is recognised for each of them
def outline(data: bytes) -> Mapping[Steps, Kind]:
    """Return the kind of the first value at each path of keys in (possibly truncated) JSON, down to six steps.

    ``[]`` represents the items of a list.

    Examples
    --------
    >>> outline(b'{"results": {"v": [{"la')
    {('results',): 'object', ('results', 'v'): 'list', ('results', 'v', '[]'): 'object'}
    """
    kinds: dict[Steps, Kind] = {}
    path: list[str] = []
    in_object: list[bool] = []
    key_comes = False

    def note(kind: Kind) -> None:
        if 0 < len(path) <= DEEPEST:
            kinds.setdefault(tuple(path), kind)

    for token in _TOKEN.finditer(data):
        text, mark = token["text"], token["mark"]
        if token["cut"]:
            break
        if mark in (b"{", b"["):
            note("object" if mark == b"{" else "list")
            in_object.append(mark == b"{")
            path.append("" if in_object[-1] else ITEM)
            key_comes = in_object[-1]
        elif mark in (b"}", b"]"):
            if in_object:
                in_object.pop()
                path.pop()
            key_comes = False
        elif mark == b",":
            key_comes = bool(in_object) and in_object[-1]
        elif text is not None and key_comes:
            path[-1] = text.decode("utf-8", "replace")
            key_comes = False
        elif mark is None:
            note("other" if text is None else "text")
    return kinds


def refuse_what_is_no_text(path: AnyPath, data: bytes) -> None:
    """Refuse pickles, archives and arrays by their first bytes, Parquet excepted."""
    if PICKLE.match(data):
        hint = EXPORT.format(name=path.name, stem=path.stem)
        raise InputError("is a pickle, which can run code when loaded, and is not read", path=path, hint=hint)
    for mark, problem, expected, hint in (
        (b"\x1f\x8b", "is packed by gzip", "expected a name that ends in .gz", "rename it"),
        (b"\x93NUMPY", "is a NumPy array (.npy), which names no query", "expected predictions", HOW),
        (b"\x89HDF", "is an HDF5 file", "expected predictions", HOW),
        (b"PK", *_inside_zip(data)),
    ):
        if data.startswith(mark):
            raise InputError(f"{problem}, {expected}", path=path, hint=hint)


def _inside_zip(data: bytes) -> tuple[str, str, str]:
    """Return problem, expectation and hint of a zip archive, by the names that are in its beginning."""
    if b"data.pkl" in data:
        return "is a PyTorch file (.pt, .pth), which can run code when loaded", "and is not read", HOW
    if b"[Content_Types].xml" in data or b"xl/" in data:
        return "is a spreadsheet (.xlsx)", "expected text", "save the sheet as TSV or CSV"
    if b".npy" in data:
        return "is a NumPy archive (.npz), which names no query", "expected predictions", HOW
    return "is packed by zip, as submissions are", "expected the file inside", "unpack it"
