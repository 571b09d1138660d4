r"""Anchors of a temporal pyramid, in seconds: where they lie, how they match a moment, and how they are refined.

A level with n cells over T seconds has cells of u = T / n seconds. At the middle of each lie anchors of the widths
u / 4, u / 2, 3 u / 4 and u. An anchor of centre m and width w with the offsets (d, e) is the moment of

.. math:: \text{centre } m + 0.1\, w d, \quad \text{width } w \exp(0.1\, e)

(Yuan et al. 2019, SCDM, section 3.3, and its authors' code).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

WIDTHS = (0.25, 0.5, 0.75, 1.0)
"""Widths of the anchors of a cell, as shares of the cell."""

REFINEMENT = 0.1
"""Factor of the offsets of an anchor."""


class Anchors(nn.Module):
    """The A anchors of a pyramid, level by level and cell by cell.

    Parameters
    ----------
    seconds
        T.
    n_cells
        Cells of each level.
    narrowest_s, widest_s
        Anchors of this width or less, and of this width or more, are left out; none if `widest_s` is 0.

    Attributes
    ----------
    centre_s, width_s : (A,) float64
        Centres and widths in seconds.
    level : (A,) int64
        Level of each, from 0.
    number : (A,) int64
        Number of each among the anchors if none were left out.

    Examples
    --------
    >>> anchors = Anchors(8.0, [2, 1], narrowest_s=2.0)
    >>> anchors.centre_s.tolist(), anchors.width_s.tolist()
    ([2.0, 2.0, 6.0, 6.0, 4.0, 4.0, 4.0], [3.0, 4.0, 3.0, 4.0, 4.0, 6.0, 8.0])
    """

    centre_s: Tensor
    width_s: Tensor
    level: Tensor
    number: Tensor

    def __init__(
        self, seconds: float, n_cells: Sequence[int], *, narrowest_s: float = 0.0, widest_s: float = 0.0
    ) -> None:
        super().__init__()
        self.n_levels, n_widths = len(n_cells), len(WIDTHS)
        level = np.repeat(np.arange(len(n_cells)), n_widths * np.array(n_cells))
        cell_s = seconds / np.array(n_cells)[level]
        cell = np.concatenate([np.repeat(np.arange(n), n_widths) for n in n_cells])
        width_s = cell_s * np.tile(WIDTHS, sum(n_cells))
        number = np.flatnonzero((width_s > narrowest_s) & (width_s < (widest_s or np.inf)))
        columns = {"centre_s": (cell + 0.5) * cell_s, "width_s": width_s, "level": level}
        for name, column in columns.items():
            self.register_buffer(name, torch.from_numpy(column[number]), persistent=False)
        self.register_buffer("number", torch.from_numpy(number), persistent=False)

    def __len__(self) -> int:
        return len(self.number)

    def refined(self, offsets: Tensor) -> tuple[Tensor, Tensor]:
        """Return centre and width in seconds, (B, A), for offsets (B, A, 2)."""
        centre_s = self.centre_s + REFINEMENT * self.width_s * offsets[..., 0]
        return centre_s, self.width_s * torch.exp(REFINEMENT * offsets[..., 1])

    def overlaps(self, moment_s: Tensor) -> Tensor:
        """Return the IoU of the anchors with moments (B, 2), in seconds, as (B, A); 0 where a moment is NaN."""
        start, end = torch.nan_to_num(moment_s)[:, :, None].unbind(dim=1)
        low, high = self.centre_s - self.width_s / 2, self.centre_s + self.width_s / 2
        shared = (torch.minimum(high, end) - torch.maximum(low, start)).clamp(min=0)
        return shared / (torch.maximum(high, end) - torch.minimum(low, start))

    def level_means(self, values: Tensor, chosen: Tensor) -> Tensor:
        """Return the sum over levels of the mean of values (B, A) over the chosen anchors (B, A) of a batch.

        A level without a chosen anchor counts as 0.
        """
        sums = values.new_zeros(self.n_levels)
        counts = sums.index_add(0, self.level, chosen.sum(dim=0).to(sums.dtype))
        sums = sums.index_add(0, self.level, (values * chosen).sum(dim=0))
        return (sums / counts.clamp(min=1)).sum()
