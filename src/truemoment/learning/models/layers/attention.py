r"""Attention of cells over a set of vectors: all locations of a video, or a dictionary of confounders.

.. math::
    \text{concat}_h \; \text{softmax}(Q_h K_h^\top / \sqrt{H / \text{heads}}) \, V_h,

as in TCN-DCM (Yang et al. 2021) and MDD (Lan et al. 2023, eq. 12): without output projection and residual.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from truemoment.base.errors import UsageError


class CellAttention(nn.Module):
    """Multi-head attention of cells over a set, without weights.

    Parameters
    ----------
    hidden
        H, a multiple of `heads`.
    heads
        Number of heads.
    dropout
        Dropout rate of the attention weights.
    """

    def __init__(self, hidden: int, heads: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        if heads < 1 or hidden % heads:
            raise UsageError(f"got {heads} attention heads for {hidden} hidden numbers, expected a divisor")
        self.heads = heads
        self.dropout = dropout

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Return the mean value that each cell attends to, (B, C, H).

        Parameters
        ----------
        queries
            (B, C, H), a query per cell.
        keys, values
            (B, S, H), a set per pair; or (S, H), one set for all pairs, which is not copied.
        """
        if keys.ndim == 2:
            return self.forward(queries.flatten(0, 1)[None], keys[None], values[None]).view_as(queries)
        dropout = self.dropout if self.training else 0.0
        q, k, v = (self._by_head(rows) for rows in (queries, keys, values))
        return functional.scaled_dot_product_attention(q, k, v, dropout_p=dropout).transpose(1, 2).flatten(2)

    def _by_head(self, rows: Tensor) -> Tensor:
        """Cut (B, S, H) into (B, heads, S, H / heads)."""
        return rows.reshape(*rows.shape[:2], self.heads, -1).transpose(1, 2)
