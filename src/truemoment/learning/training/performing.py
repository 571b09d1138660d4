"""A run from its recipe to its figures.

::

    recipe = read_recipe("tan2d", ["train.epochs=3"])                  # recipes: the settings
    run = Run.resolve(recipe, RunSources(annotations, features), 0)    # run: family, annotations, features, sentences
    task = run.family.task                                             # grounding or ranking
    task.vocabulary(run, text)                                         # the words that the network knows
    train(run, folder)                                                 # loop: task.prepare, epochs, checkpoints
    task.answer(run, record, folder, measures, track)                  # the test splits, with the best epoch

:func:`perform` does all but the first two lines.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from truemoment.base.boundary.documents import document_head
from truemoment.base.boundary.files import write_json
from truemoment.base.boundary.folders import lock_folder
from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import UsageError
from truemoment.base.version import __version__
from truemoment.learning.training import checkpoints
from truemoment.learning.training.checkpoints import Epoch, RunRecord, UsedAnnotations
from truemoment.learning.training.hardware import commit, hardware, processes
from truemoment.learning.training.loop import train
from truemoment.learning.training.network import parts_of
from truemoment.learning.training.progress import Track, unseen
from truemoment.learning.training.results import ResultRow
from truemoment.learning.training.run import Run
from truemoment.learning.training.task import BesideZeroShot, SplitFigure
from truemoment.learning.training.vocabulary import read_vocabulary, text_encoder_of, with_commit, write_vocabulary

RUN_FIELDS = (
    *("recipe", "seed", "train", "val", "features", "features_name", "n_dimensions", "n_vector", "sentences", "fps"),
    *("queries_name", "started_from", "forced"),
)
"""Fields of the record in which two runs may not differ. Notes are words for people, and may."""

FIT_FOR_A_FILE = re.compile(r"[\w][\w .+-]{0,79}")
"""Names of splits that files are called by."""


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """The result of a run.

    Parameters
    ----------
    folder, run
        Its folder, and its request.
    history
        The log, an entry an epoch.
    n_parameters
        Trainable numbers of the model, its table of words left out.
    parts
        Trainable numbers of each part of the model by name, and of "words", the word vectors, if they are learned.
    tests
        Rows of figures on the test splits.
    beside_zero_shot
        Figures of a model that ranks clips, beside those before training.
    notes
        What a reader of the figures has to know.
    """

    folder: Path
    run: RunRecord
    history: list[Epoch]
    n_parameters: int
    parts: dict[str, int] = field(default_factory=dict)
    tests: tuple[ResultRow, ...] = field(default=())
    beside_zero_shot: tuple[BesideZeroShot, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> Epoch:
        """The epoch that is kept."""
        return next(epoch for epoch in reversed(self.history) if epoch.best)


def perform(
    run: Run,
    folder: AnyPath,
    *,
    measures: str | None = None,
    track: Track = unseen,
    on_epoch: Callable[[Epoch], None] = lambda _: None,
) -> TrainingResult:
    """Train, predict the test splits with the best epoch, measure, and save all of it in the run's folder.

    A folder with the same run is resumed; one with another run is refused.

    Parameters
    ----------
    run
        What is trained. Answers to its test splits go to ``FOLDER/SPLIT.jsonl``, vectors of clips and sentences to
        ``SPLIT.npz``.
    folder
        Folder of the run; made if it does not exist.
    measures
        What is measured on the test splits; None for the default of the task.
    track, on_epoch
        As for :func:`truemoment.learning.training.loop.train`.
    """
    refuse_names((run.val.split, *run.tests))
    folder, task = OwnPath.of(folder), run.family.task
    earlier = checkpoints.read_run(folder) if (folder / "run.json").exists() else None
    text_encoder = text_encoder_of(run.recipe.text) if earlier is None else earlier.text_encoder
    run = dataclasses.replace(run, vocabulary=task.vocabulary(run, with_commit(run.recipe.text, text_encoder)))
    if run.start is not None:
        run.start.check(run.recipe, run.vocabulary, run.n_dimensions)
    record = _record_of(run, text_encoder)
    sharing = processes()
    with lock_folder(folder) if sharing.is_main_process else contextlib.nullcontext():
        with sharing.main_process_first():
            _claim(folder, record, run)
        history = train(run, folder, track=track, on_epoch=on_epoch)
        if not sharing.is_main_process:
            return TrainingResult(folder.path, record, history, 0)
        answers = task.answer(run, record, folder, measures, track)
        result = TrainingResult(
            folder.path,
            record,
            history,
            answers.network.model.n_parameters(),
            parts_of(answers.network),
            tuple(_row(run, record, figure, history) for figure in answers.figures),
            answers.beside_zero_shot,
            (*answers.notes, *record.notes),
        )
        write_json(folder / "result.json", document(result))
        return result


def _record_of(run: Run, text_encoder: str) -> RunRecord:
    """Return the record of a run, which is written into its folder."""
    train, val, vectors = run.train, run.val, run.vocabulary.vectors
    used = train.select_queries(run.family.task.learnable(train, run.family.needs))
    left_out = train.n_queries - used.n_queries
    started_from = "" if run.start is None else run.start.name
    notes = (*run.notes, *run.family.task.notes(run))
    if started_from:
        notes += (f"started from the weights of {started_from}",)
    notes += (run.caution,) if run.caution else ()  # reports read it as the last one
    return RunRecord(
        recipe=run.recipe,
        seed=run.seed,
        train=UsedAnnotations(train.dataset, train.split, train.sha256, used.n_queries, used.n_videos, left_out),
        val=UsedAnnotations(val.dataset, val.split, val.sha256, val.n_queries, val.n_videos),
        features=run.features,
        features_name="" if run.store is None else run.store.name,
        n_dimensions=run.n_dimensions,
        n_vector=run.recipe.text.size if vectors is None else vectors.shape[1],
        forced=bool(run.caution),
        notes=notes,
        text_encoder=text_encoder,
        made_of=run.made_of,
        sentences=run.text_sources,
        fps=run.fps,
        queries=run.queries,
        queries_name="" if run.vocabulary.rows is None else run.vocabulary.rows.store.name,
        started_from=started_from,
        truemoment=__version__,
    )


def refuse_names(splits: Iterable[str]) -> None:
    """Refuse splits whose names cannot be those of files."""
    for split in splits:
        if not FIT_FOR_A_FILE.fullmatch(split):
            raise UsageError(
                f"split {split!r} cannot be a file's name, expected letters, digits, blanks, '.', '_', '-'"
            )


def _claim(folder: OwnPath, record: RunRecord, run: Run) -> None:
    """Write the request of a run, or check that this folder has the same one."""
    folder.refuse_links()
    words = folder / "words.json"
    if (folder / "run.json").exists():
        earlier = checkpoints.read_run(folder)
        differing = [name for name in RUN_FIELDS if getattr(earlier, name) != getattr(record, name)]
        if differing:
            raise UsageError(checkpoints.another_run(folder, earlier, record.recipe, differing))
        if words.exists() and read_vocabulary(words).words != run.vocabulary.words:
            raise UsageError(f"{folder}: was trained with other words (other --test splits?); give -o another folder")
        if not words.exists():
            write_vocabulary(words, run.vocabulary)
        return
    if folder.exists() and any(path != words and not path.name.startswith(".") for path in folder.iterdir()):
        raise UsageError(f"{folder}: exists and contains no training run; give -o another folder")
    write_vocabulary(words, run.vocabulary)
    write_json(folder / "run.json", record)


def _row(run: Run, record: RunRecord, figure: SplitFigure, history: Sequence[Epoch]) -> ResultRow:
    """Return a figure on a test split as a row of a file of figures."""
    best = next(epoch for epoch in reversed(history) if epoch.best)
    split = run.tests[figure.split]
    return ResultRow(
        recipe=run.recipe.model,
        config=run.recipe.hash,
        seed=run.seed,
        dataset=split.dataset,
        split=split.split,
        data=split.sha256[:8],
        features=record.features_name or "none",
        measure=figure.measure,
        value="" if figure.value is None else f"{figure.value:.6f}",
        n_queries=figure.n_queries,
        trained_on=record.made_by["trained_on"],
        chosen_on=record.made_by["chosen_on"],
        epoch=best.epoch,
        seconds=round(sum(epoch.seconds for epoch in history), 1),
        commit=commit(),
        hardware=hardware(),
        truemoment=__version__,
        notes=" | ".join(record.notes),
    )


def document(result: TrainingResult) -> dict[str, Any]:
    """Return a result as JSON."""
    return {
        **document_head("truemoment/training/1"),
        "made_by": result.run.made_by,
        "seed": result.run.seed,
        "n_parameters": result.n_parameters,
        "parts": result.parts,
        "epochs": [dataclasses.asdict(epoch) for epoch in result.history],
        "best_epoch": result.best.epoch,
        "commit": commit(),
        "hardware": hardware(),
        "figures": [msgspec.to_builtins(row) for row in result.tests],
        **(
            {"beside_zero_shot": [_beside(figure) for figure in result.beside_zero_shot]}
            if result.beside_zero_shot
            else {}
        ),
        "notes": list(result.notes),
    }


def _beside(figure: BesideZeroShot) -> dict[str, Any]:
    """Return a figure beside zero-shot as JSON; an interval that is undefined is null."""
    ci95 = None if np.isnan(figure.ci95[0]) else list(figure.ci95)
    values = {"split": figure.split, "measure": figure.measure, "value": figure.value, "zero_shot": figure.zero_shot}
    return values | {"difference": figure.difference, "ci95": ci95}
