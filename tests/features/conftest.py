"""Features of three videos, and annotations of the same."""

import numpy as np
import pytest

from truemoment import Annotations
from truemoment.media.features import Features


@pytest.fixture
def tables():
    """Rows of videos a (30 s), b (20 s) and c (12.5 s), two a second."""
    rng = np.random.default_rng(0)
    return {name: rng.standard_normal((n, 4)).astype(np.float32) for name, n in (("a", 60), ("b", 40), ("c", 25))}


@pytest.fixture
def store(tables):
    return Features(tables, fps=2.0)


@pytest.fixture
def annotations():
    rows = [("a#0", "a", 30.0, "a door opens", 2.0, 5.0), ("b#0", "b", 20.0, "a dog runs", 0.0, 9.0)]
    return Annotations.from_rows([*rows, ("c#0", "c", 12.5, "it rains", 1.0, 12.0), ("a#1", "a", 30.0, "x", 0.0, 1.0)])
