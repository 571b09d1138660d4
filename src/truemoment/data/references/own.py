"""TrueMoment's own form: JSON Lines, a query a line (:mod:`truemoment.data.datasets.own`)."""

from __future__ import annotations

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.records import Annotations
from truemoment.data.datasets import own
from truemoment.data.formats.head import first_line_has
from truemoment.data.references.base import ReferenceForm


def _write(path: AnyPath, annotations: Annotations) -> None:
    own.write(path, [annotations])


FORM = ReferenceForm(
    "own",
    "JSON Lines of video_id, sentence and moments",
    first_line_has("video_id", "sentence", "moments"),
    lambda path, _: list(own.entries_of(path)),
    _write,
    frozenset({"ids", "durations", "annotators", "several moments", "no moment", "split"}),
)
