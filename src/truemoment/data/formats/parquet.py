"""Parquet with the native columns, for large runs: fast to read, small on disk.

Columns: ``query_id``, ``video_id`` (text), ``moments``: a list of (start_s, end_s, score), and optionally ``sentence``,
``status`` and ``saliency``: a list with a rating of each clip of the video. The first line of native JSON Lines is in
the file's metadata.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from truemoment.base.boundary.arrays import refusing_damage
from truemoment.base.boundary.files import atomic_write
from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.own_path import AnyPath, open_regular, path_of_opened
from truemoment.base.boundary.unpacking import FREE_BYTES, FREE_TEXT_BYTES, refuse_swollen
from truemoment.base.errors import InputError, MissingPackageError
from truemoment.base.intervals import Floats, Ints
from truemoment.data.formats.base import Format, PredictionRows, checked_statuses
from truemoment.data.formats.footer import read_footer
from truemoment.data.formats.head import Head
from truemoment.data.formats.native import VERSION, read_header
from truemoment.data.formats.rows import require_query

METADATA, RATINGS = b"truemoment", "saliency"
TEXTS, NUMBERS = ("query_id", "video_id", "sentence", "status"), ("start_s", "end_s", "score")

TEXT_BYTES, NUMBER_BYTES = 64, 8
"""Memory that a text or a number takes at least; Parquet packs a value that occurs often as one."""


def import_pyarrow() -> tuple[Any, Any]:
    """Import the optional package: (pyarrow, pyarrow.parquet)."""
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise MissingPackageError("pyarrow", "parquet", "reading and writing Parquet") from None


def _recognise(head: Head) -> str | None:
    return "it begins with PAR1" if head.data.startswith(b"PAR1") else None


def _read(path: AnyPath, _progress: bool) -> PredictionRows:
    pyarrow, parquet = import_pyarrow()
    with refusing_damage(path, "cannot be read as Parquet", pyarrow.ArrowException):
        chunks, size = [chunk for chunk in read_footer(path) if _is_read(chunk.path)], path.stat().st_size
        value_bytes = {chunk.path: TEXT_BYTES if chunk.path in TEXTS else NUMBER_BYTES for chunk in chunks}
        n_bytes = sum(max(chunk.n_bytes, chunk.n_values * value_bytes[chunk.path]) for chunk in chunks)
        refuse_swollen(path, n_bytes, size, free=FREE_BYTES)
        texts_there = {chunk.path for chunk in chunks if chunk.is_text and chunk.path in TEXTS}
        # Each distinct text is read once.
        with open_regular(reading(path)) as stream:
            file = parquet.ParquetFile(path_of_opened(stream, path), memory_map=True, read_dictionary=texts_there)
        parts = _checked_columns(pyarrow, file.schema_arrow, path)
        columns_there = (file.schema.column(number).path for number in range(len(file.schema)))
        table = file.read(columns=[column for column in columns_there if _is_read(column)])
        texts = _texts(table, path)
        n_letters = sum(len(text) for column in texts.values() for text in column if text is not None)
        refuse_swollen(path, n_letters, size, free=FREE_TEXT_BYTES)
        status = texts.pop("status")
        moments = table.column("moments")
        moments = moments.chunk(0) if moments.num_chunks == 1 else moments.combine_chunks()  # which copies
        offsets, columns = _moments(moments, parts, path)
        ratings = _ratings(table, path) if RATINGS in table.column_names else {}
    for about in zip(*texts.values(), strict=True):
        require_query(path, None, *about)
    stored = (file.schema_arrow.metadata or {}).get(METADATA)
    scored = "score" in columns
    return PredictionRows(
        path=path,
        line=None,
        query_id=texts["query_id"],
        video_id=texts["video_id"],
        sentence=texts["sentence"],
        offsets=offsets,
        start=columns["start_s"],
        end=columns["end_s"],
        score=columns["score"] if scored else _by_rank(offsets),
        scored=scored,
        status=checked_statuses(status, offsets, path, None),
        header={} if stored is None else read_header(stored, path),
        **ratings,
    )


def _by_rank(offsets: Ints) -> Floats:
    """Return the scores of lists without any: they fall by 1 from 0."""
    return np.asarray(np.repeat(offsets[:-1], np.diff(offsets)) - np.arange(offsets[-1]), dtype=np.float64)


def _is_read(column: str) -> bool:
    """Whether a column, or this part of a nested one, is read."""
    top, _, part = column.partition(".")
    return column in TEXTS or top == RATINGS or (top == "moments" and part.rpartition(".")[2] in NUMBERS)


def _checked_columns(pyarrow: Any, schema: Any, path: AnyPath) -> list[str]:  # noqa: ANN401 - pyarrow ships no types
    """Return the parts of a moment, once the columns are those of predictions."""
    names = schema.names
    if "moments" not in names or not ("query_id" in names or {"video_id", "sentence"} <= set(names)):
        raise InputError(
            f"got columns {', '.join(names) or 'none'}, expected moments, and query_id or video_id and sentence",
            path=path,
        )
    twice = next((name for name in (*TEXTS, "moments", RATINGS) if names.count(name) > 1), None)
    if twice is not None:
        raise InputError("appears twice, expected each column once", path=path, field=twice)
    types = pyarrow.types
    for name in TEXTS:
        kind = schema.field(name).type if name in names else pyarrow.string()
        if types.is_nested(kind) or types.is_fixed_size_binary(kind):
            raise InputError(f"got {kind}, expected text", path=path, field=name)
    kind = schema.field("moments").type
    is_list = types.is_list(kind) or types.is_large_list(kind)
    moment = kind.value_type if is_list and types.is_struct(kind.value_type) else pyarrow.struct([])
    parts = {part.name: part.type for part in moment if part.name in NUMBERS}
    if not {"start_s", "end_s"} <= parts.keys():
        raise InputError(
            f"got {kind}, expected a list of structs with start_s, end_s and score", path=path, field="moments"
        )
    numbers = {f"moments.{name}": kind for name, kind in parts.items()}
    if RATINGS in names:
        kind = schema.field(RATINGS).type
        numbers[RATINGS] = kind.value_type if types.is_list(kind) or types.is_large_list(kind) else kind
        if numbers[RATINGS] is kind:
            raise InputError(f"got {kind}, expected a list of numbers", path=path, field=RATINGS)
    for name, kind in numbers.items():
        if not (types.is_floating(kind) or types.is_integer(kind)):
            raise InputError(f"got {kind}, expected numbers", path=path, field=name)
    return list(parts)


def _texts(table: Any, path: AnyPath) -> dict[str, list[str | None]]:  # noqa: ANN401 - pyarrow ships no types
    """Columns of text by name, None where there is no such column."""
    texts = {}
    for name in TEXTS:
        texts[name] = _values(table.column(name)) if name in table.column_names else [None] * len(table)
        wrong = next((value for value in texts[name] if value is not None and not isinstance(value, str)), None)
        if wrong is not None:
            raise InputError(f"got {str(wrong)[:60]}, expected text", path=path, field=name)
    return texts


def _values(column: Any) -> list[Any]:  # noqa: ANN401 - pyarrow ships no types
    """Return the values of a column; of one that was read as numbers of distinct texts, each text is made once."""
    values: list[Any] = []
    for chunk in column.chunks:
        if hasattr(chunk, "dictionary"):
            texts = chunk.dictionary.to_pylist()
            values += [None if number is None else texts[number] for number in chunk.indices.to_pylist()]
        else:
            values += chunk.to_pylist()
    return values


def _moments(moments: Any, parts: Sequence[str], path: AnyPath) -> tuple[Ints, dict[str, Floats]]:  # noqa: ANN401 - the same
    """Ragged lists: offsets, and the columns of their moments by name."""
    if moments.null_count:
        raise InputError("got null, expected a list (empty for an abstention)", path=path, field="moments")
    flat = moments.flatten()
    offsets = np.append(0, np.cumsum(moments.value_lengths().to_numpy(zero_copy_only=False), dtype=np.int64))
    columns: dict[str, Floats] = {}
    for name in parts:
        values = flat.field(name)
        if values.null_count:
            raise InputError("got null, expected numbers", path=path, field=f"moments.{name}")
        columns[name] = values.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return offsets, columns


def _ratings(table: Any, path: AnyPath) -> dict[str, Any]:  # noqa: ANN401 - the same
    """Return the columns of clip ratings by name."""
    lists = table.column(RATINGS).combine_chunks()
    lists = lists.chunk(0) if hasattr(lists, "chunk") and lists.num_chunks else lists
    flat = lists.flatten()
    if lists.null_count or flat.null_count:
        raise InputError("got null, expected a list of numbers for every query", path=path, field=RATINGS)
    values = flat.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    if not np.isfinite(values).all():
        raise InputError("got a number that is not finite", path=path, field=RATINGS)
    lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
    return {"saliency_offsets": np.append(0, np.cumsum(lengths, dtype=np.int64)), "saliency": values}


def _write(path: AnyPath, rows: PredictionRows) -> None:
    pyarrow, parquet = import_pyarrow()
    parts = {"start_s": rows.start, "end_s": rows.end} | ({"score": rows.score} if rows.scored else {})
    flat = pyarrow.StructArray.from_arrays([pyarrow.array(column) for column in parts.values()], names=list(parts))
    texts = {"query_id": rows.query_id, "video_id": rows.video_id, "sentence": rows.sentence, "status": rows.status}
    columns = {
        name: pyarrow.array(list(column), pyarrow.string())
        for name, column in texts.items()
        if column is not None and not all(value is None for value in column)
    }
    columns["moments"] = pyarrow.LargeListArray.from_arrays(pyarrow.array(rows.offsets), flat)
    if rows.saliency is not None:
        columns[RATINGS] = pyarrow.LargeListArray.from_arrays(pyarrow.array(rows.saliency_offsets), rows.saliency)
    if "query_id" not in columns and not {"video_id", "sentence"} <= columns.keys():
        columns["query_id"] = pyarrow.array([None] * len(rows), pyarrow.string())
    header = {"truemoment": VERSION, **rows.header}
    table = pyarrow.table(columns).replace_schema_metadata({METADATA: msgspec.json.encode(header)})
    with atomic_write(path) as stream:
        parquet.write_table(table, stream, compression="lz4")  # reads twice as fast as the default, as small


FORMAT = Format("parquet", "Parquet with the native columns", _recognise, _read, _write, loses=frozenset())
