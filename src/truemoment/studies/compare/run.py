"""``truemoment.compare``: which methods differ, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from truemoment.base.errors import MissingFileError
from truemoment.base.records import Annotations
from truemoment.base.request import function_of, several
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.report.words import counted
from truemoment.studies.compare import report as reports
from truemoment.studies.compare.files import Additions, ComparedFiles, check_methods, compare_files, training_split
from truemoment.studies.compare.request import CompareRequest, inputs_by_name, split_source
from truemoment.studies.compare.splits import OtherSplit, check_floors, check_known
from truemoment.studies.request import path_of


@dataclass(frozen=True, repr=False, eq=False)
class ComparisonResult(Result):
    """A comparison, with report, document and rows.

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
        comparison = self.compared.comparison
        return [
            {
                "method": comparison.methods[a],
                "other": comparison.methods[b],
                "measure": str(measure),
                "difference": float(comparison.difference[pair, row]),
                "low": float(comparison.difference_interval[pair, row, 0]),
                "high": float(comparison.difference_interval[pair, row, 1]),
                "p": float(comparison.p_corrected[pair, row]),
            }
            for pair, (a, b) in enumerate(comparison.pairs)
            for row, measure in enumerate(comparison.measures)
        ]

    def __repr__(self) -> str:
        """Return the methods and the number of measures, in one line."""
        comparison = self.compared.comparison
        scores = comparison.first
        data = f"{scores.dataset}/{scores.split}"
        return (
            f"Comparison of {', '.join(comparison.methods)} on {data}: {counted(len(comparison.measures), 'measure')}"
        )


def run(request: CompareRequest) -> ComparisonResult:
    """Compare methods on the same queries: paired, with intervals and corrected p-values.

    Parameters
    ----------
    predictions
        Files or values with predictions, by name of the method; several of one method, in a list, are its runs, for
        instance seeds. Files in a list have the names of the files.

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
    files, network, declared = request.files, request.fit_split != "none", request.declared
    check_methods(list(files), request.against, network=network, reads_sentence=declared)
    check_floors(several(request.floor))
    for option, by_place in (("--on", request.on), ("--changed", request.changed)):
        for place in by_place:
            check_known(f"{option} {place}", list(by_place[place]), list(files))
    reference = request.reference()
    compared = compare_files(
        files,
        reference,
        train=_training(request, reference),
        network=network,
        measures=request.measures,
        protocol=request.protocol,
        against=request.against,
        published=path_of(request.published),
        reads_sentence=declared,
        additions=_additions(request),
        testing=request.draws,
        read=request.settled(request.on_warning),
        cache=request.cache(request.on_warning),
        progress=request.progress,
        on_status=request.on_status,
    )
    return ComparisonResult(compared)


def _training(request: CompareRequest, reference: Annotations) -> Annotations | None:
    """Read the annotations on which the sentence network is fitted; None if none were named and there are none."""
    try:
        return request.training(request.origin, reference)
    except MissingFileError:
        if request.fit_split is not None or request.fit_annotations is not None:
            raise
        return None


def _additions(request: CompareRequest) -> Additions:
    """Read the annotations of the other splits, and their training splits if they have some."""
    splits = []
    for place in request.on:
        data = request.source
        source = split_source(place, data)
        is_same = (source.dataset, source.annotations) == (data.dataset, data.annotations)
        annotations = source.read()
        fit_split = request.fit_split if is_same or request.fit_split == "none" else None
        fit_file = path_of(request.fit_annotations) if is_same else None
        train = training_split(source, annotations, fit_split, fit_file)
        splits.append(OtherSplit(place, annotations, inputs_by_name(request.on[place], f" on {place}"), train))
    changed = {
        (way, name): inputs
        for way, predictions in dict(request.changed).items()
        for name, inputs in inputs_by_name(predictions, f" on {way} videos").items()
    }
    return Additions(several(request.floor), tuple(splits), changed)


compare = function_of(CompareRequest, run, "compare")
