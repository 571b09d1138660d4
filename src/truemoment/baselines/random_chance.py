"""Random Chance: proposals of a scheme drawn evenly (MAD, Soldan et al. 2022, section 4: mean of 100 runs)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from truemoment.exceptions import InputError
from truemoment.proposals import Proposals, SparseMap
from truemoment.records import Annotations, Predictions, Queries


@dataclass(frozen=True)
class RandomChance:
    """Answer with proposals drawn without replacement; a video without proposals is abstained from.

    Parameters
    ----------
    proposals
        The scheme.
    rng
        Generator of the draws.
    """

    proposals: Proposals = field(default_factory=SparseMap)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    name: str = "Random Chance"

    def fit(self, train: Annotations, val: Annotations | None = None) -> RandomChance:
        """Return itself."""
        del train, val
        return self

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Draw `top` proposals a query.

        Raises
        ------
        InputError
            If a video's duration is not known.
        """
        if not np.all(queries.duration_s > 0):
            query_id = queries.query_id[~(queries.duration_s > 0)][0]
            raise InputError(f"{self.name} needs every video's duration, and that of query {query_id!r} is not known")
        starts, ends = [], []
        count = self.proposals.count(queries.duration_s)
        for duration_s, n in zip(queries.duration_s, count, strict=True):
            number = self.rng.choice(n, size=min(top, n), replace=False) if n else np.zeros(0, dtype=np.int64)
            start, end = self.proposals.moments(duration_s, number)
            starts.append(start)
            ends.append(end)
        many = np.minimum(count, top)
        offsets = np.concatenate([[0], np.cumsum(many)])
        rank = np.arange(offsets[-1]) - np.repeat(offsets[:-1], many)
        return Predictions(
            queries.query_id,
            offsets,
            np.concatenate([*starts, np.zeros(0)]),
            np.concatenate([*ends, np.zeros(0)]),
            -rank.astype(np.float64),
            name=self.name,
        )
