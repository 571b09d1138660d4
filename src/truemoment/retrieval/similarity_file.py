"""Somebody's similarities: an NPZ file with a matrix of texts by clips.

===============  ===========  ======================================================================================
``similarity``   (T, N)       similarities of texts and clips, floating point
``clip_of``      (T,)         optional: row of each text's clip; without it text i belongs to clip i, and T is N
``video_id``     (N,)         optional: video of each clip, as a JSON list in bytes; without it each clip is its own
===============  ===========  ======================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from truemoment.arrays import names_in_npz, read_npz, refusing_damage
from truemoment.exceptions import InputError
from truemoment.features.base import Frames
from truemoment.files import atomic_write
from truemoment.intervals import Ints
from truemoment.records import Strings, as_strings


@dataclass(frozen=True, eq=False)
class SimilarityFile:
    """Similarities (T, N), the clip of each text (T,), and the video of each clip (N,)."""

    matrix: Frames
    clip_of: Ints
    video_id: Strings


def read_similarities(path: Path) -> SimilarityFile:
    """Read a file of similarities.

    Raises
    ------
    InputError
        If an array has another shape or type, or a similarity is not a number.
    """
    with refusing_damage(path, "is not a file of similarities (NPZ)", msgspec.MsgspecError):
        names = names_in_npz(path)
        if "similarity" not in names:
            raise InputError(f"found {', '.join(names) or 'no array'}, expected an array named similarity", path=path)
        (matrix,) = read_npz(path, "similarity")
        if matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype.kind != "f":
            shape = "x".join(map(str, matrix.shape))
            raise InputError(
                f"found {shape} numbers of type {matrix.dtype}, expected texts x clips of floating point",
                path=path,
                field="similarity",
            )
        clip_of = read_npz(path, "clip_of")[0] if "clip_of" in names else np.arange(len(matrix))
        if "clip_of" not in names and matrix.shape[0] != matrix.shape[1]:
            raise InputError(
                f"found {matrix.shape[0]} texts and {matrix.shape[1]} clips, expected as many, or clip_of",
                path=path,
                field="similarity",
            )
        if clip_of.shape != (len(matrix),) or clip_of.dtype.kind not in "iu":
            raise InputError(
                f"found shape {clip_of.shape} of {clip_of.dtype}, expected a clip for each text",
                path=path,
                field="clip_of",
            )
        if ((clip_of < 0) | (clip_of >= matrix.shape[1])).any():
            worst = int(clip_of[(clip_of < 0) | (clip_of >= matrix.shape[1])][0])
            raise InputError(
                f"found {worst}, expected a row of the {matrix.shape[1]} clips, from 0", path=path, field="clip_of"
            )
        videos = [str(n) for n in range(matrix.shape[1])]
        if "video_id" in names:
            videos = msgspec.json.decode(read_npz(path, "video_id")[0].tobytes(), type=list[str])
            if len(videos) != matrix.shape[1]:
                raise InputError(
                    f"found {len(videos)} videos, expected one for each of {matrix.shape[1]} clips",
                    path=path,
                    field="video_id",
                )
    return SimilarityFile(
        np.asarray(matrix, dtype=np.float32), clip_of.astype(np.int64), as_strings(videos, "video_id")
    )


def write_similarities(path: Path, matrix: Frames, clip_of: Ints, video_id: Strings) -> None:
    """Write a file that :func:`read_similarities` reads."""
    videos = np.frombuffer(msgspec.json.encode(video_id.tolist()), dtype=np.uint8)
    with atomic_write(path) as file:
        np.savez(file, similarity=matrix, clip_of=clip_of, video_id=videos)
