"""Measures during training: the functions of ``evaluate``, for this training loop or any other.

>>> import numpy as np
>>> from truemoment.learning.models.decoding import ScoredMoments
>>> from truemoment.base.records import Annotations
>>> val = Annotations.from_rows([("v#0", "v", 10.0, "a door opens", 0.0, 5.0)])
>>> watch = Validation(val, "R@1,IoU=0.5")
>>> start, end = np.array([0.0, 0.0, 0.5]), np.array([0.5, 1.0, 1.0])   # shares of the video
>>> moments = ScoredMoments(start, end, np.array([[0.9, 0.1, 0.2]], dtype=np.float32))
>>> watch.of_scores(moments, nms=0.5)["R@1,IoU=0.5"]
1.0
>>> watch.of_moments({"v#0": [(5.0, 10.0, 0.7)]})["R@1,IoU=0.5"]
0.0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from truemoment.base.records import Annotations, Predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measure
from truemoment.learning.models.decoding import ScoredMoments, as_predictions, on_grid

SHOWN = ("R@1,IoU=0.5", "R@1,IoU=0.7", "mIoU", "AxIoU@10")
"""Measured after every epoch, beside the one that chooses."""


class Validation:
    """Measures answers to one validation split, epoch after epoch.

    Parameters
    ----------
    annotations
        The split.
    measure
        The one that chooses; others of :data:`SHOWN` are measured beside it.
    protocol
        A protocol's name; None for the dataset's default.
    """

    def __init__(self, annotations: Annotations, measure: str = "AxIoU@10", protocol: str | None = None) -> None:
        self.annotations = annotations
        self.measure = str(parse_measure(measure))
        self.measures = tuple(dict.fromkeys([self.measure, *SHOWN]))
        self.protocol = protocol

    def of_predictions(self, predictions: Predictions) -> dict[str, float]:
        """Return the figure of each measure, a fraction, by name; the one that chooses comes first."""
        scores = evaluate(self.annotations, predictions, list(self.measures), self.protocol)
        return {measure: scores.value(measure) for measure in self.measures}

    def of_moments(self, moments: Mapping[str, Sequence[Sequence[float]]]) -> dict[str, float]:
        """Measure ``{query_id: [(start_s, end_s, score), ...]}``."""
        return self.of_predictions(Predictions.from_lists(dict(moments)))

    def of_scores(
        self, scored: ScoredMoments, *, nms: float, top: int = 10, grid_s: float | None = None
    ) -> dict[str, float]:
        """Measure scored candidates, one row a query in the order of ``annotations.queries``."""
        queries = self.annotations.queries
        answers = as_predictions(queries.query_id, scored, queries.duration_s, nms=nms, top=top, name="epoch")
        return self.of_predictions(on_grid(answers, grid_s))
