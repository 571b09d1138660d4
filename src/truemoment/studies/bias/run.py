"""``truemoment.bias``: the location, verb and duration biases of datasets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from truemoment.base.boundary.files import source_of
from truemoment.base.errors import UsageError
from truemoment.base.known_names import GIVES_DURATIONS, NO_DURATION
from truemoment.base.records import Annotations
from truemoment.base.request import function_of, several
from truemoment.data.axes import parse_axis
from truemoment.data.datasets.all_splits import AllSplits, splits_of_dataset, splits_of_file, splits_of_value
from truemoment.data.language import get_engine
from truemoment.data.python_values import several_values
from truemoment.data.units import look_at_units, refuse_units
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.studies.bias import report as reports
from truemoment.studies.bias.request import BiasRequest
from truemoment.studies.bias.surveys import Survey, survey_all
from truemoment.studies.request import is_file, path_of


@dataclass(frozen=True, repr=False, eq=False)
class BiasResult(Result):
    """Location, verb and duration biases of datasets, with report, document and rows.

    Parameters
    ----------
    surveys
        Survey of each dataset.
    request
        Datasets and settings.
    sources
        ``path`` and ``sha256`` of the file of each survey; None for a dataset of the field.
    """

    surveys: tuple[Survey, ...]
    request: BiasRequest
    sources: tuple[Mapping[str, str] | None, ...]

    def report(self) -> Report:
        """Return the report for people."""
        request = self.request
        return reports.report(
            self.surveys,
            seed=request.seed,
            sources=self.sources,
            top_verbs=request.top_verbs,
            verbs=several(request.verb),
        )

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment bias --json`` writes it."""
        return reports.document(self.surveys, seed=self.request.seed, sources=self.sources)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a split: number of queries and videos."""
        return [
            {"dataset": survey.title, "split": split.name, "n_queries": split.n_queries, "n_videos": split.n_videos}
            for survey in self.surveys
            for split in survey.splits
        ]

    def __repr__(self) -> str:
        """Return the datasets, in one line."""
        return f"Biases of {', '.join(survey.title for survey in self.surveys)}"


def run(request: BiasRequest) -> BiasResult:
    """Report the location, verb and duration biases of datasets.

    Returns
    -------
    BiasResult
        It shows its report in a notebook.

    Raises
    ------
    UsageError
        If no dataset is given, or one is unknown.
    MissingFileError, InputError
        If a file is missing or malformed.
    """
    engine = get_engine(request.engine)  # an unknown one is refused before files are read
    datasets = list(_datasets(request))
    if not datasets:
        raise UsageError("which datasets? give --dataset NAME or --annotations FILE, once or more")
    surveys = survey_all(
        [splits for splits, _ in datasets],
        engine,
        seed=request.seed,
        permutations=request.permutations,
        draws=request.draws,
        top_verbs=request.top_verbs,
        on_status=request.on_status,
    )
    return BiasResult(tuple(surveys), request, tuple(source for _, source in datasets))


def _datasets(request: BiasRequest) -> Iterator[tuple[AllSplits, Mapping[str, str] | None]]:
    """Read the splits of every dataset, with path and hash of a file."""
    only = several(request.split)
    for name in several(request.dataset):
        yield splits_of_dataset(name, only, data_dir=path_of(request.data_dir)), None
    given = request.annotations
    for value in () if given is None or (isinstance(given, tuple) and not given) else several_values(given):
        source = None
        if is_file(value):
            path = Path(value)
            splits, source = splits_of_file(path, only, request.how_references), source_of(path)
        else:
            path, splits = Path("annotations"), splits_of_value(value, only, request.how_references)
        if not any(np.any(split.duration_s > 0) for split in splits.splits.values()):
            request.on_warning(f"{path}: {NO_DURATION}; {GIVES_DURATIONS}")
        yield splits._replace(splits=_on_axis(splits.splits, path, request)), source


def _on_axis(splits: Mapping[str, Annotations], path: Path, request: BiasRequest) -> dict[str, Annotations]:
    """Return the splits of a file in seconds; times that are improbable as seconds are refused before any figure."""
    if request.axis is not None:
        axis = parse_axis(request.axis)
        times = {name: axis.to_seconds(split.start_s, split.end_s, split.duration_s) for name, split in splits.items()}
        return {name: replace(split, start_s=times[name][0], end_s=times[name][1]) for name, split in splits.items()}
    for split in splits.values():
        suspicion = look_at_units(split.start_s, split.end_s, split.duration_s)
        if suspicion is not None:
            refuse_units(suspicion, path, request.on_warning)
    return dict(splits)


bias = function_of(BiasRequest, run, "bias")
