"""``truemoment.train`` and ``truemoment.predict``: train a model by a recipe, and predict with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truemoment.base.request import function_of, ignore
from truemoment.learning.training import report as reports
from truemoment.learning.training.hardware import processes
from truemoment.learning.training.performing import TrainingResult, document, perform
from truemoment.learning.training.prediction import RunPrediction, predict_with_run
from truemoment.learning.training.progress import Track, unseen
from truemoment.learning.training.request import PredictRequest, TrainRequest
from truemoment.learning.training.results import keep
from truemoment.learning.training.run import Run
from truemoment.learning.training.run_options import RunOptions
from truemoment.report.model import Report
from truemoment.report.result import Result
from truemoment.studies.request import path_of

if TYPE_CHECKING:
    from truemoment.learning.training.checkpoints import Epoch
    from truemoment.learning.training.recipes import Recipe


@dataclass(frozen=True, repr=False, eq=False)
class TrainedRun(Result):
    """A training run that reports itself.

    Parameters
    ----------
    result
        The run, its epochs, its figures on the test splits.
    folder
        The folder of the run: checkpoints, predictions, ``run.json``.
    """

    result: TrainingResult
    folder: Path

    def report(self) -> Report:
        """Return the report for people."""
        return reports.report(self.result)

    def document(self) -> dict[str, Any]:
        """Return the document for programs, as ``truemoment train --json`` writes it."""
        return document(self.result)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row a test split and measure."""
        return [
            {"split": row.split, "measure": row.measure, "value": float(row.value) if row.value else None}
            for row in self.result.tests
        ]

    def __repr__(self) -> str:
        """Return the model, the folder and the chosen epoch, in one line."""
        best = self.result.best
        return f"{self.result.run.recipe.model} in {self.folder}: epoch {best.epoch} of {len(self.result.history)}"


def train_by(
    request: TrainRequest,
    recipe: Recipe,
    *,
    warn: Callable[[str], None] = ignore,
    on_start: Callable[[Run], None] = lambda _: None,
    track: Track = unseen,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
) -> TrainedRun:
    """Train a model by the recipe of a request, and save its curves.

    `warn` receives what is left out, and `on_start` the run before its first epoch; `track` and `on_epoch` are as for
    :func:`truemoment.learning.training.performing.perform`.
    """
    run = Run.resolve(recipe, request.run_sources(), request.seed, warn=warn)
    on_start(run)
    folder = request.folder(recipe)
    result = perform(run, folder, measures=request.measures, track=track, on_epoch=on_epoch)
    if processes().is_main_process:
        reports.save_curves(result)
        if request.results is not None:
            keep(Path(request.results), result.tests)
    return TrainedRun(result, folder)


def _train(request: TrainRequest) -> TrainedRun:
    """Train a model by a recipe; an interrupted run in the same folder is resumed.

    Parameters
    ----------
    recipe
        ``tan2d``, ``blind-tan``, ``tcn-dcm``, ``mdd`` (small), their ``-full`` versions, or a YAML file.

    Returns
    -------
    TrainedRun
        It shows its report in a notebook.

    Raises
    ------
    UsageError
        If the recipe is unknown, a test split would be learned from, or no data are named.
    MissingFileError, InputError, MissingPackageError
        If a file is missing or malformed, or a package of the extra ``models`` is missing.
    """
    return train_by(request, request.resolved_recipe())


def predict_by(request: PredictRequest, track: Track = unseen) -> RunPrediction:
    """Predict the queries of a split with a run of ``truemoment train``, and write the predictions.

    Parameters
    ----------
    run
        Folder of the run; :func:`truemoment.predict_endpoint` predicts with served models.

    Returns
    -------
    RunPrediction
        The predictions; they show their report in a notebook.

    Raises
    ------
    UsageError
        If it is not clear which annotations are meant, or an option does not fit the run.
    MissingFileError, InputError, MissingPackageError
        If a file is missing or malformed, or a package of the extra ``models`` is missing.
    """
    options = RunOptions(
        Path(request.run),
        path_of(request.data_dir),
        request.features,
        request.change,
        request.seed,
        sentences=path_of(request.sentences),
        first_look=request.first_look,
        queries=None if request.queries is None else str(request.queries),
    )
    return predict_with_run(
        options,
        request.reference,
        request.file,
        chunk_s=request.chunks,
        limit=request.limit,
        engine=request.engine,
        workers=request.workers,
        track=track,
    )


train = function_of(TrainRequest, _train, "train")
predict = function_of(PredictRequest, predict_by, "predict")
