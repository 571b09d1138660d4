"""Cells of the half square, and regions of equal shares of the even spread."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.cells import cell_bounds, cell_of, coarser, even_moments, even_places, n_cells, region_of

# Moments in 120ths of the video: multiples of 1/60, 1/20 and 1/10 are among them, and points between.
parts_of_120 = st.tuples(st.integers(0, 119), st.integers(1, 120)).filter(lambda m: m[0] < m[1])


def slow_cell(start: Fraction, end: Fraction, n_steps: int) -> tuple[int, int]:
    """Step [k, k + 1) / n that holds the start, and step (k, k + 1] / n that holds the end, in exact numbers."""
    first = next(k for k in range(n_steps) if Fraction(k, n_steps) <= start < Fraction(k + 1, n_steps))
    last = next(k for k in range(n_steps) if Fraction(k, n_steps) < end <= Fraction(k + 1, n_steps))
    return first, last


@given(st.lists(parts_of_120, min_size=1), st.sampled_from([1, 3, 20, 60]))
def test_cells_equal_exact_ones(moments, n_steps):
    # Dividing by 120 rounds, so edges are met with float noise.
    cell = cell_of(np.array(moments) / 120, n_steps)
    expected = [slow_cell(Fraction(start, 120), Fraction(end, 120), n_steps) for start, end in moments]
    assert list(map(tuple, cell_bounds(n_steps)[cell].tolist())) == expected


@pytest.mark.parametrize("step", [0.1, 0.05, 0.02])
def test_multiples_of_the_step_fill_each_cell_once(step):
    # All moments between multiples, made by sums that do not round to them: one a cell, the one that fills it whole.
    n_steps = round(1 / step)
    edges = np.cumsum(np.full(n_steps, step)) - step
    moments = np.array([[a, b + step] for i, a in enumerate(edges) for b in edges[i:]])
    assert cell_of(np.clip(moments, 0, 1), n_steps).tolist() == list(range(n_cells(n_steps)))


def test_a_very_short_moment_on_an_edge_stays_in_the_half_square():
    assert cell_of(np.array([[0.5, 0.5 + 1e-12], [1 - 1e-12, 1.0]]), 10).tolist() == [
        cell_bounds(10).tolist().index([5, 5]),
        cell_bounds(10).tolist().index([9, 9]),
    ]


@given(st.lists(parts_of_120, min_size=1))
def test_coarser_cells_hold_the_finer_ones(moments):
    points = np.array(moments) / 120
    assert coarser(60, 3)[cell_of(points, 60)].tolist() == cell_of(points, 20).tolist()


shortest = st.floats(0, 0.9)
unit = st.floats(0, 0.999)


@given(st.lists(st.tuples(unit, unit), min_size=1), shortest)
def test_places_lead_to_moments_and_back(places, shortest_norm):
    moments = even_moments(np.array(places), shortest_norm)
    start, end = moments.T
    assert np.all(start >= 0)
    assert np.all(end <= 1 + 1e-12)
    assert np.all(end - start >= shortest_norm - 1e-12)
    # Division by the room that is left, 1 - length, which is 0.003 or more here, magnifies rounding.
    assert even_places(moments, shortest_norm) == pytest.approx(np.array(places), abs=1e-9)


@pytest.mark.parametrize("shortest_norm", [0.0, 0.05, 0.3])
def test_regions_have_equal_areas(shortest_norm):
    # The share of a fine lattice of the half square that falls into each region, counted; a region of 1 / 16 has an
    # edge of lattice points that may fall either way, about 1 part in 100 of it.
    step = 1 / 2000
    start, end = (axis.ravel() for axis in np.meshgrid(*[(np.arange(2000) + 0.5) * step] * 2, indexing="ij"))
    inside = end - start >= max(shortest_norm, step / 2)
    region = region_of(np.stack([start[inside], end[inside]], axis=1), shortest_norm, 4)
    assert np.bincount(region, minlength=16) / inside.sum() == pytest.approx(np.full(16, 1 / 16), rel=0.01)


def test_the_shortest_and_the_whole_video_have_regions():
    moments = np.array([[0.0, 0.1], [0.9, 1.0], [0.0, 1.0]])
    assert region_of(moments, 0.1, 4).tolist() == [0, 3, 14]  # the whole video has no room to move in: the middle
    moments = np.array([[0.3, 0.3 + 0.1], [0.3, 0.4]])  # 0.3 + 0.1 is 0.4, and 0.4 - 0.3 is more than 0.1
    assert region_of(moments, 0.1, 4).tolist() == [1, 1]
