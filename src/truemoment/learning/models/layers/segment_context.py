r"""Means of a video before, inside and after a segment, with soft ends, so that the segment can be learned.

At step t of a video, with the centre c and the width w of the segment in steps and :math:`\sigma` the sigmoid,

.. math::
    m_\text{before} &= \sigma(-\kappa (t - c + w / 2)) \\
    m_\text{inside} &= \sigma(\kappa (t - c + w / 2)) - \sigma(\kappa (t - c - w / 2)) \\
    m_\text{after} &= \sigma(\kappa (t - c - w / 2)),

which add up to 1. Source: the code of Weakly Supervised Dense Event Captioning, https://github.com/XgDuan/WSDEC.
"""

from __future__ import annotations

import torch
from torch import Tensor

LEAST_WEIGHT = 1e-4
"""Added to the sum of the weights of a mean."""


def soft_masks(segments: Tensor, n_rows: Tensor, length: int, sharpness: float) -> Tensor:
    r"""Return the weight of each step before, inside and after segments, (B, A, 3, T); 0 in the padding.

    Parameters
    ----------
    segments : (B, A, 2)
        Centre and width as shares of the video.
    n_rows : (B,)
        Real steps of each video.
    length
        T.
    sharpness
        :math:`\kappa`, per step.
    """
    step = torch.arange(length, device=segments.device)
    centre, width = (segments * n_rows[:, None, None]).unbind(dim=-1)
    from_start = torch.sigmoid(sharpness * (step - (centre - width / 2)[..., None]))
    from_end = torch.sigmoid(sharpness * (step - (centre + width / 2)[..., None]))
    masks = torch.stack([1 - from_start, from_start - from_end, from_end], dim=2)
    return masks * (step < n_rows[:, None])[:, None, None]


def segment_context(rows: Tensor, masks: Tensor) -> Tensor:
    """Return the weighted means of rows (B, T, H) before, inside and after each segment side by side, (B, A, 3 H)."""
    sums = torch.einsum("bamt,bth->bamh", masks, rows)
    return (sums / (masks.sum(dim=3) + LEAST_WEIGHT)[..., None]).flatten(2)
