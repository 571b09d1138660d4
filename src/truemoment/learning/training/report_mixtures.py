"""The report of a study of mixtures: a table in the form of MAD's Tables 5 and 6, two questions in words, and a figure.

The figure has the score against the number of sentences, for each source alone and added.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.boundary.documents import document_head
from truemoment.report.drawing import drawing_style, new_figure
from truemoment.report.model import Block, Cell, Drawing, Finding, Report, Section, Table
from truemoment.report.roles import SERIES, MarkLook
from truemoment.report.words import UNDEFINED, counted, low_to_high

if TYPE_CHECKING:  # these load Matplotlib or PyTorch
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from truemoment.learning.training.mixture_study import Contrast, MixtureResult, RowFigures

SCHEMA = "truemoment/mixtures/1"

ASKED = {
    "equal size": "Is a share of the noisy set as good as the clean one of its size?",
    "without noise": "Is it the noise?",
    "all noisy": "Does more of the noisy set help?",
    "scale": "Is all of the noisy set as good as the clean one?",
    "added": "Does adding the noisy set help the clean one?",
}
"""Each question of a study, in words."""

HEIGHT_IN = 3.6

LOOKS = (*SERIES[1:4], SERIES[0])
"""Looks of the sources alone, in their order, and last of mixtures."""


def report(result: MixtureResult) -> Report:
    """Return the report of a study: a table for each test split, the answers, the differences and the figure."""
    recipe = result.grid.recipe
    n_done = sum(len(row.values[result.headline]) for row in next(iter(result.figures.values()), ()))
    sections = []
    for split in result.splits:
        blocks: tuple[Block, ...] = (
            figures_table(result, split),
            *answers(result, split),
            differences_table(result, split),
        )
        sections.append(Section(f"mixtures-{split}", f"Mixtures, measured on {split}", blocks))
    return Report(
        title=f"Mixtures of training data for {recipe.model}",
        facts=(
            ("recipe", f"{recipe.model}, {recipe.hash}"),
            ("sources", ", ".join(source.title for source in recipe.data or ())),
            ("shares", _shares(result)),
            ("runs", f"{n_done} of {len(result.grid.rows) * len(result.grid.seeds)} finished"),
        ),
        sections=(*sections, *((Section("figure", "Score by size", tuple(drawings(result))),) if n_done else ())),
        reading=(
            ("sentences", "sentences that a run learns from"),
            ("steps", "optimiser steps of a run: more data are also more steps, unless the recipe states steps: equal"),
        ),
        notes=(*_unfinished(result), *result.notes),
    )


def _shares(result: MixtureResult) -> str:
    recipe = result.grid.recipe
    by = sorted({source.by for source in recipe.data or ()})
    return (
        f"of {' and '.join(by)}, nested by seed; rows take as many {'steps' if recipe.steps == 'equal' else 'epochs'}"
    )


def figures_table(result: MixtureResult, split: str) -> Table:
    """Return a row a mixture: shares, sentences, steps, and the mean of each measure over seeds."""
    titles = [source.title for source in result.grid.recipe.data or ()]
    headings = (*(f"% {title}" for title in titles), "sentences", "steps", *result.measures)
    rows = tuple(
        (
            *(Cell(f"{100 * figures.row.share_of(title):g}") for title in titles),
            Cell(f"{figures.n_sentences:,}"),
            Cell(f"{figures.n_steps:,}"),
            *(Cell(_mean_and_spread(figures, measure)) for measure in result.measures),
        )
        for figures in result.figures[split]
    )
    n_seeds = len(result.grid.seeds)
    spread = f"± standard deviation over {n_seeds} seeds" if n_seeds > 1 else "one seed"
    return Table(f"Figures in % ({spread}); MdR and MnR are ranks", headings, (("", rows),), text_columns=())


def _mean_and_spread(figures: RowFigures, measure: str) -> str:
    values = np.array(figures.values[measure])
    if not len(values):
        return UNDEFINED
    times = 1 if measure.endswith(("MdR", "MnR")) else 100
    spread = f" ± {times * values.std(ddof=1):.2f}" if len(values) > 1 else ""
    return f"{times * values.mean():.2f}{spread}"


def answers(result: MixtureResult, split: str) -> list[Finding]:
    """Return a finding for each question that the rows answer."""
    return [
        Finding((sentence(contrast, result.headline),), title=ASKED[contrast.question], level="note")
        for contrast in result.contrasts[split]
        if contrast.question in ASKED
    ]


def sentence(contrast: Contrast, headline: str) -> str:
    """Return the answer of a difference in words; a difference whose interval contains 0 is "not resolved"."""
    size = f"{100 * abs(contrast.difference):.2f} points of {headline}"
    interval = low_to_high(np.asarray(contrast.ci95), 2, times=100, sign="+") or "undefined"
    basis = f"95 % interval {interval}, {counted(contrast.n_films, 'film')}"
    if contrast.verdict == 0:
        difference = f"{100 * contrast.difference:+.2f} points of {headline}"
        return f"Not resolved: {contrast.row} less {contrast.other} is {difference} ({basis})."
    return f"{contrast.row} is {size} {'above' if contrast.verdict > 0 else 'below'} {contrast.other} ({basis})."


def differences_table(result: MixtureResult, split: str) -> Table:
    """Return the differences of rows by the headline, with intervals over films."""
    rows = tuple(
        (
            Cell(contrast.row),
            Cell(contrast.other),
            Cell(f"{100 * contrast.difference:+.2f}"),
            Cell(low_to_high(np.asarray(contrast.ci95), 2, times=100, sign="+") or UNDEFINED),
            Cell({1: "above", -1: "below", 0: "not resolved"}[contrast.verdict]),
        )
        for contrast in result.contrasts[split]
    )
    caption = f"Differences of {result.headline} in points, paired by resampling films; not corrected for their number"
    return Table(caption, ("row", "less", "difference", "95 % interval", ""), (("", rows),), text_columns=(0, 1, 4))


def _unfinished(result: MixtureResult) -> list[str]:
    failed = [(outcome.trial, f": {outcome.failed}") for outcome in result.failed]
    unfinished = [(outcome.trial, f" is not finished: {outcome.unfinished}") for outcome in result.unfinished]
    return [f"{trial.method}, seed {trial.seed}{why}" for trial, why in (*failed, *unfinished)]


def document(result: MixtureResult) -> dict[str, Any]:
    """Return a study as a JSON document: fractions, and ranks from 1."""
    recipe = result.grid.recipe
    return {
        **document_head(SCHEMA),
        "recipe": {"model": recipe.model, "hash": recipe.hash},
        "seeds": list(result.grid.seeds),
        "steps": recipe.steps or "epochs",
        "splits": {
            split: {
                "rows": [
                    {
                        "name": figures.row.name,
                        "shares": dict(zip(figures.row.titles, figures.row.shares, strict=True)),
                        "n_sentences": figures.n_sentences,
                        "n_steps": figures.n_steps,
                        "values": {
                            name: [None if math.isnan(value) else value for value in values]
                            for name, values in figures.values.items()
                        },
                    }
                    for figures in result.figures[split]
                ],
                "differences": [
                    {
                        "question": contrast.question,
                        "row": contrast.row,
                        "other": contrast.other,
                        "measure": result.headline,
                        "difference": contrast.difference,
                        "ci95": None if math.isnan(contrast.ci95[0]) else list(contrast.ci95),
                        "n_videos": contrast.n_films,
                    }
                    for contrast in result.contrasts[split]
                ],
            }
            for split in result.splits
        },
        "notes": [*_unfinished(result), *result.notes],
    }


def drawings(result: MixtureResult) -> list[Drawing]:
    """Return a figure for each test split."""
    caption = (
        f"Mean {result.headline} of the seeds, by the number of training sentences; thin marks are single seeds. Rows "
        "of one source alone are joined by a line, and so are those that add to the first source."
    )
    return [
        Drawing(
            f"mixtures-{split}",
            f"{result.headline} by size of the mixture, {split}",
            caption,
            partial(figure, result, split),
            partial(numbers, result, split),
        )
        for split in result.splits
    ]


def lines_of(result: MixtureResult, split: str) -> dict[str, list[RowFigures]]:
    """Return the rows of each line of the figure, by size."""
    titles = [source.title for source in result.grid.recipe.data or ()]
    entries = [entry for entry in result.figures[split] if entry.values[result.headline]]
    lines: dict[str, list[RowFigures]] = {}
    for at, title in enumerate(titles):
        lines[f"{title} alone"] = [row for row in entries if sum(map(bool, row.row.shares)) == 1 and row.row.shares[at]]
    added = [entry for entry in entries if sum(map(bool, entry.row.shares)) > 1 and entry.row.shares[0]]
    if added:
        lines[f"{titles[0]} and more"] = [*lines[f"{titles[0]} alone"][-1:], *added]
    return {name: sorted(rows, key=lambda entry: entry.n_sentences) for name, rows in lines.items() if rows}


def numbers(result: MixtureResult, split: str) -> list[dict[str, Any]]:
    """Return the numbers of the figure, a row a mark; fractions."""
    return [
        {
            "line": name,
            "row": entry.row.name,
            "n_sentences": entry.n_sentences,
            "measure": result.headline,
            "value": float(np.mean(entry.values[result.headline])),
        }
        for name, rows in lines_of(result, split).items()
        for entry in rows
    ]


def figure(result: MixtureResult, split: str) -> Figure:
    """Draw the figure."""
    with drawing_style():
        drawing = new_figure(HEIGHT_IN)
        axes = drawing.subplots()
        titles = [source.title for source in result.grid.recipe.data or ()]
        for name, rows in lines_of(result, split).items():
            at = next((k for k, title in enumerate(titles) if name == f"{title} alone"), len(LOOKS) - 1)
            _line(axes, name, rows, result.headline, LOOKS[min(at, len(LOOKS) - 1)])
        axes.set_xlabel("training sentences")
        axes.set_ylabel(f"{result.headline}, %")
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.legend(frameon=False)
    return drawing


def _line(axes: Axes, name: str, rows: list[RowFigures], headline: str, look: MarkLook) -> None:
    sizes = [entry.n_sentences for entry in rows]
    axes.plot(
        sizes,
        [100 * float(np.mean(entry.values[headline])) for entry in rows],
        color=look.colour,
        marker=look.marker,
        linestyle=look.line,
        label=name,
    )
    for entry in rows:
        values = [100 * value for value in entry.values[headline]]
        axes.plot(
            [entry.n_sentences] * len(values),
            values,
            color=look.colour,
            marker="_",
            linestyle="",
            markersize=5,
            alpha=0.6,
        )
