"""Sentences to calibrate a search with: lines of text, or vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from truemoment.base.boundary.arrays import map_npy, refusing_damage
from truemoment.base.boundary.files import read_text
from truemoment.base.errors import InputError
from truemoment.media.features.base import Frames

MOST_SENTENCES = 100_000
"""Sentences of a file; a few hundred are enough."""


def read_lines(path: Path) -> list[str]:
    """Return the sentences of a text file, one a line; empty lines are left out."""
    lines = [line.strip() for line in read_text(path).splitlines()]
    sentences = [line for line in lines if line]
    if not 1 <= len(sentences) <= MOST_SENTENCES:
        raise InputError(f"has {len(sentences):,} sentences, expected 1 to {MOST_SENTENCES:,}, one a line", path=path)
    return sentences


def read_vectors(path: Path) -> Frames:
    """Return vectors of sentences (S, D) from an NPY file."""
    with refusing_damage(path, "is no table of vectors"):
        found = map_npy(path)
        if found.ndim != 2 or found.dtype.kind != "f" or not 1 <= len(found) <= MOST_SENTENCES:
            came = f"holds {found.dtype} of shape {found.shape}"
            raise InputError(f"{came}, expected (sentences, numbers), up to {MOST_SENTENCES:,} sentences", path=path)
        return np.asarray(found, dtype=np.float32)
