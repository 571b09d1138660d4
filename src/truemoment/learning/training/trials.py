"""Trials: training runs that depend on nothing but recipe, data and seed, in this process or in several.

It does not matter which process trains a trial, nor in what order. The same trials again: finished ones are read, the
others are resumed at their last complete epoch.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec
import torch

from truemoment.base.boundary.distribution import Engine, JobRunner, distribute
from truemoment.base.boundary.files import decode_json, read_bytes
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.boundary.processes import ENDED, end_with_parent
from truemoment.base.errors import InputError, MissingFileError, MissingPackageError, TrueMomentError, UsageError
from truemoment.base.records import Annotations
from truemoment.learning.training import checkpoints
from truemoment.learning.training.checkpoints import Epoch
from truemoment.learning.training.performing import perform
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.results import ResultRow
from truemoment.learning.training.run import HELD_OUT, Run, hold_out


@dataclass(frozen=True)
class TrainingTrial:
    """A training run.

    Parameters
    ----------
    method
        Its name.
    value
        Value of the dial; None where no dial changes what the method learns from.
    seed
        Seed of all draws of the training.
    """

    method: str
    value: float | None
    seed: int


class Trials(Protocol):
    """Where trials belong, and what they train."""

    def folder_of(self, trial: TrainingTrial, /) -> OwnPath:
        """Return the folder of a trial's run."""
        ...

    def recipe_of(self, trial: TrainingTrial, /) -> Recipe:
        """Return the recipe of a trial."""
        ...


@dataclass(frozen=True)
class TrialOutcome:
    """The outcome of a trial.

    Parameters
    ----------
    trial
        Which.
    rows
        Its figures on the test splits.
    seconds
        What it took now; 0 where it was finished before.
    failed
        Why it has no figures: the loss was not finite.
    stops
        Why nothing further can be done: a file or an option is wrong.
    unfinished
        Why it is not finished: the time was over. The same trial again is resumed.
    """

    trial: TrainingTrial
    rows: tuple[ResultRow, ...] = ()
    seconds: float = 0.0
    failed: str = ""
    stops: str = ""
    unfinished: str = ""


# ------------------------------------------------------------------------------------------ what is there


class _Finished(msgspec.Struct):
    """The part of result.json that is read."""

    figures: list[ResultRow]


def read_finished(
    folder: OwnPath,
    recipe: Recipe,
    *,
    seed: int,
    features: str,
    learned: Mapping[tuple[str, str], str],
    figures: Collection[tuple[str, str, str]],
) -> tuple[ResultRow, ...] | None:
    """Read the figures of a trial that is finished; None if it is not, or if some are missing.

    Parameters
    ----------
    folder
        Folder of the trial.
    recipe, seed, features
        The expected request of the run.
    learned
        Hash of the annotations of each dataset and split that may be learned or chosen from.
    figures
        Split, first digits of its hash, and measure of each figure.
    """
    if not (folder / "run.json").is_file():
        return None
    run = checkpoints.read_run(folder)
    expected = {"recipe": recipe, "seed": seed, "features": features}
    differing = [name for name, value in expected.items() if getattr(run, name) != value]
    used = {"train": run.train, "val": run.val}
    differing += [
        name for name, split in used.items() if learned.get((split.dataset, split.split), split.sha256) != split.sha256
    ]
    if differing:
        raise UsageError(checkpoints.another_run(folder, run, recipe, differing))
    path = folder / "result.json"
    if not path.is_file() or any((split.dataset, split.split) not in learned for split in used.values()):
        return None
    rows = decode_json(read_bytes(path), _Finished, path=path).figures
    by_figure = {(row.split, row.data, row.measure): row for row in rows}
    return tuple(by_figure[key] for key in figures) if by_figure.keys() >= set(figures) else None


def finished_outcome(
    trial: TrainingTrial, trials: Trials, features: str, splits: Mapping[str, Annotations], measures: Sequence[str]
) -> TrialOutcome | None:
    """Read a trial that is finished; None if it is not.

    Parameters
    ----------
    trial, trials
        Which, and where it belongs.
    features
        Source of its features; "" for none.
    splits
        Annotations of every split that is learned from, chooses or is measured; those to measure begin with "test".
    measures
        Names of the measures.
    """
    recipe, learned = trials.recipe_of(trial), list(splits.values())
    if recipe.select.split == HELD_OUT or recipe.select.split not in splits:
        learned += hold_out(splits["train"], trial.seed)
    tests = [name for name in splits if name.startswith("test")]
    rows = read_finished(
        trials.folder_of(trial),
        recipe,
        seed=trial.seed,
        features=features,
        learned={(split.dataset, split.split): split.sha256 for split in learned},
        figures=[(name, splits[name].sha256[:8], measure) for name in tests for measure in measures],
    )
    return None if rows is None else TrialOutcome(trial, rows)


# ----------------------------------------------------------------------------------------- what is done

Prepare = Callable[[TrainingTrial], Run]
"""Reads what a trial learns from and answers; it is sent to other processes."""


class _OutOfTimeError(Exception):
    """The time is over; what was trained is saved."""


@dataclass(frozen=True)
class Trainer:
    """Trains a trial; it is sent to other processes, so `prepare` must be one that can be sent.

    Parameters
    ----------
    trials
        Where the trials belong.
    prepare
        Makes the run of a trial.
    measures
        What is measured on the test splits.
    threads
        Threads of PyTorch in each process. The same number gives the same figures, whatever the number of processes is.
    until
        Time, as ``time.time()`` counts it, at which training ends; None for no end. No trial and no epoch is begun that
        would end later, as far as the last epoch shows.
    """

    trials: Trials
    prepare: Prepare
    measures: str
    threads: int = 1
    until: float | None = None

    def __call__(self, trial: TrainingTrial) -> TrialOutcome:
        """Train one trial; errors become text, which every process can send."""
        if self._is_over():
            return TrialOutcome(trial, unfinished=self._saved(trial))
        started = time.perf_counter()
        folder = self.trials.folder_of(trial)
        try:
            run = self.prepare(trial)
            folder.parent.mkdir(parents=True, exist_ok=True)
            on_epoch = self._stopping(run.recipe.train.most_epochs)
            with use_threads(self.threads):
                rows = perform(run, folder, measures=self.measures, on_epoch=on_epoch).tests
        except (InputError, MissingFileError, UsageError, MissingPackageError) as error:
            return TrialOutcome(trial, stops=str(error))
        except TrueMomentError as error:
            return TrialOutcome(trial, failed=str(error), seconds=time.perf_counter() - started)
        except _OutOfTimeError as stopped:
            return TrialOutcome(trial, unfinished=str(stopped), seconds=time.perf_counter() - started)
        return TrialOutcome(trial, rows, time.perf_counter() - started)

    def _saved(self, trial: TrainingTrial) -> str:
        """Return how many epochs of a trial an earlier start has saved."""
        newest = checkpoints.newest_epoch(self.trials.folder_of(trial))
        if newest is None:
            return "not started"
        return _progress(len(checkpoints.read_history(newest)), self.trials.recipe_of(trial).train.most_epochs)

    def _is_over(self, needed_s: float = 0.0) -> bool:
        return self.until is not None and time.time() + needed_s >= self.until

    def _stopping(self, most_epochs: int) -> Callable[[Epoch], None]:
        """Return what ends a run after an epoch if another one would end too late; a last epoch is followed by none."""
        began = time.time()

        def on_epoch(epoch: Epoch) -> None:
            nonlocal began
            now_s = time.time()
            began, took_s = now_s, now_s - began
            if epoch.epoch < most_epochs and self._is_over(took_s):
                raise _OutOfTimeError(_progress(epoch.epoch, most_epochs))

        return on_epoch


def _progress(n_epochs: int, most_epochs: int) -> str:
    return f"{n_epochs} of {most_epochs} epochs are saved"


def train_trials(
    trials: Sequence[TrainingTrial], trainer: Trainer, *, workers: int | None, engine: Engine = "local"
) -> Iterator[TrialOutcome]:
    """Train trials and yield the outcome of each as it ends.

    Parameters
    ----------
    trials
        Those that are not finished.
    trainer
        Trains each of them.
    workers
        Processes; on this machine, 1 is this process. None for 1, on a cluster for all its cores.
    engine
        Where they are trained. Figures do not depend on it.
    """
    few = workers if workers is None else max(1, min(workers, len(trials)))
    work: JobRunner[TrainingTrial, TrialOutcome] = JobRunner(
        do=trainer if engine == "local" and (few or 1) == 1 else _InProcess(trainer),
        begin=_begin,
        given_up=_given_up,
        needs="the data and the folder of the runs under the same paths",
        threads=trainer.threads,
    )
    for outcome in distribute(engine, iter(trials), work, few) if trials else ():
        if outcome.stops:
            raise TrueMomentError(outcome.stops)
        yield outcome


def _given_up(trial: TrainingTrial, times: int) -> TrialOutcome:
    return TrialOutcome(trial, failed=f"its process was killed {times} times, perhaps for memory: use fewer workers")


@contextlib.contextmanager
def use_threads(threads: int) -> Iterator[None]:
    """Let PyTorch use this number of threads inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True)
class _InProcess:
    """Trains a trial in a new process, which a signal ends: a pool would hand it the next trial."""

    trainer: Trainer

    def __call__(self, trial: TrainingTrial) -> TrialOutcome:
        try:
            return self.trainer(trial)
        except SystemExit:
            os._exit(ENDED)  # on the way here, what was half written was removed


def _begin(threads: int) -> None:
    """Begin a process: it ends on Ctrl-C, on a signal, and with the process that started it."""
    del threads  # those of each trial
    for number in _ENDING:
        signal.signal(number, _end)
    end_with_parent()


_ENDING = (signal.SIGINT, signal.SIGTERM)


def _end(number: int, frame: object) -> None:
    """End this process, once, so that what is half written is removed on the way."""
    del number, frame
    for other in _ENDING:
        signal.signal(other, lambda *_: None)  # one that was sent already arrives all the same
    raise SystemExit(ENDED)
