"""A feature pyramid over time: maps of several resolutions, the finer ones enriched by the coarser ones.

(Lin et al. 2017, Feature Pyramid Networks, section 3, in one dimension, as DRN has it: Zeng et al. 2020.)
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn import functional


def conv_block(n_in: int, n_out: int, kernel: int, stride: int = 1) -> nn.Sequential:
    """Return a convolution over time without a bias, batch norm and ReLU; Kaiming-uniform weights for a linear layer.

    Rows (B, n_in, T) become (B, n_out, T / stride), rounded up, for an odd kernel.
    """
    conv = nn.Conv1d(n_in, n_out, kernel, stride, padding=(kernel - 1) // 2, bias=False)
    nn.init.kaiming_uniform_(conv.weight, a=1)
    return nn.Sequential(conv, nn.BatchNorm1d(n_out), nn.ReLU())


class FeaturePyramid(nn.Module):
    """Bring maps of several resolutions to one width, and add each coarser map to the next finer one.

    Parameters
    ----------
    widths
        Channels of each map, the finest first.
    n_out
        Channels of each output.
    """

    def __init__(self, widths: Sequence[int], n_out: int) -> None:
        super().__init__()
        self.lateral = nn.ModuleList(conv_block(width, n_out, kernel=1) for width in widths)
        self.smooth = nn.ModuleList(conv_block(n_out, n_out, kernel=3) for _ in widths)

    def forward(self, maps: Sequence[Tensor]) -> list[Tensor]:
        """Return maps (B, n_out, T_k) for maps (B, widths[k], T_k), of which each is half as long as the one before."""
        levels = list(zip(maps, self.lateral, self.smooth, strict=True))
        above: Tensor | None = None
        outputs: list[Tensor] = []
        for rows, lateral, smooth in reversed(levels):
            joined = lateral(rows)
            if above is not None:
                joined = joined + functional.interpolate(above, scale_factor=2.0, mode="nearest")
            outputs.append(smooth(joined))
            above = joined
        return outputs[::-1]
