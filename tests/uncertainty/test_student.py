"""Student's t distribution against SciPy."""

import numpy as np
import pytest
from scipy import stats

from truemoment.evaluation.student import two_sided_p, two_sided_quantile

FREEDOM = np.array([1.0, 1.47, 2.0, 3.3, 30.0, 1e3, 1e6])


@pytest.mark.parametrize("t", [0.0, 0.1, 1.0, -2.5, 12.0, 300.0])
def test_tail(t):
    assert two_sided_p(t, FREEDOM) == pytest.approx(2 * stats.t.sf(abs(t), FREEDOM), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("p", [0.9, 0.05, 1e-3, 1e-6])
def test_quantile(p):
    assert two_sided_quantile(p, FREEDOM) == pytest.approx(stats.t.isf(p / 2, FREEDOM), rel=1e-5)


def test_the_unknown_stays_unknown():
    assert np.isnan(two_sided_p([np.nan, 1.0], [3.0, np.nan])).all()
    assert np.isnan(two_sided_quantile([np.nan, 0.05], [3.0, np.nan])).all()
    assert two_sided_p(np.inf, 3.0) == 0
