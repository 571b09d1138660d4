"""A sweep from its data to its figures: floors and rules at every place, and the cells that are not finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from truemoment.base.boundary.caching import NO_CACHE, Cache
from truemoment.base.boundary.distribution import Engine
from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations
from truemoment.data.datasets import made_of
from truemoment.evaluation.measures import parse_measure, parse_measures
from truemoment.learning.training.checkpoints import read_run
from truemoment.learning.training.curves import curves_of_floors, curves_of_methods, curves_of_rules
from truemoment.learning.training.floors import measure_floors, run_rules, simulate
from truemoment.learning.training.grounding import GroundingTask
from truemoment.learning.training.results import ResultRow
from truemoment.learning.training.sweep_data import WORLD_NOTE, SweepData
from truemoment.learning.training.sweep_results import Curve, EmptyCell, Place, SweepResult
from truemoment.learning.training.trials import Trainer, TrainingTrial, TrialOutcome, finished_outcome, train_trials

Status = Callable[[str], None]


def read_measures(measures: str | None, headline: str | None) -> tuple[tuple[str, ...], str]:
    """Return the measures of a sweep by name, and its headline: the first by default."""
    names = tuple(dict.fromkeys(str(measure) for measure in parse_measures(measures or GroundingTask.measures)))
    measure = names[0] if headline is None else str(parse_measure(headline))
    if measure not in names:
        raise UsageError(f"--headline: {measure} is not measured, expected one of {'; '.join(names)}")
    return names, measure


@dataclass
class Sweep:
    """A sweep: :meth:`start`, then :meth:`train` to its end, then :meth:`result`.

    Parameters
    ----------
    data
        Grid and data.
    measures, headline
        Measures by name, and the one that the report shows.
    """

    data: SweepData
    measures: tuple[str, ...]
    headline: str
    rows: list[ResultRow] = field(default_factory=list)
    _splits: dict[Place, dict[str, Annotations]] = field(default_factory=dict)
    _finished: list[TrialOutcome] = field(default_factory=list)
    _missing: list[TrainingTrial] = field(default_factory=list)
    _references: tuple[Curve, ...] = ()
    _notes: list[str] = field(default_factory=list)

    def start(self, cache: Cache = NO_CACHE, on_status: Status = lambda _: None) -> tuple[int, int]:
        """Write worlds, read finished cells, run floors and rules.

        Returns
        -------
        n_finished, n_missing
            How many cells are finished, and how many are to be trained.
        """
        self.data.write_worlds(on_status)
        self._splits = {place: self.data.read(place) for place in self.data.places}
        for cell in self.data.grid.cells():
            outcome = self._read(cell)
            if outcome is None:
                self._missing.append(cell)
            else:
                self._finished.append(outcome)
        rows_of_cells = len(self._finished)
        floors = self._run_floors(cache, on_status)
        self._references = (*floors, *self._run_rules(on_status))
        return rows_of_cells, len(self._missing)

    def train(self, jobs: int | None = 1, threads: int = 1, engine: Engine = "local") -> Iterator[TrialOutcome]:
        """Train the missing cells in `jobs` processes with `threads` each, and yield the outcome of each cell."""
        trainer = Trainer(self.data.grid, self.data, "; ".join(self.measures), threads)
        for outcome in train_trials(self._missing, trainer, workers=jobs, engine=engine):
            self._finished.append(outcome)
            yield outcome

    def result(self) -> SweepResult:
        """Return the figures of all cells that are finished."""
        grid, outcomes = self.data.grid, self._finished
        notes = [
            note for outcome in outcomes if not outcome.failed for note in read_run(grid.folder_of(outcome.trial)).notes
        ]
        return SweepResult(
            dial=grid.dial.name,
            values=grid.dial.values,
            seeds=grid.seeds,
            source=self.data.document(),
            splits=self.tests,
            measures=self.measures,
            headline=self.headline,
            methods=curves_of_methods(
                grid.methods,
                sorted(
                    (outcome for outcome in outcomes if not outcome.failed),
                    key=lambda outcome: (outcome.trial.value or 0.0, outcome.trial.seed),
                ),
            ),
            floors=tuple(outcome for outcome in self._references if outcome.kind == "floor"),
            ceilings=tuple(outcome for outcome in self._references if outcome.kind == "ceiling"),
            failed=tuple(
                EmptyCell(outcome.trial.method, outcome.trial.value, outcome.trial.seed, outcome.failed)
                for outcome in outcomes
                if outcome.failed
            ),
            notes=(*self._notes, *dict.fromkeys(note for note in notes if not note.startswith(WORLD_NOTE))),
        )

    def all_rows(self) -> list[ResultRow]:
        """Return every figure as a row: of cells, floors and rules."""
        return [*(row for outcome in self._finished for row in outcome.rows), *self.rows]

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the test splits."""
        return tuple(name for name in next(iter(self._splits.values())) if name.startswith("test"))

    @property
    def _top(self) -> int:
        return max(method.recipe.decode.top for method in self.data.grid.methods)

    def _read(self, cell: TrainingTrial) -> TrialOutcome | None:
        """Read a cell that is finished; None if it is not."""
        splits = self._splits[self.data.place_of(cell)]
        return finished_outcome(cell, self.data.grid, self.data.features(cell), splits, self.measures)

    def _run_floors(self, cache: Cache, on_status: Status) -> tuple[Curve, ...]:
        """Run every floor at every place; note those that cannot be fitted."""
        notes: dict[str, None] = {}
        figures = {
            place: list(
                measure_floors(
                    splits,
                    self.measures,
                    top=self._top,
                    seed=place[1],
                    cache=cache,
                    on_status=on_status,
                    on_left_out=lambda why: notes.update({why: None}),
                )
            )
            for place, splits in self._splits.items()
        }
        self.rows += [row for floors in figures.values() for floor in floors for row in floor.rows]
        self._notes += notes
        return curves_of_floors(figures, self.measures)

    def _run_rules(self, on_status: Status) -> tuple[Curve, ...]:
        """Run the interval rules at every value and seed of simulated perception.

        There are none on a world, and where no method sees features.
        """
        grid = self.data.grid
        if self.data.dataset is None or not any(method.recipe.family.sees_video for method in grid.methods):
            return ()
        on_status("rules on intervals")
        splits = next(iter(self._splits.values()))
        figures = list(
            run_rules(
                {name: splits[name] for name in self.tests},
                simulated=simulate(made_of(self.data.dataset), data_dir=self.data.data_dir),
                train=splits["train"],
                qualities=grid.dial.values,
                seeds=grid.seeds,
                measures=[parse_measure(measure) for measure in self.measures],
                top=self._top,
            )
        )
        self.rows += [row for figure in figures for row in figure.rows]
        return curves_of_rules(figures, lambda rule: (rule.quality, rule.seed))
