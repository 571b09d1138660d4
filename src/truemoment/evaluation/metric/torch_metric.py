"""MomentMetric as a ``torchmetrics.Metric``: for Lightning, metric collections and training over several processes.

Its state is one list of bytes (a tensor a batch), which torchmetrics gathers and concatenates.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, cast

from truemoment.base.errors import MissingPackageError

try:
    import torch
    from torchmetrics import Metric
    from torchmetrics.utilities import dim_zero_cat
except ModuleNotFoundError as error:
    raise MissingPackageError("torchmetrics", "torchmetrics", "TorchMomentMetric") from error

from truemoment.base.records import Annotations
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.metric.moment_metric import MissingQueriesWarning, MomentMetric
from truemoment.evaluation.protocols import Protocol


class TorchMomentMetric(Metric):
    """Measures of an epoch as a ``torchmetrics.Metric``.

    Parameters
    ----------
    measures, protocol, expected
        As for :class:`truemoment.MomentMetric`.
    options
        Options of every torchmetrics metric, such as ``sync_on_compute``.

    Attributes
    ----------
    n_queries, n_missing
        Queries seen, and expected ones not seen (None if not known), over all processes, at the last ``compute``.
    """

    is_differentiable = False
    higher_is_better = None
    full_state_update = False
    batches: list[torch.Tensor] | torch.Tensor

    def __init__(
        self,
        measures: str | Sequence[Measure | str] | None = None,
        protocol: str | Protocol | None = None,
        *,
        expected: Annotations | Iterable[Any] | None = None,
        **options: Any,  # noqa: ANN401 - torchmetrics' own
    ) -> None:
        super().__init__(**options)
        self._metric = MomentMetric(measures, protocol, expected=expected)
        self.n_queries: int = 0
        self.n_missing: int | None = self._metric.n_missing
        self.set_dtype(torch.uint8)  # the device of an empty state, which a process without a batch sends
        self.add_state("batches", default=[], dist_reduce_fx="cat")

    def update(self, *batch: Any, **more: Any) -> None:  # noqa: ANN401 - as MomentMetric.update
        """Add the queries of a batch; see :meth:`truemoment.MomentMetric.update`."""
        self._metric.reset()
        self._metric.update(*batch, **more)
        state = torch.frombuffer(bytearray(self._metric.state()), dtype=torch.uint8)
        assert isinstance(self.batches, list)  # noqa: S101 - torchmetrics refuses an update while states are gathered
        self.batches.append(state.to(self.device))

    def compute(self) -> dict[str, float]:
        """Return the value of each measure; see :meth:`truemoment.MomentMetric.compute`."""
        self._metric.reset()
        if len(self.batches):
            self._metric.merge(dim_zero_cat(self.batches).cpu().numpy().tobytes())
        self.n_queries, self.n_missing = self._metric.n_queries, self._metric.n_missing
        return self._metric.compute()

    def forward(self, *batch: Any, **more: Any) -> dict[str, float]:  # noqa: ANN401 - as MomentMetric.update
        """Add the queries of a batch and return the measures of the batch, without a warning about missing queries."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MissingQueriesWarning)
            return cast(dict[str, float], super().forward(*batch, **more))
