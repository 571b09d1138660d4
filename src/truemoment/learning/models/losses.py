"""The loss on candidate moments that the models share."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


def scaled_iou(iou: Tensor, low: float, high: float) -> Tensor:
    r"""Rescale the IoU o of candidates to a target: :math:`t = \mathrm{clip}((o - l) / (h - l), 0, 1)`, low l, high h.

    (Zhang et al. 2020, 2D-TAN, section 3.4.)
    """
    return ((iou - low) / (high - low)).clamp(0.0, 1.0)


def candidate_loss(logits: Tensor, target: Tensor) -> Tensor:
    r"""Return the binary cross-entropy between logits x and targets t, (B, C), averaged over all pairs and candidates.

    .. math:: -\frac{1}{BC} \sum t \ln \sigma(x) + (1 - t) \ln(1 - \sigma(x))

    (Zhang et al. 2020, 2D-TAN, section 3.4.) As targets are soft, its minimum is their entropy, not 0.
    """
    return functional.binary_cross_entropy_with_logits(logits, target)
