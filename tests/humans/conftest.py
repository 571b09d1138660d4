"""What several tests of annotators draw."""

from __future__ import annotations

import numpy as np
import pytest

from truemoment import Annotations, Predictions
from truemoment.evaluation.agreement import Annotators


@pytest.fixture
def drawn():
    """Draw annotated queries: drawn(seed) -> (annotators, official references)."""

    def draw(seed, n_queries=30, *, most=5):
        """Draw queries of 2 to `most` annotators and an official moment each; equal moments and ties occur."""
        rng = np.random.default_rng(seed)
        rows, official = [], []
        for q in range(n_queries):
            centre = int(rng.integers(0, 10))

            def moment(centre=centre):
                start = max(centre + int(rng.integers(-2, 3)), 0)
                return 4.0 * start, 4.0 * (start + int(rng.integers(1, 4)))

            query = (f"v{q // 2}#{q % 2}", f"v{q // 2}", 60.0, f"sentence {q}")
            rows += [(*query, *moment(), f"a{k}") for k in range(int(rng.integers(2, most + 1)))]
            official.append((*query, *moment()))
        return Annotators.of(Annotations.from_rows(rows)), Annotations.from_rows(official)

    return draw


@pytest.fixture
def drawn_answers():
    """Draw answers: drawn_answers(query_ids, rng) -> predictions."""

    def draw(ids, rng):
        """Draw an answer of 6 s to each query."""
        starts = (float(start) for start in rng.integers(0, 40, len(ids)))
        return Predictions.from_lists({query_id: [(s, s + 6.0)] for query_id, s in zip(ids, starts, strict=True)})

    return draw
