"""Fifteen segments of fixed place and length, and the segment that one of them becomes by a refinement.

Source: the code of Weakly Supervised Dense Event Captioning, https://github.com/XgDuan/WSDEC. Segments are centre and
width as shares of the video.
"""

from __future__ import annotations

import torch
from torch import Tensor

ANCHORS = (
    *((k / 4, 1 / 2) for k in (1, 2, 3)),
    *((k / 6, 1 / 3) for k in (1, 3, 5)),
    *((k / 16, 1 / 8) for k in range(1, 16, 2)),
    (1 / 2, 1.0),
)
"""Centre and width of each anchor: three halves, three thirds, eight eighths, the whole video."""

LAST_END = 1 - 1e-4
"""A segment ends there at the latest."""


def refined(anchors: Tensor, refinement: Tensor, shift: float) -> Tensor:
    """Return centres and widths (B, A, 2) of anchors (A, 2) with refinements (B, A, 2).

    Parameters
    ----------
    shift
        Subtracted from the centre.
    """
    moved = anchors + refinement
    return torch.stack([moved[..., 0] - shift, moved[..., 1]], dim=-1)


def ends_of(segments: Tensor) -> tuple[Tensor, Tensor]:
    """Return start and end of centres and widths (..., 2), clipped to the video.

    Examples
    --------
    >>> ends_of(torch.tensor([0.25, 0.5], dtype=torch.float64))
    (tensor(0., dtype=torch.float64), tensor(0.5000, dtype=torch.float64))
    """
    centre, width = segments.unbind(dim=-1)
    return (centre - width / 2).clamp(min=0.0), (centre + width / 2).clamp(max=LAST_END)
