"""Hidden Challenges (Otani et al. 2020), section 4: 2D-TAN and SCDM on randomised videos.

The authors' notebooks (mayu-ot/hidden-challenges-MR at e0c4546, notebooks/report, "[Sanity check]" and "How
randomization change the output") print 72 scores on the original and on shuffled videos, and 12 shares of first answers
that are the same or nearly the same on both. Neither predictions nor the length of the shuffled segments are published,
so that ours are figures of training runs: ``SPLIT.jsonl`` in a run's folder, and ``SPLIT-shuffled.jsonl``, which
``truemoment predict run RUN --change shuffled`` writes. The notebooks keep five answers, so that their R@10 is R@5.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from truemoment.base.errors import MissingFileError
from truemoment.base.records import Annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.scores import Scores
from truemoment.reproduction.base import PublishedTable, Reproduced, TableInputs, data_signature, unchecked
from truemoment.reproduction.hidden_challenges import DATASETS, PAPER, PROTOCOL, TEST, of_kept
from truemoment.reproduction.run_folders import RunFolder, RunPredictions
from truemoment.reproduction.systems import SYSTEMS, MeasureRun, RunFigure, System, TrainedMethods
from truemoment.studies.audit.shuffled import compare_shuffled
from truemoment.studies.compare.comparison import PublishedFigure

SHUFFLED = "-shuffled"
"""End of the name of a run's predictions on shuffled videos, after the split."""

RANDOMISED = " (randomised video)"
"""End of the name of a method on shuffled videos."""

SLIGHT_NORM: Mapping[str, float] = MappingProxyType({"2D-TAN": 0.05, "SCDM": 0.1})
"""Displacement below which the notebook calls an answer slightly changed, start and end together, by method."""

OTHER_SEGMENTS = "not judged: the length of the authors' segments is not published; ours are 16 per video"
RANDOM = " (random)"
NOT_STATED = 'how "random" differs from "shuffle" is not published'

RANDOMISED_SYSTEMS: Mapping[str, tuple[System, ...]] = MappingProxyType(
    {name + ending: SYSTEMS[name] for name in SLIGHT_NORM for ending in ("", RANDOMISED, " (shuffle)")}
)


@dataclass(frozen=True)
class RandomisedRuns:
    """Figures of runs on the test splits of the paper, with original and with shuffled videos; None without them."""

    inputs: TableInputs

    def test(self, dataset: str) -> Annotations | None:
        """Return the test split of a dataset; None if its files are missing."""
        try:
            return self.inputs.load(dataset, TEST[dataset])
        except MissingFileError:
            return None

    def predictions(self, run: RunFolder, dataset: str, ending: str = "") -> RunPredictions | None:
        """Return the predictions of a run on the test split; `ending` is that of the files' names."""
        test = self.test(dataset)
        splits = () if test is None else dict.fromkeys((TEST[dataset], "test"))
        files = (run.predictions(f"{split}{ending}", test) for split in splits if test is not None)
        return next((predictions for predictions in files if predictions is not None), None)

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

    def measure_share(self, run: RunFolder, figure: PublishedFigure) -> RunFigure | None:
        """Return the share of a run's first answers that shuffled videos leave as they are, or nearly so."""
        test = self.test(figure.dataset)
        original, shuffled = (self.predictions(run, figure.dataset, ending) for ending in ("", SHUFFLED))
        if test is None or original is None or shuffled is None:
            return None
        moved = compare_shuffled(test, original.predictions, shuffled.predictions)
        signature = f"{figure.measure}|{data_signature([test])}"
        if "slightly" not in figure.measure:
            return RunFigure(moved.share_unchanged, signature, original.remark)
        bound = SLIGHT_NORM[figure.method.partition(" (")[0]]
        return RunFigure(moved.share_within(bound), signature, f"slightly: by less than {bound:g} of the video")


def randomised(figures: Sequence[PublishedFigure], inputs: TableInputs) -> Iterator[Reproduced]:
    """Scores of both systems on the original and on randomised videos."""
    measure = RandomisedRuns(inputs).measure_scores([figure.measure for figure in figures])
    original = TrainedMethods(inputs, RANDOMISED_SYSTEMS, PROTOCOL, measure)
    shuffled = replace(original, not_judged=OTHER_SEGMENTS)
    for figure in figures:
        yield from (shuffled if figure.method.endswith(RANDOMISED) else original).rows(figure)


def unchanged(figures: Sequence[PublishedFigure], inputs: TableInputs) -> Iterator[Reproduced]:
    """Shares of first answers that randomised videos leave as they are."""
    runs = RandomisedRuns(inputs)
    systems = TrainedMethods(inputs, RANDOMISED_SYSTEMS, PROTOCOL, runs.measure_share, OTHER_SEGMENTS)
    for figure in figures:
        if figure.method.endswith(RANDOM):
            yield replace(unchecked(figure), reason=NOT_STATED)
        else:
            yield from systems.rows(figure)


TABLES = (
    PublishedTable(
        "hidden-challenges-randomised",
        "Two systems that see the video, on the original and on randomised videos",
        f"{PAPER}, Figure 5, by the authors' notebooks",
        DATASETS,
        "hidden_challenges_randomised.csv",
        randomised,
    ),
    PublishedTable(
        "hidden-challenges-unchanged",
        "Share of first answers that randomised videos do not change",
        f"{PAPER}, section 4, by the authors' notebooks",
        DATASETS,
        "hidden_challenges_unchanged.csv",
        unchanged,
    ),
)
