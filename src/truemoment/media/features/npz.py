"""Features of all videos in one NPZ file, as synthetic worlds are written.

The file has ``frames`` (the rows of all videos, float32), ``offsets`` (video v has the rows
``offsets[v]:offsets[v + 1]``), ``video_id`` (a JSON list, as bytes) and ``fps``.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from truemoment.base.boundary.arrays import pack_json, read_npz, refusing_damage, unpack_json, write_npz
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError
from truemoment.media.features.base import Features, Frames
from truemoment.media.features.fingerprints import fingerprint


def write_features(path: AnyPath, features: Features) -> None:
    """Write frame features as NPZ."""
    lengths = [len(features[video_id]) for video_id in features]
    none = np.zeros((0, features.n_dimensions), dtype=np.float32)
    frames = np.concatenate([none, *(features[video_id] for video_id in features)])
    write_npz(
        path,
        frames=frames.astype("<f4", copy=False),
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype("<i8"),
        video_id=pack_json(list(features)),
        fps=np.array(features.fps, dtype="<f8"),
    )


def read_features(path: Path | str) -> Features:
    """Read features that :func:`write_features` wrote."""
    path = Path(path)
    with refusing_damage(path, "is not a file of frame features"):
        frames, offsets, fps, video_id = read_npz(path, "frames", "offsets", "fps", "video_id")
        names = unpack_json(video_id, list[str])
        _check(frames, offsets, names)
        bounds = itertools.pairwise(offsets.tolist())
        by_video = {name: frames[low:high] for name, (low, high) in zip(names, bounds, strict=True)}
        return Features(by_video, float(fps), name=f"npz:{as_text(path.name)}#{fingerprint([path])}")


def _check(frames: Frames, offsets: np.ndarray, names: list[str]) -> None:
    """Refuse parts that do not fit together."""
    if frames.ndim != 2 or frames.dtype != np.float32 or not np.all(np.isfinite(frames)):
        raise InputError(f"got {frames.dtype} of shape {frames.shape}, expected finite float32", field="frames")
    whole = offsets.dtype.kind == "i" and offsets.shape == (len(names) + 1,)
    if not whole or offsets[0] != 0 or offsets[-1] != len(frames) or np.any(np.diff(offsets) < 1):
        raise InputError(f"expected rising positions from 0 to {len(frames)}", field="offsets")
    if len(set(names)) != len(names):
        raise InputError("a video appears twice, expected each once", field="video_id")
