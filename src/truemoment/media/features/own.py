"""The format of TrueMoment: a folder with ``rows.npy``, which is memory-mapped, and ``features.json``.

::

    FOLDER/rows.npy         the rows of all videos (R, D), float16 or float32
    FOLDER/features.json    {"schema": "truemoment/features/1", "truemoment": VERSION,
                             "made_of": NAME, "n_dimensions": D, "dtype": "float32", "fps": null,
                             "video_id": [...], "n_rows": [...]}

``fps`` is the number of rows per second, or null if the rows cover each video evenly; ``made_of`` the name of the
source store. Rows of several sources also have ``source_widths``, the numbers of a row that are of each. The name of
simulated features stays the beginning of the name of their folder, so that what is trained on it is recognised. A
folder opens at once, however large, and processes share it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any, Literal, get_args

import msgspec
import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.arrays import Array, map_npy, refusing_damage
from truemoment.base.boundary.files import DATA_BYTES, atomic_folder, atomic_write, read_json, write_json
from truemoment.base.boundary.own_path import AnyPath, OwnPath, any_path
from truemoment.base.errors import InputError, UsageError
from truemoment.base.version import __version__ as version
from truemoment.media.features.base import SIMULATED, FeatureStore, Frames
from truemoment.media.features.joined import source_widths
from truemoment.media.features.reading import FileStore

SCHEMA = "truemoment/features/1"
MANIFEST, ROWS = "features.json", "rows.npy"

FILE_OF = "; "
"""Separator of the name of simulated features and the name of their folder."""

MAPPED_BYTES = 1 << 26
"""Bytes after whose reading the table is mapped anew. The system counts the pages of a map that were read as memory of
the process, and only takes them back when it needs them: a pass over a large table would look like a copy of it."""

DType = Literal["float16", "float32"]
"""Types that rows are written in."""


class _Manifest(msgspec.Struct, frozen=True, kw_only=True):
    schema: str
    truemoment: str
    made_of: str
    n_dimensions: int
    dtype: DType
    fps: float | None
    video_id: list[str]
    n_rows: list[int]
    source_widths: list[int] | msgspec.UnsetType = msgspec.UNSET


class OwnStore(FileStore):
    """A FeatureStore of such a folder; `fps` is for a folder that states none."""

    def __init__(self, path: Path | str, *, fps: float | None = None) -> None:
        path = Path(path)
        folder = OwnPath(path)
        about = read_json(folder / MANIFEST, _Manifest, most=DATA_BYTES)
        rows = _mapped(folder / ROWS)
        self._rows: Array | None = rows
        self._read_bytes = 0
        self._offsets = _checked(about, rows, folder / MANIFEST)
        self._number = {video_id: number for number, video_id in enumerate(about.video_id)}
        self.made_of = about.made_of
        self.source_widths = tuple(about.source_widths or (about.n_dimensions,))
        if fps is not None and about.fps is not None and fps != about.fps:
            raise UsageError(f"{path}: got {fps:g} rows per second, but it states {about.fps:g}")
        files = [folder / MANIFEST, folder / ROWS]
        stated = fps if about.fps is None else about.fps
        super().__init__("own", path, about.video_id, files=files, fps=stated, notes=[f"made of {about.made_of}"])
        if about.made_of.startswith(SIMULATED):
            self.name = f"{about.made_of}{FILE_OF}{self.name}"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_rows": None}

    def _array(self, name: str) -> Any:  # noqa: ANN401 - part of a memory map
        if self._rows is None:  # sent to another process, or read enough of
            self._rows = _mapped(OwnPath(self.path) / ROWS)
        number = self._number[name]
        rows = self._rows[self._offsets[number] : self._offsets[number + 1]]
        self._read_bytes += rows.nbytes
        if self._read_bytes > MAPPED_BYTES:
            self._rows, self._read_bytes = None, 0
        return rows


def _mapped(path: OwnPath) -> Array:
    with refusing_damage(path, "is not a table of rows"):
        return map_npy(path)


def _checked(about: _Manifest, rows: npt.NDArray[Any], path: OwnPath) -> list[int]:
    """Return where the rows of each video begin, and the last one's end."""
    if about.schema != SCHEMA:
        raise InputError(f"got {about.schema!r}, expected {SCHEMA!r}", path=path, field="schema")
    if len(about.n_rows) != len(about.video_id) or min(about.n_rows, default=1) < 1:
        raise InputError("expected a number of rows, 1 or more, for each video", path=path, field="n_rows")
    if len(set(about.video_id)) != len(about.video_id):
        raise InputError("a video appears twice, expected each once", path=path, field="video_id")
    if about.source_widths and (min(about.source_widths) < 1 or sum(about.source_widths) != about.n_dimensions):
        problem = f"expected numbers above 0 whose sum is {about.n_dimensions}"
        raise InputError(problem, path=path, field="source_widths")
    offsets = [0]
    for length in about.n_rows:
        offsets.append(offsets[-1] + length)
    expected = (offsets[-1], about.n_dimensions)
    if rows.shape != expected or rows.dtype != np.dtype(about.dtype).newbyteorder("<"):
        came = f"{ROWS} holds {rows.dtype} of shape {rows.shape}"
        raise InputError(f"{came}, expected {about.dtype} of shape {expected}", path=path)
    return offsets


def write_store(
    folder: AnyPath | str,
    store: FeatureStore,
    *,
    video_ids: Iterable[str] | None = None,
    dtype: DType = "float32",
    progress: Callable[[list[str]], Iterable[str]] = lambda ids: ids,
    on_complete: Callable[[], None] = lambda: None,
) -> None:
    """Write a store in the format of this module, complete or not at all; one video is in memory at a time.

    Parameters
    ----------
    folder
        New or empty folder.
    store
        Features to write.
    video_ids
        Videos to write, under these names. Default: all, under the names of the store.
    dtype
        Type of the rows: ``float32``, or ``float16``, which halves the size and keeps 3 digits.
    progress
        Wraps the list of videos, e.g. in a progress bar.
    on_complete
        Called when everything is written, before the folder gets its name; after an error of it there is no folder.

    Raises
    ------
    UsageError
        If there is no such type.
    InputError
        If a video has no features, they are damaged, a number is too large for the type, or the folder cannot be made.

    Examples
    --------
    >>> import tempfile
    >>> from truemoment.media.features import Features
    >>> store = Features({"v": np.ones((3, 2), dtype=np.float32)}, fps=2.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_store(Path(folder) / "features", store)
    ...     again = OwnStore(Path(folder) / "features")
    ...     again["v"].tolist(), again.fps
    ([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], 2.0)
    """
    if dtype not in get_args(DType):
        raise UsageError(f"got rows of type {dtype!r}, expected {' or '.join(get_args(DType))}")
    ids = list(dict.fromkeys(store if video_ids is None else video_ids))
    if not ids:
        raise InputError("there is no video to write", field="features")
    with atomic_folder(any_path(folder), on_complete) as new_folder:
        with atomic_write(new_folder / ROWS) as stream:
            lengths = _write_rows(stream, store, progress(ids), dtype)
        about = _Manifest(
            schema=SCHEMA,
            truemoment=version,
            made_of=store.name,
            n_dimensions=store.n_dimensions,
            dtype=dtype,
            fps=store.fps,
            video_id=ids,
            n_rows=lengths,
            source_widths=list(widths) if len(widths := source_widths(store)) > 1 else msgspec.UNSET,
        )
        write_json(new_folder / MANIFEST, about, indent=1)


def _write_rows(stream: IO[bytes], store: FeatureStore, video_ids: Iterable[str], dtype: DType) -> list[int]:
    """Write the rows of the videos as one NPY file; return the number of rows of each."""
    lengths = []
    stream.write(_header(0, store.n_dimensions, dtype))  # its length does not depend on the number of rows
    for video_id in video_ids:
        rows = _cast(store[video_id], video_id, store.n_dimensions, dtype)
        stream.write(rows.tobytes())
        lengths.append(len(rows))
    stream.seek(0)
    stream.write(_header(sum(lengths), store.n_dimensions, dtype))
    return lengths


def _cast(rows: Frames, video_id: str, width: int, dtype: DType) -> npt.NDArray[Any]:
    if rows.ndim != 2 or rows.shape[1] != width or len(rows) == 0:
        raise InputError(f"video {video_id!r}: got shape {rows.shape}, expected (rows, {width})", field="features")
    with np.errstate(over="ignore"):
        cast = rows.astype(np.dtype(dtype).newbyteorder("<"))
    if not np.isfinite(cast).all():
        hint = "a number is not finite" if dtype == "float32" else "a number is not finite, or too large for float16"
        raise InputError(f"video {video_id!r}: {hint}", field="features")
    return cast


def _header(n_rows: int, width: int, dtype: DType) -> bytes:
    """Write the head of an NPY file of (n_rows, width)."""
    about = {"descr": np.dtype(dtype).newbyteorder("<").str, "fortran_order": False, "shape": (n_rows, width)}
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, about)
    return stream.getvalue()
