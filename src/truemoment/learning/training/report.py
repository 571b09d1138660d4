"""The report of a training run: what is trained, a line for each epoch, figures on the test splits, learning curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from truemoment.report.drawing import new_figure, save_drawings
from truemoment.report.model import CAUTION_LABEL, Cell, Drawing, Report, Section, Table
from truemoment.report.roles import SERIES, SOFT
from truemoment.report.words import UNDEFINED, counted, low_to_high, points
from truemoment.searching.clips.measures import parse_retrieval_measures

if TYPE_CHECKING:  # these modules load PyTorch or Matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from truemoment.base.records import Annotations
    from truemoment.learning.training.checkpoints import Epoch
    from truemoment.learning.training.performing import TrainingResult
    from truemoment.learning.training.recipes import Optimisation
    from truemoment.learning.training.run import Run
    from truemoment.learning.training.task import BesideZeroShot

NAME = "curves"
"""Name of the file, without ending."""

HEIGHT_IN = 4.2
MOST_TERMS = 3
"""Terms of the loss that have a line of their own, beside the total."""


def opening(run: Run, folder: str) -> list[str]:
    """Return lines on what is trained, on which data, before it begins."""
    recipe = run.recipe
    use = "is only shown (the last epoch is kept), with" if recipe.train.keeps_last else "chooses the epoch by"
    lines = [
        f"{recipe.model} (recipe {recipe.hash}): {recipe.about}".rstrip(": "),
        f"learns from {_size(run.train)}; {_size(run.val)} {use} {recipe.select.measure}",
    ]
    if run.store is not None:
        lines.append(f"features: {run.store.name}, {run.n_dimensions} dimensions")
    return [*lines, *(f"note: {note}" for note in run.notes), f"run: {folder}"]


def _size(split: Annotations) -> str:
    size = f"{counted(split.n_queries, 'query', 'queries')}, {counted(split.n_videos, 'video')}"
    return f"{split.dataset}/{split.split} ({size})"


def epoch_line(epoch: Epoch, optimisation: Optimisation) -> str:
    """Return the loss, the figures and the time of an epoch in a line; "best" where its stage chooses an epoch."""
    terms = [f"{name} {value:.4f}" for name, value in epoch.loss.items() if name != "total"]
    parts = f" ({', '.join(terms)})" if len(terms) > 1 else ""
    figures = ", ".join(f"{name} {100 * share:.2f}" for name, share in list(epoch.val.items())[:3])
    val = f"; val {figures}" if figures else ""
    mark = "  best" if epoch.best and optimisation.every_stage[epoch.stage].keep == "best" else ""
    loss = f"loss {epoch.loss['total']:.4f}{parts}"
    spent = f"{epoch.seconds:.1f} s, {100 * epoch.waited:.1f} % of it waiting"
    number = f"epoch {epoch.epoch}/{optimisation.most_epochs}"
    return f"{number}: {loss}{val}; {spent}{mark}"


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
            *(((CAUTION_LABEL, result.run.notes[-1]),) if result.run.forced else ()),  # shown with --quiet too
            ("model", f"{model}, {result.n_parameters:,} parameters"),
            ("epoch", f"{selected} ({points(best.val[measure], 2)} on {result.run.val.split})"),
        ),
        sections=(
            Section("tests", "Test splits", (table,))
            if result.tests
            else Section("tests", "Validation", (_chosen_on(result),)),
            Section("parts", "Trained parameters", (_parts(result),) if result.parts else ()),
        ),
        notes=result.notes[:-1] if result.run.forced else result.notes,
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


def _chosen_on(result: TrainingResult) -> Table:
    """Return the figures of the kept epoch on the validation split, for a run without figures on a test split."""
    split = result.run.val.split
    heading = split if result.run.recipe.train.keeps_last else f"{split} (chosen on)"
    rows = tuple((Cell(measure), Cell(points(value, 2))) for measure, value in result.best.val.items())
    return Table("", ("measure, %", heading), (("", rows),))


def _beside_zero_shot(figures: Sequence[BesideZeroShot]) -> Table:
    """Return the figures of a model that ranks clips, beside those before training."""
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    for figure in figures:
        times = 100.0 if parse_retrieval_measures(figure.measure)[0].is_fraction else 1.0
        interval = low_to_high(np.asarray(figure.ci95), 2, times=times) or UNDEFINED
        values = (f"{times * figure.value:.2f}", f"{times * figure.zero_shot:.2f}", f"{times * figure.difference:+.2f}")
        groups.setdefault(figure.split, []).append(tuple(map(Cell, (figure.measure, *values, interval))))
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


def drawing(result: TrainingResult) -> Drawing:
    """Return the figure of a run."""
    caption = (
        f"Loss in training above, figures on {result.run.val.split} below; the vertical line is the epoch that the run "
        f"keeps, {result.best.epoch}."
    )
    return Drawing(NAME, f"Learning curves of {result.run.recipe.model}", caption, partial(_drawn, result.history))


def save_curves(result: TrainingResult) -> list[Path]:
    """Write the figure into the folder of the run, as PNG and SVG."""
    return save_drawings([drawing(result)], result.folder, ("png", "svg")) if result.history else []


def _drawn(history: Sequence[Epoch]) -> Figure:
    figure = new_figure(HEIGHT_IN)
    above, below = figure.subplots(2, 1, sharex=True)
    losses = ["total", *[name for name in history[-1].loss if name != "total"][:MOST_TERMS]]
    if len(losses) == 2:  # the only term is the total
        losses = losses[:1]
    _curves(above, history, {name: [epoch.loss.get(name) for epoch in history] for name in losses})
    figures = list(history[-1].val)[: MOST_TERMS + 1]
    _curves(below, history, {name: [_percent(epoch.val.get(name)) for epoch in history] for name in figures})
    best = next(epoch.epoch for epoch in reversed(history) if epoch.best)
    for axes in (above, below):
        axes.axvline(best, color=SOFT, linewidth=0.8, zorder=0)
        axes.legend(frameon=False, fontsize="small")
    stages = [epoch.epoch for epoch, before in zip(history[1:], history, strict=False) if epoch.stage != before.stage]
    for axes in (above, below):
        for epoch in stages:
            axes.axvline(epoch - 0.5, color=SOFT, linewidth=0.8, linestyle=":", zorder=0)
    above.set_ylabel("loss")
    below.set_ylabel("validation, %")
    below.set_xlabel("epoch")
    below.locator_params(axis="x", integer=True)
    return figure


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _curves(axes: Axes, history: Sequence[Epoch], values: dict[str, list[float | None]]) -> None:
    """Draw a line for each name; a value that an epoch does not have is left out."""
    for number, (name, of_epochs) in enumerate(values.items()):
        look = SERIES[number % MOST_TERMS + 1]
        points = [(entry.epoch, value) for entry, value in zip(history, of_epochs, strict=True) if value is not None]
        axes.plot(
            *zip(*points, strict=True),
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            markersize=3,
            label=name,
        )
