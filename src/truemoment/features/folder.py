"""Features in a folder with a file a video: ``VIDEO.npy``, or ``VIDEO.npz`` as Moment-DETR keeps them.

An NPZ file holds the rows as ``features``, or holds one array only. NPY files are memory-mapped.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from truemoment.exceptions import InputError, MissingFileError
from truemoment.features.reading import MOST_NUMBERS, FileStore
from truemoment.inputs import reading

KEY = "features"
"""What the array of an NPZ file is called where it holds several."""

ENDINGS = (".npy", ".npz")


class FolderStore(FileStore):
    """A FeatureStore of a folder with an NPY or NPZ file a video.

    Parameters
    ----------
    path
        The folder.
    fps
        Rows a second; None where the rows cover each video evenly.

    Raises
    ------
    MissingFileError, InputError
        If there is no such folder, or none with such files; or a video has two.
    """

    def __init__(self, path: Path | str, *, fps: float | None = None) -> None:
        path = Path(path)
        try:
            files = [one for one in sorted(reading(path).iterdir()) if one.suffix in ENDINGS and one.is_file()]
        except FileNotFoundError:
            raise MissingFileError(f"{path}: no such folder") from None
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", path=path) from None
        self._file_of = {one.stem: one for one in files}
        if len(self._file_of) < len(files):
            twice = next(one.stem for one in files if self._file_of[one.stem] != one)
            raise InputError(f"{twice!r} stands there as NPY and as NPZ, expected each video once", path=path)
        super().__init__("folder", path, self._file_of, files=files, fps=fps)

    def _array(self, name: str) -> Any:  # noqa: ANN401 - an array whose type the file tells
        file = reading(self._file_of[name])
        return _array_of_npz(file) if file.suffix == ".npz" else np.lib.format.open_memmap(file, mode="r")


def _array_of_npz(file: Path) -> Any:  # noqa: ANN401 - an array whose type the file tells
    with zipfile.ZipFile(reading(file)) as archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
    if KEY not in members and len(members) != 1:
        shown = ", ".join(map(repr, list(members)[:5])) or "nothing"
        raise InputError(f"holds {shown}, expected {KEY!r} or one array only")
    key = KEY if KEY in members else next(iter(members))
    if members[key].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError("is packed in an unknown way, expected an archive as NumPy writes it")
    if members[key].file_size > 8 * MOST_NUMBERS:
        raise InputError(f"claims {members[key].file_size:,} bytes, expected {8 * MOST_NUMBERS:,} at most")
    with np.load(reading(file), allow_pickle=False) as arrays:
        return arrays[key]
