"""Density: against SciPy, against the formula term by term, and what any density must do."""

from __future__ import annotations

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import gaussian_kde

import truemoment.base.density
from truemoment.base.density import REACH, Density
from truemoment.base.errors import InputError


def clumps(rng: np.random.Generator, n: int) -> np.ndarray:
    """Points in three clumps, two of them at a corner or an edge of the unit square, as moments lie."""
    centres = np.array([[0.0, 0.2], [0.5, 0.9], [0.0, 1.0]])
    return np.clip(centres[rng.integers(3, size=n)] + rng.normal(0, 0.01, (n, 2)), 0, 1)


def point_sets() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    x = rng.random(1200)
    return {
        "three": np.array([[0.0, 0.2], [0.1, 0.5], [0.6, 0.3]]),
        "even": rng.random((1500, 2)),
        "clumpy": clumps(rng, 1500),
        "correlated": np.stack([x, x + 1e-3 * rng.standard_normal(1200)], axis=1),
        "duplicates": np.repeat(rng.random((6, 2)), 200, axis=0),
        "at edges": np.stack([np.zeros(1200), x], axis=1) + (np.arange(1200) % 3 == 0)[:, None] * [1.0, 0.0],
        "an outlier": np.concatenate([rng.normal(0.5, 0.01, (1200, 2)), [[90.0, -40.0]]]),
        "far from 0": rng.random((1200, 2)) + 1000.0,
    }


POINT_SETS = point_sets()


def peak(density: Density) -> float:
    """Height of one kernel, from the formula of the normal density."""
    return 1 / (math.tau * math.sqrt(np.linalg.det(density.covariance)))


def nearby(density: Density, n: int) -> np.ndarray:
    """Places among the points and some kernel widths around them."""
    return density.sample(n, np.random.default_rng(2)) + np.random.default_rng(3).normal(0, 3, (n, 2)) @ np.sqrt(
        np.diag(np.diag(density.covariance))
    )


def precise(density: Density, places: np.ndarray) -> np.ndarray:
    """The formula of the module, place by place in extended precision, over one kernel's peak."""
    whiten = np.linalg.inv(np.linalg.cholesky(density.covariance)).T
    points, places = (array.astype(np.longdouble) @ whiten for array in (density.points, places))
    return np.array([np.exp(-((points - place) ** 2).sum(axis=1) / 2).mean() for place in places])


# ---- Values


@pytest.mark.parametrize("name", POINT_SETS)
def test_against_scipy_at_the_points(name):
    points = POINT_SETS[name]
    density, scipy = Density.fit(points), gaussian_kde(points.T)  # SciPy's default is Scott's factor too
    np.testing.assert_allclose(density.covariance, scipy.covariance, rtol=1e-10)
    np.testing.assert_allclose(density.evaluate(points), scipy(points.T), rtol=1e-8, atol=0)


@pytest.mark.parametrize("name", POINT_SETS)
def test_against_scipy_around_the_points(name):
    density, scipy = Density.fit(POINT_SETS[name]), gaussian_kde(POINT_SETS[name].T)
    places = nearby(density, 1500)
    np.testing.assert_allclose(density.evaluate(places), scipy(places.T), rtol=0, atol=1e-9 * peak(density))


def test_against_the_formula_term_by_term():
    points = np.array([[0.0, 0.2], [0.1, 0.5], [0.6, 0.3], [0.2, 0.9], [0.0, 0.2]])
    # Sample covariance, Scott's factor, inverse and determinant of a 2 x 2 matrix, all by hand.
    n = len(points)
    mean = [sum(column) / n for column in points.T.tolist()]
    factor = n ** (-1 / 6)
    a, b, c = (
        factor**2 * sum((p[i] - mean[i]) * (p[j] - mean[j]) for p in points.tolist()) / (n - 1)
        for i, j in ((0, 0), (0, 1), (1, 1))
    )
    det = a * c - b * b
    places = [(0.1, 0.4), (0.0, 0.2), (0.9, 0.1)]
    expected = [
        sum(
            math.exp(-(c * (x - u) ** 2 - 2 * b * (x - u) * (y - v) + a * (y - v) ** 2) / det / 2)
            for u, v in points.tolist()
        )
        / (n * 2 * math.pi * math.sqrt(det))
        for x, y in places
    ]
    assert Density.fit(points).evaluate(np.array(places)).tolist() == pytest.approx(expected, rel=1e-13)


def test_one_point_is_one_normal_density():
    # 1 / (2 pi sqrt det) at the point; exp(-1/2) of it one standard deviation away. det of [[4, 0], [0, 9]] is 36.
    density = Density(np.array([[1.0, 2.0]]), np.array([[4.0, 0.0], [0.0, 9.0]]))
    top = 1 / (2 * math.pi * 6)
    found = density.evaluate(np.array([[1.0, 2.0], [3.0, 2.0], [1.0, -1.0]]))
    assert found.tolist() == pytest.approx([top, top * math.exp(-0.5), top * math.exp(-0.5)], rel=1e-14)


def test_bandwidth():
    points = POINT_SETS["clumpy"]
    sample_covariance = np.cov(points, rowvar=False)
    np.testing.assert_allclose(Density.fit(points, bandwidth=0.3).covariance, 0.09 * sample_covariance, rtol=1e-14)
    # SciPy's factor is on the standard deviation as well.
    scipy = gaussian_kde(points.T, bw_method=0.05)
    found = Density.fit(points, bandwidth=0.05).evaluate(points[:50])
    np.testing.assert_allclose(found, scipy(points[:50].T), rtol=1e-10)


# ---- Two ways to one sum


@pytest.fixture
def ways(monkeypatch):
    """Names of the ways that evaluate() went."""
    went = []

    def told(name):
        function = getattr(truemoment.base.density, name)

        def called(*arguments):
            went.append(name)
            return function(*arguments)

        monkeypatch.setattr(truemoment.base.density, name, called)

    told("_series")
    told("_sum_of_kernels")
    return went


@pytest.mark.parametrize("name", POINT_SETS)
def test_both_ways_are_as_exact_as_promised(name):
    density = Density.fit(POINT_SETS[name])
    places = np.concatenate([density.points[:60], nearby(density, 60)])
    whiten = np.linalg.inv(np.linalg.cholesky(density.covariance)).T
    points, white = density.points @ whiten, places @ whiten
    low, high = points.min(axis=0) - REACH, points.max(axis=0) + REACH
    inside = np.all((white >= low) & (white <= high), axis=1)
    n_modes = np.ceil(REACH * (high - low) / math.tau).astype(int)
    expected = precise(density, places[inside])
    series = truemoment.base.density._series(points, white[inside], low, high - low, n_modes) * math.tau
    near = truemoment.base.density._Neighbours.of(points, white[inside], low)
    direct = truemoment.base.density._sum_of_kernels(near) * math.tau
    # The docstring of evaluate(): less than 1e-14 of one kernel's peak. Places far from 0 are rounded to 1e-13 of a
    # kernel's width before anything is computed, by either way.
    promised = 1e-12 if name == "far from 0" else 1e-14
    assert np.abs(series - expected).max() < promised
    assert np.abs(direct - expected).max() < promised


def test_many_points_go_by_the_series_and_few_one_by_one(ways):
    many, few = Density.fit(POINT_SETS["even"]), Density.fit(POINT_SETS["three"])
    many.evaluate(np.tile(many.points, (2, 1)))
    few.evaluate(few.points)
    many.evaluate(many.points[:5])
    assert ways == ["_series", "_sum_of_kernels", "_sum_of_kernels"]


def test_a_box_too_wide_for_the_series_is_summed_one_by_one(ways):
    # The outlier makes the box wider than 1,200 x 1,200 sums are worth; a series of it would hold 1e5 terms and more.
    points = POINT_SETS["an outlier"]
    Density.fit(points).evaluate(points)
    assert ways == ["_sum_of_kernels"]


@pytest.mark.slow
def test_narrow_kernels_are_summed_within_their_reach(ways):
    # The oracle is the sum over all pairs. At 0.2 % of the square a place sees a few of 3,000 points, whichever square
    # of side REACH they and it fall in; edges of squares included, by points on a grid of their side.
    rng = np.random.default_rng(12)
    width = 0.002
    grid = np.arange(12) * REACH * width
    points = np.concatenate([rng.random((3000, 2)), np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)])
    density = Density(points, np.eye(2) * width**2)
    found = density.evaluate(points)
    square = ((points[:, None] - points) ** 2).sum(axis=2)
    expected = np.exp(-0.5 * square / width**2).sum(axis=1) / (math.tau * width**2 * len(points))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert ways == ["_sum_of_kernels"]


def test_the_series_never_falls_below_zero(ways):
    # Half way between clumps, ten kernel widths from each, the density is 1e-22 of the peak: less than the series'
    # rounding, which may have either sign.
    rng = np.random.default_rng(5)
    points = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[np.arange(4000) % 4] + rng.normal(0, 0.002, (4000, 2))
    density = Density.fit(points, bandwidth=0.1)
    found = density.evaluate(np.stack([rng.uniform(0.48, 0.52, 4000), rng.uniform(0, 1, 4000)], axis=1))
    assert ways == ["_series"]
    assert found.min() >= 0
    assert found.max() < 1e-14 * peak(density)


def test_a_fitted_point_has_its_own_kernel_at_least():
    # All terms of the sum are positive, and the point's own is peak / N.
    for points in POINT_SETS.values():
        density = Density.fit(points)
        assert density.evaluate(points).min() >= peak(density) / len(points) * (1 - 1e-9)


# ---- What any density does


def test_order_is_no_matter():
    rng = np.random.default_rng(6)
    points, places = POINT_SETS["even"], rng.random((2000, 2))
    found = Density.fit(points).evaluate(places)
    order = rng.permutation(len(places))
    shuffled = Density.fit(points[rng.permutation(len(points))])
    np.testing.assert_allclose(shuffled.evaluate(places[order]), found[order], rtol=1e-11)


entry = st.integers(-4, 4)


@given(
    st.tuples(entry, entry, entry, entry),
    st.tuples(st.floats(-5, 5), st.floats(-5, 5)),
    st.sampled_from([7, 400]),
    st.integers(0, 99),
)
@pytest.mark.slow
def test_equivariance(matrix, shift, n, seed):
    # Kernels follow the points' covariance, so f'(A x + b) = f(x) / |det A|: the change of variables of a density.
    a, b = np.array(matrix, dtype=float).reshape(2, 2), np.array(shift)
    det = abs(matrix[0] * matrix[3] - matrix[1] * matrix[2])
    assume(det > 0)
    rng = np.random.default_rng(seed)
    points, places = rng.random((n, 2)), rng.uniform(-0.5, 1.5, (n, 2))
    before, after = Density.fit(points), Density.fit(points @ a.T + b)
    expected = before.evaluate(places) / det
    np.testing.assert_allclose(after.evaluate(places @ a.T + b), expected, rtol=0, atol=1e-11 * peak(after))


@pytest.mark.parametrize("name", ["three", "even", "clumpy", "duplicates", "at edges"])
def test_integrates_to_one(name):
    # The trapezoidal rule at 0.4 kernel widths errs by 2 exp(-2 pi^2 / 0.16) < 1e-50 on each Gaussian, and 10 widths
    # around the points leave out 1e-22 of the mass. The map to whitened places has the determinant of the root.
    density = Density.fit(POINT_SETS[name])
    root = np.linalg.cholesky(density.covariance)
    white = density.points @ np.linalg.inv(root).T
    step = 0.4
    axes = [np.arange(white[:, i].min() - 10, white[:, i].max() + 10, step) for i in range(2)]
    grid = np.array(list(itertools.product(*axes))) @ root.T
    total = density.evaluate(grid).sum() * step**2 * np.linalg.det(root)
    assert total == pytest.approx(1, abs=1e-11)


def test_samples_have_the_density_s_mean_and_covariance():
    # A draw is a point plus an independent kernel draw: mean of the points, covariance of the points (over N) + kernel.
    density = Density.fit(POINT_SETS["clumpy"])
    n = 200_000
    drawn = density.sample(n, np.random.default_rng(7))
    assert drawn.shape == (n, 2)
    covariance = np.cov(density.points, rowvar=False, bias=True) + density.covariance
    deviation = np.sqrt(np.diag(covariance))
    # Five standard errors; a covariance entry errs by sqrt(kurtosis / n) of the deviations at most, kurtosis under 4.
    np.testing.assert_allclose(drawn.mean(axis=0), density.points.mean(axis=0), atol=5 * deviation.max() / n**0.5)
    np.testing.assert_allclose(
        np.cov(drawn, rowvar=False), covariance, atol=5 * 2 * np.outer(deviation, deviation).max() / n**0.5
    )


def test_samples_of_a_correlated_kernel():
    # One point: the draws' covariance is the kernel's. A variance errs by sqrt(2 / n) of itself, the covariance by
    # sqrt((9 * 4 + 3^2) / n) = 0.015; five times these.
    kernel = np.array([[9.0, 3.0], [3.0, 4.0]])
    drawn = Density(np.array([[1.0, -2.0]]), kernel).sample(200_000, np.random.default_rng(12))
    np.testing.assert_allclose(np.cov(drawn, rowvar=False), kernel, rtol=0, atol=5 * 9 * math.sqrt(2 / 200_000))
    np.testing.assert_allclose(drawn.mean(axis=0), [1.0, -2.0], rtol=0, atol=5 * 3 / math.sqrt(200_000))


def test_samples_fall_where_the_density_says():
    # Share of 100,000 draws in each cell of a grid against the density's integral over it, chi-square by hand: the sum
    # over k cells has mean k - 1 and standard deviation sqrt(2 (k - 1)).
    density = Density.fit(POINT_SETS["even"][:40])
    n = 100_000
    edges = np.linspace(0, 1, 5)
    fine = (np.arange(400) + 0.5) / 400
    grid = np.array(list(itertools.product(fine, fine)))
    mass = density.evaluate(grid).reshape(4, 100, 4, 100).sum(axis=(1, 3)) / 400**2
    drawn = density.sample(n, np.random.default_rng(8))
    count, _, _ = np.histogram2d(*drawn.T, bins=(edges, edges))
    observed, expected = np.append(count, n - count.sum()), n * np.append(mass, 1 - mass.sum())
    chi_square = ((observed - expected) ** 2 / expected).sum()
    assert abs(chi_square - 16) < 4 * math.sqrt(2 * 16)


def test_the_same_generator_gives_the_same_samples():
    density = Density.fit(POINT_SETS["three"])
    first, second, other = (density.sample(20, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)
    assert density.sample(0, np.random.default_rng(0)).shape == (0, 2)


# ---- Far, empty, large


@pytest.mark.parametrize("place", [(100.0, 0.5), (-50.0, 50.0), (1e300, 0.0), (1e8, -1e8)])
def test_far_from_all_points_there_is_nothing(place):
    # More than REACH = 8.7 kernel widths away a kernel is below 4e-17 of its peak.
    for name in ("three", "even"):
        assert Density.fit(POINT_SETS[name]).evaluate(np.array([place])).tolist() == [0.0]


@pytest.mark.parametrize(("n_places", "way"), [(40, "_sum_of_kernels"), (4000, "_series")])
def test_around_the_box_of_the_series(ways, n_places, way):
    # Rings outside the points, on both sides of where the box ends: at 8 kernel widths exp(-32) = 1e-14 of the peak at
    # most, and no copy of a point on the far side is seen there; from REACH on nothing.
    density = Density.fit(POINT_SETS["even"])
    root = np.linalg.cholesky(density.covariance)
    white = density.points @ np.linalg.inv(root).T
    low, high = white.min(axis=0), white.max(axis=0)
    angle = np.linspace(0, math.tau, n_places, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ring /= np.abs(ring).max(axis=1, keepdims=True)  # the border of a square, from -1 to 1

    # Places among the points make the series the lesser work.
    among = np.tile(density.points, (8, 1)) if way == "_series" else np.zeros((0, 2))

    def around(widths):
        places = ((low + high) / 2 + ring * ((high - low) / 2 + widths)) @ root.T
        return density.evaluate(np.concatenate([places, among]))[:n_places]

    assert around(8.0).max() < 2e-14 * peak(density)
    assert around(8.6).max() < 2e-14 * peak(density)
    assert ways == [way, way]
    for widths in (8.75, 9.5, 11.0, 40.0):
        assert not around(widths).any()


def test_no_place_has_no_density():
    assert Density.fit(POINT_SETS["three"]).evaluate(np.zeros((0, 2))).shape == (0,)


@pytest.mark.parametrize(("n_points", "way"), [(300, "_sum_of_kernels"), (4000, "_series")])
@pytest.mark.slow
def test_memory_is_bounded(ways, n_points, way):
    # 200,000 places at once: a table of 300 kernels would take 480 MB, one of the series' terms 290 MB and more twice.
    rng = np.random.default_rng(9)
    density, places = Density.fit(rng.random((n_points, 2))), rng.random((200_000, 2))
    tracemalloc.start()
    try:
        density.evaluate(places)
        assert tracemalloc.get_traced_memory()[1] < 250e6
    finally:
        tracemalloc.stop()
    assert ways == [way]


# ---- Refusals

ON_A_LINE = "the points lie on one line, which has no density in the plane"


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros((0, 2)), "got 0 points, expected 2 or more to fit a density to"),
        (np.zeros((1, 2)), "got 1 points, expected 2 or more to fit a density to"),
        (np.array([[0.0, 0.2], [0.5, 0.6]]), ON_A_LINE),
        (np.array([[0.1, 0.9], [0.3, 0.7], [0.35, 0.65], [0.8, 0.2]]), ON_A_LINE),
        (np.full((5, 2), 0.3), ON_A_LINE),
        (np.array([[0.0, 0.2], [0.0, 0.6], [0.0, 0.9]]), ON_A_LINE),
        (
            np.array([[0.0, 0.2], [math.nan, 0.5], [0.6, 0.3]]),
            "got points of shape (3, 2), expected finite ones of shape (N, 2)",
        ),
        (np.arange(15.0).reshape(5, 3) ** 2, "got points of shape (5, 3), expected finite ones of shape (N, 2)"),
        (np.arange(5.0), "got points of shape (5,), expected finite ones of shape (N, 2)"),
    ],
)
def test_what_has_no_density_is_refused(points, message):
    with pytest.raises(InputError) as caught:
        Density.fit(points)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("covariance", [np.zeros((2, 2)), np.ones((2, 2)), np.diag([1.0, -1.0]), np.eye(3), np.eye(1)])
def test_a_kernel_without_extent_is_refused(covariance):
    with pytest.raises(InputError, match="which has no density in the plane"):
        Density(np.array([[0.0, 0.0]]), covariance)


def test_points_with_an_infinite_one_are_refused():
    with pytest.raises(InputError, match="expected finite ones"):
        Density.fit(np.array([[0.0, 0.2], [math.inf, 0.5], [0.6, 0.3]]))


def test_a_place_that_is_no_number_has_no_figure():
    # Undefined is NaN, never 0 (DESIGN.md, house rules); or the place is refused.
    density = Density.fit(POINT_SETS["three"])
    try:
        found = density.evaluate(np.array([[math.nan, 0.2], [0.1, 0.4]]))
    except InputError:
        return
    assert math.isnan(found[0])
    assert found[1] > 0
