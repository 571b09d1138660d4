"""The report of a training run: what it learns from, a line an epoch, its figures on the test splits."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from truemoment.reports.render.tabular import TableStyle, escaped, render
from truemoment.reports.text import counted
from truemoment.text import one_line, printable

if TYPE_CHECKING:  # these modules load PyTorch
    from truemoment.training.checkpoints import Epoch
    from truemoment.training.runs import Result, Task


def opening(task: Task, folder: str) -> list[str]:
    """Say what is about to be trained, on what."""
    recipe = task.recipe
    told = [
        f"{recipe.model} (recipe {recipe.hash}): {recipe.about}".rstrip(": "),
        f"learns from {_source(task, 'train')}; {_source(task, 'val')} chooses the epoch by {recipe.select.measure}",
    ]
    if task.store is not None:
        told.append(f"features: {one_line(task.store.name)}, {task.store.n_dimensions} numbers a row")
    return [*map(printable, told), *(printable(f"note: {note}") for note in task.notes), f"run: {folder}"]


def _source(task: Task, which: str) -> str:
    of = getattr(task, which)
    name = f"{of.dataset}/{of.split}"
    return f"{name} ({counted(of.n_queries, 'query', 'queries')}, {counted(of.n_videos, 'video')})"


def epoch_line(epoch: Epoch, epochs: int) -> str:
    """Say how an epoch went."""
    measure, value = next(iter(epoch.val.items()))
    terms = [f"{name} {value:.4f}" for name, value in epoch.loss.items() if name != "total"]
    parts = f" ({', '.join(terms)})" if len(terms) > 1 else ""
    beside = ", ".join(f"{name} {100 * of:.2f}" for name, of in list(epoch.val.items())[1:3])
    mark = "  best" if epoch.best else ""
    loss = f"loss {epoch.loss['total']:.4f}{parts}"
    spent = f"{epoch.seconds:.1f} s, {100 * epoch.waited:.1f} % of it waiting"
    return f"epoch {epoch.epoch}/{epochs}: {loss}; val {measure} {100 * value:.2f}, {beside}; {spent}{mark}"


def lines(result: Result, *, style: TableStyle) -> list[str]:
    """Return the figures on the test splits as a table, a column a split."""
    splits = list(dict.fromkeys(row.split for row in result.tests))
    measures = list(dict.fromkeys(row.measure for row in result.tests))
    value = {(row.split, row.measure): row.value for row in result.tests}
    rows = [
        [escaped(measure, style), *(_percent(value.get((split, measure), "")) for split in splits)]
        for measure in measures
    ]
    best = result.best
    measure = next(iter(best.val))
    head = [
        f"{result.run.recipe.model}: epoch {best.epoch} of {len(result.history)} chosen by {measure} "
        f"({100 * best.val[measure]:.2f} on {result.run.val.split}); {result.n_parameters:,} parameters",
        "",
    ]
    headings = [escaped("measure, %", style), *(escaped(split, style) for split in splits)]
    table = [render(headings, rows, style=style, numbers=range(1, len(splits) + 1))] if rows else []
    if style != "plain":
        return table
    return [
        *head,
        *table,
        *(["", *(printable(f"note: {note}") for note in result.run.notes)] if result.run.notes else []),
    ]


def _percent(value: str) -> str:
    return f"{100 * float(value):.2f}" if value else "-"


def next_steps(result: Result, data: Sequence[str]) -> list[str]:
    """Say which commands look closer at the answers; `data` are the options that tell which annotations."""
    splits = list(dict.fromkeys(row.split for row in result.tests))
    if not splits:
        return []
    split = splits[-1]
    words = ["truemoment", "audit", str(result.folder / f"{split}.jsonl")]
    words += [*data, "--split", split]
    if "test-iid" in splits and split != "test-iid":
        words += ["--iid", str(result.folder / "test-iid.jsonl")]
    if result.run.features:
        words += ["--model", str(result.folder)]
    return ["", "did it look at the videos?", f"  {shlex.join(words)}"]
