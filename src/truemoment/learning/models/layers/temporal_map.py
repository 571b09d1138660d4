"""From rows of features to clips, and from clips to candidate moments.

2D-TAN has its candidates in an (N, N) map. Here they are a list, in the order of
:class:`~truemoment.baselines.proposals.SparseMap`: only candidates are computed.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from truemoment.base.errors import UsageError
from truemoment.baselines.proposals import SparseMap


class FrameEncoder(nn.Module):
    """Rows of features to clips: a linear map, ReLU, and the mean over each clip's rows.

    (Zhang et al. 2020, 2D-TAN, section 3.2; the linear map is a convolution over one row.)
    """

    def __init__(self, n_dimensions: int, hidden: int, n_clips: int) -> None:
        super().__init__()
        self.n_clips = n_clips
        self.linear = nn.Linear(n_dimensions, hidden)

    def forward(self, video: Tensor) -> Tensor:
        """Encode videos (B, T, D) as clips (B, N, H); T is a multiple of N."""
        n_rows = video.shape[1]
        if n_rows == 0 or n_rows % self.n_clips:
            raise UsageError(
                f"got {n_rows} rows of features a video, expected a multiple of the model's {self.n_clips} clips"
            )
        rows = torch.relu(self.linear(video))
        return rows.view(len(rows), self.n_clips, -1, rows.shape[2]).mean(dim=2)


class MaxMoments(nn.Module):
    r"""A moment is the elementwise maximum of its clips: :math:`m_{(a, b)} = \max_{a \le i \le b} v_i`.

    (Zhang et al. 2020, 2D-TAN, section 3.2, "pool".) Computed by doubling: the maximum of every :math:`2^j` clips in a
    row comes from two of half the length; a moment of n clips is the maximum of two overlapping ones of
    :math:`2^{\lfloor \log_2 n \rfloor}`.
    """

    first: Tensor
    last: Tensor

    def __init__(self, proposals: SparseMap) -> None:
        super().__init__()
        start, end = proposals.cells
        level = np.floor(np.log2(end - start + 1)).astype(np.int64)
        self.n_levels = int(level.max()) + 1
        rows_before = np.cumsum([0] + [proposals.n_clips - 2**j + 1 for j in range(self.n_levels)])
        self.register_buffer("first", torch.from_numpy(rows_before[level] + start), persistent=False)
        self.register_buffer("last", torch.from_numpy(rows_before[level] + end + 1 - 2**level), persistent=False)

    def forward(self, clips: Tensor) -> Tensor:
        """Return moments (B, C, H) of clips (B, N, H)."""
        levels = [clips]
        for j in range(self.n_levels - 1):
            levels.append(torch.maximum(levels[-1][:, : -(2**j)], levels[-1][:, 2**j :]))
        largest = torch.cat(levels, dim=1)
        return torch.maximum(largest.index_select(1, self.first), largest.index_select(1, self.last))


class ConvMoments(nn.Module):
    """A moment is a learnt mixture of shorter ones.

    (Zhang et al. 2020, 2D-TAN, section 3.2, "conv".) Diagonal by diagonal of the map: a convolution over 1 clip first,
    then over 2 neighbours of the diagonal before, and over 3 in steps of 2 where the diagonals become coarser. Each
    diagonal has its own weights, without activations between them.
    """

    cell_of: Tensor

    def __init__(self, proposals: SparseMap, hidden: int) -> None:
        super().__init__()
        start, end = proposals.cells
        by_diagonal = np.lexsort((start, end - start))
        self.register_buffer("cell_of", torch.from_numpy(np.argsort(by_diagonal)), persistent=False)
        # From one diagonal to the next, a moment grows by as many clips as lie between the starts of two neighbours.
        steps = np.diff(np.unique(end - start), prepend=0)
        self.diagonals = nn.ModuleList([nn.Conv1d(hidden, hidden, 1)])
        for before, step in zip(np.maximum(steps, 1), steps[1:], strict=False):
            coarser = step > before
            self.diagonals.append(nn.Conv1d(hidden, hidden, 3 if coarser else 2, stride=2 if coarser else 1))

    def forward(self, clips: Tensor) -> Tensor:
        """Return moments (B, C, H) of clips (B, N, H)."""
        diagonals = [clips.transpose(1, 2)]
        for convolution in self.diagonals:
            diagonals.append(convolution(diagonals[-1]))
        return torch.cat(diagonals[1:], dim=2).index_select(2, self.cell_of).transpose(1, 2)
