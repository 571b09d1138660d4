"""Records where there are records, and files where there are files: what the functions of the API read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from truemoment.base.boundary import files
from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations, Predictions
from truemoment.data.datasets.source import AnnotationSource
from truemoment.data.formats import MatchReport, read_predictions

AnyAnnotations = Annotations | str | os.PathLike[str]
AnyPredictions = Predictions | str | os.PathLike[str]


def source_of(
    annotations: AnyAnnotations | None,
    dataset: str | os.PathLike[str] | None,
    split: str | None,
    data_dir: str | os.PathLike[str] | None,
) -> AnnotationSource | None:
    """Return the source of annotations that are named; None where they are records."""
    if isinstance(annotations, Annotations):
        if dataset is not None:
            raise UsageError("got annotations and a dataset, expected one of them")
        return None
    if annotations is None and dataset is None:
        raise UsageError("which annotations? give annotations (a record or a file), or dataset and split")
    return AnnotationSource(
        dataset=None if dataset is None else str(dataset),
        annotations=None if annotations is None else Path(annotations),
        split=split,
        data_dir=None if data_dir is None else Path(data_dir),
    )


def read_annotations(
    annotations: AnyAnnotations | None,
    dataset: str | os.PathLike[str] | None = None,
    split: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
) -> Annotations:
    """Return annotations: the record itself, or what the file or dataset contains."""
    source = source_of(annotations, dataset, split, data_dir)
    if source is not None:
        return source.read()
    assert isinstance(annotations, Annotations)  # noqa: S101 - only then there is no source
    return annotations


@dataclass(frozen=True)
class Read:
    """Predictions, how the rows of their file matched queries, and its path and sha256; without a file, None and {}."""

    predictions: Predictions
    match: MatchReport | None = None
    source: Mapping[str, str] = field(default_factory=dict)


def read(predictions: AnyPredictions, annotations: Annotations, **reading: Any) -> Read:  # noqa: ANN401 - see below
    """Return predictions: the record itself, or what :func:`truemoment.read_predictions` reads with the options."""
    if isinstance(predictions, Predictions):
        return Read(predictions)
    path = Path(predictions)
    found, match = read_predictions(path, annotations, **reading)
    return Read(found, match, files.source_of(path))
