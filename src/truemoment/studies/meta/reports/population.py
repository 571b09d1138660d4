"""The report on simulated systems: their recipes, figures and similarity."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from truemoment.base.intervals import Floats
from truemoment.evaluation.head import head
from truemoment.report.model import Cell, Finding, Report, Section, Table
from truemoment.report.words import UNDEFINED, counted, number
from truemoment.studies.meta.population import correlations, differ_in_model
from truemoment.studies.meta.simulation import SimulatedSystem
from truemoment.studies.meta.systems import Systems

SCHEMA = "truemoment/population/1"

N_SHOWN = 60
"""Maximum number of systems in the table; JSON and the files have all."""

DIALS = ("found", "boundary error", "ranking", "bias", "NMS")


@dataclass(frozen=True, eq=False)
class PopulationRun:
    """Simulated systems and their figures.

    Parameters
    ----------
    recipes
        Recipes in the order of `systems`.
    systems
        Their per-query statistics, mIoU among the measures.
    fitted_on
        Source of training moments, as ``dataset/split``; "" for none.
    seed, top
        Seed of the draws; maximum number of predictions per query.
    out
        Folder with the prediction files.
    """

    recipes: tuple[SimulatedSystem, ...]
    systems: Systems
    fitted_on: str
    seed: int
    top: int
    out: str

    @functools.cached_property
    def alike(self) -> Floats:
        """Correlation of per-query mIoU for each pair of different models that has one; (C,)."""
        values = correlations(self.systems)[differ_in_model(self.recipes)]
        return np.asarray(values[np.isfinite(values)])


def report(run: PopulationRun) -> Report:
    """Return the report."""
    shown = list(zip(run.recipes, run.systems.figures, strict=True))[:N_SHOWN]
    findings = [f"{len(run.recipes)} simulated systems, up to {run.top} predictions per query, seed {run.seed}."]
    if len(run.alike):
        findings.append(
            f"The per-query mIoU of two different models correlates by {run.alike.mean():.2f} on average "
            f"({run.alike.min():.2f} to {run.alike.max():.2f})."
        )
    notes = ["Simulated systems know the references. They replace trained systems only in studies of measures."]
    if run.fitted_on:
        notes.append(f"Biased systems use the locations of the moments of {run.fitted_on}.")
    if len(shown) < len(run.recipes):
        notes.append(f"The table shows the first {len(shown)}.")
    groups = tuple(
        (family, tuple(_row(system, figures) for system, figures in members))
        for family, members in groupby(shown, key=lambda pair: pair[0].family)
    )
    table = Table("Recipes and figures (percent)", ("system", *DIALS, *map(str, run.systems.measures)), groups)
    data = run.systems.first
    return Report(
        title=f"Simulated systems on {data.dataset}, {data.split}",
        sections=(Section("population", "Simulated systems", (Finding(tuple(findings)), table)),),
        facts=(
            ("data", f"{data.dataset}/{data.split}: {counted(len(data), 'query', 'queries')}"),
            ("files", f"{run.out} ({counted(len(run.recipes), 'file')})"),
        ),
        notes=tuple(notes),
        signature=f"{data.signature()}|seed:{run.seed}",
    )


def _row(system: SimulatedSystem, figures: Floats) -> tuple[Cell, ...]:
    dials = (system.found_share, system.boundary_error, system.ranking, system.bias)
    return (
        Cell(system.name),
        *(Cell(number(dial)) for dial in dials),
        Cell("none" if system.nms_threshold is None else f"{system.nms_threshold:g}"),
        *(Cell(UNDEFINED if math.isnan(figure) else f"{100 * figure:.1f}") for figure in figures),
    )


def document(run: PopulationRun) -> dict[str, Any]:
    """Return the JSON document: recipes, figures as fractions, correlations."""
    alike = run.alike
    correlation: dict[str, Any] = {"pairs": len(alike)}
    if len(alike):
        correlation |= {"mean": alike.mean(), "lowest": alike.min(), "highest": alike.max()}
    return {
        **head(SCHEMA, run.systems.first),
        "seed": run.seed,
        "top": run.top,
        "fitted_on": run.fitted_on or None,
        "out": run.out,
        "correlation": correlation if len(alike) else None,
        "systems": [
            {
                **system.recipe,
                "figures": [
                    {"measure": str(measure), "value": figure, "unit": "fraction"}
                    for measure, figure in zip(run.systems.measures, figures, strict=True)
                ],
            }
            for system, figures in zip(run.recipes, run.systems.figures, strict=True)
        ],
    }
