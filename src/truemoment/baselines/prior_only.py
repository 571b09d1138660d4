"""Prior-Only Blind: draws from the density of all training moments (Hidden Challenges, Otani et al. 2020, section 3.2).

A Gaussian kernel density over (start, duration) as fractions of the video, start clipped to [0, 1] and duration to
1 - start. A query is answered with 100 draws, ranked by their likelihood, near-duplicates (IoU over 0.45) left out.
As in the authors' code (mayu-ot/hidden-challenges-MR at e0c4546, src/toolbox/baseline.py) the likelihood is that of
the draw before it is clipped back into the video.

One density is evaluated once for the draws of all queries.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from truemoment.base.density import Density
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.baselines.base import fit_density, locations, ranked_answers
from truemoment.baselines.likelihood_table import likelihoods

N_DRAWS = 100
"""Number of draws per query, as in the paper."""


def start_duration_norm(train: Annotations) -> tuple[Floats, Ints]:
    """(start, duration) of the reference moments as fractions of the video, (N, 2), and the row of each."""
    start_end, row = locations(train)
    return np.stack([start_end[:, 0], start_end[:, 1] - start_end[:, 0]], axis=1), row


def draws(density: Density, n_queries: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Start, end and likelihood of 100 draws for each query, shapes (Q, 100), as fractions of the video."""
    drawn = density.sample(n_queries * N_DRAWS, rng)
    likelihood = likelihoods(density, drawn)
    start = np.clip(drawn[:, 0], 0, 1)
    end = start + np.minimum(np.clip(drawn[:, 1], 0, 1), 1 - start)
    shape = (n_queries, N_DRAWS)
    return start.reshape(shape), end.reshape(shape), likelihood.reshape(shape)


@dataclass(frozen=True, eq=False)
class PriorOnly:
    """Predict draws from the locations of training moments.

    `density`, once fitted, is that of (start, duration).
    """

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    density: Density | None = None
    name: str = "Prior-Only Blind"

    def fit(self, train: Annotations, val: Annotations | None = None) -> PriorOnly:
        """Fit the density to `train`."""
        del val
        return replace(self, density=fit_density(start_duration_norm(train)[0], train))

    def ground(self, queries: Queries, top: int = 10) -> Predictions:
        """Draw, rank, suppress; the paper keeps 10."""
        if self.density is None:
            raise UsageError(f"{self.name} has to be fitted first")
        return ranked_answers(queries, *draws(self.density, len(queries), self.rng), top=top, name=self.name)
