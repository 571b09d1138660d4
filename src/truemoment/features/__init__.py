"""Features of videos: rows of numbers in order of time, in every form in which the field ships them.

====================  ==============================================================================================
``FILE.hdf5``, .h5    a dataset a video, or a group a video that holds one (:mod:`truemoment.features.hdf5`)
``FOLDER``            a file a video, NPY or NPZ (:mod:`truemoment.features.folder`)
``FOLDER``            our own format, with a ``features.json`` in it (:mod:`truemoment.features.own`)
``FOLDER``            an index of one's own videos, made by ``truemoment index`` (:mod:`truemoment.searching.index`)
``FILE.npz``          all videos in one file, as synthetic worlds are written (:mod:`truemoment.features.npz`)
``perception:Q``      simulated for Charades from its annotated actions; Q is the quality, from 0 to 1
====================  ==============================================================================================

Each is a :class:`~truemoment.features.base.FeatureStore`. Files are read when asked for, memory-mapped where they can
be, and never run: no pickle is loaded, no link followed.
"""

from __future__ import annotations

from pathlib import Path

from truemoment.exceptions import InputError, MissingFileError, UsageError
from truemoment.features.alignment import Alignment, check
from truemoment.features.base import Features, FeatureStore, Frames
from truemoment.features.changed import WAYS, ChangedFeatures
from truemoment.features.folder import FolderStore
from truemoment.features.hdf5 import ENDINGS as HDF5_ENDINGS
from truemoment.features.hdf5 import HDF5Store
from truemoment.features.npz import read_features, write_features
from truemoment.features.own import MANIFEST, OwnStore, write_store
from truemoment.features.resampling import normalise, resample
from truemoment.features.sentences import SentenceFile, Sentences, SentenceVectors, write_sentences
from truemoment.records import Annotations

__all__ = [
    "WAYS",
    "Alignment",
    "ChangedFeatures",
    "FeatureStore",
    "Features",
    "FolderStore",
    "Frames",
    "HDF5Store",
    "OwnStore",
    "SentenceFile",
    "SentenceVectors",
    "Sentences",
    "check",
    "normalise",
    "open_features",
    "read_features",
    "resample",
    "write_features",
    "write_sentences",
    "write_store",
]

SIMULATED = "perception:"


def open_features(
    text: str | Path,
    annotations: Annotations | None = None,
    *,
    data_dir: str | Path | None = None,
    seed: int = 0,
    fps: float | None = None,
) -> FeatureStore:
    """Open features by the text that names them.

    Parameters
    ----------
    text
        A file, a folder, or ``perception:Q``; see the top of :mod:`truemoment.features`.
    annotations
        What they are for: features of none of its videos are refused at once. Whether all are there,
        :func:`~truemoment.features.alignment.check` tells.
    data_dir
        Folder that holds one folder a dataset, for ``perception:Q``; by default the variable ``TRUEMOMENT_DATA``.
    seed
        Of ``perception:Q``.
    fps
        Rows a second, for files that state none; None where their rows cover each video evenly.

    Returns
    -------
    FeatureStore

    Raises
    ------
    UsageError
        If the text names nothing known, or rows a second are given that the file states otherwise.
    MissingFileError, InputError
        If there is no such file, or it is not as it must be; or it holds none of the videos.
    MissingPackageError
        If HDF5 is to be read and h5py is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "v.npy", np.ones((60, 8), dtype=np.float32))
    ...     store = open_features(folder, fps=2.0)
    ...     store["v"].shape, float(store.edges_s("v", 30.0)[-1])
    ((60, 8), 30.0)
    """
    store = _opened(str(text), data_dir, seed, fps)
    if annotations is not None and len(annotations) and not any(video_id in store for video_id in annotations.video_id):
        first = str(annotations.video_id[0])
        raise InputError(
            f"holds no video of {annotations.dataset}/{annotations.split}: neither {first!r} nor another one",
            path=store.name,
            hint=f"its videos are called {next(iter(store), '')!r} and the like",
        )
    return store


def _opened(text: str, data_dir: str | Path | None, seed: int, fps: float | None) -> FeatureStore:
    path = Path(text)
    if text.startswith(SIMULATED):
        return _simulated(text, data_dir, seed, fps)
    if path.is_dir():
        if (path / MANIFEST).exists():
            return OwnStore(path, fps=fps)
        return _indexed(path, fps) or FolderStore(path, fps=fps)
    if path.suffix.lower() in HDF5_ENDINGS:
        return HDF5Store(path, fps=fps)
    if path.suffix.lower() == ".npz":
        store = read_features(path)
        if fps is not None and fps != store.fps:
            raise UsageError(f"{path}: got {fps:g} rows a second, but it states {store.fps:g}")
        return store
    forms = f"FILE{', FILE'.join((*HDF5_ENDINGS, '.npz'))}, a folder, or {SIMULATED}Q"
    if not path.exists():
        raise MissingFileError(f"{text}: no such file; features are {forms}")
    raise UsageError(f"{text}: unknown kind of features, expected {forms}")


def _indexed(path: Path, fps: float | None) -> FeatureStore | None:
    from truemoment.searching.index import Index  # noqa: PLC0415 - search comes later, and reads features
    from truemoment.searching.layout import is_index  # noqa: PLC0415 - search comes later, and reads features

    if not is_index(path):
        return None
    index = Index(path)
    if fps is not None and fps != index.fps:
        raise UsageError(f"{path}: got {fps:g} rows a second, but it states {index.fps:g}")
    return index


def _simulated(text: str, data_dir: str | Path | None, seed: int, fps: float | None) -> FeatureStore:
    from truemoment.datasets import data_folder  # noqa: PLC0415 - only simulated features need a dataset
    from truemoment.files import read_number  # noqa: PLC0415 - as above
    from truemoment.worlds.perception import perception_features  # noqa: PLC0415 - worlds come later, and are made of features

    quality = read_number(text.removeprefix(SIMULATED))
    if not 0 <= quality <= 1:
        raise UsageError(f"got {text!r}, expected {SIMULATED}Q with a quality Q from 0 to 1")
    if fps is not None:
        raise UsageError(f"{text} states its rows a second, expected no other")
    return perception_features(data_folder(data_dir) / "charades-sta", quality=quality, seed=seed)
