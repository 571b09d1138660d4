"""Random Chance: proposals of a scheme drawn evenly (MAD, Soldan et al. 2022, section 4: mean of 100 runs)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from truemoment.base.records import Predictions, Queries
from truemoment.baselines.base import LearnsNothing, require_durations
from truemoment.baselines.proposals import Proposals, SparseMap


@dataclass(frozen=True)
class RandomChance(LearnsNothing):
    """Predict proposals drawn without replacement; none for a video without proposals."""

    proposals: Proposals = field(default_factory=SparseMap)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    name: str = "Random Chance"

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Draw `top` proposals a query."""
        require_durations(queries, self.name)
        count = self.proposals.count(queries.duration_s)
        size = np.minimum(count, top)
        offsets = np.concatenate([[0], np.cumsum(size)])
        numbers = np.zeros(offsets[-1], dtype=np.int64)  # numbers of proposals, query by query
        for n, low, high in zip(count.tolist(), offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            numbers[low:high] = self.rng.choice(n, size=high - low, replace=False) if n else 0
        start_s, end_s = np.zeros(len(numbers)), np.zeros(len(numbers))
        order = np.argsort(queries.duration_s, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(queries.duration_s[order])) + 1)
        for group in groups:  # queries of one duration draw as many from the same proposals, which are laid out once
            if len(group) and size[group[0]]:
                rows = (offsets[group, None] + np.arange(size[group[0]])).ravel()
                start_s[rows], end_s[rows] = self.proposals.moments(float(queries.duration_s[group[0]]), numbers[rows])
        rank = np.arange(offsets[-1]) - np.repeat(offsets[:-1], size)
        return Predictions(queries.query_id, offsets, start_s, end_s, -rank.astype(np.float64), name=self.name)
