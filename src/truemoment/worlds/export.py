"""A world as files: annotations as JSON Lines, features as NPZ.

::

    FOLDER/annotations.jsonl    all splits, in the form of truemoment.datasets.own, a split named on each line
    FOLDER/humans.jsonl         the test splits as several annotators mark them, in the same form
    FOLDER/features.npz         the frame features of all videos
    FOLDER/world.json           the settings

``features.npz`` holds ``frames`` (the rows of all videos one behind the other, float32), ``offsets`` (the
frames of video v are rows ``offsets[v]:offsets[v + 1]``), ``video_id`` (a JSON list, as bytes) and ``fps``.
Each file is written complete or not at all, and nothing in them is a pickle.
"""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import msgspec
import numpy as np

from truemoment.datasets import own
from truemoment.exceptions import InputError, MissingFileError
from truemoment.files import atomic_write
from truemoment.scores import DAMAGED
from truemoment.version import __version__ as version
from truemoment.worlds.features import Features, Frames
from truemoment.worlds.world import World


def write_world(world: World, folder: Path | str) -> None:
    """Write a world into a folder, which is made if it is not there; files of the same names are replaced.

    Parameters
    ----------
    world
        The world.
    folder
        Where to; see the top of :mod:`truemoment.worlds.export` for the files.

    Raises
    ------
    InputError
        If the folder or a file cannot be made.

    Examples
    --------
    >>> import tempfile
    >>> from truemoment import read_own_annotations
    >>> from truemoment.worlds import make_world
    >>> world = make_world(20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_world(world, folder)
    ...     val = read_own_annotations(Path(folder) / "annotations.jsonl", "val")
    ...     features = read_features(Path(folder) / "features.npz")
    >>> val.sha256 == world.splits["val"].sha256, len(features)
    (True, 20)
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", path=folder) from None
    own.write(folder / "annotations.jsonl", world.splits.values())
    own.write(folder / "humans.jsonl", world.humans.values())
    write_features(folder / "features.npz", world.features)
    settings = {"schema": "world/1", "truemoment": version, **dataclasses.asdict(world.settings)}
    with atomic_write(folder / "world.json") as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(settings), indent=2) + b"\n")


def write_features(path: Path, features: Features) -> None:
    """Write frame features as NPZ.

    Raises
    ------
    InputError
        If the file cannot be made.
    """
    lengths = [len(features[video_id]) for video_id in features]
    none = np.zeros((0, features.n_dimensions), dtype=np.float32)
    frames = np.concatenate([none, *(features[video_id] for video_id in features)])
    with atomic_write(path) as stream:
        np.savez(
            stream,
            frames=frames.astype("<f4", copy=False),
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype("<i8"),
            video_id=np.frombuffer(msgspec.json.encode(list(features)), dtype=np.uint8),
            fps=np.array(features.fps, dtype="<f8"),
        )


def read_features(path: Path | str) -> Features:
    """Read what :func:`write_features` wrote.

    Raises
    ------
    MissingFileError, InputError
        If there is no such file, it is not such a file, or it is damaged.
    """
    path = Path(path)
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            frames, offsets, fps = arrays["frames"], arrays["offsets"], float(arrays["fps"])
            names = msgspec.json.decode(arrays["video_id"].tobytes(), type=list[str])
        _check(frames, offsets, names)
        bounds = itertools.pairwise(offsets.tolist())
        by_video = {name: frames[low:high] for name, (low, high) in zip(names, bounds, strict=True)}
        return Features(by_video, fps)
    except FileNotFoundError:
        raise MissingFileError(f"{path}: no such file") from None
    except DAMAGED as error:
        raise InputError(f"is not a file of frame features ({error})", path=path) from None


def _check(frames: Frames, offsets: np.ndarray, names: list[str]) -> None:
    """Refuse parts that do not fit together."""
    if frames.ndim != 2 or frames.dtype != np.float32 or not np.all(np.isfinite(frames)):
        raise InputError(f"got {frames.dtype} of shape {frames.shape}, expected finite float32", field="frames")
    whole = offsets.dtype.kind == "i" and offsets.shape == (len(names) + 1,)
    if not whole or offsets[0] != 0 or offsets[-1] != len(frames) or np.any(np.diff(offsets) < 1):
        raise InputError(f"expected rising positions from 0 to {len(frames)}", field="offsets")
    if len(set(names)) != len(names):
        raise InputError("a video stands twice, expected each once", field="video_id")
