"""Features in an HDF5 file: a dataset per video, or a group per video with one dataset.

That is ``/v_abc``, or ``/v_abc/c3d_features``, as in ActivityNet's C3D features and most files for 2D-TAN. The file is
opened once and read on demand. Links to other files, external arrays and virtual arrays are not followed.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truemoment.base.boundary.arrays import refusing_damage
from truemoment.base.boundary.inputs import reading
from truemoment.base.boundary.unpacking import FREE_BYTES, refuse_swollen
from truemoment.base.errors import InputError, MissingFileError, MissingPackageError
from truemoment.media.features.reading import FileStore, shape_of

if TYPE_CHECKING:
    import h5py

ENDINGS = (".hdf5", ".h5", ".hdf")


class HDF5Store(FileStore):
    """A FeatureStore of an HDF5 file, which each process opens; `fps` is None if rows cover each video evenly."""

    def __init__(self, path: Path | str, *, fps: float | None = None) -> None:
        path = Path(path)
        self._opened: tuple[int, h5py.File] | None = None
        self.path = path
        try:
            with refusing_damage(path, "is not an HDF5 file that can be read"):
                names, n_links = _inside(self._file())
        except InputError:
            self.close()
            raise
        notes = [f"not followed, since they may lead out of the file: {n_links:,} links"] if n_links else []
        super().__init__("hdf5", path, names, files=[path], fps=fps, notes=notes)

    def _file(self) -> h5py.File:
        try:
            import h5py  # noqa: PLC0415 - optional
        except ModuleNotFoundError:
            raise MissingPackageError("h5py", "models", "reading HDF5") from None
        if self._opened is None or self._opened[0] != os.getpid():  # a file opened before a fork is not ours
            if self.path.is_dir():
                raise InputError("is a folder, expected a file", path=self.path)
            if not self.path.is_file():
                raise MissingFileError(f"{self.path}: no such file")
            self._opened = os.getpid(), h5py.File(reading(self.path), "r")
        return self._opened[1]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_opened": None}

    def close(self) -> None:
        """Close the file; the next access opens it again."""
        if self._opened is not None:
            self._opened[1].close()
            self._opened = None

    def _array(self, name: str) -> Any:  # noqa: ANN401 - a dataset of a library without types
        import h5py  # noqa: PLC0415 - optional

        item = self._file()[name]
        if isinstance(item, h5py.Group):
            inside, n_links = _inside(item)
            members = (item[name] for name in inside)
            tables = [member for member in members if isinstance(member, h5py.Dataset) and shape_of(member.shape or ())]
            if len(tables) != 1:
                links = f" and {n_links} links, which are not followed" if n_links else ""
                raise InputError(f"got a group of {len(tables)} tables{links}, expected one")
            item = tables[0]
        if not isinstance(item, h5py.Dataset):
            raise InputError(f"got a {type(item).__name__}, expected a table of features")
        if item.shape is None:
            raise InputError("got an empty dataset, expected (rows, numbers)")
        if item.is_virtual or item.external:
            raise InputError("its numbers lie in other files, which are not read")
        numbers = math.prod(item.shape) + math.prod(
            item.chunks or ()
        )  # a chunk is unpacked whole, however little is in it
        refuse_swollen(self.path, numbers * item.dtype.itemsize, item.id.get_storage_size(), free=FREE_BYTES)
        return item


def _inside(group: h5py.Group) -> tuple[list[str], int]:
    """Names in a group that are its own, and how many are links to elsewhere."""
    import h5py  # noqa: PLC0415 - optional

    own, n_links = [], 0
    for name in group:
        if isinstance(group.get(name, getlink=True), h5py.HardLink):
            own.append(name)
        else:
            n_links += 1
    return own, n_links
