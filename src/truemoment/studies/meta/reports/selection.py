"""The report on model selection: which validation measure chooses variants that test well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.evaluation.measures import why_undefined
from truemoment.evaluation.uncertainty import ROUNDING
from truemoment.report.drawing import OTHER, SMALL, new_figure
from truemoment.report.model import Cell, Drawing, Finding, Paragraph, Section, Table
from truemoment.report.roles import INK, PAPER, SOFT
from truemoment.report.words import UNDEFINED, few, in_points, interval95_points, low_to_high, percent, points
from truemoment.studies.meta.reports.looks import MeasureLook, label_ends, measure_looks, short_label
from truemoment.studies.meta.selection import Selection

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANEL_IN = 1.15


def section(result: Selection) -> Section:
    """Return the section of the study."""
    return Section(
        "selection",
        "Which validation measure selects variants that test well?",
        (
            Finding(tuple(sentences(result))),
            Drawing(
                "selection-z-scores",
                "Quality of the chosen variants, by every test measure",
                f"Z-score of the variant that each validation measure chooses of {len(result.variants)}, among all "
                "choices, by test measure; higher is better. Lines that coincide chose the same variant. AxIoU paper, "
                "Fig. 8.",
                partial(_z_figure, result),
            ),
            Drawing(
                "selection-regret",
                "Loss of the choices of each measure",
                "Regret on the test split: the best figure of all variants less that of the chosen one, mean over the "
                "test measures. Filled: the choice on the whole validation split. Line and hollow mark: 95 % interval "
                "and mean over resamples of its videos. Vertical line: a random choice.",
                partial(_regret_figure, result),
            ),
            _choices(result),
            _regrets(result),
            *map(Paragraph, _notes(result)),
        ),
        "Model selection",
    )


# ---------------------------------------------------------------------------------------------- words


def sentences(result: Selection) -> list[str]:
    """Return the measure that selects best, whether it is significantly better, and the loss of a random choice."""
    lost = result.mean_lost
    known = [int(at) for at in result.order if math.isfinite(lost[at])]
    names = [str(measure) for measure in result.validation]
    findings = []
    if known:
        first = known[0]
        level = [at for at in known[1:] if result.behind[at, 0] <= ROUNDING]
        loses = f"{in_points(lost[first])} ({interval95_points(result.mean_lost_interval[first], 2)})"
        if not level:
            findings.append(f"Select by {names[first]}: on average its choices lose {loses} on the test split.")
        else:
            findings.append(
                f"No measure selects significantly best. Choices by {names[first]} lose least on the test split, "
                f"{loses}; {few([names[at] for at in level])} {'is' if len(level) == 1 else 'are'} not significantly "
                "worse."
            )
        last = known[-1]
        worst = f"Choices by {names[last]} lose most, {in_points(lost[last])}; a" if len(known) > 1 else "A"
        findings.append(f"{worst} random choice loses {in_points(float(result.by_lot.mean()))}.")
    if unknown := [name for at, name in enumerate(names) if at not in known]:
        findings.append(f"For {few(unknown)} the loss is undefined: some resamples leave a measure undefined.")
    return findings


def _notes(result: Selection) -> list[str]:
    notes = [
        f"Intervals: {result.resamples:,} resamples of the validation videos, the same for all measures; the test "
        "split is fixed. Two measures differ significantly if the 95 % interval of the difference in mean regret "
        "excludes 0.",
        "Z-scores use the mean and standard deviation (ddof 0) of the chosen variants under one test measure.",
    ]
    validation, test = result.validation_systems.first, result.test_systems.first
    if validation.annotations_sha256 == test.annotations_sha256 and np.array_equal(validation.query_id, test.query_id):
        notes.insert(0, "Validation and test are the same queries: the choices were made on the test data.")
    if equal := [str(m) for m, z in zip(result.test, result.z.T, strict=True) if not z.any()]:
        notes.append(f"All choices have the same figure by {few(equal)}: Z-scores are 0 there.")
    tied = [f"{m} ({n})" for m, n in zip(result.validation, result.tied.tolist(), strict=True) if n > 1]
    if tied:
        notes.append(f"Measures by which several variants tie as the best: {few(tied)}; figures are means over these.")
    return notes


# --------------------------------------------------------------------------------------------- tables


def _choices(result: Selection) -> Table:
    lost, interval = result.mean_lost, result.mean_lost_interval
    rows = []
    for at in result.order:
        tied = f"of {result.tied[at]} that tie" if result.tied[at] > 1 else ""
        worst = int(np.nan_to_num(result.regret[at], nan=-1).argmax())
        is_compared = at != result.order[0] and math.isfinite(lost[at])
        rows.append(
            (
                Cell(str(result.validation[at])),
                Cell(result.variants[result.selected[at]], tied),
                Cell(points(lost[at], 2), low_to_high(interval[at], 2, times=100)),
                Cell(points(result.regret[at].mean(), 2)),
                Cell(points(result.regret[at, worst], 2), short_label(result.test[worst])),
                Cell(percent(result.stays[at])),
                Cell(percent(result.worse_than_first[at]) if is_compared else UNDEFINED),
            )
        )
    return Table(
        "The choice of each validation measure, and its loss on the test split in points: mean over test "
        "measures and resamples of the validation videos (with a 95 % interval); mean and worst of the choice "
        "on the whole split; share of resamples with the same choice, and with a larger loss than the first row.",
        ("select by", "chosen", "loses", "this choice", "at worst", "chosen again", "worse than first"),
        (("", tuple(rows)),),
        text_columns=(0, 1),
    )


def _regrets(result: Selection) -> Table:
    rows = [
        (
            Cell(str(measure)),
            *(Cell(points(value, 2), marked=bool(value <= ROUNDING)) for value in regret.tolist()),
            Cell(points(regret.mean(), 2)),
        )
        for measure, regret in zip(result.validation, result.regret, strict=True)
    ]
    by_chance = [*result.by_lot.tolist(), result.by_lot.mean()]
    rows.append((Cell("random choice"), *(Cell(points(value, 2)) for value in by_chance)))
    return Table(
        "Regret of the choice on the whole validation split, in points of the test measure (columns) by the validation "
        "measure that chose (rows); marked where the choice is the best variant.",
        ("select by", *(str(measure) for measure in result.test), "mean"),
        (("", tuple(rows)),),
    )


# ------------------------------------------------------------------------------------------- document


def document(result: Selection) -> dict[str, Any]:
    """Return the JSON document."""
    validation, test = result.validation_systems.first, result.test_systems.first
    return {
        "variants": result.variants,
        "validation_data": {"dataset": validation.dataset, "split": validation.split},
        "test_data": {"dataset": test.dataset, "split": test.split},
        "resamples": result.resamples,
        "z_scores": "ddof 0",
        "order": [str(result.validation[at]) for at in result.order],
        "by_lot": [
            {"measure": str(measure), "regret": value, "unit": "fraction"}
            for measure, value in zip(result.test, result.by_lot, strict=True)
        ],
        "validation": [_choice_entry(result, at) for at in range(len(result.validation))],
    }


def _choice_entry(result: Selection, at: int) -> dict[str, Any]:
    lost = float(result.mean_lost[at])
    return {
        "measure": str(result.validation[at]),
        "chosen": result.variants[result.selected[at]],
        "tied": result.tied[at],
        "chosen_again": result.stays[at],
        "validation_value": result.validation_figures[result.selected[at], at],
        "mean_regret": {
            "value": result.regret[at].mean(),
            "over_resamples": lost,
            "ci95": result.mean_lost_interval[at],
            "behind_first_ci95": result.behind[at],
            "worse_than_first": result.worse_than_first[at],
            "unit": "fraction",
            **_why(result, lost, 0),
        },
        "test": [
            {
                "measure": str(result.test[row]),
                "value": result.selected_figures[at, row],
                "z": result.z[at, row],
                "regret": result.regret[at, row],
                "regret_over_resamples": result.regret_mean[at, row],
                "regret_ci95": result.regret_interval[at, row],
                "unit": "fraction",
                **_why(result, result.regret[at, row], row),
            }
            for row in range(len(result.test))
        ],
    }


def _why(result: Selection, value: float, row: int) -> dict[str, str]:
    known = math.isfinite(value)
    return {} if known else {"why": f"for some variant or resample {why_undefined(result.test[row])}"}


# -------------------------------------------------------------------------------------------- figures


def _panels(looks: Sequence[MeasureLook]) -> list[tuple[str, list[int]]]:
    """Group validation measures as in the paper's panels: R@1, R@5, R@10, AxIoU; others together."""
    groups: dict[str, list[int]] = {}
    for at, look in enumerate(looks):
        title = f"R@{look.rank}" if look.family == "R" and look.threshold else look.family
        groups.setdefault(title, []).append(at)
    few = [title for title in groups if not title.startswith("R@") and title not in ("AxIoU", "dR")]
    if len(few) > 1:
        groups = {title: members for title, members in groups.items() if title not in few} | {
            "others": [at for title in few for at in groups[title]]
        }
    return list(groups.items())


def _z_figure(result: Selection) -> Figure:
    looks = measure_looks(result.validation)
    panels = _panels(looks)
    figure = new_figure(0.75 + _PANEL_IN * len(panels))
    rows = figure.subplots(len(panels), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    place = np.arange(len(result.test), dtype=np.float64)
    for axes, (title, members) in zip(rows, panels, strict=True):
        axes.set_title(f"selected by {title}", loc="left", fontsize=SMALL, color=SOFT)
        axes.axhline(0, color=SOFT, linewidth=0.8)
        axes.grid(axis="x")
        for at in members:
            axes.plot(place, result.z[at], **looks[at].line_style())
        axes.set_ylabel("Z-score")
    bottom: Axes = rows[-1]
    bottom.set_xticks(place, [short_label(measure) for measure in result.test], rotation=90)
    bottom.set_xlabel("test measure")
    bottom.set_xlim(-0.4, len(place) - 0.6)
    largest = float(np.nanmax(np.abs(np.nan_to_num(result.z)), initial=1.0))
    bottom.set_ylim(-1.1 * largest, 1.1 * largest)
    for axes, (_, members) in zip(rows, panels, strict=True):
        ends = [(float(place[-1]), float(result.z[at, -1])) for at in members]
        label_ends(axes, [looks[at] for at in members], ends, _PANEL_IN)
    return figure


def _regret_figure(result: Selection) -> Figure:
    looks, lost = measure_looks(result.validation), result.mean_lost
    order = result.order
    figure = new_figure(0.75 + 0.2 * len(order))
    axes = figure.subplots()
    place = np.arange(len(order))
    low, high = 100 * result.mean_lost_interval[order].T
    axes.hlines(place, low, high, color=[looks[at].colour for at in order], linewidth=1.4)
    regret = 100 * result.regret.mean(axis=1)
    for at, row in enumerate(order):
        axes.plot(100 * lost[row], at, "o", markersize=5, markerfacecolor=PAPER, markeredgecolor=looks[row].colour)
        axes.plot(regret[row], at, "D", markersize=3.5, color=looks[row].colour)
    lot = 100 * float(result.by_lot.mean())
    axes.axvline(lot, color=OTHER, linewidth=1.0, linestyle=(0, (4, 2)))
    axes.annotate(
        "random choice",
        (lot, 1.0),
        (0, 2),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="center",
        fontsize=SMALL,
        color=INK,
    )
    axes.set_yticks(place, [looks[at].label for at in order])
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("mean regret on the test split, in points")
    return figure
