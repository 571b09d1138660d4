"""2D-TAN's rule of resampling, against a slow loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import InputError, UsageError
from truemoment.media.features.resampling import interpolate, normalise, resample, row_bounds


def slow(rows, n_rows):
    """specs/tan2d.md, 2.1: idx_k = min(round(k n / T), n - 1); the mean of F[idx_k : idx_k+1], else F[idx_k]."""
    n = len(rows)
    at = [min(round(k * n / n_rows), n - 1) for k in range(n_rows + 1)]
    made = []
    for k in range(n_rows):
        if at[k] < at[k + 1]:
            made.append(sum(rows[i].astype(float) for i in range(at[k], at[k + 1])) / (at[k + 1] - at[k]))
        else:
            made.append(rows[at[k]].astype(float))
    return np.array(made)


@given(st.integers(1, 600), st.sampled_from([1, 2, 3, 16, 64, 100, 256]), st.integers(0, 99))
def test_resampling_is_the_rule(n, n_rows, seed):
    rows = np.random.default_rng(seed).standard_normal((n, 3)).astype(np.float32)
    found = resample(rows, n_rows)
    assert found.shape == (n_rows, 3)
    assert found.dtype == np.float32
    assert found == pytest.approx(slow(rows, n_rows), abs=1e-5)


def test_the_last_row_counts_only_where_a_row_begins_on_it():
    rows = np.zeros((512, 1), dtype=np.float32)
    rows[-1] = 1
    assert resample(rows, 256).sum() == 0  # the last of 256 is row 510 alone: the bound behind it is cut to 511
    assert resample(rows[-256:], 256)[-1] == 1


def test_as_many_rows_stay_as_they_are():
    rows = np.arange(256, dtype=np.float32)[:, None]
    assert np.array_equal(resample(rows, 256), rows)


def test_what_was_given_is_not_written_to():
    rows = np.arange(4, dtype=np.float32)[:, None]
    resample(rows, 2)[:] = 9
    assert rows.ravel().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("n", "n_rows", "error"), [(0, 4, InputError), (4, 0, UsageError), (4, -1, UsageError)])
def test_nothing_is_refused(n, n_rows, error):
    with pytest.raises(error):
        row_bounds(n, n_rows)


@given(st.integers(1, 300), st.sampled_from([1, 2, 16, 64, 100]), st.integers(0, 99))
def test_interpolation_is_linear_between_the_middles_of_rows(n, n_rows, seed):
    """vlg_net.md, section 5 (align_corners off): row i has its middle at i + 1/2; the ends are constant."""
    rows = np.random.default_rng(seed).standard_normal((n, 3)).astype(np.float32)
    middles, at = np.arange(n) + 0.5, (np.arange(n_rows) + 0.5) * n / n_rows
    expected = np.stack([np.interp(at, middles, column) for column in rows.T], axis=1)
    found = interpolate(rows, n_rows)
    assert found.dtype == np.float32
    assert found == pytest.approx(expected, abs=1e-5)


def test_no_row_is_interpolated():
    with pytest.raises(InputError, match="without a row"):
        interpolate(np.zeros((0, 3), dtype=np.float32), 4)


def test_normalised_rows_have_length_one():
    rows = np.random.default_rng(0).standard_normal((5, 8)).astype(np.float32)
    rows[2] = 0
    lengths = [float(sum(float(x) ** 2 for x in row) ** 0.5) for row in normalise(rows)]
    assert lengths == pytest.approx([1, 1, 0, 1, 1], abs=1e-6)
    assert normalise(rows * 7) == pytest.approx(normalise(rows), abs=1e-6)
