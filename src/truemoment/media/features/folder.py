"""Features in a folder with a file per video: ``VIDEO.npy``, or ``VIDEO.npz`` as in Moment-DETR.

An NPZ file has the rows as ``features``, or as its only array. NPY files are memory-mapped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from truemoment.base.boundary.arrays import PackedArray, map_npy, names_in_npz
from truemoment.base.boundary.inputs import reading
from truemoment.base.errors import InputError, MissingFileError
from truemoment.media.features.reading import FileStore
from truemoment.report.words import few

KEY = "features"
"""Name of the array in an NPZ file with several arrays."""

ENDINGS = (".npy", ".npz")


class FolderStore(FileStore):
    """A FeatureStore of a folder with an NPY or NPZ file per video; `fps` is None if rows cover each video evenly."""

    def __init__(self, path: Path | str, *, fps: float | None = None) -> None:
        path = Path(path)
        try:
            inside = [file for file in sorted(reading(path).iterdir()) if file.name[0] != "." and file.is_file()]
        except FileNotFoundError:
            raise MissingFileError(f"{path}: no such folder") from None
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", path=path) from None
        files = [file for file in inside if file.suffix in ENDINGS]
        others = [file.name for file in inside if file.suffix not in ENDINGS]
        notes = [f"left out, which is no NPY or NPZ: {few(others)}"] if others else []
        self._file_of = {file.stem: file for file in files}
        if len(self._file_of) < len(files):
            twice = next(file.stem for file in files if self._file_of[file.stem] != file)
            raise InputError(f"{twice!r} is there as NPY and as NPZ, expected each video once", path=path)
        super().__init__("folder", path, self._file_of, files=files, fps=fps, notes=notes)

    def _array(self, name: str) -> Any:  # noqa: ANN401 - an array whose type the file states
        file = self._file_of[name]
        return _packed(file) if file.suffix == ".npz" else map_npy(file)


def _packed(file: Path) -> PackedArray:
    names = names_in_npz(file)
    if KEY not in names and len(names) != 1:
        shown = ", ".join(map(repr, names[:5])) or "nothing"
        raise InputError(f"has {shown}, expected {KEY!r} or one array only")
    return PackedArray(file, KEY if KEY in names else names[0])
