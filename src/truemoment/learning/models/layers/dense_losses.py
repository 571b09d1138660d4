"""The losses of a dense regression over time: of being in the moment, of its ends, and of the IoU of a segment."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

SMALLEST_LENGTH, SMALLEST_HULL = 1e-8, 1e-6
"""Added to lengths so that quotients are finite, as in DRN's code."""


def focal_loss(logits: Tensor, positive: Tensor, *, alpha: float, gamma: float) -> Tensor:
    r"""Return the focal loss, summed over locations.

    .. math:: -\sum \alpha \, y (1 - p)^\gamma \ln p + (1 - \alpha) (1 - y) \, p^\gamma \ln(1 - p), \quad p = \sigma(x)

    (Lin et al. 2017, Focal Loss, section 3.2.)

    Parameters
    ----------
    logits
        x of each location.
    positive
        y of each location, bool, of the same shape.
    alpha
        Weight of positive locations; the others have 1 - alpha.
    gamma
        Exponent; 0 for the weighted cross-entropy.

    Examples
    --------
    >>> float(focal_loss(torch.zeros(2), torch.tensor([True, False]), alpha=0.25, gamma=0.0))  # ln 2 (0.25 + 0.75)
    0.6931471824645996
    """
    p = logits.sigmoid()
    of_positive = alpha * (1 - p) ** gamma * functional.logsigmoid(logits)
    of_others = (1 - alpha) * p**gamma * functional.logsigmoid(-logits)
    return -torch.where(positive, of_positive, of_others).sum()


def distance_loss(predicted: Tensor, target: Tensor, positive: Tensor) -> Tensor:
    r"""Return the mean of :math:`-\ln \text{IoU}` over positive locations; 0 if there is none.

    A location lies in both segments, so their intersection is :math:`\min(l, l') + \min(r, r')`.
    (Yu et al. 2016, UnitBox, section 3.1.)

    Parameters
    ----------
    predicted, target
        Distances to start and end, (..., 2), above 0 at positive locations.
    positive
        (...), bool.

    Examples
    --------
    >>> predicted, target = torch.tensor([[1.0, 1.0]]), torch.tensor([[1.0, 3.0]])
    >>> float(distance_loss(predicted, target, torch.tensor([True])))  # ln 2
    0.6931471824645996
    """
    target = torch.where(positive[..., None], target, predicted.detach())  # elsewhere the loss and its gradient are 0
    intersection = torch.minimum(predicted, target).sum(dim=-1)
    union = predicted.sum(dim=-1) + target.sum(dim=-1) - intersection
    losses = -torch.log((intersection + SMALLEST_LENGTH) / (union + SMALLEST_LENGTH))
    return (losses * positive).sum() / positive.sum().clamp(min=1)


def hull_iou(segments: Tensor, moment: Tensor) -> Tensor:
    """Return intersection / (hull + 1e-6) of segments (..., 2) and moments that broadcast with them (DRN's code).

    The hull is the union where segments overlap.
    """
    high, earlier = torch.maximum(segments, moment), torch.minimum(segments, moment)
    intersection = (earlier[..., 1] - high[..., 0]).clamp(min=0)
    hull = (high[..., 1] - earlier[..., 0]).clamp(min=0)
    return intersection / (hull + SMALLEST_HULL)


def iou_loss(logits: Tensor, iou: Tensor, counts: Tensor) -> Tensor:
    """Return the mean smooth L1 distance between the sigmoid of logits and IoUs where `counts`; 0 if nowhere."""
    distance = functional.smooth_l1_loss(logits.sigmoid(), iou, reduction="none")
    return torch.where(counts, distance, 0.0).sum() / counts.sum().clamp(min=1)
