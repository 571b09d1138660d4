"""A metric for training loops: fed batch by batch, with the measures of :func:`truemoment.evaluate`.

:class:`MomentMetric` needs no PyTorch. :class:`TorchMomentMetric` is the same as a ``torchmetrics.Metric``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from truemoment.base.lazy import lazy
from truemoment.evaluation.metric.moment_metric import MissingQueriesWarning, MomentMetric

if TYPE_CHECKING:
    from truemoment.evaluation.metric.torch_metric import TorchMomentMetric

__all__ = ["MissingQueriesWarning", "MomentMetric", "TorchMomentMetric"]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__, {"TorchMomentMetric": "torch_metric"})
