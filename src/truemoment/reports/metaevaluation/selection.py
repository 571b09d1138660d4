"""The chapter on model selection: which validation measure chooses variants that test well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.measures import Measure, why_undefined
from truemoment.metaevaluation.selection import Selection
from truemoment.reports.drawing import INK, OTHER, PAPER, SMALL, SOFT, new_figure
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.metaevaluation.parts import MeasureLook, label_ends, measure_looks, named, short_label
from truemoment.reports.model import Cell, Drawing, Table
from truemoment.reports.text import few, low_to_high, number, percent, points
from truemoment.uncertainty import ROUNDING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANEL_IN = 1.15


def chapter(selection: Selection) -> Chapter:
    """Say which measure to select by, what its choices lose, and how sure that is.

    Parameters
    ----------
    selection
        The study's result.

    Returns
    -------
    Chapter
    """
    n_variants = len(selection.variants)
    drawings = (
        Drawing(
            "selection-z-scores",
            "How good the chosen variants are, by every test measure",
            f"Z-score of the variant that each validation measure chooses of {n_variants}, among all choices, by test "
            "measure; higher is better. A line that is level and high is a measure to select by; lines that lie "
            "on each other chose the same variant. AxIoU paper, Fig. 8.",
            lambda: _z_figure(selection),
        ),
        Drawing(
            "selection-regret",
            "What choosing by each measure loses",
            "Regret: how much worse than the best of all variants the chosen one is on the test split, mean over the "
            "test measures. Filled: the choice on the whole validation split. Line and hollow: 95 % interval and mean "
            "over resamples of its videos. The vertical line is what a variant drawn by lot loses.",
            lambda: _regret_figure(selection),
        ),
    )
    return Chapter(
        name="selection",
        title="Which validation measure selects variants that test well?",
        said=tuple(_said(selection)),
        tables=(_choices(selection), _regrets(selection)),
        drawings=drawings,
        document=_document(selection),
        notes=tuple(_notes(selection)),
    )


# ---------------------------------------------------------------------------------------------- words


def _said(selection: Selection) -> list[str]:
    names = [str(measure) for measure in selection.validation]
    lost = selection.mean_lost
    told = [int(at) for at in selection.order if math.isfinite(lost[at])]  # what loses least first
    said = [_best(selection, names, told), *_poorest(selection, names, told)] if told else []
    if unknown := [name for at, name in enumerate(names) if at not in told]:
        said.append(f"What choosing loses cannot be told of {few(unknown)}: some resamples leave a measure undefined.")
    if not told:
        return said
    said += [*_under_recall(selection, names, told), _on_the_whole(selection, names)]
    steady, fickle = int(selection.stays.argmax()), int(selection.stays.argmin())
    how = f"in {percent(selection.stays[steady])} of the resamples by "
    if selection.stays[steady] - selection.stays[fickle] > ROUNDING:
        how += f"{names[steady]}, the most, and in {percent(selection.stays[fickle])} by {names[fickle]}, the fewest"
    else:
        how += names[0] if len(names) == 1 else "every measure"
    said.append(f"Other validation videos may choose otherwise: the same variant is chosen again {how}.")
    return said


def _best(selection: Selection, names: Sequence[str], told: Sequence[int]) -> str:
    """Say which measure selects best, or which cannot be told apart."""
    lost, first = selection.mean_lost, told[0]
    regret = selection.regret[first]
    n_tests = len(selection.test)
    worst = int(np.nan_to_num(regret, nan=-1).argmax())
    whole = f"on the whole validation split loses {points(regret.mean())}"
    if n_tests > 1 and regret.max() - regret.min() > ROUNDING:
        whole += f", {points(regret[worst])} at worst (by {selection.test[worst]})"
    what = (
        f"{points(lost[first])} {'a test measure ' if n_tests > 1 else ''}on average over resamples of the validation "
        "videos"
    )
    if len(told) == 1:
        return f"{names[first]} selects: on the test split its choices lose {what}; its choice {whole}."
    alike = [at for at in told if lost[at] <= lost[first] + ROUNDING]
    level = [at for at in told if selection.behind[at, 0] <= ROUNDING and at not in alike]
    if len(alike) == len(told):
        return (
            f"No measure is shown to choose best: the choices of all lose alike on the test split, {what}; that of "
            f"{names[first]} {whole}."
        )
    if len(alike) > 1 or level:
        one = len(alike) == 1
        come_first = f"{few([names[at] for at in alike])} {'comes' if one else 'come'} first"
        others = f" {few([names[at] for at in level])} cannot be told from that on these videos." if level else ""
        return (
            f"No measure is shown to choose best. {come_first}: {'its' if one else 'their'} choices lose least on the "
            f"test split, {what}; {'its choice' if one else f'that of {names[first]}'} {whole}.{others}"
        )
    second = told[1]
    return (
        f"Select by {names[first]}: its choices lose least on the test split, {what}; its choice {whole}. The next, "
        f"{names[second]}, loses {points(lost[second] - lost[first])} more (95 % interval "
        f"{low_to_high(selection.behind[second], 2, times=100)})."
    )


def _poorest(selection: Selection, names: Sequence[str], told: Sequence[int]) -> list[str]:
    """Say what the poorest measure loses, beside a variant drawn by lot."""
    lost, poorest = selection.mean_lost, told[-1]
    lot = float(selection.by_lot.mean())
    if lost[poorest] - lost[told[0]] <= ROUNDING:
        return [f"A variant drawn by lot loses {points(lot)} on average."]
    compared = "more than" if lost[poorest] > lot + ROUNDING else "as against"
    return [
        f"The poorest to select by is {names[poorest]}: its choices lose {points(lost[poorest])} on average, "
        f"{compared} the {points(lot)} of a variant drawn by lot."
    ]


def _on_the_whole(selection: Selection, names: Sequence[str]) -> str:
    """Which choices on the whole validation split are good by every test measure."""
    if len(set(selection.chosen.tolist())) == 1:
        who = "every measure chooses the same variant" if len(names) > 1 else f"{names[0]} chooses"
        comma = "," if len(names) > 1 else ""
        return f"On the whole validation split {who}{comma} {named(selection.variants[selection.chosen[0]])}."
    above = [name for name, z in zip(names, selection.z, strict=True) if (z >= -ROUNDING).all()]
    whose = "no measure" if not above else f"only {above[0]}" if len(above) == 1 else few(above)
    by = "every test measure" if len(selection.test) > 1 else str(selection.test[0])
    return f"On the whole validation split, {whose} chose a variant that is no worse than the average choice by {by}."


def _under_recall(selection: Selection, names: Sequence[str], told: Sequence[int]) -> list[str]:
    """Say what loses least under R@K alone, where other measures judge as well."""
    looks = measure_looks(selection.test)
    recall = [at for at, look in enumerate(looks) if look.family == "R" and look.threshold]
    if not 0 < len(recall) < len(looks) or len(told) < 2:
        return []
    lost = selection.regret_mean[:, recall].mean(axis=1)
    least = min(float(lost[at]) for at in told)
    best = [names[at] for at in told if lost[at] <= least + ROUNDING]
    alone = f"the {len(recall)} R@K,IoU" if len(recall) > 1 else str(selection.test[recall[0]])
    loses = "loses" if len(best) == 1 else "lose"
    who = "all measures lose alike" if len(best) == len(told) else f"{few(best)} {loses} least"
    return [
        f"Judged by {alone} alone, which {'share' if len(recall) > 1 else 'shares'} most with other R@K, {who}: "
        f"{points(least)} on average; a variant drawn by lot {points(selection.by_lot[recall].mean())}."
    ]


def _notes(selection: Selection) -> list[str]:
    notes = [
        "Regret is the best figure of all variants under a test measure less that of the chosen one, in points of that "
        "measure; means over test measures weigh a point of each alike.",
        f"Intervals: {selection.resamples:,} resamples of the validation videos, the same for all measures; the test "
        "split stays as it is. Two measures are told apart where the 95 % interval of the difference in mean regret "
        "excludes 0.",
        "Z-scores: mean and standard deviation (ddof 0) of the chosen variants under one test measure.",
    ]
    ours, theirs = selection.validation_systems.first, selection.test_systems.first
    if ours.annotations_sha256 == theirs.annotations_sha256 and np.array_equal(ours.query_id, theirs.query_id):
        notes.insert(0, "Validation and test are the same queries: variants were chosen on what judges them.")
    equal = [str(m) for m, z in zip(selection.test, selection.z.T, strict=True) if not z.any()]
    if equal:
        notes.append(f"All choices score alike by {few(equal)}: Z-scores are 0 there.")
    for measure, tied in zip(selection.validation, selection.tied.tolist(), strict=True):
        if tied > 1:
            notes.append(
                f"{measure} ties {tied} variants as the best on the validation split; "
                "what is told is the mean over them."
            )
    return notes


def _number(fraction: float) -> str:
    return number(100 * fraction, 2)


# --------------------------------------------------------------------------------------------- tables


def _choices(selection: Selection) -> Table:
    lost, interval = selection.mean_lost, selection.mean_lost_interval
    rows = []
    for at in selection.order:
        tied = f"of {selection.tied[at]} that tie" if selection.tied[at] > 1 else ""
        worst = int(np.nan_to_num(selection.regret[at], nan=-1).argmax())
        rows.append(
            (
                Cell(str(selection.validation[at])),
                Cell(selection.variants[selection.chosen[at]], tied),
                Cell(_number(lost[at]), low_to_high(interval[at], 2, times=100)),
                Cell(_number(selection.regret[at].mean())),
                Cell(_number(selection.regret[at, worst]), short_label(selection.test[worst])),
                Cell(percent(selection.stays[at])),
                Cell(
                    "-"
                    if at == selection.order[0] or not math.isfinite(lost[at])
                    else percent(selection.worse_than_first[at])
                ),
            )
        )
    return Table(
        caption="What each validation measure chooses, and what that loses on the test split, in points: mean over the "
        "test measures over resamples of the validation videos (with its 95 % interval), mean and worst of the choice "
        "on the whole split; in how many resamples the same variant is chosen, and in how many the choice loses more "
        "than that of the first row. What loses least stands first.",
        headings=("select by", "chosen", "loses", "this choice", "at worst", "chosen again", "worse than first"),
        groups=(("", tuple(rows)),),
        text_columns=(0, 1),
    )


def _regrets(selection: Selection) -> Table:
    rows = [
        (
            Cell(str(measure)),
            *(Cell(_number(value), marked=bool(value <= ROUNDING)) for value in regret.tolist()),
            Cell(_number(regret.mean())),
        )
        for measure, regret in zip(selection.validation, selection.regret, strict=True)
    ]
    lot = (
        Cell("drawn by lot"),
        *(Cell(_number(value)) for value in selection.by_lot.tolist()),
        Cell(_number(selection.by_lot.mean())),
    )
    return Table(
        caption="Regret of the choice on the whole validation split, in points of the test measure (columns) by the "
        "validation measure that chose (rows); marked where it is the best of all variants.",
        headings=("select by", *(str(measure) for measure in selection.test), "mean"),
        groups=(("", (*rows, lot)),),
    )


# ------------------------------------------------------------------------------------------- document


def _document(selection: Selection) -> dict[str, Any]:
    lost, interval = selection.mean_lost, selection.mean_lost_interval
    entries = []
    for at, measure in enumerate(selection.validation):
        entries.append(
            {
                "measure": str(measure),
                "chosen": selection.variants[selection.chosen[at]],
                "tied": int(selection.tied[at]),
                "chosen_again": float(selection.stays[at]),
                "validation_value": float(selection.validation_figures[selection.chosen[at], at]),
                "mean_regret": {
                    "value": float(selection.regret[at].mean()),
                    "over_resamples": float(lost[at]),
                    "ci95": interval[at].tolist(),
                    "behind_first_ci95": selection.behind[at].tolist(),
                    "worse_than_first": float(selection.worse_than_first[at]),
                    "unit": "fraction",
                    **_why(float(lost[at]), selection.test),
                },
                "test": [_judged(selection, at, row) for row in range(len(selection.test))],
            }
        )
    return {
        "variants": list(selection.variants),
        "validation_data": _data(selection.validation_systems.first.dataset, selection.validation_systems.first.split),
        "test_data": _data(selection.test_systems.first.dataset, selection.test_systems.first.split),
        "resamples": selection.resamples,
        "z_scores": "ddof 0",
        "order": [str(selection.validation[at]) for at in selection.order],
        "by_lot": [
            {"measure": str(measure), "regret": float(value), "unit": "fraction"}
            for measure, value in zip(selection.test, selection.by_lot, strict=True)
        ],
        "validation": entries,
    }


def _data(dataset: str, split: str) -> dict[str, str]:
    return {"dataset": dataset, "split": split}


def _judged(selection: Selection, at: int, row: int) -> dict[str, Any]:
    regret = float(selection.regret[at, row])
    return {
        "measure": str(selection.test[row]),
        "value": float(selection.chosen_figures[at, row]),
        "z": float(selection.z[at, row]),
        "regret": regret,
        "regret_over_resamples": float(selection.regret_mean[at, row]),
        "regret_ci95": selection.regret_interval[at, row].tolist(),
        "unit": "fraction",
        **_why(regret, (selection.test[row],)),
    }


def _why(value: float, measures: Sequence[Measure]) -> dict[str, str]:
    return {"why": f"for some variant or resample {why_undefined(measures[0])}"} if math.isnan(value) else {}


# -------------------------------------------------------------------------------------------- figures


def _panels(looks: Sequence[MeasureLook]) -> list[tuple[str, list[int]]]:
    """Group validation measures as the paper's panels: R@1, R@5, R@10, AxIoU; others together."""
    groups: dict[str, list[int]] = {}
    for at, look in enumerate(looks):
        title = f"R@{look.rank}" if look.family == "R" and look.threshold else look.family
        groups.setdefault(title, []).append(at)
    few = [title for title in groups if not title.startswith("R@") and title not in ("AxIoU", "dR")]
    if len(few) > 1:
        groups = {title: of for title, of in groups.items() if title not in few} | {
            "others": [at for title in few for at in groups[title]]
        }
    return list(groups.items())


def _z_figure(selection: Selection) -> Figure:
    looks = measure_looks(selection.validation)
    panels = _panels(looks)
    figure = new_figure(0.75 + _PANEL_IN * len(panels))
    rows = figure.subplots(len(panels), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    place = np.arange(len(selection.test), dtype=np.float64)
    for axes, (title, members) in zip(rows, panels, strict=True):
        axes.set_title(f"selected by {title}", loc="left", fontsize=SMALL, color=SOFT)
        axes.axhline(0, color=SOFT, linewidth=0.8)
        axes.grid(axis="x")
        for at in members:
            axes.plot(place, selection.z[at], **looks[at].of_line())
        axes.set_ylabel("Z-score")
    bottom: Axes = rows[-1]
    bottom.set_xticks(place, [short_label(measure) for measure in selection.test], rotation=90)
    bottom.set_xlabel("test measure")
    bottom.set_xlim(-0.4, len(place) - 0.6)
    largest = float(np.nanmax(np.abs(np.nan_to_num(selection.z)), initial=1.0))
    bottom.set_ylim(-1.1 * largest, 1.1 * largest)
    for axes, (_, members) in zip(rows, panels, strict=True):
        ends = [(float(place[-1]), float(selection.z[at, -1])) for at in members]
        label_ends(axes, [looks[at] for at in members], ends, _PANEL_IN)
    return figure


def _regret_figure(selection: Selection) -> Figure:
    looks, lost = measure_looks(selection.validation), selection.mean_lost
    order = selection.order
    figure = new_figure(0.75 + 0.2 * len(order))
    axes = figure.subplots()
    place = np.arange(len(order))
    low, high = 100 * selection.mean_lost_interval[order].T
    axes.hlines(place, low, high, color=[looks[at].colour for at in order], linewidth=1.4)
    here = 100 * selection.regret.mean(axis=1)
    for at, row in enumerate(order):
        axes.plot(100 * lost[row], at, "o", markersize=5, markerfacecolor=PAPER, markeredgecolor=looks[row].colour)
        axes.plot(here[row], at, "D", markersize=3.5, color=looks[row].colour)
    lot = 100 * float(selection.by_lot.mean())
    axes.axvline(lot, color=OTHER, linewidth=1.0, linestyle=(0, (4, 2)))
    axes.annotate(
        "by lot",
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
