"""The meeting of sentence and candidate moment."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


def fuse(sentence: Tensor, cells: Tensor) -> Tensor:
    r"""Multiply a sentence into every cell and bring each to length 1.

    .. math:: f_c = \frac{q \odot m_c}{\max(\lVert q \odot m_c \rVert_2, 10^{-12})}

    (Zhang et al. 2020, 2D-TAN, section 3.3). A positive factor on the sentence changes nothing; a sentence of zeros
    gives zeros.

    Parameters
    ----------
    sentence : (B, H)
        q.
    cells : (B, C, H)
        m; or (1, C, H) where they are the same for all.

    Returns
    -------
    (B, C, H)
        f.
    """
    return functional.normalize(sentence[:, None] * cells, dim=-1, eps=1e-12)
