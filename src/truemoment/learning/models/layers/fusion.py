"""Fusion of sentence and candidate moments."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


def fuse(sentence: Tensor, cells: Tensor) -> Tensor:
    r"""Multiply a sentence (B, H) with cells (B, C, H) or (1, C, H), and normalise: (B, C, H).

    .. math:: f_c = \frac{q \odot m_c}{\max(\lVert q \odot m_c \rVert_2, 10^{-12})}

    (Zhang et al. 2020, 2D-TAN, section 3.3). A positive factor on the sentence has no effect; a sentence of zeros
    gives zeros.
    """
    return functional.normalize(sentence[:, None] * cells, dim=-1, eps=1e-12)
