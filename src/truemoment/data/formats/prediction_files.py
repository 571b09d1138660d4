"""How prediction files are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.records import Annotations, Predictions
from truemoment.base.rules import OnNegative, OnUnknown
from truemoment.data.answers.reading import Reading
from truemoment.data.fields import FieldMap
from truemoment.data.formats import read_predictions
from truemoment.data.formats.matching import MatchReport
from truemoment.data.units import refuse_units


@dataclass(frozen=True)
class PredictionOptions:
    """How prediction files are read, as :func:`truemoment.data.formats.read_predictions` takes it.

    `fields` are saved to `save_fields` once a file was read with them. `names_axis` is whether the axis was given, so
    that times that are improbable on it are what the person means.
    """

    format: str | None = None
    reading: Reading | None = None
    on_unknown: OnUnknown = "refuse"
    on_negative: OnNegative = "refuse"
    names_axis: bool = False
    fields: FieldMap | None = None
    save_fields: AnyPath | None = None

    def read(self, path: AnyPath, annotations: Annotations, *, progress: bool) -> tuple[Predictions, MatchReport]:
        """Read a prediction file."""
        read = read_predictions(
            path,
            annotations,
            format=self.format,
            reading=self.reading,
            fields=self.fields,
            on_unknown=self.on_unknown,
            on_negative=self.on_negative,
            progress=progress,
        )
        self.save()
        return read

    def save(self) -> None:
        """Write the mapping of fields, if it is to be kept."""
        if self.fields is not None and self.save_fields is not None:
            self.fields.save(self.save_fields)

    def refuse_units(self, match: MatchReport, path: object, on_warning: Callable[[str], None]) -> None:
        """Refuse times of an improbable unit, unless the axis was given; of few moments, warn."""
        if match.units is not None and not self.names_axis:
            refuse_units(match.units, path, on_warning)
