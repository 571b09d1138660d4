"""``truemoment.predict_endpoint``: predict with a served model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truemoment.base.request import function_of
from truemoment.learning.served import get_prompt
from truemoment.learning.served.prediction import Price, ServedPrediction, predict_with_endpoint
from truemoment.learning.served.request import EndpointRequest
from truemoment.learning.training import report_prediction as reports
from truemoment.report.model import Report
from truemoment.report.result import Result


@dataclass(frozen=True, repr=False, eq=False)
class EndpointPrediction(Result):
    """Predictions of a served model that report themselves.

    Parameters
    ----------
    prediction
        The predictions, the raw answers, and their cost in tokens.
    price
        Price of the tokens; None if unknown.
    """

    prediction: ServedPrediction
    price: Price | None

    @property
    def warnings(self) -> list[str]:
        """Lines on queries that could not be asked, answers that were cut off, and durations that differ."""
        return reports.warnings(self.prediction)

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self.prediction, self.price)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment predict endpoint --json`` writes it."""
        return reports.document(self.prediction, self.price)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a moment: query, rank, start and end in seconds, score."""
        return reports.rows(self.prediction.predictions)

    def __repr__(self) -> str:
        """Return the method, the number of answers and the file, in one line."""
        answers, out = self.prediction.answers, self.prediction.out
        size = f"{len(answers.answers):,} of {len(answers.queries):,} queries"
        return f"{self.prediction.name}: {size} answered in {out}"


def predict_by(request: EndpointRequest, on_files: Callable[[list[Path]], None] = lambda _: None) -> EndpointPrediction:
    """Predict the queries of a split with a served model, and write the predictions and every raw answer.

    The same call resumes an interrupted one and sends no request twice. The key, if the model needs one, comes from
    the environment. `on_files` is called with the files that are read, before the model is asked.

    Parameters
    ----------
    url
        Address of an OpenAI-compatible interface, e.g. ``http://localhost:8000/v1``.

    Returns
    -------
    EndpointPrediction
        The predictions; they show their report in a notebook, and `warnings` has what is not answered.

    Raises
    ------
    UsageError
        If it is not clear which annotations are meant, or options do not fit the prompt.
    MissingFileError, InputError, MissingPackageError
        If a file is missing or malformed, no query is answered, or a package of the extra ``served`` is missing.
    """
    reference, models = request.models({"": get_prompt(request.prompt)}, {"": request.raw_file})
    on_files([*request.source.files(), *models[""].videos.values()])
    predicted = predict_with_endpoint(models[""], reference, reference.queries.first(request.limit), request.file)
    return EndpointPrediction(predicted, request.parsed_price())


predict_endpoint = function_of(EndpointRequest, predict_by, "predict_endpoint")
