"""Files that are no predictions in text: recognised, never loaded, and refused with a hint."""

from __future__ import annotations

import re

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError

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
