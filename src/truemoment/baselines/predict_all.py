"""PredictAll: the whole video, whatever the query (Closer Look, Yuan et al. 2021, section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truemoment.base.records import Predictions, Queries
from truemoment.baselines.base import LearnsNothing, constant_answers


@dataclass(frozen=True)
class PredictAll(LearnsNothing):
    """Answer every query with its whole video; there is nothing to learn.

    Examples
    --------
    >>> from truemoment import Annotations
    >>> a = Annotations.from_rows([("v#0", "v", 30.0, "a door opens", 2.0, 6.0)])
    >>> PredictAll().ground(a.queries).end_s
    array([30.])
    """

    name: str = "PredictAll"

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Answer with (0, duration)."""
        return constant_answers(queries, np.array([[0.0, 1.0, 1.0]]), top=top, name=self.name)
