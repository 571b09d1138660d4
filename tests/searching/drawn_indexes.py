"""Indexes of drawn rows, as a collection has them: shots, and sentences near a moment of one video."""

import numpy as np

from truemoment.searching.index import Index
from truemoment.searching.writing import IndexWriter, VideoFile

N_DIMENSIONS = 24
SHOT = 10


def write_drawn(folder, settings, n_videos, *, n_frames=120, seed=0, first=0):
    """Write videos v000, v001, ... of drawn shots into an index; return the index."""
    with IndexWriter(folder, settings(n_dimensions=N_DIMENSIONS)) as writer:
        for number in range(first, first + n_videos):
            rng = np.random.default_rng([seed, number])
            shots = np.repeat(rng.standard_normal((n_frames // SHOT + 1, N_DIMENSIONS)), SHOT, axis=0)[:n_frames]
            film = VideoFile(f"v{number:03}", folder / f"v{number:03}.mp4", f"{seed}:{number}")
            writer.keep_part(film, n_frames, 0, 1.0 + shots + 0.3 * rng.standard_normal((n_frames, N_DIMENSIONS)))
            writer.finish(film, n_frames, n_frames, n_frames / 2)
    return Index(folder)


def sentences_near(index, many, seed=1, noise=0.5):
    """Return vectors near a drawn moment of a drawn video each."""
    rng = np.random.default_rng(seed)
    names = list(index)
    vectors = []
    for _ in range(many):
        rows = index[names[int(rng.integers(len(names)))]]
        at = int(rng.integers(len(rows) - SHOT))
        vectors.append(rows[at : at + 8].mean(axis=0) + noise * rng.standard_normal(rows.shape[1]))
    return np.array(vectors, dtype=np.float32)
