"""Features and vectors of sentences that a run reads, by the texts that name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.records import Queries
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.vocabulary import ENCODER
from truemoment.media.features.base import FeatureStore, Frames
from truemoment.media.features.sentences import SentenceFile, SentenceStore
from truemoment.media.video.encoders import load_encoder
from truemoment.media.video.picture_store import PICTURES, PictureStore
from truemoment.searching.opening import open_features
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
        vectors = np.empty((len(queries), self.n_dimensions), dtype=np.float32)
        remaining = np.ones(len(queries), dtype=bool)
        for number, file in enumerate(self.files):
            in_file = np.array([query_id in file for query_id in queries.query_id], dtype=bool)
            rows = np.flatnonzero(
                remaining & in_file if number < len(self.files) - 1 else remaining
            )  # the last names the missing
            if len(rows):
                vectors[rows] = file.vectors(queries.select(rows))
            remaining[rows] = False
        return vectors


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
        return EncodedSentences(load_encoder(texts[0].removeprefix(ENCODER)))
    files = tuple(SentenceFile(Path(text)) for text in texts)
    for file in files[1:]:
        if file.n_dimensions != files[0].n_dimensions:
            widths = f"{files[0].n_dimensions} as in {files[0].path.name}"
            raise InputError(f"found vectors of {file.n_dimensions} dimensions, expected {widths}", path=file.path)
    return files[0] if len(files) == 1 else SentenceFiles(files)


def open_clip_features(
    text: str,
    recipe: Recipe,
    dataset: str | None,
    data_dir: Path | None = None,
    *,
    seed: int = 0,
    fps: float | None = None,
) -> FeatureStore:
    """Open the features that a recipe asks for.

    Parameters
    ----------
    text
        As for :func:`~truemoment.searching.opening.open_features`, or ``pictures:FOLDER`` with video files of films or
        clips.
    recipe
        With ``tune: towers`` it needs pictures, else vectors.
    dataset, data_dir, seed, fps
        As for :func:`~truemoment.searching.opening.open_features`.
    """
    learns_towers = recipe.settings.get("tune") == "towers"
    is_pictures = text.startswith(PICTURES)
    if learns_towers != is_pictures:
        needed = f"pictures: give --features {PICTURES}FOLDER" if learns_towers else "vectors of frames, not pictures"
        raise UsageError(f"settings.tune: the model learns from {needed}")
    if not is_pictures:
        return open_features(text, dataset=dataset, data_dir=data_dir, seed=seed, fps=fps)
    return PictureStore(Path(text.removeprefix(PICTURES)), load_encoder(recipe.settings["encoder"], device="cpu"))
