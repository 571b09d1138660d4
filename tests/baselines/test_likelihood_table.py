"""The table of likelihoods beside the exact density."""

import numpy as np
import pytest

from truemoment.base.density import Density
from truemoment.baselines.likelihood_table import FEWEST_PLACES, likelihoods


@pytest.mark.parametrize("n_points", [20, 3000])
def test_a_table_gives_what_the_density_gives(n_points):
    # The exact values are those of Density.evaluate, which is tested beside the sum of all kernels.
    rng = np.random.default_rng(n_points)
    start = rng.beta(0.6, 1.5, n_points)
    density = Density.fit(np.stack([start, (1 - start) * rng.beta(1.5, 2, n_points)], axis=1))
    places = density.sample(FEWEST_PLACES, rng)
    places[:3] = [[-30.0, 0.5], [0.5, 30.0], [9.0, -9.0]]  # far outside the table
    exact = density.evaluate(places)
    assert likelihoods(density, places) == pytest.approx(exact, abs=1e-7 * exact.max())
    few = places[: FEWEST_PLACES - 1]
    assert np.array_equal(likelihoods(density, few), density.evaluate(few))
