r"""Mean map: the candidate that scores best against all training moments at once.

A model that scores 2D-TAN's candidates and sees neither video nor query learns this map: for each candidate c the mean
of its targets over the training moments,

.. math:: \bar t_c = \frac{1}{N} \sum_i \mathrm{clip}\left(\frac{\mathrm{IoU}(c, g_i) - 0.5}{1 - 0.5}, 0, 1\right),

which minimises the loss of 2D-TAN among all scores that are the same for every query. A trained Blind-TAN has to beat
it, or it has learned nothing from the words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.baselines.base import constant_answers, rank_constants
from truemoment.baselines.proposals import SparseMap
from truemoment.baselines.targets import cell_ious, usable

IOU_LOW, IOU_HIGH = 0.5, 1.0
"""IoUs at which a target is 0 and 1: 2D-TAN's of Charades-STA and ActivityNet Captions."""


@dataclass(frozen=True, eq=False)
class MeanMap:
    """Answer every query with the best cells of the mean training map, 2D-TAN's map of N clips.

    `ranked`, once fitted, has the best cells with their mean targets, (K, 3), without near-duplicates.
    """

    proposals: SparseMap
    ranked: Floats | None = None
    name: str = "Mean map"

    def fit(self, train: Annotations, val: Annotations | None = None) -> MeanMap:
        """Average the targets of `train`."""
        del val
        rows = usable(train)
        if not rows.any():
            raise InputError(f"{train.dataset}/{train.split}: no moment within a video of known duration to learn from")
        targets = np.clip((cell_ious(train, self.proposals)[rows] - IOU_LOW) / (IOU_HIGH - IOU_LOW), 0, 1)
        first, last = self.proposals.cells
        cells = np.stack([first, last + 1], axis=1) / self.proposals.n_clips
        return replace(self, ranked=rank_constants(cells, targets.mean(axis=0, dtype=np.float64)))

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Answer with the best cell, then the next best that overlap no better one by more than 0.45."""
        return constant_answers(queries, self.ranked, top=top, name=self.name)
