"""Figures of trained methods: the published one beside training runs of the same method.

A run belongs to a method by the family of its model and, for variants of MDD, by its settings. Runs with the same
recipe and features and different seeds are one row, with their mean. Ours is measured on the predictions of the run by
the table's protocol; where these or the annotations are missing, it is the figure in the run's ``result.json``, which
has the protocol ``default``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from truemoment.base.errors import MissingFileError, UsageError
from truemoment.base.records import Annotations
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import Recall, parse_measure
from truemoment.evaluation.protocols import Protocol
from truemoment.evaluation.scores import Scores
from truemoment.reproduction.base import Reproduced, TableInputs, beside, unchecked
from truemoment.reproduction.run_folders import RunFolder, of_dataset
from truemoment.studies.compare.comparison import PublishedFigure

NO_FIGURE = "no run has this figure"
"""Reason where runs of the method wrote no predictions and no figure that the table can use."""

TOLERANCE = "3.77"
"""Points by which a run may differ: the largest difference between the two versions of Closer Look in 2D-TAN's figures.

Those are two trainings of the same method by the same authors on the same splits.
"""

TOLERANCE_REASON = "tolerance: 2D-TAN differs by up to 3.77 points between the two versions of Closer Look"
SIMULATED_REASON = "simulated perception: no reproduction, not judged"
FORCED_REASON = "not judged: a test split was learned from, or chose the epoch"
STORED_REASON = "from result.json, by the protocol default"


@dataclass(frozen=True)
class System:
    """A method of a table: the family of its model and the settings that define it.

    Examples
    --------
    >>> System("mdd", {"branches": ["U", "L"]}).fits("mdd", {"branches": ["L", "U"], "hidden": 128})
    True
    """

    model: str
    settings: Mapping[str, object] = field(default_factory=dict)

    def fits(self, model: str, settings: Mapping[str, object]) -> bool:
        """Whether a model of a family with these settings is this method; the order of a list does not matter."""
        return model == self.model and all(
            name in settings and _unordered(settings[name]) == _unordered(value)
            for name, value in self.settings.items()
        )


def _unordered(value: object) -> object:
    return sorted(map(str, value)) if isinstance(value, list | tuple) else value


SYSTEMS: Mapping[str, tuple[System, ...]] = MappingProxyType(
    {
        "CTRL": (System("ctrl"),),
        "ACRN": (System("acrn"),),
        "ABLR": (System("ablr"),),
        "SCDM": (System("scdm"),),
        "2D-TAN": (System("tan2d"),),
        "DRN": (System("drn"),),
        "TSP-PRL": (System("tsp-prl"),),
        "WSSL": (System("wssl"),),
        "TCN-DCM": (System("tcn-dcm"),),
        "VLG-Net": (System("vlg-net"),),
    }
)
"""Methods that several tables name."""


class RunFigure(NamedTuple):
    """A figure of a run: a fraction, its signature, and what to know about it."""

    value: float
    signature: str
    remark: str = ""


MeasureRun = Callable[[RunFolder, PublishedFigure], "RunFigure | None"]
"""Measures a run as a published figure does; None if it cannot."""


@dataclass(frozen=True)
class TrainedMethods:
    """The trained methods of a table.

    Parameters
    ----------
    inputs
        Inputs of the table, with the runs.
    systems
        The methods by name.
    protocol
        Rounds figures as the table does.
    measure
        Measures a run.
    not_judged
        Why no run has a verdict; "" if runs on features of real videos have one.
    """

    inputs: TableInputs
    systems: Mapping[str, tuple[System, ...]]
    protocol: Protocol
    measure: MeasureRun
    not_judged: str = ""

    def rows(self, figure: PublishedFigure) -> Iterator[Reproduced]:
        """Yield a figure beside every recipe and features that were run; without one, the figure alone."""
        groups = self._groups(figure)
        rows = [row for runs in groups if (row := self._row(figure, runs))]
        reason = "; ".join(filter(None, (NO_FIGURE if groups else "", figure.note)))
        yield from rows or [unchecked(figure, "no run", reason)]

    def _groups(self, figure: PublishedFigure) -> list[list[RunFolder]]:
        """Return the runs of a method on the figure's dataset, those of one recipe and features together."""
        groups: dict[tuple[str, str], dict[int, RunFolder]] = {}
        for run in of_dataset(self.inputs.trained, figure.dataset):
            if any(system.fits(run.recipe.model, run.recipe.settings) for system in self.systems[figure.method]):
                other = groups.setdefault(run.kind, {}).setdefault(run.seed, run)
                if other is not run:
                    raise UsageError(
                        f"--runs: {other.folder} and {run.folder} have the same recipe, features and seed, expected one"
                    )
        return [list(runs.values()) for runs in groups.values()]

    def _row(self, figure: PublishedFigure, runs: Sequence[RunFolder]) -> Reproduced | None:
        """Return a figure beside the mean over runs that differ in their seeds; None if no run has it."""
        measured = [value for run in runs if (value := self.measure(run, figure))]
        if not measured:
            return None
        first, forced = runs[0], any(run.forced for run in runs)
        judged = not (self.not_judged or first.is_simulated or forced)
        reasons = (
            SIMULATED_REASON if first.is_simulated else "",
            self.not_judged,
            FORCED_REASON if forced else "",
            TOLERANCE_REASON if judged else "",
            first.recipe.about and f"recipe: {first.recipe.about}",
            *dict.fromkeys(run_figure.remark for run_figure in measured),
            figure.note,
        )
        row = beside(
            figure,
            [run_figure.value for run_figure in measured],
            tolerance=TOLERANCE if judged else None,
            protocol=self.protocol,
            reason="; ".join(filter(None, reasons)),
            signature=measured[0].signature,
        )
        return replace(row, features=first.features, recipe=first.label)


@dataclass(frozen=True)
class SplitEvaluator:
    """Measures runs on the test splits of a table; call it with a run and a figure.

    Parameters
    ----------
    inputs, protocol
        Inputs and protocol of the table.
    measures
        Every measure of the table.
    counted
        Takes the annotations of a split and returns those of the queries that the paper counts.
    ending
        End of the names of the files of predictions, after the split.
    """

    inputs: TableInputs
    protocol: Protocol
    measures: tuple[str, ...]
    counted: Callable[[Annotations], Annotations] = lambda annotations: annotations
    ending: str = ""
    _scores: dict[tuple[RunFolder, str], tuple[Scores, str] | None] = field(default_factory=dict, repr=False)

    def __call__(self, run: RunFolder, figure: PublishedFigure) -> RunFigure | None:
        """Return the figure of a run; None if its lists are too short for the measure, or if it has none."""
        measure = parse_measure(figure.measure)
        if isinstance(measure, Recall) and measure.n > run.recipe.decode.top:
            return None
        result = self._measured(run, figure)
        if result is not None:
            scores, remark = result
            return RunFigure(scores.value(figure.measure), f"{figure.measure}|{scores.signature()}", remark)
        value = run.figure(f"{figure.split}{self.ending}", figure.measure)
        signature = f"{figure.measure}|protocol:default|run:{run.label}"
        return None if value is None else RunFigure(value, signature, STORED_REASON)

    def _measured(self, run: RunFolder, figure: PublishedFigure) -> tuple[Scores, str] | None:
        """Evaluate the predictions of a run on a split, once, with a remark; None without predictions or data."""
        key = run, figure.split
        if key not in self._scores:
            self.inputs.on_status(f"{run.label}, seed {run.seed}, on {figure.dataset} {figure.split}")
            self._scores[key] = self._evaluate(run, figure)
        return self._scores[key]

    def _evaluate(self, run: RunFolder, figure: PublishedFigure) -> tuple[Scores, str] | None:
        try:
            annotations = self.counted(self.inputs.load(figure.dataset, figure.split))
        except MissingFileError:
            return None
        answers = run.predictions(f"{figure.split}{self.ending}", annotations)
        if answers is None:
            return None
        scores = evaluate(annotations, answers.predictions, self.measures, self.protocol, on_unknown="ignore")
        return scores, answers.remark
