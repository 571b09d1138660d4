"""Training runs of 2D-TAN and SCDM on the test splits of Hidden Challenges (Otani et al. 2020).

Predictions of the two systems are not published, so that ours are figures of training
runs: ``SPLIT.jsonl`` in a run's folder, and ``SPLIT-shuffled.jsonl``, which ``truemoment predict run RUN --change
shuffled`` writes. The authors' notebooks keep five answers, so that their R@10 is R@5.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from truemoment.base.errors import MissingFileError
from truemoment.base.records import Annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.protocols import get_protocol
from truemoment.evaluation.scores import Scores
from truemoment.reproduction.base import TableInputs
from truemoment.reproduction.run_folders import RunFolder, RunPredictions
from truemoment.reproduction.systems import MeasureRun, RunFigure
from truemoment.studies.compare.comparison import PublishedFigure

PROTOCOL = get_protocol("hidden-challenges")
DATASETS = ("charades-sta", "activitynet-captions")

TEST = MappingProxyType({"Charades-STA": "test", "ActivityNet Captions": "val_2"})
"""Our name of the split that the paper calls test."""

KEPT = 5
"""Answers per query that the notebooks keep, so that their R@10 is R@5."""

SHUFFLED = "-shuffled"
"""End of the name of a run's predictions on shuffled videos, after the split."""

RANDOMISED = " (randomised video)"
"""End of the name of a method on shuffled videos."""


def of_kept(measure: str) -> str:
    """Return a recall, at the depth of the notebooks' lists.

    Examples
    --------
    >>> of_kept("R@10,IoU=0.5"), of_kept("R@1,IoU=0.5")
    ('R@5,IoU=0.5', 'R@1,IoU=0.5')
    """
    rank, _, threshold = measure.removeprefix("R@").partition(",")
    return f"R@{min(int(rank), KEPT)},{threshold}"


def predictions_on_test(
    run: RunFolder, dataset: str, annotations: Annotations | None, ending: str = ""
) -> RunPredictions | None:
    """Return the predictions of a run for queries of the test split; `ending` is that of the files' names."""
    splits = () if annotations is None else dict.fromkeys((TEST[dataset], "test"))
    files = (run.predictions(f"{split}{ending}", annotations) for split in splits if annotations is not None)
    return next((predictions for predictions in files if predictions is not None), None)


@dataclass(frozen=True)
class TestRuns:
    """Figures of runs on the test splits of the paper, with original and with shuffled videos; None without them."""

    inputs: TableInputs

    def test(self, dataset: str) -> Annotations | None:
        """Return the test split of a dataset; None if its files are missing."""
        try:
            return self.inputs.load(dataset, TEST[dataset])
        except MissingFileError:
            return None

    def predictions(self, run: RunFolder, dataset: str, ending: str = "") -> RunPredictions | None:
        """Return the predictions of a run on the whole test split; `ending` is that of the files' names."""
        return predictions_on_test(run, dataset, self.test(dataset), ending)

    def measure_scores(self, measures: Sequence[str]) -> MeasureRun:
        """Return what measures the score of a run; at most as many answers count as the notebooks keep."""
        counted = tuple(dict.fromkeys(map(of_kept, measures)))

        @functools.cache
        def scores(run: RunFolder, dataset: str, ending: str) -> tuple[Scores, str] | None:
            self.inputs.on_status(f"{run.label}, seed {run.seed}, on {dataset}{ending}")
            test, answers = self.test(dataset), self.predictions(run, dataset, ending)
            if test is None or answers is None:
                return None
            return evaluate(test, answers.predictions, counted, PROTOCOL, on_unknown="ignore"), answers.remark

        def measure(run: RunFolder, figure: PublishedFigure) -> RunFigure | None:
            measured = scores(run, figure.dataset, SHUFFLED if figure.method.endswith(RANDOMISED) else "")
            if measured is None:
                return None
            name = of_kept(figure.measure)
            return RunFigure(measured[0].value(name), f"{name}|{measured[0].signature()}", measured[1])

        return measure
