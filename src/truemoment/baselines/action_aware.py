"""Action-Aware Blind: Prior-Only with a density for each frequent verb (Hidden Challenges, 2020, section 3.2).

The 50 most frequent verbs of the training sentences get a density of their own, fitted to the moments of all sentences
that contain the verb. A query is answered from the density of the first of its verbs that has one, else from the prior.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from truemoment.base.density import Density
from truemoment.base.errors import InputError, UsageError
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.baselines.base import fit_density, ranked_answers
from truemoment.baselines.prior_only import N_DRAWS, draws, start_duration_norm
from truemoment.data.language import Engine, get_engine, verb_counts, verbs_of

PRIOR = ""
"""Name of the density for queries without a frequent verb."""


@functools.lru_cache(maxsize=2)  # a floor draws several times for the same queries
def _verbs(sentences: tuple[str, ...], engine: Engine) -> list[tuple[str, ...]]:
    return verbs_of(sentences, engine)


@dataclass(frozen=True, eq=False)
class ActionAware:
    """Predict draws from the locations of training moments with the verb of the query.

    `densities`, once fitted, has one for each of the `n_verbs` most frequent verbs, and the prior under "". A verb
    whose moments are on one line has none.
    """

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    engine: Engine = field(default_factory=get_engine)
    n_verbs: int = 50
    densities: Mapping[str, Density] = field(default_factory=dict)
    name: str = "Action-Aware Blind"

    def fit(self, train: Annotations, val: Annotations | None = None) -> ActionAware:
        """Fit the densities to `train`."""
        del val
        train = train.with_moments()
        points, row = start_duration_norm(train)
        of_query = verbs_of(train.queries.sentence, self.engine)
        frequent = [verb for verb, _ in verb_counts(of_query).most_common(self.n_verbs)]
        query = train.query_of_row[row]
        having: dict[str, list[int]] = {verb: [] for verb in frequent}
        for q, verbs in enumerate(of_query):
            for verb in set(verbs) & having.keys():
                having[verb].append(q)
        densities = {PRIOR: fit_density(points, train)}
        for verb in frequent:
            try:
                densities[verb] = Density.fit(points[np.isin(query, having[verb])])
            except InputError:  # too few different moments: the prior answers for this verb
                continue
        return replace(self, densities=MappingProxyType(densities))

    def ground(self, queries: Queries, top: int = 10) -> Predictions:
        """Draw from the verb's density, rank, suppress; the paper keeps 10."""
        if not self.densities:
            raise UsageError(f"{self.name} has to be fitted first")
        selected = [
            next((verb for verb in verbs if verb in self.densities), PRIOR)
            for verbs in _verbs(tuple(queries.sentence.tolist()), self.engine)  # type: ignore[arg-type]  # engines are objects
        ]
        start, end, likelihood = (np.empty((len(queries), N_DRAWS)) for _ in range(3))
        of_verb = np.array(selected, dtype=object)
        for verb, density in self.densities.items():
            rows = np.flatnonzero(of_verb == verb)
            start[rows], end[rows], likelihood[rows] = draws(density, len(rows), self.rng)
        return ranked_answers(queries, start, end, likelihood, top=top, name=self.name)
