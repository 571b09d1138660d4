"""Curves of methods, floors and rules of a sweep or a table, from what was trained and measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from truemoment.learning.training.floors import CONFIG, FloorFigures, RuleFigures
from truemoment.learning.training.sweep import Method
from truemoment.learning.training.sweep_results import Curve, Place
from truemoment.learning.training.trials import TrialOutcome


def curves_of_methods(methods: Sequence[Method], outcomes: Sequence[TrialOutcome]) -> tuple[Curve, ...]:
    """Return the figures of each method in the order of its trials; recipes of one family are called by their names."""
    titles = [method.recipe.family.title for method in methods]
    return tuple(
        Curve(
            name=method.name,
            title=title if titles.count(title) == 1 else method.name,
            kind="method",
            sees=method.recipe.family.sees_video,
            points={
                (outcome.trial.value, outcome.trial.seed): {
                    (row.split, row.measure): float(row.value) if row.value else math.nan for row in outcome.rows
                }
                for outcome in outcomes
                if outcome.trial.method == method.name
            },
            config=method.recipe.hash,
        )
        for method, title in zip(methods, titles, strict=True)
    )


def curves_of_floors(figures: Mapping[Place, Iterable[FloorFigures]], measures: Sequence[str]) -> tuple[Curve, ...]:
    """Return the figures of each floor by place."""
    curves: dict[str, Curve] = {}
    points: dict[str, dict[Place, dict[tuple[str, str], float]]] = {}
    for place, floors in figures.items():
        for floor in floors:
            at = points.setdefault(floor.name, {}).setdefault(place, {})
            at |= {(floor.split, measure): float(floor.scores.value(measure)) for measure in measures}
            curves[floor.name] = Curve(floor.name, floor.title, "floor", False, points[floor.name], CONFIG)
    return tuple(curves.values())


def curves_of_rules(figures: Sequence[RuleFigures], place_of: Callable[[RuleFigures], Place]) -> tuple[Curve, ...]:
    """Return the figures of each rule by place."""
    names = {figure.name: figure for figure in figures}
    return tuple(
        Curve(name, rule.title, rule.kind, True, {place_of(at): at.values for at in figures if at.name == name}, CONFIG)
        for name, rule in names.items()
    )
