"""Uniform: start and end drawn evenly, until the start is before the end (Hidden Challenges, 2020, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from truemoment.base.records import Predictions, Queries
from truemoment.baselines.base import LearnsNothing, answers


@dataclass(frozen=True)
class Uniform(LearnsNothing):
    """Predict moments anywhere; there is nothing to learn."""

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    name: str = "Uniform"

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Draw `top` moments per query. Drawing until start < end is equivalent to sorting two draws."""
        ends = np.sort(self.rng.random((len(queries), top, 2)), axis=2)
        score = -np.arange(top, dtype=np.float64)[None]
        keep = np.ones((1, top), dtype=bool)
        return answers(queries, ends[:, :, 0], ends[:, :, 1], score, keep, top=top, name=self.name)
