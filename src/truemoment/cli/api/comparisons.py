"""``truemoment.compare``: which methods differ, and by how much."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.base.boundary.caching import Cache
from truemoment.cli.api.records import AnyAnnotations, read_annotations, source_of
from truemoment.evaluation.measures import Measure
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.uncertainty import DrawSettings
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.report.words import counted
from truemoment.studies.compare import report as reports
from truemoment.studies.compare.files import ComparedFiles, compare_files, training_split

Files = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""The prediction file of a method, or those of its runs."""


@dataclass(frozen=True, repr=False, eq=False)
class ComparisonResult(Result):
    """A comparison that reports itself.

    Parameters
    ----------
    compared
        Figures, differences, intervals and p-values.
    """

    compared: ComparedFiles

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self.compared)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment compare --json`` writes it."""
        return reports.document(self.compared)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a pair of methods and measure: difference, its interval, corrected p-value."""
        found = self.compared.comparison
        return [
            {
                "method": found.methods[a],
                "other": found.methods[b],
                "measure": str(measure),
                "difference": float(found.difference[pair, row]),
                "low": float(found.difference_interval[pair, row, 0]),
                "high": float(found.difference_interval[pair, row, 1]),
                "p": float(found.p_corrected[pair, row]),
            }
            for pair, (a, b) in enumerate(found.pairs)
            for row, measure in enumerate(found.measures)
        ]

    def __repr__(self) -> str:
        """Return the methods and the number of measures, in one line."""
        found = self.compared.comparison
        scores = found.first
        where = f"{scores.dataset}/{scores.split}"
        return f"Comparison of {', '.join(found.methods)} on {where}: {counted(len(found.measures), 'measure')}"


def compare(
    methods: Mapping[str, Files],
    annotations: AnyAnnotations | None = None,
    *,
    dataset: str | os.PathLike[str] | None = None,
    split: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    fit_split: str | None = None,
    measures: str | Sequence[Measure | str] | None = None,
    protocol: str | Protocol | None = None,
    against: str | None = None,
    published: str | os.PathLike[str] | None = None,
    reads_sentence: Collection[str] = (),
    resamples: int = 1000,
    permutations: int = 10_000,
    seed: int = 0,
    on_status: Callable[[str], None] = lambda _: None,
) -> ComparisonResult:
    """Compare methods on the same queries: paired, with intervals and corrected p-values.

    Parameters
    ----------
    methods
        Prediction files by name of the method; several files of one method are its runs, for instance seeds.
    annotations
        The references: a record, or a JSON Lines file.
    dataset, split, data_dir
        Name of a dataset and a split, and the folder with the datasets (or the variable ``TRUEMOMENT_DATA``).
    fit_split
        Split that the sentence network, which never sees a video, is fitted on; ``none`` to leave it out.
    measures, protocol
        What is measured, and how. [default: the dataset's own]
    against
        Name of the method that the others are compared with. [default: all pairs]
    published
        CSV file, or folder of files, of published figures to show below.
    reads_sentence
        Names of the methods that are declared to read one sentence at a time.
    resamples, permutations, seed
        Number of resamples of the videos and of swaps of a permutation test; seed of all draws.
    on_status
        Called with what is being done.

    Returns
    -------
    ComparisonResult
        It shows its report in a notebook.

    Raises
    ------
    UsageError
        If there are fewer than two methods, or it is not clear which annotations are meant.
    MissingFileError, InputError, MatchError
        If a file is missing or malformed, or predictions match no query.
    """
    source = source_of(annotations, dataset, split, data_dir)
    reference = read_annotations(annotations) if source is None else source.read()
    files = {name: _paths(of) for name, of in methods.items()}
    found = compare_files(
        files,
        reference,
        train=None if source is None else training_split(source, reference, fit_split, None),
        network=fit_split != "none",
        measures=measures,
        protocol=protocol,
        against=against,
        published=None if published is None else Path(published),
        reads_sentence=reads_sentence,
        testing=DrawSettings(resamples, permutations, seed),
        cache=Cache.of_user(),
        on_status=on_status,
    )
    return ComparisonResult(found)


def _paths(files: Files) -> list[Path]:
    return [Path(files)] if isinstance(files, str | os.PathLike) else [Path(file) for file in files]
