import math

import numpy as np
import pytest
import torch

from truemoment.learning.models.layers.distance_correlation import distance_correlation


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


def slowly(x, y):
    """The formula of tcn_dcm.md, section 3.2, in double precision, an entry at a time."""

    def centred(rows):
        n = len(rows)
        distance = [[math.sqrt(math.dist(a, b) ** 2 + 1e-9) for b in rows] for a in rows]
        by_row = [sum(row) / n for row in distance]
        by_column = [sum(row[j] for row in distance) / n for j in range(n)]
        grand = sum(by_row) / n
        return [[distance[i][j] - by_row[i] - by_column[j] + grand for j in range(n)] for i in range(n)]

    def covariance(a, b):
        return (
            sum(p * q for row, other in zip(a, b, strict=True) for p, q in zip(row, other, strict=True)) / len(a) ** 2
        )

    a, b = centred(x.tolist()), centred(y.tolist())
    spread = math.sqrt(covariance(a, a)) * math.sqrt(covariance(b, b))
    return math.sqrt(covariance(a, b)) / math.sqrt(spread + 1e-9)


def test_it_is_the_formula(generator):
    x = torch.randn(12, 3, generator=generator)
    y = x[:, :2].square() + 0.3 * torch.randn(12, 2, generator=generator)
    assert float(distance_correlation(x, y)) == pytest.approx(slowly(x, y), abs=1e-5)


@pytest.mark.parametrize(("n", "width", "expected"), [(2000, 1, 0.036), (2000, 64, 0.34), (2000, 512, 0.71)])
def test_floor_of_independent_gaussians(generator, n, width, expected):
    # Measured values of tcn_dcm.md, section 8.
    x, y = (torch.randn(n, width, generator=generator) for _ in range(2))
    assert float(distance_correlation(x, y)) == pytest.approx(expected, abs=0.03)


def test_floor_at_the_rows_of_a_batch_of_16(generator):
    x, y = (torch.randn(2176, 512, generator=generator) for _ in range(2))  # 16 pairs of 136 cells
    assert float(distance_correlation(x, y)) == pytest.approx(0.70, abs=0.03)


@pytest.mark.parametrize("slope", [1.0, -3.0, 0.01])
def test_affine_images_depend_fully(generator, slope):
    x = torch.randn(60, 5, generator=generator)
    assert float(distance_correlation(x, slope * x + 7)) == pytest.approx(1, abs=1e-4)


def test_it_is_symmetric_and_blind_to_the_order_of_rows(generator):
    x, y = torch.randn(40, 3, generator=generator), torch.randn(40, 6, generator=generator)
    order = torch.randperm(40, generator=generator)
    value = float(distance_correlation(x, y))
    assert float(distance_correlation(y, x)) == pytest.approx(value, rel=1e-4)
    assert float(distance_correlation(x[order], y[order])) == pytest.approx(value, rel=1e-4)


def test_it_sees_what_correlation_does_not():
    x = torch.linspace(-1, 1, 101)[:, None]
    y = x.square()
    assert abs(np.corrcoef(x[:, 0], y[:, 0])[0, 1]) < 1e-6
    assert float(distance_correlation(x, y)) > 0.4


def test_a_constant_depends_on_nothing_and_has_finite_slopes(generator):
    x = torch.randn(30, 4, generator=generator, requires_grad=True)
    still = torch.ones(30, 4, requires_grad=True)
    value = distance_correlation(x, still)
    value.backward()
    assert float(value.detach()) < 1e-3
    assert x.grad.isfinite().all()
    assert still.grad.isfinite().all()


def test_equal_rows_have_finite_slopes(generator):
    x = torch.randn(10, 4, generator=generator).repeat(3, 1).requires_grad_()
    distance_correlation(x, x.tanh()).backward()
    assert x.grad.isfinite().all()
    assert x.grad.abs().max() < 1  # the distance of 0 to itself lends no steep slope


def test_slope_is_that_of_the_formula(generator):
    x, y = (torch.randn(9, 3, generator=generator, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(distance_correlation, (x, y), eps=1e-7)


def test_some_rows_are_drawn_from_the_generator(generator):
    x = torch.randn(500, 4, generator=generator)
    y = torch.randn(500, 4, generator=generator)

    def value(seed):
        return float(distance_correlation(x, y, rows=50, generator=torch.Generator().manual_seed(seed)))

    assert value(1) == value(1) != value(2)
    taken = torch.randperm(500, generator=torch.Generator().manual_seed(1))[:50]
    assert value(1) == pytest.approx(float(distance_correlation(x[taken], y[taken])))
    assert float(distance_correlation(x, y, rows=500)) == float(distance_correlation(x, y))


def test_half_precision_around_it_does_not_reach_it(generator):
    x = torch.randn(50, 64, generator=generator)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = distance_correlation(x, 2 * x)
    assert value.dtype == torch.float32
    assert float(value) == pytest.approx(1, abs=1e-4)
