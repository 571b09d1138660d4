"""The stopping rule of an index, measured with sentences of the users."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from truemoment.base.boundary.arrays import map_npy, refusing_damage
from truemoment.base.boundary.files import read_text, sha256_of
from truemoment.base.boundary.text import as_text
from truemoment.base.errors import InputError
from truemoment.media.features.base import Frames
from truemoment.searching.encoder_options import EncoderOptions
from truemoment.searching.index import Index
from truemoment.searching.layout import Calibration
from truemoment.searching.request import APART_S, CalibrationRequest
from truemoment.searching.stopping import calibrate, write_calibration

MOST_SENTENCES = 100_000
"""Sentences of a file; a few hundred are enough."""


def calibrate_index(request: CalibrationRequest, track: Callable[[Iterable[str]], Iterable[str]] = iter) -> Calibration:
    """Measure when a search of an index may stop, and keep it in the index; `track` wraps the names of the videos."""
    index, file = Index(request.index_path), request.sentences
    calibration = calibrate(
        index,
        _vectors(file, index, EncoderOptions(model=request.model, device=request.device)),
        sentences=f"{as_text(file.name)}#{sha256_of(file)[:8]}",
        top=request.top,
        apart_s=APART_S,
        n_videos=request.videos,
        quantile=request.quantile,
        seed=request.seed,
        track=track,
    )
    write_calibration(request.index_path, calibration)
    return calibration


def _vectors(path: Path, index: Index, options: EncoderOptions) -> Frames:
    """Return vectors of sentences (S, D): a file's, or those of the index's model for the lines of a text."""
    if path.suffix.lower() == ".npy":
        return _read_vectors(path)
    sentences = [line.strip() for line in read_text(path).splitlines() if line.strip()]
    if not 1 <= len(sentences) <= MOST_SENTENCES:
        raise InputError(f"has {len(sentences):,} sentences, expected 1 to {MOST_SENTENCES:,}, one a line", path=path)
    return options.encoder_of(index).sentences(sentences)


def _read_vectors(path: Path) -> Frames:
    """Return vectors of sentences (S, D) from an NPY file."""
    with refusing_damage(path, "is no table of vectors"):
        table = map_npy(path)
        if table.ndim != 2 or table.dtype.kind != "f" or not 1 <= len(table) <= MOST_SENTENCES:
            came = f"contains {table.dtype} of shape {table.shape}"
            raise InputError(f"{came}, expected (sentences, numbers), up to {MOST_SENTENCES:,} sentences", path=path)
        return np.asarray(table, dtype=np.float32)
