"""What is told of simulated systems: their recipes, what they score, and how alike they are."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from truemoment.intervals import Floats
from truemoment.metaevaluation.population import correlations, of_two_models
from truemoment.metaevaluation.simulation import SimulatedSystem
from truemoment.metaevaluation.systems import Systems
from truemoment.reports.head import head
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.model import Cell, Table

SCHEMA = "truemoment/population/1"

N_SHOWN = 60
"""Systems in the table; the rest stands in the files and in JSON."""


@dataclass(frozen=True, eq=False)
class PopulationRun:
    """Simulated systems and what they score.

    Parameters
    ----------
    recipes
        Of the systems, in the order of `systems`.
    systems
        Their per-query statistics, by mIoU too.
    fitted_on
        Where training moments come from, as ``dataset/split``; "" for nowhere.
    seed, top
        Of the draws; most answers a query.
    out
        The folder written to.
    """

    recipes: tuple[SimulatedSystem, ...]
    systems: Systems
    fitted_on: str
    seed: int
    top: int
    out: str

    @functools.cached_property
    def alike(self) -> Floats:
        """Correlation of the mIoU of single queries, of each pair of different models that has one; (C,)."""
        found = correlations(self.systems)[of_two_models(self.recipes)]
        return np.asarray(found[np.isfinite(found)])


def chapter(run: PopulationRun) -> Chapter:
    """Say what was simulated."""
    alike = run.alike
    shown = min(len(run.recipes), N_SHOWN)
    said = [f"{len(run.recipes)} simulated systems, {run.top} answers a query at most, seed {run.seed}."]
    if len(alike):
        said.append(
            f"Their mIoU of single queries correlates by {alike.mean():.2f} on average over pairs of different models "
            f"({alike.min():.2f} to {alike.max():.2f})."
        )
    notes = ["They are handed the references and stand in for trained systems only where measures are studied."]
    if run.fitted_on:
        notes.append(f"Biased ones lean on where the moments of {run.fitted_on} lie.")
    if shown < len(run.recipes):
        notes.append(f"The table shows the first {shown}.")
    return Chapter(
        name="population",
        title="Simulated systems",
        said=tuple(said),
        tables=(_table(run, shown),),
        drawings=(),
        document=document(run),
        notes=tuple(notes),
    )


def _table(run: PopulationRun, shown: int) -> Table:
    rows = [
        (system.family, _row(system, figures))
        for system, figures in zip(run.recipes[:shown], run.systems.figures[:shown], strict=True)
    ]
    groups = tuple((family, tuple(row for _, row in of)) for family, of in groupby(rows, key=lambda row: row[0]))
    dials = ("found", "boundary error", "ranking", "bias", "NMS")
    return Table("Dials and figures (percent)", ("system", *dials, *map(str, run.systems.measures)), groups)


def _row(system: SimulatedSystem, figures: Sequence[float] | Floats) -> tuple[Cell, ...]:
    dials = (system.found, system.boundary_error, system.ranking, system.bias)
    return (
        Cell(system.name),
        *(Cell(f"{dial:.2f}") for dial in dials),
        Cell("none" if system.nms_threshold is None else f"{system.nms_threshold:g}"),
        *(Cell("-" if np.isnan(figure) else f"{100 * figure:.1f}") for figure in figures),
    )


def document(run: PopulationRun) -> dict[str, Any]:
    """Return the JSON document: recipes, figures as fractions, correlations."""
    alike = run.alike
    return {
        **head(SCHEMA, run.systems.first),
        "seed": run.seed,
        "top": run.top,
        "fitted_on": run.fitted_on or None,
        "out": run.out,
        "correlation": {
            "pairs": len(alike),
            "mean": float(alike.mean()),
            "lowest": float(alike.min()),
            "highest": float(alike.max()),
        }
        if len(alike)
        else None,
        "systems": [
            {
                **system.recipe,
                "figures": [
                    {"measure": str(measure), "value": None if np.isnan(figure) else float(figure), "unit": "fraction"}
                    for measure, figure in zip(run.systems.measures, figures, strict=True)
                ],
            }
            for system, figures in zip(run.recipes, run.systems.figures, strict=True)
        ],
    }
