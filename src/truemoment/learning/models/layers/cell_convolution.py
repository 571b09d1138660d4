r"""Convolutions on the temporal map of candidates: 2D-TAN's, which grow beyond them, and TCN-DCM's, which do not.

Candidates are laid out as an (N, N) map, which is convolved as a whole. After each layer every cell is multiplied by a
fixed factor, 0 where the layer computes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from truemoment.base.errors import UsageError
from truemoment.baselines.proposals import SparseMap

if TYPE_CHECKING:
    from truemoment.base.intervals import Floats

Cells = NDArray[np.bool_]  # which cells of a square map, shape (M, M)


def neighbours(cells: Cells, kernel: int) -> NDArray[np.int64]:
    """Count the cells in the kernel's window around each cell, shape (M, M)."""
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(cells, kernel // 2), (kernel, kernel))
    count: NDArray[np.int64] = windows.sum(axis=(2, 3), dtype=np.int64)
    return count


class Stack(nn.Module):
    """Convolutions one after the other, each followed by a fixed factor for each cell and ReLU.

    Parameters
    ----------
    proposals
        The C candidates.
    scales
        The factor of each cell after each layer, 0 or more, (M, M) with the same margin around all maps.
    hidden
        H, channels.
    kernel
        k, odd.
    paddings
        Zeros around the map that each layer adds.
    """

    cell: Tensor

    def __init__(
        self, proposals: SparseMap, scales: Sequence[Floats], *, hidden: int, kernel: int, paddings: list[int]
    ) -> None:
        super().__init__()
        self.n_clips, self.kernel, self.paddings = proposals.n_clips, kernel, paddings
        self.convolutions = nn.ModuleList(nn.Conv2d(hidden, hidden, kernel) for _ in scales)
        first, last = proposals.cells
        self.register_buffer("cell", torch.from_numpy(first * self.n_clips + last), persistent=False)
        size = self.n_clips
        for layer, scale in enumerate(scales):
            size += 2 * paddings[layer] - (kernel - 1)
            edge = (len(scale) - size) // 2
            of_map = np.ascontiguousarray(scale[edge : len(scale) - edge, edge : len(scale) - edge])
            of_map_tensor = torch.from_numpy(of_map).to(torch.get_default_dtype())
            self.register_buffer(f"of_map_{layer}", of_map_tensor, persistent=False)

    def forward(self, cells: Tensor) -> Tensor:
        """Convolve cells (B, C, H) as whole maps."""
        n_samples, _, hidden = cells.shape
        maps = cells.new_zeros(n_samples, self.n_clips**2, hidden).index_copy(1, self.cell, cells)
        maps = maps.transpose(1, 2).reshape(n_samples, hidden, self.n_clips, self.n_clips)
        for layer, padding in enumerate(self.paddings):
            convolution = self.convolution(layer)
            maps = functional.conv2d(maps, convolution.weight, convolution.bias, padding=padding)
            # ReLU(s x) is s ReLU(x) where s is not negative, and so nothing but the result is kept.
            maps = maps.mul_(self.get_buffer(f"of_map_{layer}")).relu_()
        return maps.flatten(2).index_select(2, self.cell).transpose(1, 2)

    def convolution(self, layer: int) -> nn.Conv2d:
        """Return the convolution of a layer."""
        return cast("nn.Conv2d", self.convolutions[layer])


def _candidates(proposals: SparseMap, kernel: int, margin: int) -> Cells:
    if kernel < 1 or kernel % 2 == 0:
        raise UsageError(f"got a kernel of {kernel}, expected an odd number of 1 or more")
    candidates = np.zeros((proposals.n_clips, proposals.n_clips), dtype=np.bool_)
    candidates[proposals.cells] = True
    return np.pad(candidates, margin)


class CellConvolutions(Stack):
    r"""2D-TAN's temporal adjacent network: (B, C, H) to (B, C, H).

    The map of candidates, 0 elsewhere, is padded once by :math:`(k - 1) L / 2` zeros on every side and shrinks back to
    its size over L layers. A layer is a convolution, ReLU, and a division of each cell by the number of cells in its
    window that the layer before reached; where there is none, 0. So what is reached grows beyond the candidates
    (Zhang et al. 2020, 2D-TAN, section 3.3, and its published code).

    Parameters
    ----------
    proposals
        The C candidates.
    hidden
        H, channels.
    kernel
        k, odd.
    layers
        L.
    """

    def __init__(self, proposals: SparseMap, hidden: int, *, kernel: int, layers: int) -> None:
        margin = (kernel - 1) * layers // 2
        reached = _candidates(proposals, kernel, margin)
        scales: list[Floats] = []
        for _ in range(layers):
            count = neighbours(reached, kernel)
            reached = count > 0
            scales.append((count > 0) / np.maximum(count, 1))
        paddings = [margin] + [0] * (layers - 1)
        super().__init__(proposals, scales, hidden=hidden, kernel=kernel, paddings=paddings)

    def start_level(self) -> None:
        r"""Draw new weights so that a layer keeps the size of what it is given, and set biases to 0.

        PyTorch's own start (standard deviation :math:`1 / \sqrt{3 k^2 H}`) followed by the division by up to
        :math:`k^2` makes what passes a layer about :math:`2.4 k^2` times smaller: after 4 layers of kernel 5 the
        scores of a fresh network are its biases, and the first thousands of steps go into growing weights. Here the
        standard deviation is :math:`k^2 \sqrt{2 / (k^2 H)}` (He et al. 2015, times the division).
        """
        for layer in range(len(self.paddings)):
            convolution = self.convolution(layer)
            nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
            with torch.no_grad():
                convolution.weight.mul_(self.kernel**2)
                cast("Tensor", convolution.bias).zero_()


class TriangleConvolutions(Stack):
    """Convolutions that stay on the candidates: (B, C, H) to (B, C, H).

    A layer is a convolution that keeps the size of the map, and ReLU; what is no candidate is set to 0 after each
    (TCN-DCM, Yang et al. 2021, section 3.3, and its published code).

    Parameters
    ----------
    proposals
        The C candidates.
    hidden
        H, channels.
    kernel
        k, odd.
    layers
        L.
    """

    def __init__(self, proposals: SparseMap, hidden: int, *, kernel: int, layers: int) -> None:
        candidates = _candidates(proposals, kernel, 0)
        super().__init__(
            proposals,
            [candidates.astype(np.float64)] * layers,
            hidden=hidden,
            kernel=kernel,
            paddings=[kernel // 2] * layers,
        )
