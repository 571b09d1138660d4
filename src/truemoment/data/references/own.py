"""TrueMoment's own form: JSON Lines, a query a line (:mod:`truemoment.data.datasets.own`)."""

from __future__ import annotations

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError
from truemoment.base.known_names import SWAPPED
from truemoment.base.records import Annotations
from truemoment.data.datasets import own
from truemoment.data.datasets.entries import ReferenceEntry
from truemoment.data.formats.head import first_line_has
from truemoment.data.references.base import ReferenceForm, ReferenceOptions


def _write(path: AnyPath, annotations: Annotations) -> None:
    own.write(path, [annotations])


def _read(path: AnyPath, _how: ReferenceOptions) -> list[ReferenceEntry]:
    try:
        return list(own.entries_of(path))
    except InputError as error:
        if "list of length 2" not in error.problem:
            raise
        hint = f"a third number is a score: {SWAPPED}"
        raise InputError(error.problem, path=error.path, line=error.line, field=error.field, hint=hint) from None


FORM = ReferenceForm(
    "own",
    "JSON Lines of video_id, sentence and moments",
    first_line_has("video_id", "sentence", "moments"),
    _read,
    _write,
    frozenset({"ids", "durations", "annotators", "several moments", "no moment", "split"}),
)
