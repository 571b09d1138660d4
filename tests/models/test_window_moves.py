"""The environment of TSP-PRL: against a slow version, the authors' code, and what the specification states."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from truemoment.learning.models.window_moves import (
    BRANCH_SIZES,
    N_MOVES,
    leaf_rewards,
    move_numbers,
    outcomes,
    root_rewards,
    sampled_units,
    signed_iou,
    start_windows,
)

SCALES = (0.6, 0.75, 0.417, 0.333)


def slow_move(branch, leaf, window, n_units):
    """Section 2 of the specification, one window at a time: the window and whether the move is legal."""
    first, last = window
    if branch == 0:
        centre, half = (first + last) // 2, int(SCALES[leaf] * (last - first))
        first, last = centre - half, centre + half
    else:
        step = n_units // 10 if branch in (1, 2) else 1
        if branch in (1, 3):
            step = -step
        first, last = first + step * (leaf in (0, 1)), last + step * (leaf in (0, 2))
    legal = True
    if first < 0:
        first, legal = 0, last >= 0
    if last >= n_units:
        legal = legal and first <= n_units
        last = n_units - 1
    return first, last, legal and last > first


def slow_iou(window, moment):
    gap_or_overlap = min(window[1], moment[1]) - max(window[0], moment[0])
    return gap_or_overlap / (max(window[1], moment[1]) - min(window[0], moment[0]))


@st.composite
def windows_in_videos(draw):
    n_units = draw(st.integers(2, 300))
    first = draw(st.integers(0, n_units - 2))
    return n_units, first, draw(st.integers(first + 1, n_units - 1))


@settings(max_examples=60)
@given(windows_in_videos())
def test_moves_are_those_of_the_slow_version_and_legal_windows_stay_inside(case):
    n_units, first, last = case
    found = outcomes(torch.tensor([[first, last]]), torch.tensor([n_units]))
    moves = [(branch, leaf) for branch, size in enumerate(BRANCH_SIZES) for leaf in range(size)]
    expected = [slow_move(branch, leaf, (first, last), n_units) for branch, leaf in moves]
    assert found.windows[0].tolist() == [[low, high] for low, high, _ in expected]
    assert found.legal[0].tolist() == [legal for _, _, legal in expected]
    inside = found.windows[found.legal]
    assert (inside[:, 0] >= 0).all()
    assert (inside[:, 1] > inside[:, 0]).all()
    assert (inside[:, 1] < n_units).all()


def test_moves_are_those_of_the_authors_code():
    """github.com/WuJie1010/TSP-PRL, commit f286ab4, train.py, with // in place of / as in Python 2.

    The functions of all 16 actions ran on all windows of 2, 5, 9, 10, 23 and 40 units, 18,000 moves. Sums over their
    results x_i, windows and legality one after the other, of x_i cos(i).
    """
    marks = 0.0
    for n_units in (2, 5, 9, 10, 23, 40):
        windows = torch.tensor([(low, high) for low in range(n_units) for high in range(low + 1, n_units)])
        found = outcomes(windows, torch.full((len(windows),), n_units))
        for values in (found.windows.flatten().double(), found.legal.flatten().double()):
            marks += float((values * torch.cos(torch.arange(len(values), dtype=torch.float64))).sum())
    assert marks == pytest.approx(71.12202790309968, rel=1e-9)


def test_moves_have_numbers_without_gaps():
    numbers = [
        int(move_numbers(torch.tensor(branch), torch.tensor(leaf)))
        for branch, size in enumerate(BRANCH_SIZES)
        for leaf in range(size)
    ]
    assert numbers == list(range(N_MOVES))


def test_examples_of_the_specification():
    """Section 10: U = 40."""
    assert start_windows(torch.tensor([40])).tolist() == [[9, 29]]
    found = outcomes(torch.tensor([[9, 29]]), torch.tensor([40])).windows[0].tolist()
    assert found[1] == [4, 34]
    assert found[3] == [13, 25]


@given(st.integers(2, 300))
def test_the_start_is_legal_in_every_video(n_units):
    first, last = start_windows(torch.tensor([n_units]))[0].tolist()
    assert 0 <= first < last <= n_units - 1


def test_a_step_by_one_to_the_left_and_back_restores_the_window():
    window, n_units = torch.tensor([[9, 29]]), torch.tensor([40])
    left = outcomes(window, n_units).windows[:, 10]
    assert left.tolist() == [[8, 28]]
    assert outcomes(left, n_units).windows[:, 13].tolist() == window.tolist()


def test_the_oracle_policy_reaches_the_moment_on_the_grid():
    """Section 10: the best of the legal moves at each of 20 steps; mean IoU 1.00, below 0.95 is an error."""
    rng = np.random.default_rng(0)
    n_units = torch.from_numpy(rng.integers(30, 61, 400))
    width = (n_units * torch.from_numpy(rng.uniform(0.15, 0.4, 400))).long().clamp(min=1)
    first = (torch.from_numpy(rng.random(400)) * (n_units - width)).long()
    moment = torch.stack([first, first + width], dim=1).double()
    windows, rows = start_windows(n_units), torch.arange(400)
    best = signed_iou(windows.double(), moment)
    for _ in range(20):
        found = outcomes(windows, n_units)
        iou = signed_iou(found.windows.double(), moment[:, None]).masked_fill(~found.legal, -2)
        windows = found.windows[rows, iou.argmax(dim=1)]
        best = torch.maximum(best, iou.amax(dim=1))
    assert best.mean() >= 0.995


@pytest.mark.parametrize("seed", range(3))
def test_rewards_are_those_of_the_slow_version(seed):
    """Section 4 of the specification."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, 30, (60, 7, 2)) + np.array([0, 0.5]), axis=2)
    before, after, moment = ends[:, 0], ends[:, 1], ends[:, 2]
    branches = ends[:, 2:].copy()
    branches[:, 0] = after
    branches[::2, 1:] = before[::2, None]  # the chosen branch is often the best
    moment = moment + 0.25
    tensors = [signed_iou(torch.tensor(of), torch.tensor(moment)) for of in (before, after)]
    of_branches = signed_iou(torch.tensor(branches), torch.tensor(moment)[:, None])
    root, leaf = root_rewards(*tensors, of_branches), leaf_rewards(*tensors)
    for at in range(60):
        i, j = slow_iou(before[at], moment[at]), slow_iou(after[at], moment[at])
        best = max(slow_iou(branch, moment[at]) for branch in branches[at])
        expected = 1 + j - i if math.isclose(j, best, abs_tol=1e-9) else (j - best) + (j - i)
        assert root[at].item() == pytest.approx(expected)
        risen, stayed = (1 + j if j > 0.5 else 1), (-0.1 if j <= i and j >= 0 else -1)
        assert leaf[at].item() == pytest.approx(risen if j > i >= 0 else stayed)


def test_signed_iou_of_the_specification():
    """Section 10: (0, 10) and (20, 30) have -1/3."""
    found = signed_iou(torch.tensor([[0.0, 10.0], [3.0, 9.0]]), torch.tensor([[20.0, 30.0], [3.0, 9.0]]))
    assert found.tolist() == pytest.approx([-1 / 3, 1])


def test_units_that_a_window_is_seen_by():
    """The authors' choose_ten_frame (utils.py of the commit above) of 1 to 300 units: sum of x_i cos(i)."""
    units = sampled_units(300)
    values = units[1:].flatten().double()
    mark = float((values * torch.cos(torch.arange(len(values), dtype=torch.float64))).sum())
    assert mark == pytest.approx(51.50329943239569, rel=1e-9)
    assert torch.equal(sampled_units(4), units[:5])
