"""Vectors of sentences for a model that compares them, by the texts that name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.records import Queries
from truemoment.learning.training.vocabulary import ENCODER
from truemoment.media.features.base import Frames
from truemoment.media.features.sentences import SentenceFile, SentenceStore
from truemoment.searching.retrieval import EncodedSentences


@dataclass(frozen=True, eq=False)
class SentenceFiles:
    """Several files of vectors; each query has the vector of the first file that knows it.

    Parameters
    ----------
    files
        Files of one width, one or more.
    """

    files: tuple[SentenceFile, ...]

    @property
    def name(self) -> str:
        """Name in signatures."""
        return " + ".join(file.name for file in self.files)

    @property
    def n_dimensions(self) -> int:
        """D, dimensions of a vector."""
        return self.files[0].n_dimensions

    def vectors(self, queries: Queries) -> Frames:
        """Return the vectors of queries, (Q, D)."""
        found = np.empty((len(queries), self.n_dimensions), dtype=np.float32)
        left = np.ones(len(queries), dtype=bool)
        for number, file in enumerate(self.files):
            known = np.array([query_id in file for query_id in queries.query_id], dtype=bool)
            chosen = left & known if number < len(self.files) - 1 else left  # the last one names what is missing
            if chosen.any():
                found[chosen] = file.vectors(_some(queries, chosen))
            left &= ~chosen
        return found


def _some(queries: Queries, chosen: np.ndarray) -> Queries:
    return Queries(
        queries.query_id[chosen], queries.video_id[chosen], queries.duration_s[chosen], queries.sentence[chosen]
    )


def open_sentences(texts: Sequence[str]) -> SentenceStore | None:
    """Open vectors of sentences: files ``.h5`` or ``.npz``, or ``encoder:NAME``; None for no text.

    Raises
    ------
    InputError
        If files differ in width, or an encoder is given beside files.
    """
    if not texts:
        return None
    if any(text.startswith(ENCODER) for text in texts):
        if len(texts) > 1:
            raise InputError(f"--sentences: got {', '.join(texts)}, expected files, or one {ENCODER}NAME")
        from truemoment.media.video.encoders import load_encoder  # noqa: PLC0415 - importing it takes seconds

        return EncodedSentences(load_encoder(texts[0].removeprefix(ENCODER)))
    files = tuple(SentenceFile(Path(text)) for text in texts)
    for file in files[1:]:
        if file.n_dimensions != files[0].n_dimensions:
            widths = f"{files[0].n_dimensions} as in {files[0].path.name}"
            raise InputError(f"found vectors of {file.n_dimensions} dimensions, expected {widths}", path=file.path)
    return files[0] if len(files) == 1 else SentenceFiles(files)
