"""``truemoment.survey``: the location, verb and duration biases of datasets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.base.boundary.files import source_of
from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations
from truemoment.base.request import function_of
from truemoment.data.datasets.all_splits import AllSplits, splits_of_dataset, splits_of_file
from truemoment.data.language import get_engine
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.studies.bias import report as reports
from truemoment.studies.bias.request import SurveyRequest
from truemoment.studies.bias.surveys import Survey, survey_all
from truemoment.studies.request import path_of


@dataclass(frozen=True, repr=False, eq=False)
class SurveyResult(Result):
    """Surveys of datasets that report themselves.

    Parameters
    ----------
    surveys
        One a dataset.
    request
        What was asked for.
    sources
        ``path`` and ``sha256`` of the file of each survey; None for a dataset of the field.
    """

    surveys: tuple[Survey, ...]
    request: SurveyRequest
    sources: tuple[Mapping[str, str] | None, ...]

    def report(self) -> Report:
        """Return the report for people."""
        asked = self.request
        return reports.report(
            self.surveys, seed=asked.seed, sources=self.sources, top_verbs=asked.top_verbs, verbs=asked.verbs
        )

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment bias --json`` writes it."""
        return reports.document(self.surveys, seed=self.request.seed, sources=self.sources)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a split: number of queries and videos."""
        return [
            {"dataset": of.title, "split": split.name, "n_queries": split.n_queries, "n_videos": split.n_videos}
            for of in self.surveys
            for split in of.splits
        ]

    def __repr__(self) -> str:
        """Return the datasets, in one line."""
        return f"Survey of {', '.join(of.title for of in self.surveys)}"


def run(request: SurveyRequest) -> SurveyResult:
    """Report the location, verb and duration biases of datasets.

    Returns
    -------
    SurveyResult
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
    return SurveyResult(tuple(surveys), request, tuple(source for _, source in datasets))


def _datasets(request: SurveyRequest) -> Iterator[tuple[AllSplits, Mapping[str, str] | None]]:
    """Read the splits of every dataset, with path and hash of a file."""
    given = request.surveyed
    names: list[str] = list(request.datasets)
    files: list[Path] = list(request.files)
    for of in [given] if isinstance(given, Annotations | str | os.PathLike) else given:
        if isinstance(of, Annotations):
            yield AllSplits(of.dataset, {of.split: of}), None
        elif Path(of).is_file():
            files.append(Path(of))
        else:
            names.append(str(of))
    for name in names:
        yield splits_of_dataset(name, request.splits, data_dir=path_of(request.data_dir)), None
    for path in files:
        yield splits_of_file(path, request.splits, request.how_references), source_of(path)


survey = function_of(SurveyRequest, run, "survey")
