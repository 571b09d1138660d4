"""A table of methods from its trials to its figures: floors and rules, then the trials that are not finished."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from truemoment.bench.grid import BenchGrid
from truemoment.bench.published import published_beside
from truemoment.bench.result import BenchResult
from truemoment.bench.tables import BenchTable
from truemoment.caching import NO_CACHE, Cache
from truemoment.measures import parse_measure
from truemoment.records import Annotations
from truemoment.training.checkpoints import read_run
from truemoment.training.floors import CONFIG, measure_floors
from truemoment.training.results import ResultRow
from truemoment.training.rule_figures import run_rules, simulate
from truemoment.training.sweep_results import Curve, Place
from truemoment.training.trials import Trainer, Trial, TrialOutcome, finished_outcome, train_trials

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
    _outcomes: dict[Trial, TrialOutcome] = field(default_factory=dict)
    _missing: list[Trial] = field(default_factory=list)
    _references: tuple[Curve, ...] = ()
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

    def train(self, *, jobs: int = 1, threads: int = 1, until: float | None = None) -> Iterator[TrialOutcome]:
        """Train the missing trials, and yield the outcome of each; arguments as for :class:`Trainer`."""
        trainer = Trainer(self.grid, self.grid, "; ".join(self.measures), threads, until)
        for outcome in train_trials(self._missing, trainer, jobs=jobs):
            self._outcomes[outcome.trial] = outcome
            yield outcome

    def compare(self, cache: Cache = NO_CACHE, on_status: Status = lambda _: None) -> None:
        """Run floors and rules."""
        self._references = (*self._run_floors(cache, on_status), *self._run_rules(on_status))

    def result(self, on_status: Status = lambda _: None) -> BenchResult:
        """Return the figures of all finished trials, the references, and the published tables beside."""
        grid = self.grid
        done = [self._outcomes[trial] for trial in grid.trials() if trial in self._outcomes]
        finished = [of for of in done if of.rows]
        folders = [grid.folder_of(of.trial) for of in finished]
        notes = [note for folder in folders for note in read_run(folder).notes]
        return BenchResult(
            table=self.table,
            dataset=grid.dataset,
            features=grid.features,
            is_simulated=grid.quality is not None,
            seeds=grid.seeds,
            splits=self._tests,
            measures=self.measures,
            methods=self._methods(finished),
            floors=tuple(of for of in self._references if of.kind == "floor"),
            ceilings=tuple(of for of in self._references if of.kind == "ceiling"),
            seconds={(of.trial.method, of.trial.seed): of.rows[0].seconds for of in finished},
            failed=tuple(of for of in done if of.failed),
            left=tuple(of for of in done if of.left),
            published=published_beside(self.table, grid, folders, on_status),
            notes=tuple(dict.fromkeys([*self._notes, *notes])),
        )

    def all_rows(self) -> list[ResultRow]:
        """Return every figure as a row: of trials, floors and rules."""
        return [*(row for of in self._outcomes.values() for row in of.rows), *self.rows]

    @property
    def _tests(self) -> tuple[str, ...]:
        return tuple(name for name in self._splits if name.startswith("test"))

    @property
    def _top(self) -> int:
        return max(method.recipe.decode.top for method in self.grid.methods)

    def _run_floors(self, cache: Cache, on_status: Status) -> tuple[Curve, ...]:
        """Run every floor on every test split; note those that cannot be fitted."""
        found = list(
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
        self.rows += [row for of in found for row in of.rows]
        place: Place = (None, self.grid.seeds[0])
        return tuple(
            Curve(
                name,
                title,
                "floor",
                False,
                {place: {(of.split, measure): v for of in found if of.name == name for measure, v in of.values.items()}},
                CONFIG,
            )
            for name, title in dict.fromkeys((of.name, of.title) for of in found)
        )

    def _run_rules(self, on_status: Status) -> tuple[Curve, ...]:
        """Run the interval rules on simulated features; on others there are none."""
        quality = self.grid.quality
        if quality is None or not any(method.sees for method in self.grid.methods):
            return ()
        on_status("rules on intervals")
        found = list(
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
        self.rows += [row for of in found for row in of.rows]
        by_name = {of.name: [at for at in found if at.name == of.name] for of in found}
        return tuple(
            Curve(name, of[0].title, of[0].kind, True, {(None, at.seed): at.values for at in of}, CONFIG)
            for name, of in by_name.items()
        )

    def _methods(self, finished: Sequence[TrialOutcome]) -> tuple[Curve, ...]:
        """Return the figures of each method; two recipes of one family are called by their names."""
        families = [method.family for method in self.grid.methods]
        return tuple(
            Curve(
                name=method.name,
                title=family if families.count(family) == 1 else method.name,
                kind="method",
                sees=method.sees,
                points={
                    (None, of.trial.seed): {
                        (row.split, row.measure): float(row.value) if row.value else math.nan for row in of.rows
                    }
                    for of in finished
                    if of.trial.method == method.name
                },
                config=method.recipe.hash,
            )
            for method, family in zip(self.grid.methods, families, strict=True)
        )
