"""open_features(...) -> FeatureStore: features of any kind, by the text that names them."""

from __future__ import annotations

from pathlib import Path

from truemoment.base.boundary.files import read_number
from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.base.records import Annotations
from truemoment.data.datasets import data_folder, made_of
from truemoment.media.features.base import SIMULATED, FeatureStore
from truemoment.media.features.folder import FolderStore
from truemoment.media.features.hdf5 import ENDINGS as HDF5_ENDINGS
from truemoment.media.features.hdf5 import HDF5Store
from truemoment.media.features.joined import SEPARATOR, JoinedFeatures
from truemoment.media.features.npz import read_features
from truemoment.media.features.own import MANIFEST, OwnStore
from truemoment.searching.index import Index
from truemoment.searching.layout import is_index
from truemoment.worlds.concepts import WITH_SENTENCES, concept_features
from truemoment.worlds.perception import perception_features


def open_features(
    text: str | Path,
    annotations: Annotations | None = None,
    *,
    dataset: str | None = None,
    data_dir: str | Path | None = None,
    seed: int = 0,
    fps: float | None = None,
) -> FeatureStore:
    """Open features by the text that names them.

    Parameters
    ----------
    text
        A file, a folder, or ``perception:Q``; :mod:`truemoment.media.features` lists the formats. Several with commas
        between are joined row by row (:mod:`truemoment.media.features.joined`).
    annotations
        Queries that the features are for. Features of none of their videos are refused;
        :func:`~truemoment.media.features.alignment.check` reports single missing videos.
    dataset
        Dataset whose videos ``perception:Q`` simulates: ``activitynet-captions``, ``activitynet-cd``, or Charades for
        every other name; or a folder that ``truemoment resplit`` made of one. [default: the dataset of the annotations]
    data_dir
        Folder with one folder per dataset, for ``perception:Q``. Default: the variable ``TRUEMOMENT_DATA``.
    seed
        Seed of ``perception:Q``.
    fps
        Rows per second, for files that do not state it; None if the rows cover each video evenly.

    Raises
    ------
    UsageError
        If the text names no known kind of features, or `fps` differs from the rate that the file states.
    MissingFileError, InputError
        If the file is missing or malformed, or has none of the videos.
    MissingPackageError
        If h5py is needed and not installed.

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
    if dataset is not None:
        dataset = made_of(dataset)
    elif annotations is not None:
        dataset = annotations.dataset
    store = _open(str(text), dataset, data_dir, seed, fps)
    if annotations is not None and len(annotations) and not any(video_id in store for video_id in annotations.video_id):
        first = str(annotations.video_id[0])
        raise InputError(
            f"has no features of any video of {annotations.dataset}/{annotations.split}, e.g. of {first!r}",
            path=store.name,
            hint=f"its videos have names such as {next(iter(store), '')!r}",
        )
    return store


def _open(text: str, dataset: str | None, data_dir: str | Path | None, seed: int, fps: float | None) -> FeatureStore:
    path = Path(text)
    if SEPARATOR in text and not path.exists():
        sources = [part.strip() for part in text.split(SEPARATOR)]
        if not all(sources):
            raise UsageError(f"{text}: expected a source of features on each side of a comma")
        return JoinedFeatures(tuple(_open(source, dataset, data_dir, seed, fps) for source in sources))
    if text.startswith(SIMULATED):
        if fps is not None:
            raise UsageError(f"{text} states its rows per second, expected no other")
        return _simulate(text, dataset, data_dir, seed)
    if path.is_dir():
        if (path / MANIFEST).exists():
            return OwnStore(path, fps=fps)
        return _with_rate(Index(path), path, fps) if is_index(path) else FolderStore(path, fps=fps)
    if path.suffix.lower() in HDF5_ENDINGS:
        return HDF5Store(path, fps=fps)
    if path.suffix.lower() == ".npz":
        return _with_rate(read_features(path), path, fps)
    forms = f"FILE{', FILE'.join((*HDF5_ENDINGS, '.npz'))}, a folder, or {SIMULATED}Q"
    if not path.exists():
        raise MissingFileError(f"{text}: no such file; features are {forms}")
    raise UsageError(f"{text}: unknown kind of features, expected {forms}")


def _with_rate(store: FeatureStore, path: Path, fps: float | None) -> FeatureStore:
    """Return features that state their rate; another one that was given is refused."""
    if fps is not None and fps != store.fps:
        raise UsageError(f"{path}: got {fps:g} rows per second, but it states {store.fps:g}")
    return store


def _simulate(text: str, dataset: str | None, data_dir: str | Path | None, seed: int) -> FeatureStore:
    quality = read_number(text.removeprefix(SIMULATED))
    if not 0 <= quality <= 1:
        raise UsageError(f"got {text!r}, expected {SIMULATED}Q with a quality Q from 0 to 1")
    if dataset in WITH_SENTENCES:
        return concept_features(dataset, data_dir=data_dir, quality=quality, seed=seed)
    return perception_features(data_folder(data_dir) / "charades-sta", quality=quality, seed=seed)
