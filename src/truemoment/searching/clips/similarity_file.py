"""Files of similarities: an NPZ file with a matrix of texts by clips, or with vectors of both.

===============  ===========  ======================================================================================
``similarity``   (T, N)       similarities of texts and clips, floating point
``texts``        (T, D)       instead of them: vectors of texts, whose cosines with those of clips are the similarities
``clips``        (N, D)       vectors of clips
``clip_of``      (T,)         optional: row of each text's clip; without it text i belongs to clip i, and T is N
``video_id``     (N,)         optional: video of each clip, as a JSON list in bytes; without it each clip is its own
===============  ===========  ======================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from truemoment.base.boundary.arrays import names_in_npz, pack_json, read_npz, refusing_damage, unpack_json, write_npz
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.base.intervals import Ints
from truemoment.base.records import Strings, as_strings
from truemoment.media.features.base import Frames
from truemoment.searching.clips.ranking import Similarities
from truemoment.searching.unit_vectors import unit


@dataclass(frozen=True, eq=False)
class SimilarityFile:
    """Similarities of T texts and N clips, the clip of each text (T,), and the video of each clip (N,)."""

    similarities: Similarities
    clip_of: Ints
    video_id: Strings


def read_similarities(path: AnyPath) -> SimilarityFile:
    """Read a file of similarities.

    Raises
    ------
    InputError
        If an array has another shape or type, or a similarity is not a number.
    """
    with refusing_damage(path, "is not a file of similarities (NPZ)", msgspec.MsgspecError):
        names = names_in_npz(path)
        similarities = _read_pairs(path, names)
        n_texts, n_clips = similarities.n_texts, similarities.n_clips
        clip_of = read_npz(path, "clip_of")[0] if "clip_of" in names else np.arange(n_texts)
        if "clip_of" not in names and n_texts != n_clips:
            raise InputError(
                f"found {n_texts} texts and {n_clips} clips, expected as many, or clip_of",
                path=path,
                field="similarity",
            )
        if clip_of.shape != (n_texts,) or clip_of.dtype.kind not in "iu":
            raise InputError(
                f"found shape {clip_of.shape} of {clip_of.dtype}, expected a clip for each text",
                path=path,
                field="clip_of",
            )
        if ((clip_of < 0) | (clip_of >= n_clips)).any():
            worst = int(clip_of[(clip_of < 0) | (clip_of >= n_clips)][0])
            raise InputError(
                f"found {worst}, expected a row of the {n_clips} clips, from 0", path=path, field="clip_of"
            )
        videos = [str(n) for n in range(n_clips)]
        if "video_id" in names:
            videos = unpack_json(read_npz(path, "video_id")[0], list[str])
            if len(videos) != n_clips:
                raise InputError(
                    f"found {len(videos)} videos, expected one for each of {n_clips} clips",
                    path=path,
                    field="video_id",
                )
    return SimilarityFile(similarities, clip_of.astype(np.int64), as_strings(videos, "video_id"))


def _read_pairs(path: AnyPath, names: Sequence[str]) -> Similarities:
    """Read similarities, or vectors whose cosines they are."""
    if "similarity" in names:
        return Similarities.of_matrix(_numbers(path, "similarity", "texts x clips"))
    if not {"texts", "clips"} <= set(names):
        listed = ", ".join(names) or "no array"
        raise InputError(f"found {listed}, expected an array named similarity, or texts and clips", path=path)
    texts, clips = (_numbers(path, name, f"{name} x dimensions") for name in ("texts", "clips"))
    if texts.shape[1] != clips.shape[1]:
        problem = f"found vectors of {texts.shape[1]} dimensions, expected {clips.shape[1]} as of the clips"
        raise InputError(problem, path=path, field="texts")
    return Similarities.of_vectors(unit(texts), unit(clips))


def _numbers(path: AnyPath, name: str, expected: str) -> Frames:
    (array,) = read_npz(path, name)
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind != "f":
        shape = "x".join(map(str, array.shape))
        problem = f"found {shape} numbers of type {array.dtype}, expected {expected} of floating point"
        raise InputError(problem, path=path, field=name)
    return np.asarray(array, dtype=np.float32)


def write_similarities(path: AnyPath, matrix: Frames, clip_of: Ints, video_id: Strings) -> None:
    """Write a file that :func:`read_similarities` reads."""
    write_npz(path, similarity=matrix, clip_of=clip_of, video_id=pack_json(video_id.tolist()))


def write_vectors(path: AnyPath, texts: Frames, clips: Frames, clip_of: Ints, video_id: Strings) -> None:
    """Write vectors of texts (T, D) and clips (N, D) as a file that :func:`read_similarities` reads."""
    write_npz(path, texts=texts, clips=clips, clip_of=clip_of, video_id=pack_json(video_id.tolist()))
