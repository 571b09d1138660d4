"""The loss on candidate moments that the models share."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


def scaled_iou(iou: Tensor, low: float, high: float) -> Tensor:
    r"""Rescale an IoU to a target: :math:`t = \mathrm{clip}((o - l) / (h - l), 0, 1)`.

    (Zhang et al. 2020, 2D-TAN, section 3.4.)

    Parameters
    ----------
    iou : (B, C)
        o, the IoU of each candidate with the reference moment.
    low, high
        l, up to which a candidate counts nothing, and h, from which it counts fully; l < h.
    """
    return ((iou - low) / (high - low)).clamp(0.0, 1.0)


def candidate_loss(logits: Tensor, target: Tensor) -> Tensor:
    r"""Binary cross-entropy between score and target, averaged over all candidates of all pairs.

    .. math:: -\frac{1}{BC} \sum t \ln \sigma(x) + (1 - t) \ln(1 - \sigma(x))

    (Zhang et al. 2020, 2D-TAN, section 3.4.) As targets are soft, its least value is their entropy, not 0.

    Parameters
    ----------
    logits : (B, C)
        x, the scores.
    target : (B, C)
        t, from 0 to 1.
    """
    return functional.binary_cross_entropy_with_logits(logits, target)
