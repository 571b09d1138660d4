"""A table of methods from its trials to its figures: floors and rules, then the trials that are not finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.boundary.distribution import Engine
from truemoment.base.records import Annotations
from truemoment.baselines import split_constants
from truemoment.baselines.floors import NETWORK
from truemoment.data.formats import read_predictions
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import parse_measure
from truemoment.evaluation.protocols import protocol_for_dataset
from truemoment.evaluation.scores import Scores
from truemoment.evaluation.uncertainty import stream
from truemoment.learning.training.checkpoints import read_run
from truemoment.learning.training.curves import curves_of_floors, curves_of_methods, curves_of_rules
from truemoment.learning.training.floors import CONFIG, floor_rows, measure_floors, run_rules, simulate
from truemoment.learning.training.results import ResultRow
from truemoment.learning.training.sweep_results import Curve
from truemoment.learning.training.trials import Trainer, TrainingTrial, TrialOutcome, finished_outcome, train_trials
from truemoment.reproduction import ReproducedTable, Reproduction, get_table, published_figures, read_run_folders
from truemoment.reproduction.base import TableInputs
from truemoment.reproduction.bench.grid import BenchGrid
from truemoment.reproduction.bench.result import SPLIT_CONSTANT, BenchResult
from truemoment.reproduction.bench.tables import BenchTable
from truemoment.studies.compare.comparison import Comparison, compare

Status = Callable[[str], None]


@dataclass
class Bench:
    """A table of methods: :meth:`start`, then :meth:`train` to its end, then :meth:`compare`, then :meth:`result`.

    Parameters
    ----------
    table
        Which.
    grid
        Its trials.
    measures
        Names of measures, the headline among them.
    """

    table: BenchTable
    grid: BenchGrid
    measures: tuple[str, ...]
    rows: list[ResultRow] = field(default_factory=list)
    _splits: dict[str, Annotations] = field(default_factory=dict)
    _outcomes: dict[TrainingTrial, TrialOutcome] = field(default_factory=dict)
    _missing: list[TrainingTrial] = field(default_factory=list)
    _references: tuple[Curve, ...] = ()
    _network: dict[str, Scores] = field(default_factory=dict)
    _notes: dict[str, None] = field(default_factory=dict)

    def start(self) -> tuple[int, int]:
        """Read the annotations and the finished trials.

        Returns
        -------
        n_finished, n_missing
            How many trials are finished, and how many are to be trained.
        """
        self._splits = self.grid.read()
        for trial in self.grid.trials():
            outcome = finished_outcome(trial, self.grid, self.grid.features_of(trial), self._splits, self.measures)
            if outcome is None:
                self._missing.append(trial)
            else:
                self._outcomes[trial] = outcome
        return len(self._outcomes), len(self._missing)

    def train(
        self, *, workers: int | None = 1, engine: Engine = "local", threads: int = 1, until: float | None = None
    ) -> Iterator[TrialOutcome]:
        """Train the missing trials, and yield the outcome of each.

        Parameters
        ----------
        workers, engine
            As for :func:`~truemoment.learning.training.trials.train_trials`.
        threads, until
            As for :class:`~truemoment.learning.training.trials.Trainer`.
        """
        trainer = Trainer(self.grid, self.grid, "; ".join(self.measures), threads, until)
        for outcome in train_trials(self._missing, trainer, workers=workers, engine=engine):
            self._outcomes[outcome.trial] = outcome
            yield outcome

    def compare(self, cache: Cache = NO_CACHE, on_status: Status = lambda _: None) -> None:
        """Run floors, rules and the constants of the test splits."""
        self._references = (
            *self._run_floors(cache, on_status),
            *self._run_rules(on_status),
            self._run_constants(on_status),
        )

    def result(self, on_status: Status = lambda _: None) -> BenchResult:
        """Return the figures of all finished trials, the references, and the published tables beside."""
        grid = self.grid
        outcomes = [self._outcomes[trial] for trial in grid.trials() if trial in self._outcomes]
        finished = [outcome for outcome in outcomes if outcome.rows]
        folders = [grid.folder_of(outcome.trial) for outcome in finished]
        notes = [note for folder in folders for note in read_run(folder).notes]
        return BenchResult(
            table=self.table,
            dataset=grid.dataset,
            features=grid.features,
            is_simulated=grid.quality is not None,
            seeds=grid.seeds,
            splits=self._tests,
            measures=self.measures,
            methods=curves_of_methods(grid.methods, finished),
            floors=tuple(curve for curve in self._references if curve.kind == "floor"),
            ceilings=tuple(curve for curve in self._references if curve.kind == "ceiling"),
            beside_network=self._beside_network(finished),
            seconds={(outcome.trial.method, outcome.trial.seed): outcome.rows[0].seconds for outcome in finished},
            failed=tuple(outcome for outcome in outcomes if outcome.failed),
            unfinished=tuple(outcome for outcome in outcomes if outcome.unfinished),
            published=published_beside(self.table, grid, [folder.path for folder in folders], on_status),
            notes=tuple(dict.fromkeys([*self._notes, *notes])),
        )

    def all_rows(self) -> list[ResultRow]:
        """Return every figure as a row: of trials, floors and rules."""
        return [*(row for outcome in self._outcomes.values() for row in outcome.rows), *self.rows]

    @property
    def _tests(self) -> tuple[str, ...]:
        return tuple(name for name in self._splits if name.startswith("test"))

    @property
    def _top(self) -> int:
        return max(method.recipe.decode.top for method in self.grid.methods)

    def _run_floors(self, cache: Cache, on_status: Status) -> tuple[Curve, ...]:
        """Run every floor on every test split; note those that cannot be fitted."""
        figures = list(
            measure_floors(
                self._splits,
                self.measures,
                top=self._top,
                seed=self.grid.seeds[0],
                cache=cache,
                on_status=on_status,
                on_left_out=lambda why: self._notes.update({why: None}),
            )
        )
        self.rows += [row for figure in figures for row in figure.rows]
        self._network = {figure.split: figure.scores for figure in figures if figure.name == NETWORK}
        return curves_of_floors({(None, self.grid.seeds[0]): figures}, self.measures)

    def _run_rules(self, on_status: Status) -> tuple[Curve, ...]:
        """Run the interval rules on simulated features; on others there are none."""
        quality = self.grid.quality
        if quality is None or not any(method.recipe.family.sees_video for method in self.grid.methods):
            return ()
        on_status("rules on intervals")
        figures = list(
            run_rules(
                {name: self._splits[name] for name in self._tests},
                simulated=simulate(self.grid.dataset, data_dir=self.grid.data_dir),
                train=self._splits["train"],
                qualities=[quality],
                seeds=self.grid.seeds,
                measures=[parse_measure(measure) for measure in self.measures],
                top=self._top,
            )
        )
        self.rows += [row for figure in figures for row in figure.rows]
        return curves_of_rules(figures, lambda rule: (None, rule.seed))

    def _run_constants(self, on_status: Status) -> Curve:
        """Measure the constant that is best on each test split itself, found on its other videos: a ceiling."""
        on_status("constants of the test splits")
        seed, values = self.grid.seeds[0], {}
        for split in self._tests:
            annotations = self._splits[split]
            protocol = protocol_for_dataset(annotations.dataset)
            constants = split_constants(self.measures, annotations, protocol=protocol)
            for measure, constant in zip(self.measures, constants, strict=True):
                scores = evaluate(annotations, constant.ground(annotations.queries, self._top), [measure], protocol)
                values[split, measure] = float(scores.value(measure))
                self.rows += floor_rows(SPLIT_CONSTANT, scores, seed=seed, fitted_on=annotations)
        return Curve(SPLIT_CONSTANT, "constant of the split", "ceiling", False, {(None, seed): values}, CONFIG)

    def _beside_network(self, finished: Sequence[TrialOutcome]) -> dict[str, Comparison]:
        """Compare the methods with the sentence network on each split by the headline, resampling videos."""
        comparisons = {}
        for split, all_measures in self._network.items():
            network = all_measures.only([parse_measure(self.table.headline)])
            groups: dict[str, list[Scores]] = {NETWORK: [network]}
            for outcome in finished:
                annotations = self._splits[split]
                answers, _ = read_predictions(self.grid.folder_of(outcome.trial) / f"{split}.jsonl", annotations)
                measured = evaluate(annotations, answers, network.measures, network.protocol)
                groups.setdefault(outcome.trial.method, []).append(measured)
            if len(groups) > 1:
                comparisons[split] = compare(groups, stream(self.grid.seeds[0], f"bench {split}"), baseline=NETWORK)
        return comparisons


def published_beside(
    table: BenchTable, grid: BenchGrid, folders: Sequence[Path], on_status: Callable[[str], None] = lambda _: None
) -> Reproduction:
    """Compute the published tables as ``truemoment reproduce`` does, on one dataset and with these runs.

    A method that two tables have is in the first one only.
    """
    runs = read_run_folders(grid.folder) if folders else ()
    trained = [run for run in runs if run.folder in set(folders)]
    inputs = TableInputs(grid.data_dir, np.random.default_rng(0), on_status=on_status, trained=trained)
    tables: list[ReproducedTable] = []
    methods: set[str] = set()
    for name in table.published:
        published_table = get_table(name)
        figures = [
            figure
            for figure in published_figures(published_table.figures)
            if figure.dataset.lower() == grid.dataset and figure.method not in methods
        ]
        methods |= {figure.method for figure in figures}
        tables.append(ReproducedTable(published_table, list(published_table.compute(figures, inputs))))
    return Reproduction(tables, seed=0, runs=0, engine=inputs.engine)
