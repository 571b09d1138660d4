"""The report of a training run: what is trained, a line for each epoch, figures on the test splits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from truemoment.report.model import Cell, Report, Section, Table
from truemoment.report.words import UNDEFINED, counted, low_to_high, points
from truemoment.searching.clips.measures import parse_retrieval_measures

if TYPE_CHECKING:  # these modules load PyTorch
    from truemoment.base.records import Annotations
    from truemoment.learning.training.checkpoints import Epoch
    from truemoment.learning.training.recipes import Optimisation
    from truemoment.learning.training.retriever import BesideZeroShot
    from truemoment.learning.training.runs import TrainingResult, TrainingTask


def opening(task: TrainingTask, folder: str) -> list[str]:
    """Return lines on what is trained, on which data, before it begins."""
    recipe = task.recipe
    use = "is only shown (the last epoch is kept), with" if recipe.train.keeps_last else "chooses the epoch by"
    lines = [
        f"{recipe.model} (recipe {recipe.hash}): {recipe.about}".rstrip(": "),
        f"learns from {_size(task.train)}; {_size(task.val)} {use} {recipe.select.measure}",
    ]
    if task.store is not None:
        lines.append(f"features: {task.store.name}, {task.store.n_dimensions} dimensions")
    return [*lines, *(f"note: {note}" for note in task.notes), f"run: {folder}"]


def _size(of: Annotations) -> str:
    return f"{of.dataset}/{of.split} ({counted(of.n_queries, 'query', 'queries')}, {counted(of.n_videos, 'video')})"


def epoch_line(epoch: Epoch, optimisation: Optimisation) -> str:
    """Return the loss, the figures and the time of an epoch in a line; "best" where its stage chooses an epoch."""
    measure, value = next(iter(epoch.val.items()))
    terms = [f"{name} {value:.4f}" for name, value in epoch.loss.items() if name != "total"]
    parts = f" ({', '.join(terms)})" if len(terms) > 1 else ""
    beside = ", ".join(f"{name} {100 * of:.2f}" for name, of in list(epoch.val.items())[1:3])
    mark = "  best" if epoch.best and optimisation.every_stage[epoch.stage].keep == "best" else ""
    loss = f"loss {epoch.loss['total']:.4f}{parts}"
    spent = f"{epoch.seconds:.1f} s, {100 * epoch.waited:.1f} % of it waiting"
    number = f"epoch {epoch.epoch}/{optimisation.most_epochs}"
    return f"{number}: {loss}; val {measure} {100 * value:.2f}, {beside}; {spent}{mark}"


def report(result: TrainingResult) -> Report:
    """Return the figures on the test splits, a column a split."""
    table = _beside_zero_shot(result.beside_zero_shot) if result.beside_zero_shot else _figures(result)
    best, model = result.best, result.run.recipe.model
    measure = next(iter(best.val))
    how = f"chosen by {measure}"
    if result.run.recipe.train.keeps_last:
        how = f"the last; {measure}"
    selected = f"{best.epoch} of {len(result.history)}, {how}"
    return Report(
        title=f"Training of {model}",
        facts=(
            ("model", f"{model}, {result.n_parameters:,} parameters"),
            ("epoch", f"{selected} ({points(best.val[measure], 2)} on {result.run.val.split})"),
            *((("caution", result.run.notes[-1]),) if result.run.forced else ()),  # shown with --quiet too
        ),
        sections=(
            Section("tests", "Test splits", (table,) if result.tests else ()),
            Section("parts", "Trained parameters", (_parts(result),) if result.parts else ()),
        ),
        notes=result.run.notes[:-1] if result.run.forced else result.run.notes,
    )


def _figures(result: TrainingResult) -> Table:
    """Return the figures on the test splits, a column a split."""
    splits = list(dict.fromkeys(row.split for row in result.tests))
    measures = list(dict.fromkeys(row.measure for row in result.tests))
    values = {(row.split, row.measure): float(row.value) for row in result.tests if row.value}
    rows = tuple(
        (Cell(measure), *(Cell(points(values.get((split, measure), math.nan), 2)) for split in splits))
        for measure in measures
    )
    return Table("", ("measure, %", *splits), (("", rows),))


def _beside_zero_shot(found: Sequence[BesideZeroShot]) -> Table:
    """Return the figures of a model that ranks clips, beside those before training."""
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    for of in found:
        times = 100.0 if parse_retrieval_measures(of.measure)[0].is_fraction else 1.0
        interval = low_to_high(np.asarray(of.ci95), 2, times=times) or UNDEFINED
        shown = (f"{times * of.value:.2f}", f"{times * of.zero_shot:.2f}", f"{times * of.difference:+.2f}", interval)
        groups.setdefault(of.split, []).append(tuple(map(Cell, (of.measure, *shown))))
    headings = ("measure", "trained", "zero-shot", "difference", "95 % interval")
    return Table("", headings, tuple((split, tuple(rows)) for split, rows in groups.items()))


def _parts(result: TrainingResult) -> Table:
    """Return the trained numbers of each part of the model, and the stages that train it if not all do."""
    stages = result.run.recipe.train.every_stage
    named = any(stage.trained for stage in stages)

    def trained_in(part: str) -> tuple[Cell, ...]:
        numbers = [str(n) for n, stage in enumerate(stages, start=1) if not stage.trained or part in stage.trained]
        return (Cell(", ".join(numbers) or "none"),) if named else ()

    rows = tuple((Cell(part), Cell(f"{count:,}"), *trained_in(part)) for part, count in result.parts.items())
    headings = ("part", "parameters", *(("stages",) if named else ()))
    return Table("", headings, (("", rows),), text_columns=(0, 2) if named else (0,))


def audit_words(result: TrainingResult, data: Sequence[str]) -> list[str]:
    """Return the command that audits the predictions; `data` are the options of the annotations."""
    splits = list(dict.fromkeys(row.split for row in result.tests))
    if not splits or result.beside_zero_shot:
        return []
    split = splits[-1]
    words = ["truemoment", "audit", str(result.folder / f"{split}.jsonl"), *data, "--split", split]
    if "test-iid" in splits and split != "test-iid":
        words += ["--iid", str(result.folder / "test-iid.jsonl")]
    if result.run.features:
        words += ["--model", str(result.folder)]
    return words
