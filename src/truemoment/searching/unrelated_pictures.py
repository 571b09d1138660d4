r"""Whether a moment matches a picture: how it compares with the best moments of unrelated pictures.

It is the question of :mod:`truemoment.searching.unrelated`, for a picture q in place of a sentence. The unrelated
pictures b are frames of the index, spread over its videos, and each is searched for in the other videos:

.. math:: \mathrm{match}(q, m) = 1 - \frac{1 + |\{b : \max_{p \notin v(b)} d(b, p) \ge d(q, m)\}|}{1 + |\{b\}|}

with :math:`d(s, m) = c(s, m) - \mathrm{median}_p \, c(s, p)` as there, and the pieces p of videos other than that of b.
So a match of 99 % means that the moment is nearer to the picture than 99 % of the frames of a video are to anything in
the other videos. An index of fewer than :data:`LEAST_VIDEOS` videos has no match of pictures: there is too little to
compare them with. ``benchmarks/pictures.py`` measures how often nothing stands out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truemoment.base.boundary.arrays import pack_json, write_npz
from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats
from truemoment.media.features.base import Frames
from truemoment.searching.index import Index, spread
from truemoment.searching.layout import UNRELATED_PICTURES
from truemoment.searching.unit_vectors import unit
from truemoment.searching.unrelated import DECIMALS, REMOVE, can_match, compared_key, pieces_of, read_kept

LEAST_VIDEOS, FRAMES = 5, 250
"""Videos from which frames of others are unrelated pictures, and about how many frames are compared."""


@dataclass(frozen=True, eq=False)
class UnrelatedPictures:
    """How frames of an index fit videos other than their own: the best piece of each (B,), in ascending order."""

    best: Floats

    @classmethod
    def of(cls, index: Index) -> UnrelatedPictures:
        """Compare frames of an index with all pieces of its other videos."""
        names = sorted(index)
        chosen = [names[at] for at in spread(len(names), FRAMES)]
        rows = [index.rows(name)[spread(index.about(name).n_frames, FRAMES // len(chosen))] for name in chosen]
        vectors, video = unit(np.concatenate(rows).astype(np.float32)), np.repeat(chosen, list(map(len, rows)))
        nearest = np.full(len(vectors), -np.inf)
        for name, some in pieces_of(index):
            others = video != name
            nearest[others] = np.maximum(nearest[others], (vectors[others] @ some.T).max(axis=1))
        return cls(np.sort(nearest - np.median(vectors @ index.piece_sample.T, axis=1)))

    def matches(self, query: Frames, median: float, moments: Frames) -> Floats:
        """Return the match of moments (M, D) with a picture (D,), given its median cosine, (M,).

        Examples
        --------
        >>> eye = np.eye(2, dtype=np.float32)
        >>> UnrelatedPictures(np.array([0.2, 0.5, 0.9])).matches(eye[0], 0.05, eye).tolist()
        [0.75, 0.0]
        """
        stands_out = unit(moments) @ unit(query[None])[0] - median
        below = np.searchsorted(self.best, stands_out, side="left")
        return np.asarray((below / (1 + len(self.best))).round(DECIMALS))


def can_match_pictures(index: Index) -> bool:
    """Whether an index has enough videos to compare pictures with."""
    return len(index) >= LEAST_VIDEOS and can_match(index)


def unrelated_pictures_of(index: Index) -> UnrelatedPictures | None:
    """Return how frames fit other videos of an index, as it keeps it or computed anew; None for too few videos."""
    if not can_match_pictures(index):
        return None
    kept = read_kept(index, UNRELATED_PICTURES, compared_key(index), "best")
    if kept is None:
        return UnrelatedPictures.of(index)
    (best,) = kept
    if best.ndim != 1:
        where = index.folder / UNRELATED_PICTURES
        raise InputError(f"contains numbers of shape {best.shape}, expected (B,)", path=where, hint=REMOVE)
    return UnrelatedPictures(best)


def write_unrelated_pictures(index: Index) -> None:
    """Keep in an index how its frames fit its other videos, so that no search compares them."""
    key = compared_key(index)
    if can_match_pictures(index) and read_kept(index, UNRELATED_PICTURES, key) is None:
        best = UnrelatedPictures.of(index).best
        write_npz(index.folder / UNRELATED_PICTURES, key=pack_json(key), best=best)
