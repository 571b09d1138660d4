r"""The environment of TSP-PRL: a window over the units of a video, and 16 moves of it in five branches.

Wu, Li, Liu and Lin: "Tree-Structured Policy Based Progressive Reinforcement Learning for Temporally Language Grounding
in Video", AAAI 2020; details from the authors' code, https://github.com/WuJie1010/TSP-PRL. A video has U units. A
window is a pair of unit numbers, first and last, with :math:`0 \le l < r \le U - 1`.

======  ==========================================================================
branch  leaves
======  ==========================================================================
0       new half width: 0.6, 0.75, 0.417 or 0.333 of the width :math:`r - l`
1, 2    to the left or right by U / 10 units: both ends, the first, or the last
3, 4    to the left or right by 1 unit: both ends, the first, or the last
======  ==========================================================================

After a move, ends are clipped to the video. A move is illegal if the window is empty then, and ends the episode.

All functions are pure, on tensors: B windows, on whichever device they are.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import torch
from torch import Tensor

HALF_WIDTHS = (0.6, 0.75, 0.417, 0.333)
"""New half widths of the leaves of branch 0, as shares of the width; rounded down."""

BRANCH_SIZES = (4, 3, 3, 3, 3)
"""Leaves of each branch."""

N_BRANCHES, MOST_LEAVES, N_MOVES = len(BRANCH_SIZES), max(BRANCH_SIZES), sum(BRANCH_SIZES)

SHARE_OF_LONG_STEP = 10
"""A long step is this part of the units of a video."""

SAMPLES = 10
"""Units that a window is seen by."""

LEAST_UNITS = 2
"""Units of the shortest video."""

TOLERANCE = 1e-6
"""Difference of two IoUs that are the same up to rounding."""

FEW = (
    "0000000000", "0000011111", "0001111222", "0011122233", "0011223344", "0112233445", "0122334456", "0123445567",
    "0123445678",
)  # fmt: skip
"""Units, among those of a window, that a window of 1 to 9 units is seen by."""


class Outcomes(NamedTuple):
    """The windows (B, 16, 2) that the moves lead to, and which of the moves are legal (B, 16)."""

    windows: Tensor
    legal: Tensor


def start_windows(n_units: Tensor) -> Tensor:
    r"""Return the window that an episode starts from, (B, 2): the central half of the video.

    .. math:: (q - 1, \; U - q - 1), \qquad q = \lfloor U / 4 \rfloor,

    with 0 in place of -1.

    Examples
    --------
    >>> start_windows(torch.tensor([40, 3]))
    tensor([[ 9, 29],
            [ 0,  2]])
    """
    quarter = n_units // 4
    return torch.stack([(quarter - 1).clamp(min=0), n_units - quarter - 1], dim=-1)


def move_numbers(branch: Tensor, leaf: Tensor) -> Tensor:
    """Return the numbers of moves, from 0 to 15, of branches and leaves of any shape."""
    return 3 * branch + leaf + (branch > 0)


def outcomes(windows: Tensor, n_units: Tensor) -> Outcomes:
    """Return where every move leads.

    Parameters
    ----------
    windows : (B, 2) int64
        Legal windows.
    n_units : (B,) int64
        U, 2 or more.

    Examples
    --------
    >>> moves = outcomes(torch.tensor([[9, 29]]), torch.tensor([40]))
    >>> moves.windows[0, [1, 3, 4]].tolist()  # wider by 1.5, narrower by 1.5, to the left by 4
    [[4, 34], [13, 25], [5, 25]]
    """
    half_widths, signs = _moves(windows.device)
    first, last = windows.unbind(dim=-1)
    centre, width = (first + last) // 2, last - first
    half = (half_widths * width[:, None]).long()
    scaled = torch.stack([centre[:, None] - half, centre[:, None] + half], dim=2)
    long_steps = (n_units // SHARE_OF_LONG_STEP)[:, None, None] * signs
    by_one = signs.expand(len(windows), -1, -1)
    moved = windows[:, None] + torch.cat([long_steps, by_one], dim=1)
    moves = torch.cat([scaled, moved], dim=1)
    low, high = moves[..., 0].clamp(min=0), torch.minimum(moves[..., 1], n_units[:, None] - 1)
    return Outcomes(torch.stack([low, high], dim=-1), high > low)


@functools.cache
def _moves(device: torch.device) -> tuple[Tensor, Tensor]:
    """Return half widths (4,) float64, as Python multiplies them, and signs of the steps to the left and right."""
    both_first_last = torch.tensor([[1, 1], [1, 0], [0, 1]], device=device)
    half_widths = torch.tensor(HALF_WIDTHS, dtype=torch.float64, device=device)
    return half_widths, torch.cat([-both_first_last, both_first_last])


def signed_iou(windows: Tensor, moments: Tensor) -> Tensor:
    """Return the IoU of windows and moments (..., 2), minus gap over hull if they do not meet.

    Examples
    --------
    >>> signed_iou(torch.tensor([0.0, 10.0]), torch.tensor([[20.0, 30.0], [0.0, 10.0]]))
    tensor([-0.3333,  1.0000])
    """
    start, end = torch.maximum(windows[..., 0], moments[..., 0]), torch.minimum(windows[..., 1], moments[..., 1])
    low, high = torch.minimum(windows[..., 0], moments[..., 0]), torch.maximum(windows[..., 1], moments[..., 1])
    return (end - start) / (high - low)


def root_rewards(before: Tensor, after: Tensor, branches: Tensor) -> Tensor:
    r"""Return the rewards of the choice of a branch.

    .. math:: r = \begin{cases} 1 + I' - I & \text{if } I' = J \\ (I' - J) + (I' - I) & \text{otherwise} \end{cases}

    Parameters
    ----------
    before, after : (...)
        I and I', signed IoU before and after the move.
    branches : (..., 5)
        Signed IoU after the best leaf of each branch by its policy; J is their maximum.
    """
    best = branches.amax(dim=-1)
    gain = after - before
    return torch.where((after - best).abs() <= TOLERANCE, 1 + gain, after - best + gain)


def leaf_rewards(before: Tensor, after: Tensor) -> Tensor:
    r"""Return the rewards of the choice of a leaf, of signed IoUs before and after the move.

    If the IoU rises from 0 or above, the reward is :math:`1 + I'` for an :math:`I'` above 0.5, else 1. If it does not
    rise and :math:`I' \ge 0`, it is -0.1; in all other cases it is -1, also for a rise from below 0.

    Examples
    --------
    >>> leaf_rewards(torch.tensor([0.4, 0.1, 0.4, -0.2]), torch.tensor([0.75, 0.2, 0.4, 0.3]))
    tensor([ 1.7500,  1.0000, -0.1000, -1.0000])
    """
    rises = after > before
    reached = 1 + torch.where(after > 0.5, after, 0.0)
    missed = 0.9 * (~rises & (after >= 0)).to(after.dtype) - 1
    return torch.where(rises & (before >= 0), reached, missed)


def sampled_units(most_units: int) -> Tensor:
    r"""Return the units that a window of n units is seen by, counted from its first: (U + 1, 10), row n for n units.

    A window of more than 9 units is seen by :math:`\lfloor (k + 1) n / 11 \rfloor` for k from 0 to 9, a shorter one by
    :data:`FEW`.
    """
    n = torch.arange(most_units + 1)[:, None]
    units = (torch.arange(SAMPLES) + 1) * n // (SAMPLES + 1)
    few = torch.tensor([[int(digit) for digit in row] for row in FEW])[:most_units]
    units[1 : len(few) + 1] = few
    return units
