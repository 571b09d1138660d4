"""``truemoment.humans``: agreement of annotators, their scores, and the conclusions that they confirm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from truemoment.base.request import function_of
from truemoment.data.datasets.answer_file import is_answers, read_answers
from truemoment.evaluation.protocols import get_protocol
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.report.words import counted
from truemoment.studies.humans import report as reports
from truemoment.studies.humans.request import HumansRequest
from truemoment.studies.humans.scores import measures_of_one_answer
from truemoment.studies.humans.study import AnnotatedFiles, study_files
from truemoment.studies.request import path_of


@dataclass(frozen=True, repr=False, eq=False)
class HumansResult(Result):
    """A study of annotators, with report, document and rows.

    Parameters
    ----------
    files
        Agreement, scores and conclusions.
    timelines
        Number of queries that the report draws.
    """

    files: AnnotatedFiles
    timelines: int

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self.files, n_timelines=self.timelines)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment humans --json`` writes it."""
        return reports.document(self.files)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each person or system, kind of references and measure."""
        study = self.files.study
        people = [
            (performance.person, performance.rank or None, performance.reference, performance.scores)
            for performance in study.performances
        ]
        systems = [
            (name, None, reference, scores)
            for name, system in study.systems.items()
            for reference, scores in system.scores.items()
        ]
        return [
            {"who": who, "rank": rank, "against": against, "measure": figure.measure, "value": figure.value}
            for who, rank, against, scores in (*people, *systems)
            for figure in scores.measured()
        ]

    def __repr__(self) -> str:
        """Return the data and the number of systems, in one line."""
        scores = self.files.scores
        systems = counted(len(self.files.study.systems), "system")
        return f"Annotators of {scores.dataset}/{scores.split}: {counted(len(scores), 'query', 'queries')}, {systems}"


def run(request: HumansRequest) -> HumansResult:
    """Measure annotators against references and each other, and predictions beside them.

    Parameters
    ----------
    predictions
        Files or values with predictions, by name of the system; none for annotators alone.

    Returns
    -------
    HumansResult
        It shows its report in a notebook.

    Raises
    ------
    UsageError
        If it is not clear which annotations are meant.
    MissingFileError, InputError, MatchError
        If a file is missing or malformed, or predictions match no query.
    """
    protocol = request.parsed_protocol()
    if request.measures_text is not None:
        measures_of_one_answer(request.measures_text, protocol or get_protocol("default"))
    systems, file, answers = request.systems, path_of(request.annotations), None
    if file is not None and request.dataset is None and is_answers(file):
        answers = read_answers(file)
    annotations = request.reference()
    files = study_files(
        annotations,
        systems,
        official=request.official_references(request.source),
        measures=request.measures_text,
        protocol=protocol,
        duplicates=request.duplicates,
        draws=request.draws,
        resamples=request.resamples,
        permutations=request.permutations,
        seed=request.seed,
        read=request.read,
        progress=request.progress,
        answers=answers,
    )
    return HumansResult(files, request.timelines)


humans = function_of(HumansRequest, run, "humans")
