"""Parquet with the native columns, for large runs: quick to read, small on disk.

Columns: ``query_id``, ``video_id`` (text), ``moments``: a list of (start_s, end_s, score), and
optionally ``sentence`` and ``status``. What native JSON Lines say in their first line stands in the file's metadata.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from truemoment.exceptions import InputError, MissingFileError, MissingPackageError
from truemoment.files import atomic_write
from truemoment.inputs import reading
from truemoment.intervals import Floats, Ints
from truemoment.io.base import Format, PredictionRows, by_rank, checked_statuses
from truemoment.io.head import Head
from truemoment.io.native import VERSION, read_header

METADATA = b"truemoment"
TEXTS = ("query_id", "video_id", "sentence", "status")


def _pyarrow() -> tuple[Any, Any]:
    """Import the optional package: (pyarrow, pyarrow.parquet)."""
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise MissingPackageError("pyarrow", "parquet", "reading and writing Parquet") from None


def recognise(head: Head) -> str | None:
    """Say why a file looks like Parquet."""
    return "it begins with PAR1" if head.data.startswith(b"PAR1") else None


def read(path: Path, progress: bool = False) -> PredictionRows:
    """Read the file.

    Raises
    ------
    MissingPackageError
        If pyarrow is not installed.
    MissingFileError
        If there is no such file.
    InputError
        Naming the column at fault, what type came and what was expected; also if it is no Parquet file.
    """
    del progress  # read in one piece
    pyarrow, parquet = _pyarrow()
    if path.is_dir():
        raise InputError("is a folder, expected a file", path=path)
    if not path.exists():
        raise MissingFileError(f"{path}: no such file")
    try:
        table = parquet.read_table(reading(path), memory_map=True)
        texts = _texts(table, path)
        status = texts.pop("status")
        moments = table.column("moments")
        moments = moments.chunk(0) if moments.num_chunks == 1 else moments.combine_chunks()  # which copies
        offsets, columns = _moments(pyarrow, moments, path)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        what = " ".join(str(error).split())[:200]
        raise InputError(f"cannot be read as Parquet ({what})", path=path) from None
    for query_id, video_id, sentence in zip(*texts.values(), strict=True):
        if query_id is None and (video_id is None or sentence is None):
            raise InputError("is missing, expected it or video_id and sentence", path=path, field="query_id")
    said = (table.schema.metadata or {}).get(METADATA)
    scored = "score" in columns
    return PredictionRows(
        path=path,
        format=FORMAT.name,
        line=None,
        query_id=texts["query_id"],
        video_id=texts["video_id"],
        sentence=texts["sentence"],
        offsets=offsets,
        start=columns["start_s"],
        end=columns["end_s"],
        score=columns["score"] if scored else by_rank(offsets),
        scored=scored,
        status=checked_statuses(status, offsets, path, None),
        header={} if said is None else read_header(said, path),
    )


def _texts(table: Any, path: Path) -> dict[str, list[str | None]]:  # noqa: ANN401 - pyarrow ships no types
    """Columns of text by name, None where there is no such column."""
    names = table.column_names
    if "moments" not in names or not ("query_id" in names or {"video_id", "sentence"} <= set(names)):
        raise InputError(
            f"got columns {', '.join(names) or 'none'}, expected moments, and query_id or video_id and sentence",
            path=path,
        )
    twice = next((name for name in (*TEXTS, "moments") if names.count(name) > 1), None)
    if twice is not None:
        raise InputError("stands twice, expected each column once", path=path, field=twice)
    texts = {}
    for name in TEXTS:
        texts[name] = table.column(name).to_pylist() if name in names else [None] * len(table)
        wrong = next((value for value in texts[name] if value is not None and not isinstance(value, str)), None)
        if wrong is not None:
            raise InputError(f"got {wrong!r}, expected text", path=path, field=name)
    return texts


def _moments(pyarrow: Any, moments: Any, path: Path) -> tuple[Ints, dict[str, Floats]]:  # noqa: ANN401 - the same
    """Offsets and columns of the lists of moments."""
    kind = moments.type
    parts = {field.name for field in kind.value_type} if _is_list_of_structs(pyarrow, kind) else set()
    if not {"start_s", "end_s"} <= parts:
        raise InputError(
            f"got {kind}, expected a list of structs with start_s, end_s and score", path=path, field="moments"
        )
    if moments.null_count:
        raise InputError("got null, expected a list (empty for an abstention)", path=path, field="moments")
    flat = moments.flatten()
    offsets = np.concatenate([[0], np.cumsum(moments.value_lengths().to_numpy(zero_copy_only=False))]).astype(np.int64)
    columns: dict[str, Floats] = {}
    for name in ("start_s", "end_s", "score"):
        if name not in parts:
            continue
        values = flat.field(name)
        if values.null_count or not (pyarrow.types.is_floating(values.type) or pyarrow.types.is_integer(values.type)):
            came = "null" if values.null_count else str(values.type)
            raise InputError(f"got {came}, expected numbers", path=path, field=f"moments.{name}")
        columns[name] = values.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return offsets, columns


def _is_list_of_structs(pyarrow: Any, kind: Any) -> bool:  # noqa: ANN401 - pyarrow ships no types
    is_list = pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind)
    return bool(is_list and pyarrow.types.is_struct(kind.value_type))


def write(path: Path, rows: PredictionRows) -> None:
    """Write a Parquet file, complete or not at all.

    Raises
    ------
    MissingPackageError
        If pyarrow is not installed.
    InputError
        If the file cannot be made.
    """
    pyarrow, parquet = _pyarrow()
    parts = {"start_s": rows.start, "end_s": rows.end} | ({"score": rows.score} if rows.scored else {})
    flat = pyarrow.StructArray.from_arrays([pyarrow.array(column) for column in parts.values()], names=list(parts))
    texts = {"query_id": rows.query_id, "video_id": rows.video_id, "sentence": rows.sentence, "status": rows.status}
    columns = {
        name: pyarrow.array(list(column), pyarrow.string())
        for name, column in texts.items()
        if column is not None and not all(value is None for value in column)
    }
    columns["moments"] = pyarrow.LargeListArray.from_arrays(pyarrow.array(rows.offsets), flat)
    if not {"query_id"} <= columns.keys() and not {"video_id", "sentence"} <= columns.keys():
        columns["query_id"] = pyarrow.array([None] * len(rows), pyarrow.string())
    header = {"truemoment": VERSION, **rows.header}
    table = pyarrow.table(columns).replace_schema_metadata({METADATA: msgspec.json.encode(header)})
    with atomic_write(path) as stream:
        parquet.write_table(table, stream, compression="lz4")  # reads twice as fast as the default, as small


FORMAT = Format("parquet", "Parquet with the native columns", recognise, read, write, loses=frozenset({"ratings"}))
