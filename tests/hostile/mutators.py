"""Mutators, (content, generator) -> content, make a whole file hostile; a tuple of them for each kind of file.

Whatever they make, a reader must read it, or refuse it in one line.
"""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

Mutator = Callable[[bytes, np.random.Generator], bytes]

PAYLOADS = (
    "",
    " ",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "\x1b[31m\x1b[2Jred",
    "\u202e\u2066right to left",
    "line\nFORGED: ok",
    "\r\x07\x9b1m",
    "a\0b",
    "\ud800",
    "../../outside/secret.txt",
    "/etc/passwd",
    "-rf",
    "--help",
    "{{7*7}}{0}%s%n$(touch pwned)`id`",
    "=cmd|'/c calc'!A1",
    "é" * 3,
    "e\u0301\u200b\ufeff",
    "x" * 70_000,
    "NaN",
    "1e999",
    "٣",
)
"""Texts that other programs have taken for something else."""

RAW_VALUES = (
    "null",
    "true",
    "-1",
    "0",
    "-0.0",
    "1e308",
    "-1e308",
    "1e999",
    "NaN",
    "-Infinity",
    "1e-320",
    "0.1" * 30,
    "9" * 400,
    "18446744073709551616",
    "9007199254740993",
    "[]",
    "{}",
    "[[]]",
    "[null]",
    '[[1,2],"3"]',
    "[[5,1]]",
    "[[1,1]]",
    "[[-3,4]]",
    "[[0,1e300]]",
    '{"a":1,"a":2}',
    "[" * 3000 + "]" * 3000,
    '"' + "\\u0000" + '"',
    '"\\ud800"',
    "07",
    "'a'",
)
"""Values as they stand in JSON; some are no JSON."""

NUMBERS = ("-1", "0", "1e308", "nan", "inf", "1e999", "", "0x10", "1_000", "１２", "9" * 400, "1,5", "-0", "+3", " 7 ")


def _at(content: bytes, rng: np.random.Generator) -> int:
    return int(rng.integers(0, len(content) + 1))


def truncated(content: bytes, rng: np.random.Generator) -> bytes:
    """Cut the end off."""
    return content[: _at(content, rng)]


def flipped(content: bytes, rng: np.random.Generator) -> bytes:
    """Flip bits of up to 8 bytes."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 9)) if data else 0):
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(data)


def inserted(content: bytes, rng: np.random.Generator) -> bytes:
    """Insert bytes that are no text."""
    at = _at(content, rng)
    noise = (b"\0", b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", rng.bytes(40), b"\x1a", b"\r", b"\xef\xbb\xbf")
    return content[:at] + noise[int(rng.integers(len(noise)))] + content[at:]


def repeated(content: bytes, rng: np.random.Generator) -> bytes:
    """Repeat a part, or the whole."""
    low, high = sorted((_at(content, rng), _at(content, rng)))
    return content[:high] + content[low:] if rng.random() < 0.7 else content * 2


def zeroed(content: bytes, rng: np.random.Generator) -> bytes:
    """Overwrite a part by zeros, or by the bytes of a huge count."""
    data, at = bytearray(content), _at(content, rng)
    filling = (b"\0" * 64, b"\xff" * 8, b"\xff\xff\xff\x7f", struct.pack("<Q", 1 << 40))[int(rng.integers(4))]
    data[at : at + len(filling)] = filling
    return bytes(data)


def replaced(content: bytes, rng: np.random.Generator) -> bytes:
    """Replace the whole content."""
    empty_zip = io.BytesIO()
    zipfile.ZipFile(empty_zip, "w").close()
    wholes = (
        b"",
        b"\n",
        b" \n\t\n",
        b"null\n",
        b"[]",
        b"{}",
        b"\0" * 100,
        rng.bytes(200),
        b"\x89PNG\r\n\x1a\n",
        b"PK\x03\x04",
        b"\x89HDF\r\n\x1a\n",
        b"\x93NUMPY\x01\x00",
        b"PAR1",
        b"%PDF-1.7",
        b"<html><script>alert(1)</script></html>",
        empty_zip.getvalue(),
        b"\x80\x04\x95",
        b"\xff\xfe",
        content.decode("latin-1").encode("utf-16"),
    )
    return wholes[int(rng.integers(len(wholes)))]


def compressed(content: bytes, rng: np.random.Generator) -> bytes:
    """Compress it, without its name saying so; or a small file that becomes 100 MB."""
    return gzip.compress(content) if rng.random() < 0.7 else gzip.compress(b"0" * 100_000_000, 9)


BYTES: tuple[Mutator, ...] = (truncated, flipped, inserted, repeated, zeroed, replaced, compressed)


def lines_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Delete, repeat, swap or join lines, or change what ends them."""
    lines = content.splitlines(keepends=True) or [b""]
    one, other = (int(rng.integers(len(lines))) for _ in range(2))
    match int(rng.integers(7)):
        case 0:
            del lines[one]
        case 1:
            lines.insert(one, lines[other])
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case 3:
            lines[one] = lines[one].rstrip(b"\r\n")
        case 4:
            lines = [line.rstrip(b"\r\n") + b"\r" for line in lines]
        case 5:
            lines[one] = b"\n" * 50 + lines[one]
        case _:
            lines[one] = lines[one].rstrip(b"\n") * 200 + b"\n"
    return b"".join(lines)


def number_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Put another number where one stands."""
    at = [n for n, byte in enumerate(content) if 48 <= byte <= 57 and (n == 0 or not 48 <= content[n - 1] <= 57)]
    if not at:
        return content
    low = at[int(rng.integers(len(at)))]
    high = low
    while high < len(content) and (48 <= content[high] <= 57 or content[high : high + 1] in b".eE"):
        high += 1
    return content[:low] + NUMBERS[int(rng.integers(len(NUMBERS)))].encode() + content[high:]


def text_inserted(content: bytes, rng: np.random.Generator) -> bytes:
    """Insert a payload."""
    at = _at(content, rng)
    payload = PAYLOADS[int(rng.integers(len(PAYLOADS)))].encode("utf-8", "surrogatepass")
    return content[:at] + payload + content[at:]


TEXT: tuple[Mutator, ...] = (*BYTES[:4], replaced, lines_changed, number_changed, text_inserted)


def _nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values in a JSON value."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [path, *(deeper for key in keys for deeper in _nodes(value[key], (*path, key)))]


_MARK = "\ue000MARK\ue000"


def _value_changed(value: Any, rng: np.random.Generator) -> str:
    """Return JSON in which one value, key or length is another."""
    paths = _nodes(value)
    path = paths[int(rng.integers(len(paths)))]
    if not path:
        return RAW_VALUES[int(rng.integers(len(RAW_VALUES)))]
    parent: Any = value
    for key in path[:-1]:
        parent = parent[key]
    key, raw = path[-1], None
    match int(rng.integers(7)):
        case 0 | 1:
            parent[key], raw = _MARK, RAW_VALUES[int(rng.integers(len(RAW_VALUES)))]
        case 2:
            parent[key] = PAYLOADS[int(rng.integers(len(PAYLOADS)))]
        case 3:
            del parent[key]
        case 4 if isinstance(parent, dict):
            parent[PAYLOADS[int(rng.integers(len(PAYLOADS)))]] = parent.pop(key)
        case 5 if isinstance(parent, list):
            parent[key:key] = [parent[key]] * int(rng.integers(1, 400))
        case _:
            parent[key] = [parent[key]] if rng.random() < 0.5 else str(parent[key])
    text = json.dumps(value)
    return text if raw is None else text.replace(json.dumps(_MARK), raw)


def json_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a value of a JSON document, or of one line of JSON Lines."""
    try:
        return _value_changed(json.loads(content), rng).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        lines = content.splitlines() or [b"null"]
    at = int(rng.integers(len(lines)))
    try:
        lines[at] = _value_changed(json.loads(lines[at]), rng).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        lines[at] = b"{"
    return b"\n".join(lines) + b"\n"


JSON: tuple[Mutator, ...] = (*[json_changed] * 12, *TEXT)


def cell_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a cell of a table between commas or tabs: its text, its quotes, or how many there are."""
    separator = b"\t" if b"\t" in content else b","
    rows = [line.split(separator) for line in content.splitlines()] or [[b""]]
    row = rows[int(rng.integers(len(rows)))]
    at = int(rng.integers(len(row)))
    payload = PAYLOADS[int(rng.integers(len(PAYLOADS)))].encode("utf-8", "surrogatepass")
    number = NUMBERS[int(rng.integers(len(NUMBERS)))].encode()
    match int(rng.integers(5)):
        case 0:
            row[at] = payload
        case 1:
            row[at] = number
        case 2:
            row[at] = b'"' + row[at]
        case 3:
            del row[at]
        case _:
            row[at:at] = [row[at]] * int(rng.integers(1, 300))
    return b"\n".join(separator.join(cells) for cells in rows) + b"\n"


TABLE: tuple[Mutator, ...] = (*[cell_changed] * 6, *TEXT)

_YAMLS = (
    "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
    "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
    "g: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n",
    "!!python/object/apply:os.system ['touch pwned']\n",
    "a: !!python/name:os.system\n",
    "&a [*a]\n",
    "? {a: b}\n: c\n",
    "model: tan2d\nmodel: ctrl\n",
    "- " * 5000 + "x\n",
    "a: 2001-12-14t21:59:43.10-05:00\n",
    "model: yes\nsettings: 0o14\nrows: 1e3\n",
    "--- a\n--- b\n",
    "a: |\n  \x1b[31m\n",
)


def yaml_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Put YAML's own traps in place of the file, or behind it."""
    trap = _YAMLS[int(rng.integers(len(_YAMLS)))].encode()
    return trap if rng.random() < 0.5 else content + trap


def yaml_value_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Change what stands behind a colon."""
    lines = content.splitlines() or [b""]
    at = int(rng.integers(len(lines)))
    values = (*RAW_VALUES[:20], *(json.dumps(payload) for payload in PAYLOADS[:12]))
    name = lines[at].partition(b":")[0]
    lines[at] = name + b": " + values[int(rng.integers(len(values)))].encode()
    return b"\n".join(lines) + b"\n"


YAML: tuple[Mutator, ...] = (yaml_changed, *[yaml_value_changed] * 3, *TEXT)

_HEADS = (
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
    "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }",
    "{'descr': '<U9', 'fortran_order': False, 'shape': (2,), }",
    "{'descr': '>i2', 'fortran_order': False, 'shape': (), }",
    "{'descr': [('a', '<f8'), ('b', '<i4')], 'fortran_order': False, 'shape': (2,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), } # __import__('os').system('touch pwned')",
    "{'descr': '<c16', 'fortran_order': False, 'shape': (2,), }",
    "{'descr': '<M8[s]', 'fortran_order': False, 'shape': (2,), }",
)
_PICKLE = b"cos\nsystem\n(S'touch pwned'\ntR."


def _array(rng: np.random.Generator) -> bytes:
    """Return an array file with one of the heads, and bytes behind it that may be a pickle."""
    head = (_HEADS[int(rng.integers(len(_HEADS)))] + "\n").encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + (_PICKLE if rng.random() < 0.5 else bytes(48))


def array_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Write another head of a single array."""
    del content
    return _array(rng)


def archive_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Change, repeat, rename or leave out an array of an archive."""
    members: list[tuple[str, bytes]] = []
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    at = int(rng.integers(len(members)))
    name, data = members[at]
    match int(rng.integers(7)):
        case 0:
            members[at] = name, _array(rng)
        case 1:
            members[at] = name, BYTES[int(rng.integers(6))](data, rng)
        case 2:
            del members[at]
        case 3:
            members[at] = ("../../outside/new.npy", "/etc/x.npy", "a" * 5000, "x\n.npy")[int(rng.integers(4))], data
        case 4:
            members[at] = name, members[int(rng.integers(len(members)))][1]
        case 5:
            saved = io.BytesIO()
            kinds = ("float16", "int8", "complex64", "bool", "U3", "datetime64[s]", "uint64", "float64")
            shape = [(), (0,), (3, 0), (2, 2, 2, 2), (1,)][int(rng.integers(5))]
            np.save(saved, np.zeros(shape, dtype=kinds[int(rng.integers(len(kinds)))]))
            members[at] = name, saved.getvalue()
        case _:
            saved = io.BytesIO()
            array = np.load(io.BytesIO(data))
            filling = (np.nan, np.inf, -1, 1e300, 0)[int(rng.integers(5))]
            with np.errstate(all="ignore"):
                array = np.full(array.shape, filling).astype(array.dtype)
            np.save(saved, array)
            members[at] = name, saved.getvalue()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, inside in members:
            archive.writestr(member, inside)
    return out.getvalue()


ARCHIVE: tuple[Mutator, ...] = (*[archive_changed] * 10, array_changed, *BYTES)


def hdf5_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a dataset of an HDF5 file: its type, its shape, what it links to."""
    import h5py

    kept = io.BytesIO(content)
    with h5py.File(kept, "r+") as file:
        names = list(file.keys())
        name = names[int(rng.integers(len(names)))]
        match int(rng.integers(9)):
            case 0:
                del file[name]
            case 1:
                del file[name]
                file[name] = h5py.ExternalLink("../outside/secret.txt", "/")
            case 2:
                del file[name]
                file[name] = h5py.SoftLink(f"/{name}")
            case 3:
                del file[name]
                file.create_group(name)
            case 4:
                del file[name]
                file.create_dataset(name, (10**12, 512), "f4", chunks=(1, 512))
            case 5:
                del file[name]
                kinds = ("S3", "i1", "c8", "f8")
                shape = [(), (0, 4), (4,), (2, 2, 2)][int(rng.integers(4))]
                file.create_dataset(name, shape, kinds[int(rng.integers(4))])
            case 6:
                file.move(name, ("a\nb", "x" * 3000, "\x1b[31m", "é", " ")[int(rng.integers(5))])
            case 7:
                del file[name]
                file.create_dataset(name, data=np.full((8, 16), (np.nan, np.inf, 1e30)[int(rng.integers(3))]))
            case _:
                del file[name]
                file.create_dataset(name, data=["text", "more"], dtype=h5py.string_dtype())
    return kept.getvalue()


HDF5: tuple[Mutator, ...] = (*[hdf5_changed] * 8, *BYTES)


def parquet_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a column: its type, its values, its name, its metadata."""
    import pyarrow as pa
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(content))
    at = int(rng.integers(table.num_columns))
    name, n_rows = table.column_names[at], table.num_rows
    match int(rng.integers(6)):
        case 0:
            table = table.drop_columns([name])
        case 1:
            table = table.set_column(at, name, pa.nulls(n_rows))
        case 2:
            table = table.set_column(at, name, pa.array([PAYLOADS[2]] * n_rows))
        case 3:
            table = table.append_column(name, table.column(at))
        case 4:
            table = table.set_column(at, name, pa.array([[[float("nan"), 1e308, -1.0]]] * n_rows))
        case _:
            table = table.replace_schema_metadata({b"truemoment": RAW_VALUES[int(rng.integers(26))].encode()})
    out = io.BytesIO()
    parquet.write_table(table, out)
    return out.getvalue()


PARQUET: tuple[Mutator, ...] = (*[parquet_changed] * 6, *BYTES)


def tensors_changed(content: bytes, rng: np.random.Generator) -> bytes:
    """Change the JSON head of a safetensors file, or the length it states."""
    length = struct.unpack("<Q", content[:8])[0]
    head, data = content[8 : 8 + length], content[8 + length :]
    if rng.random() < 0.2:
        return struct.pack("<Q", (0, 1, 1 << 60, length - 1, length + 9)[int(rng.integers(5))]) + head + data
    changed = json_changed(head, rng)
    return struct.pack("<Q", len(changed)) + changed + data


TENSORS: tuple[Mutator, ...] = (*[tensors_changed] * 6, *BYTES)
SUBTITLES: tuple[Mutator, ...] = (*[number_changed] * 4, *[text_inserted] * 2, *TEXT)
CONTAINER: tuple[Mutator, ...] = (*BYTES[:6],)

MUTATORS: dict[str, tuple[Mutator, ...]] = {
    ".json": JSON,
    ".jsonl": JSON,
    ".csv": TABLE,
    ".tsv": TABLE,
    ".txt": TABLE,
    ".yaml": YAML,
    ".npz": ARCHIVE,
    ".npy": (array_changed, *BYTES),
    ".h5": HDF5,
    ".parquet": PARQUET,
    ".safetensors": TENSORS,
    ".srt": SUBTITLES,
    ".vtt": SUBTITLES,
    ".ass": SUBTITLES,
    ".mp4": CONTAINER,
    ".wav": CONTAINER,
    ".sqlite": CONTAINER,
    ".msgpack": BYTES,
    ".codes": BYTES,
    ".md": TEXT,
}
"""By the end of a file's name."""
