"""The report of a sweep: scores against the dial, floors beside, what each method scores without it and loses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from truemoment.base.boundary.documents import document_head
from truemoment.base.intervals import Floats
from truemoment.learning.training.report_sweep_figures import data_of, drawings
from truemoment.learning.training.sweep_results import (
    IID,
    OOD,
    Curve,
    Difference,
    SweepResult,
    difference,
    mean_and_spread,
)
from truemoment.report.model import Block, Cell, Finding, Report, Section, Table
from truemoment.report.words import UNDEFINED, counted, few, in_points, listed, low_to_high, points

SCHEMA = "truemoment/sweep/2"


def report(result: SweepResult) -> Report:
    """Return the report of a sweep: a table of scores, findings, and a figure of each measure."""
    blocks: list[Block] = [table(result)]
    if sentences := findings(result):
        blocks.append(Finding(tuple(sentences)))
    return Report(
        title=f"{result.headline} against {result.dial}",
        facts=(("data", data_of(result)),),
        sections=(Section("sweep", "Scores", (*blocks, *drawings(result))),),
        notes=(*_failures(result), *result.notes),
    )


def table(result: SweepResult) -> Table:
    """Return scores by split, method and value, and below them what is lost from test-iid to test-ood."""
    first, *others = (f"{value:g}" for value in result.values)
    spread = f"± standard deviation over {len(result.seeds)} seeds" if len(result.seeds) > 1 else "one seed"
    groups = [(split, _rows({curve: result.table(curve, split) for curve in result.curves})) for split in result.splits]
    if result.has_two:
        groups.append(("loss", _rows({curve: result.losses(curve) for curve in result.curves})))
    caption = f"{result.headline}, % ({spread})"
    return Table(caption, ("method", f"{result.dial} {first}", *others), tuple(groups))


def _rows(tables: Mapping[Curve, Floats]) -> tuple[tuple[Cell, ...], ...]:
    rows = []
    for curve, table_of in tables.items():
        several, complete = table_of.shape[1] > 1, [bool(np.isfinite(row).all()) for row in table_of]
        figures = [
            Cell(_score(mean, spread if several else math.nan), marked=math.isfinite(mean) and not whole)
            for mean, spread, whole in zip(*mean_and_spread(table_of), complete, strict=True)
        ]
        rows.append((Cell(curve.title + ("" if curve.kind == "method" else f" ({curve.kind})")), *figures))
    return tuple(rows)


def _score(mean: float, spread: float) -> str:
    return f"{points(mean, 2)} ± {points(spread, 2)}" if math.isfinite(spread) else points(mean, 2)


def findings(result: SweepResult) -> list[str]:
    """Return what each method scores without the dial, what the dial adds, and what each method loses."""
    losses = _losses(result) if result.has_two else []
    if result.dial == "perception":
        return [*_without_seeing(result), *_interval_rules(result), *losses]
    return [*_with_prior(result), *losses]


def _without_seeing(result: SweepResult) -> list[str]:
    """Return what each method that sees scores at perception 0, and what perception adds."""
    seeing = [curve for curve in result.methods if curve.sees]
    if not seeing:
        return []
    if result.values[0] > 0:
        return ["The sweep has no perception 0, so it cannot show what the methods score without seeing."]
    lines = []
    for curve, split in itertools.product(seeing, result.splits):
        mean, spread = mean_and_spread(result.table(curve, split))
        if not math.isfinite(mean[0]):
            continue
        beside = [
            f"{method.title} {_mean_at(result, method, split, 0)}" for method in result.methods if not method.sees
        ]
        if floor := result.strongest_floor(split, 0):
            beside.insert(0, f"strongest floor, {floor.title}: {_mean_at(result, floor, split, 0)}")
        others = f" ({'; '.join(beside)})" if beside else ""
        sentence = f"At perception 0 {curve.title} scores {_score(mean[0], spread[0])} % on {split} without seeing"
        sentence += f"{others}."
        if len(mean) > 1 and math.isfinite(mean[-1]):
            gain = points(mean[-1] - mean[0], 2, sign="+")
            sentence += f" Perception {result.values[-1]:g} changes that by {gain} points."
        lines.append(sentence)
    return lines


def _interval_rules(result: SweepResult) -> list[str]:
    """Return what rules score that only pick an interval, at the highest perception."""
    rules = [curve for curve in result.references if curve.sees]
    lines = []
    for split in result.splits:
        figures = [
            f"{rule.title}{' (ceiling)' if rule.kind == 'ceiling' else ''} {_mean_at(result, rule, split, -1)}"
            for rule in rules
        ]
        if figures:
            lines.append(
                f"On {split}, rules that pick one of the intervals in the features of perception "
                f"{result.values[-1]:g} score: {', '.join(figures)}. Floors do not read the sentence."
            )
    return lines


def _with_prior(result: SweepResult) -> list[str]:
    """Return how each method's score changes from the lowest to the highest value of a prior."""
    low, high = result.values[0], result.values[-1]
    lines = []
    for curve, split in itertools.product(result.methods, result.splits):
        mean, _ = mean_and_spread(result.table(curve, split))
        if low < high and math.isfinite(mean[0]) and math.isfinite(mean[-1]):
            lines.append(
                f"From {result.dial} {low:g} to {high:g} {curve.title} goes from {points(mean[0], 2)} % to "
                f"{points(mean[-1], 2)} % on {split} ({points(mean[-1] - mean[0], 2, sign='+')} points)."
            )
    return lines


def _mean_at(result: SweepResult, curve: Curve, split: str, at: int) -> str:
    mean = mean_and_spread(result.table(curve, split))[0][at]
    return f"{points(mean, 2)} %" if math.isfinite(mean) else UNDEFINED


def _losses(result: SweepResult) -> list[str]:
    """Return sentences on which of two methods loses less from test-iid to test-ood."""
    compared = [curve for curve in result.methods if curve.sees] if result.dial == "perception" else result.methods
    pairs = list(itertools.combinations(compared, 2))
    if not pairs:
        return []
    if len(result.seeds) < 2:
        return [f"One seed cannot show which method loses less from {IID} to {OOD}."]
    return [
        *(_loss(result, a, b) for a, b in pairs),
        f"(Losses from {IID} to {OOD}, {counted(len(result.seeds), 'seed')} paired, 95 % intervals by Student's t. "
        "They include variation of training only; other test videos would widen them. A method that scores less has "
        "less to lose.)",
    ]


def _loss(result: SweepResult, a: Curve, b: Curve) -> str:
    """Return at which values one of two methods clearly loses less than the other."""
    differences = [difference(*pair) for pair in zip(result.losses(a), result.losses(b), strict=True)]
    parts = []
    for less, more, sign in ((a, b, -1), (b, a, 1)):
        at = [
            f"{value:g} (by {in_points(abs(gap.mean))}, {_ends(gap)})"
            for value, gap in zip(result.values, differences, strict=True)
            if gap is not None and gap.is_clear and gap.mean * sign > 0
        ]
        if at:
            parts.append(f"{less.title} loses less than {more.title} at {result.dial} {listed(at)}")
    unclear = [
        f"{value:g}" for value, gap in zip(result.values, differences, strict=True) if gap is None or not gap.is_clear
    ]
    if unclear:
        where = f"{result.dial} {listed(unclear)}" if parts else f"any {result.dial}"
        parts.append(f"the seeds do not show which of {a.title} and {b.title} loses less at {where}")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def _ends(gap: Difference) -> str:
    return low_to_high(sorted(abs(end) for end in (gap.low, gap.high)), times=100)


def _failures(result: SweepResult) -> list[str]:
    """Return a note that names the cells without figures."""
    if not result.failed:
        return []
    titles = {curve.name: curve.title for curve in result.methods}
    cells = [
        titles[cell.method]
        + ("" if cell.value is None else f" at {result.dial} {cell.value:g}")
        + f", seed {cell.seed}: {cell.why}"
        for cell in result.failed
    ]
    return [f"{counted(len(cells), 'cell')} empty (* marks a mean of fewer seeds): {few(cells)}"]


# ------------------------------------------------------------------------------------------------- JSON


def document(result: SweepResult) -> dict[str, Any]:
    """Return a sweep as a JSON document, in fractions."""
    return {
        **document_head(SCHEMA),
        "source": result.source,
        "dial": result.dial,
        "values": result.values,
        "seeds": result.seeds,
        "splits": result.splits,
        "measures": result.measures,
        "headline": result.headline,
        "unit": "fraction",
        "methods": [
            {
                "recipe": curve.name,
                "title": curve.title,
                "hash": curve.config,
                "sees_video": curve.sees,
                "level": curve.level,
            }
            for curve in result.methods
        ],
        "cells": [entry for curve in result.methods for entry in _entries(result, curve)],
        "floors": [entry for curve in result.floors for entry in _entries(result, curve)],
        "ceilings": [entry for curve in result.ceilings for entry in _entries(result, curve)],
        "summary": [entry for curve in result.curves for entry in _summary(result, curve)],
        "empty": [
            {"recipe": curve.method, "dial_value": curve.value, "seed": curve.seed, "why": curve.why}
            for curve in result.failed
        ],
        "said": findings(result),
        "notes": result.notes,
    }


def _entries(result: SweepResult, curve: Curve) -> list[dict[str, Any]]:
    """Return every figure of a method or floor; the dial's value is null where it changes nothing."""
    return [
        {
            "recipe": curve.name,
            "hash": curve.config,
            "dial_value": value,
            "seed": seed,
            "split": split,
            "measure": measure,
            "value": figures.get((split, measure), math.nan),
        }
        for (value, seed), figures in curve.points.items()
        for split in result.splits
        for measure in result.measures
    ]


def _summary(result: SweepResult, curve: Curve) -> list[dict[str, Any]]:
    """Return mean and standard deviation over seeds."""
    entries = []
    for split, measure in itertools.product(result.splits, result.measures):
        figures = result.table(curve, split, measure)
        for value, mean, spread, row in zip(result.values, *mean_and_spread(figures), figures, strict=True):
            entries.append(
                {
                    "name": curve.name,
                    "kind": curve.kind,
                    "dial_value": value,
                    "split": split,
                    "measure": measure,
                    "mean": mean,
                    "standard_deviation": spread,
                    "n_seeds": int(np.isfinite(row).sum()),
                }
            )
    return entries
