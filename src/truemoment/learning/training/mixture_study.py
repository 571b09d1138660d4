"""A study of mixtures, from its trials to its figures and the differences of its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from truemoment.base.boundary.distribution import Engine
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations
from truemoment.evaluation.uncertainty import interval95, resample_sums, stream
from truemoment.learning.training import checkpoints
from truemoment.learning.training.mixture_grid import MixtureGrid, MixtureRow
from truemoment.learning.training.trials import Trainer, TrainingTrial, TrialOutcome, read_finished, train_trials

RESAMPLES = 4000


@dataclass(frozen=True)
class RowFigures:
    """Figures of a row on a test split.

    Parameters
    ----------
    row
        Which.
    n_sentences, n_steps
        Sentences that were learned from, and optimiser steps, means over seeds.
    values
        Fractions, or ranks, by measure and seed.
    """

    row: MixtureRow
    n_sentences: int
    n_steps: int
    values: dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class Contrast:
    """A row less another one by the headline, paired over films.

    Parameters
    ----------
    question
        What it answers: one of :data:`QUESTIONS`, or ``step`` for a further addition.
    row, other
        Names of the rows.
    difference
        Difference of the means over seeds; a fraction.
    ci95
        By resampling films; NaN for one film.
    n_films
        Number of test films.
    """

    question: str
    row: str
    other: str
    difference: float
    ci95: tuple[float, float]
    n_films: int

    @property
    def verdict(self) -> int:
        """1 where the row is above, -1 where it is below, 0 where the interval contains 0."""
        low, high = self.ci95
        return int(low > 0) - int(high < 0)


QUESTIONS = ("equal size", "without noise", "all noisy", "scale", "added")
"""Noisy of equal size less clean; the noisy films without noise less clean; all noisy less noisy of equal size, and
less clean; both less clean."""


@dataclass(frozen=True, eq=False)
class MixtureResult:
    """The result of a study.

    Parameters
    ----------
    grid
        Rows and seeds.
    splits, measures
        Test splits, and names of the measures; the first is the headline.
    figures
        By test split, in the order of the rows.
    contrasts
        By test split.
    failed, unfinished
        Trials without figures.
    notes
        What every result must state.
    """

    grid: MixtureGrid
    splits: tuple[str, ...]
    measures: tuple[str, ...]
    figures: dict[str, tuple[RowFigures, ...]]
    contrasts: dict[str, tuple[Contrast, ...]]
    failed: tuple[TrialOutcome, ...] = ()
    unfinished: tuple[TrialOutcome, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The measure of the figure and of the differences."""
        return self.measures[0]


@dataclass
class MixtureStudy:
    """A study: :meth:`start`, then :meth:`train` to its end, then :meth:`result`.

    Parameters
    ----------
    grid
        Rows and seeds.
    measures
        Names of measures, the headline first.
    """

    grid: MixtureGrid
    measures: tuple[str, ...]
    _tests: dict[str, Annotations] = field(default_factory=dict)
    _outcomes: dict[TrainingTrial, TrialOutcome] = field(default_factory=dict)
    _missing: list[TrainingTrial] = field(default_factory=list)

    def start(self) -> tuple[int, int]:
        """Read all data once, so that what is wrong with them is reported before any work, and the finished trials.

        Returns
        -------
        n_finished, n_missing
            How many trials are finished, and how many are to be trained.
        """
        for trial in self.grid.trials():
            run = self.grid(trial)
            run.require_tests()
            self._tests = dict(run.tests)
            rows = read_finished(
                self.grid.folder_of(trial),
                run.recipe,
                seed=trial.seed,
                features=run.features,
                learned={(split.dataset, split.split): split.sha256 for split in (run.train, run.val)},
                figures=[
                    (name, split.sha256[:8], measure) for name, split in run.tests.items() for measure in self.measures
                ],
            )
            if rows is None:
                self._missing.append(trial)
            else:
                self._outcomes[trial] = TrialOutcome(trial, rows)
        return len(self._outcomes), len(self._missing)

    def train(self, *, workers: int | None = 1, engine: Engine = "local", threads: int = 1) -> Iterator[TrialOutcome]:
        """Train the missing trials, and yield the outcome of each; see :func:`~.trials.train_trials`."""
        trainer = Trainer(self.grid, self.grid, "; ".join(self.measures), threads)
        for outcome in train_trials(self._missing, trainer, workers=workers, engine=engine):
            self._outcomes[outcome.trial] = outcome
            yield outcome

    def result(self) -> MixtureResult:
        """Return figures, differences and notes of all finished trials."""
        finished = [trial for trial in self.grid.trials() if self._of(trial).rows]
        runs = {trial: checkpoints.read_run(self.grid.folder_of(trial)) for trial in finished}
        figures, contrasts = {}, {}
        for split in self._tests:
            figures[split] = tuple(self._figures(row, split, runs) for row in self.grid.rows)
            contrasts[split] = tuple(self._contrasts(split, finished))
        outcomes = [self._of(trial) for trial in self.grid.trials()]
        return MixtureResult(
            grid=self.grid,
            splits=tuple(self._tests),
            measures=self.measures,
            figures=figures,
            contrasts=contrasts,
            failed=tuple(outcome for outcome in outcomes if outcome.failed),
            unfinished=tuple(outcome for outcome in outcomes if outcome.unfinished),
            notes=tuple(
                dict.fromkeys(
                    note
                    for run in runs.values()
                    for note in run.notes  # of all rows: the sizes of the sources differ from row to row
                    if " sentences (" not in note and not note.startswith("words that a single source has")
                )
            ),
        )

    def _of(self, trial: TrainingTrial) -> TrialOutcome:
        return self._outcomes.get(trial, TrialOutcome(trial))

    def _figures(self, row: MixtureRow, split: str, runs: dict[TrainingTrial, checkpoints.RunRecord]) -> RowFigures:
        of_row = [trial for trial in runs if trial.method == row.name]
        values = {
            measure: tuple(
                float(figure.value) if figure.value else math.nan
                for trial in of_row
                for figure in self._of(trial).rows
                if (figure.split, figure.measure) == (split, measure)
            )
            for measure in self.measures
        }
        sizes, steps = [], []
        for trial in of_row:
            run, newest = runs[trial], checkpoints.newest_epoch(self.grid.folder_of(trial))
            n_epochs = 0 if newest is None else len(checkpoints.read_history(newest))
            sizes.append(run.train.n_queries)
            steps.append(n_epochs * -(-run.train.n_queries // run.recipe.train.batch))
        return RowFigures(row, _mean(sizes), _mean(steps), values)

    def _contrasts(self, split: str, finished: Sequence[TrainingTrial]) -> Iterator[Contrast]:
        """Yield the differences that answer the questions, with intervals over films."""
        sums: dict[str, list[Floats]] = {}
        for trial in finished:
            sums.setdefault(trial.method, []).append(self._sums(trial, split))
        by_row = {name: np.mean(draws, axis=0) for name, draws in sums.items()}
        draws = int(stream(self.grid.seeds[0], f"mixtures {split}").integers(2**32))
        for question, row, other in questions_of(self.grid.rows):
            if row.name in by_row and other.name in by_row:
                yield _contrast(question, (row.name, by_row[row.name]), (other.name, by_row[other.name]), draws)

    def _sums(self, trial: TrainingTrial, split: str) -> Floats:
        """Return sums of the headline and of its weights by film, (V, 2)."""
        task, folder = self.grid.recipe.family.task, self.grid.folder_of(trial)
        return task.sums_by_film(folder, split, self._tests[split], self.measures[0])


def questions_of(rows: Sequence[MixtureRow]) -> Iterator[tuple[str, MixtureRow, MixtureRow]]:
    """Yield (question, row, other row) of what a grid can answer.

    The first source is the clean one, the second the noisy one, and a third the noisy films without noise.

    Examples
    --------
    >>> rows = [MixtureRow(shares, ("clean", "noisy")) for shares in ((1.0, 0.0), (0.0, 0.32), (0.0, 1.0), (1.0, 1.0))]
    >>> [(question, row.name, other.name) for question, row, other in questions_of(rows)][:2]
    [('equal size', '32 % noisy', 'clean'), ('all noisy', 'noisy', '32 % noisy')]
    """

    def alone(source: int) -> list[MixtureRow]:
        """Return the rows of one source, by share."""
        of_source = [row for row in rows if row.shares[source] and sum(map(bool, row.shares)) == 1]
        return sorted(of_source, key=lambda row: row.shares[source])

    clean = next(iter(alone(0)[::-1]), None)
    noisy = alone(1) if rows and len(rows[0].shares) > 1 else []
    if clean is None:
        return
    if noisy:
        yield "equal size", noisy[0], clean
    if len(rows[0].shares) > 2 and (noise_free := alone(2)):
        yield "without noise", noise_free[0], clean
    if len(noisy) > 1:
        yield "all noisy", noisy[-1], noisy[0]
        yield "scale", noisy[-1], clean
    both = sorted((row for row in rows if row.shares[0] and row.shares[1:2] > (0,)), key=lambda row: row.shares[1])
    if both:
        yield "added", both[-1], clean
    for row, other in zip(both, [clean, *both], strict=False):
        if row is not both[-1] or other is not clean:
            yield "step", row, other


def _contrast(question: str, above: tuple[str, Floats], below: tuple[str, Floats], seed: int) -> Contrast:
    (row, sums), (other_row, other_sums) = above, below
    totals, other_totals = sums.sum(axis=0), other_sums.sum(axis=0)
    difference = float(totals[0] / totals[1] - other_totals[0] / other_totals[1])
    ci95 = (math.nan, math.nan)
    if len(sums) > 1:
        draws = resample_sums(
            np.concatenate([sums, other_sums], axis=1), np.random.default_rng(seed), resamples=RESAMPLES
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            low, high = interval95(draws[:, 0] / draws[:, 1] - draws[:, 2] / draws[:, 3]).tolist()
        ci95 = (low, high)
    return Contrast(question, row, other_row, difference, ci95, len(sums))


def _mean(numbers: Sequence[int]) -> int:
    return round(sum(numbers) / len(numbers)) if numbers else 0
