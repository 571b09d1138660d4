"""How prediction files are read."""

from __future__ import annotations

from dataclasses import dataclass

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.records import Annotations, Predictions
from truemoment.base.rules import OnNegative, OnUnknown
from truemoment.data.answers.reading import Reading
from truemoment.data.formats import read_predictions
from truemoment.data.formats.matching import MatchReport


@dataclass(frozen=True)
class PredictionOptions:
    """How prediction files are read, as :func:`truemoment.data.formats.read_predictions` takes it."""

    format: str | None = None
    reading: Reading | None = None
    on_unknown: OnUnknown = "refuse"
    on_negative: OnNegative = "refuse"

    def read(self, path: AnyPath, annotations: Annotations, *, progress: bool) -> tuple[Predictions, MatchReport]:
        """Read a prediction file."""
        return read_predictions(
            path,
            annotations,
            format=self.format,
            reading=self.reading,
            on_unknown=self.on_unknown,
            on_negative=self.on_negative,
            progress=progress,
        )
