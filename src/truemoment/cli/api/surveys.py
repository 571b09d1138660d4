"""``truemoment.survey``: the location, verb and duration biases of datasets."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations
from truemoment.data.datasets.all_splits import AllSplits, splits_of_dataset, splits_of_file
from truemoment.data.language import get_engine
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.studies.bias import report as reports
from truemoment.studies.bias.surveys import Survey, survey_all

AnyDataset = Annotations | str | os.PathLike[str]
"""Annotations of one split, the name of a dataset, or a JSON Lines file."""


@dataclass(frozen=True, repr=False, eq=False)
class SurveyResult(Result):
    """Surveys of datasets that report themselves.

    Parameters
    ----------
    surveys
        One a dataset.
    seed
        Seed of all draws.
    """

    surveys: tuple[Survey, ...]
    seed: int

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self.surveys, seed=self.seed, sources=[None] * len(self.surveys))

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment bias --json`` writes it."""
        return reports.document(self.surveys, seed=self.seed, sources=[None] * len(self.surveys))

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


def survey(
    *datasets: AnyDataset,
    data_dir: str | os.PathLike[str] | None = None,
    engine: str = "lexicon",
    permutations: int = 1000,
    draws: int = 200,
    seed: int = 0,
    on_status: Callable[[str], None] = lambda _: None,
) -> SurveyResult:
    """Report the location, verb and duration biases of datasets.

    Parameters
    ----------
    datasets
        One or more: names of datasets, JSON Lines files, or records.
    data_dir
        Folder with the datasets (or the variable ``TRUEMOMENT_DATA``).
    engine
        Language engine that finds words and verbs.
    permutations, draws, seed
        Number of permutations of tests between splits and of draws within a split; seed of all draws.
    on_status
        Called with what is being done.

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
    if not datasets:
        raise UsageError("which datasets? give names, files or annotations")
    folder = None if data_dir is None else Path(data_dir)
    found = survey_all(
        [_splits(of, folder) for of in datasets],
        get_engine(engine),
        seed=seed,
        permutations=permutations,
        draws=draws,
        on_status=on_status,
    )
    return SurveyResult(tuple(found), seed)


def _splits(dataset: AnyDataset, data_dir: Path | None) -> AllSplits:
    if isinstance(dataset, Annotations):
        return AllSplits(dataset.dataset, {dataset.split: dataset})
    path = Path(dataset)
    return splits_of_file(path) if path.is_file() else splits_of_dataset(str(dataset), data_dir=data_dir)
