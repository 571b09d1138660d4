"""The report of a study of mixtures: the table in the form of MAD's Tables 5 and 6, and its two questions in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.version import __version__ as version
from truemoment.learning.training.report_mixture_figure import drawings
from truemoment.report.model import Block, Cell, Finding, Report, Section, Table
from truemoment.report.words import UNDEFINED, counted, low_to_high

if TYPE_CHECKING:  # it loads PyTorch
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


def report(result: MixtureResult) -> Report:
    """Return what people read: a table a test split, the answers, the differences and the figure."""
    recipe = result.grid.recipe
    n_done = sum(len(of.values[result.headline]) for of in next(iter(result.figures.values()), ()))
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
            *(Cell(f"{100 * of.row.share_of(title):g}") for title in titles),
            Cell(f"{of.n_sentences:,}"),
            Cell(f"{of.n_steps:,}"),
            *(Cell(_mean_and_spread(of, measure)) for measure in result.measures),
        )
        for of in result.figures[split]
    )
    n_seeds = len(result.grid.seeds)
    spread = f"± standard deviation over {n_seeds} seeds" if n_seeds > 1 else "one seed"
    return Table(f"Figures in % ({spread}); MdR and MnR are ranks", headings, (("", rows),), text_columns=())


def _mean_and_spread(of: RowFigures, measure: str) -> str:
    values = np.array(of.values[measure])
    if not len(values):
        return UNDEFINED
    times = 1 if measure.endswith(("MdR", "MnR")) else 100
    spread = f" ± {times * values.std(ddof=1):.2f}" if len(values) > 1 else ""
    return f"{times * values.mean():.2f}{spread}"


def answers(result: MixtureResult, split: str) -> list[Finding]:
    """Return a finding for each question that the rows answer."""
    return [
        Finding((sentence(of, result.headline),), title=ASKED[of.question], level="note")
        for of in result.contrasts[split]
        if of.question in ASKED
    ]


def sentence(of: Contrast, headline: str) -> str:
    """Return the answer of a difference in words; one that is not resolved is called so."""
    size = f"{100 * abs(of.difference):.2f} points of {headline}"
    interval = low_to_high(np.asarray(of.ci95), 2, times=100, sign="+") or "undefined"
    shown = f"95 % interval {interval}, {counted(of.n_films, 'film')}"
    if of.verdict == 0:
        return f"Not resolved: {of.row} less {of.other} is {100 * of.difference:+.2f} points of {headline} ({shown})."
    return f"{of.row} is {size} {'above' if of.verdict > 0 else 'below'} {of.other} ({shown})."


def differences_table(result: MixtureResult, split: str) -> Table:
    """Return the differences of rows by the headline, with intervals over films."""
    rows = tuple(
        (
            Cell(of.row),
            Cell(of.other),
            Cell(f"{100 * of.difference:+.2f}"),
            Cell(low_to_high(np.asarray(of.ci95), 2, times=100, sign="+") or UNDEFINED),
            Cell({1: "above", -1: "below", 0: "not resolved"}[of.verdict]),
        )
        for of in result.contrasts[split]
    )
    caption = f"Differences of {result.headline} in points, paired by resampling films; not corrected for their number"
    return Table(caption, ("row", "less", "difference", "95 % interval", ""), (("", rows),), text_columns=(0, 1, 4))


def _unfinished(result: MixtureResult) -> list[str]:
    failed = [f"{of.trial.method}, seed {of.trial.seed}: {of.failed}" for of in result.failed]
    return [*failed, *(f"{of.trial.method}, seed {of.trial.seed} is not finished: {of.left}" for of in result.left)]


def document(result: MixtureResult) -> dict[str, Any]:
    """Return what programs read; fractions, and ranks from 1."""
    recipe = result.grid.recipe
    return {
        "schema": SCHEMA,
        "truemoment": version,
        "recipe": {"model": recipe.model, "hash": recipe.hash},
        "seeds": list(result.grid.seeds),
        "steps": recipe.steps or "epochs",
        "splits": {
            split: {
                "rows": [
                    {
                        "name": of.row.name,
                        "shares": dict(zip(of.row.titles, of.row.shares, strict=True)),
                        "n_sentences": of.n_sentences,
                        "n_steps": of.n_steps,
                        "values": {name: [_or_null(one) for one in values] for name, values in of.values.items()},
                    }
                    for of in result.figures[split]
                ],
                "differences": [
                    {
                        "question": of.question,
                        "row": of.row,
                        "other": of.other,
                        "measure": result.headline,
                        "difference": of.difference,
                        "ci95": None if math.isnan(of.ci95[0]) else list(of.ci95),
                        "n_videos": of.n_films,
                    }
                    for of in result.contrasts[split]
                ],
            }
            for split in result.splits
        },
        "notes": [*_unfinished(result), *result.notes],
    }


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else value
