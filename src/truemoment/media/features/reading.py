"""Rows from files: the checks of every format, and the base class of the stores."""

from __future__ import annotations

import abc
import contextlib
import functools
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from truemoment.base.boundary.arrays import refusing_damage
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats
from truemoment.media.features.base import Frames, checked_fps, edges_of
from truemoment.media.features.fingerprints import fingerprint
from truemoment.media.features.naming import Names

MOST_NUMBERS = 1 << 30
"""Numbers of a video beyond which a file is not believed: 4 GiB as float32, 77 hours of CLIP features at 5 fps."""


def shape_of(shape: tuple[int, ...]) -> tuple[int, int] | None:
    """Return (T, D) of an array whose other axes have length 1; None if it has no such shape.

    Examples
    --------
    >>> shape_of((60, 1, 1, 1024)), shape_of((1, 60, 1024)), shape_of((60, 4)), shape_of((60,)), shape_of((5, 6, 7))
    ((60, 1024), (60, 1024), (60, 4), None, None)
    """
    if len(shape) == 2:
        return shape[0], shape[1]
    long = [length for length in shape if length != 1]
    if len(shape) < 2 or len(long) > 2:
        return None
    time, numbers = [1] * (2 - len(long)) + long
    return time, numbers


def refuse_claims(array: Any) -> tuple[int, int]:  # noqa: ANN401 - an array, or a dataset that reads like one
    """Return (T, D) of an array by its stated shape and type, before it is read."""
    dtype, shape = np.dtype(array.dtype), shape_of(tuple(array.shape))
    if dtype.kind != "f" or dtype.itemsize > 8:
        raise InputError(f"got numbers of type {str(dtype)[:60]}, expected float16, float32 or float64")
    if shape is None:
        raise InputError(f"got shape {tuple(array.shape)}, expected (rows, numbers)")
    if min(shape) < 1:
        raise InputError(f"got shape {tuple(array.shape)}, expected a row or more")
    if math.prod(shape) > MOST_NUMBERS:
        raise InputError(f"got shape {tuple(array.shape)}, expected {MOST_NUMBERS:,} numbers a video at most")
    return shape


def read_rows(array: Any) -> Frames:  # noqa: ANN401 - an array, or a dataset that reads like one
    """Read rows (T, D) as float32."""
    shape = refuse_claims(array)
    with np.errstate(over="ignore"):  # beyond float32 is not finite, and reported below
        rows: Frames = np.asarray(array[...]).reshape(shape).astype(np.float32, copy=False)
    if fault := fault_of_numbers(rows):
        raise InputError(fault)
    return rows


def fault_of_numbers(rows: Frames, name: str = "rows") -> str:
    """Return what is wrong with the numbers of rows (T, D), whose lengths are computed in float32; "" if nothing is.

    Examples
    --------
    >>> fault_of_numbers(np.array([[1.0, 2.0], [1e25, 0.0]], dtype=np.float32))
    '1 of 2 rows have numbers whose squares overflow float32 (up to 1e+25): divide all features by one number'
    """
    largest = np.maximum(rows.max(axis=1, initial=0), -rows.min(axis=1, initial=0))  # no copy of the rows
    not_finite = int((~np.isfinite(largest)).sum())
    if not_finite:
        return f"{not_finite} of {len(rows)} {name} have numbers that are not finite"
    too_large = int((largest > math.sqrt(np.finfo(np.float32).max / rows.shape[1])).sum())
    if too_large:
        number = f"(up to {largest.max():.3g}): divide all features by one number"
        return f"{too_large} of {len(rows)} {name} have numbers whose squares overflow float32 {number}"
    return ""


class FileStore(abc.ABC):
    """Base class of stores of files; a subclass opens the array of a video.

    Parameters
    ----------
    kind
        Name of the format.
    path
        The file or folder.
    names
        Videos, under the names of the files.
    files
        Files of the fingerprint.
    fps
        Rows per second; None if the rows cover each video evenly.
    notes
        Notes for people on how it was read.
    """

    def __init__(
        self,
        kind: str,
        path: Path,
        names: Iterable[str],
        *,
        files: Iterable[AnyPath],
        fps: float | None,
        notes: Iterable[str] = (),
    ) -> None:
        self.kind, self.path, self.fps, self.notes = kind, path, checked_fps(fps), tuple(notes)
        self.names = Names(names)
        if not self.names.names:
            raise InputError("has no features", path=path)
        self.name = f"{kind}:{as_text(path.name)}#{fingerprint(files)}"

    mend: str | None = None
    """What to do about a video whose rows are damaged."""

    @abc.abstractmethod
    def _array(self, name: str) -> Any:  # noqa: ANN401 - an array, or a dataset that reads like one
        """Open the array of a video by the store's own name of it."""

    @functools.cached_property
    def n_dimensions(self) -> int:
        """D, from the first readable video."""
        first = None
        for name in self.names.names:
            try:
                return self._shape(name)[1]
            except InputError as error:
                first = first or error
        raise first or InputError("has no features", path=self.path)

    def __contains__(self, video_id: object) -> bool:
        return isinstance(video_id, str) and self.names.find(video_id) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names.names)

    def __len__(self) -> int:
        return len(self.names.names)

    def __getitem__(self, video_id: str) -> Frames:
        """Return the rows of a video, (T, D)."""
        name = self._named(video_id)
        with self._refusing_damage(name):
            rows = read_rows(self._array(name))
        self._same_width(name, rows.shape[1])
        return rows

    def edges_s(self, video_id: str, duration_s: float) -> Floats:
        """Return the edges of the rows in seconds, (T + 1,)."""
        return edges_of(self._shape(self._named(video_id))[0], self.fps, duration_s)

    def _shape(self, name: str) -> tuple[int, int]:
        with self._refusing_damage(name):
            return refuse_claims(self._array(name))

    def _named(self, video_id: str) -> str:
        name = self.names.find(video_id)
        if name is None:
            alike = self.names.alike(video_id)
            hint = f"; {' and '.join(map(repr, alike[:3]))} could be meant" if alike else ""
            raise InputError(f"there are no features of video {video_id!r}{hint}", path=self.path)
        return name

    def _same_width(self, name: str, width: int) -> None:
        if width != self.n_dimensions:
            problem = f"got {width} numbers a row, expected {self.n_dimensions} as in the others"
            raise InputError(problem, path=self.path, field=name)

    def _refusing_damage(self, name: str) -> contextlib.AbstractContextManager[None]:
        return refusing_damage(self.path, "cannot be read", field=name, hint=self.mend)
