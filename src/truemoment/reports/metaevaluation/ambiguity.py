"""What is told of label ambiguity: errors by level of noise, as Fig. 7 of the AxIoU paper, and who changes places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from truemoment.intervals import Floats, Ints
from truemoment.metaevaluation.ambiguity import Ambiguity, NoiseLevel
from truemoment.metaevaluation.noise import VARIANCES_S2
from truemoment.metaevaluation.rankings import order_of_pairs, pairs_of
from truemoment.reports.drawing import Drawing, shortened
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.metaevaluation.parts import heat_map, lines_figure, short_label
from truemoment.reports.template import Cell, Table
from truemoment.reports.text import one_line

PAPER_IOU = {
    "charades-sta": (0.906, 0.870, 0.835, 0.802),
    "activitynet-captions": (0.846, 0.778, 0.712, 0.650),
}
"""IoUs that the AxIoU paper quotes for its four levels (section 6.4), by dataset."""

MODELS = {
    "published": "the paper's model as written (five raters' medians of normal starts and exponential lengths)",
    "shift": "the paper's other reading (the moment keeps its length and moves)",
    "annotators": "noise learned from real annotators",
}

SHOWN_PAIRS = 14

OFTEN = 0.05
"""A pair that changes places in more of the sets than this is not settled by the labels."""


def chapter(found: Ambiguity, dataset: str = "") -> Chapter:
    """Tell what label noise of one model does to figures and rankings; `dataset` says what the paper quotes for it."""
    return Chapter(
        name=f"ambiguity-{found.model}",
        title=f"If others had marked the moments: {MODELS.get(found.model, found.model)}",
        said=tuple(said(found)),
        tables=(_levels(found, dataset), _table(found)),
        drawings=tuple(_drawings(found)),
        document=_document(found),
        notes=tuple(_notes(found)),
    )


def said(found: Ambiguity) -> list[str]:
    """Say how far noise moves figures, and whether it changes rankings."""
    names = [str(measure) for measure in found.measures]
    least, most = found.levels[0], found.levels[-1]
    error = most.rmse.mean(axis=0)
    overlap = f"With {most.level} a noisy label overlaps its own with IoU {most.mean_iou:.2f}"
    if not np.isfinite(error).any():
        return [f"{overlap}. No measure is defined in every noisy set."]
    low, high = int(np.nanargmin(error)), int(np.nanargmax(error))
    told = f"{100 * error[low]:.1f} ({names[low]}) to {100 * error[high]:.1f} points ({names[high]})"
    if low == high:
        told = f"{100 * error[low]:.1f} points ({names[low]})"
    sentences = [
        f"With {most.level} (a noisy label overlaps its own with IoU {most.mean_iou:.2f}), a figure is off by "
        f"{told}, root mean square."
    ]
    relative = most.relative_rmse
    if np.isfinite(relative).sum() == 1:
        low = int(np.nanargmin(relative))
        sentences.append(
            f"Measured against how far the systems lie apart, {names[low]} is moved by {relative[low]:.2f} standard "
            "deviations of the systems' figures."
        )
    elif np.isfinite(relative).any():
        low, high = int(np.nanargmin(relative)), int(np.nanargmax(relative))
        sentences.append(
            f"Measured against how far the systems lie apart, {names[low]} is moved least ({relative[low]:.2f} "
            f"standard deviations of the systems' figures) and {names[high]} most ({relative[high]:.2f})."
        )
    turned = most.mean_flips
    if np.isfinite(turned).any():
        low, high = int(np.nanargmin(turned)), int(np.nanargmax(turned))
        told = "" if len(found.levels) == 1 else f", and with {least.level} {100 * least.mean_flips[low]:.1f} %"
        sentences.append(
            f"Two systems change places in {100 * turned[low]:.1f} % of the cases by {names[low]}{told}"
            + (f"; by {names[high]} in {100 * turned[high]:.1f} %." if np.isfinite(turned).sum() > 1 else ".")
        )
        often = np.nan_to_num(most.flips, nan=0.0) > OFTEN
        sentences.append(
            f"Of {len(often)} pairs of systems, {int((~often.any(axis=1)).sum())} change places in "
            f"{100 * OFTEN:.0f} % of the {found.sets} noisy sets or less by every measure: such noise hardly touches "
            f"their order. {int(often.any(axis=1).sum())} do more often by some measure, "
            f"{int(often.all(axis=1).sum())} by all."
        )
    return sentences


def _levels(found: Ambiguity, dataset: str) -> Table:
    quoted = PAPER_IOU.get(dataset, ()) if found.model != "annotators" and _is_the_papers(found) else ()
    rows = tuple(
        (
            Cell(level.level),
            Cell(f"{level.mean_iou:.3f}"),
            Cell(f"{level.median_iou:.3f}"),
            *((Cell(f"{quoted[at]:.3f}"),) if quoted else ()),
        )
        for at, level in enumerate(found.levels)
    )
    headings = ("noise", "mean IoU", "mean of medians", *(("quoted in the paper",) if quoted else ()))
    return Table("IoU of a noisy label with the label itself", headings, (("", rows),))


def _is_the_papers(found: Ambiguity) -> bool:
    return [level.level for level in found.levels] == [f"variance {variance:g} s²" for variance in VARIANCES_S2]


def _table(found: Ambiguity) -> Table:
    most = found.levels[-1]
    errors = np.stack([level.rmse.mean(axis=0) for level in found.levels])
    relative, turned = most.relative_rmse, most.mean_flips
    rows = tuple(
        (
            Cell(str(measure)),
            *(Cell(_number(100 * errors[at, m], 2)) for at in range(len(found.levels))),
            Cell(_number(100 * most.bias[:, m].mean(), 2, "+")),
            Cell(_number(relative[m], 2), marked=bool(relative[m] == np.fmin.reduce(relative))),
            Cell(_number(100 * turned[m], 1), marked=bool(turned[m] == np.fmin.reduce(turned))),
            Cell(f"{most.tau[m]:.3f}", marked=bool(most.tau[m] >= most.tau.max())),
        )
        for m, measure in enumerate(found.measures)
    )
    headings = (
        "measure",
        *(f"RMSE, {_brief(level.level)}" for level in found.levels),
        "bias",
        "RMSE / spread",
        "change places, %",
        "tau",
    )
    caption = f"RMSE and bias in points, mean over {len(found.names)} systems; the last four at {most.level}"
    return Table(caption, headings, (("", rows),))


def _number(value: float, digits: int, sign: str = "") -> str:
    return f"{value:{sign}.{digits}f}" if np.isfinite(value) else "-"


def _brief(level: str) -> str:
    return level.removeprefix("variance ")


def _drawings(found: Ambiguity) -> list[Drawing]:
    x = np.arange(1.0, len(found.levels) + 1)

    def lines(table: Floats, label: str) -> Callable[[], Any]:
        def draw() -> Any:  # noqa: ANN401 - a figure of matplotlib, which is imported when used
            figure = lines_figure(found.measures, x, table, x_label=_axis(found), y_label=label, y_limits=(0, None))
            figure.axes[-1].set_xticks(x, [_brief(level.level) for level in found.levels])
            return figure

        return draw

    errors = np.stack([level.rmse.mean(axis=0) for level in found.levels])
    turned = np.stack([level.mean_flips for level in found.levels])
    told = f"Mean over {len(found.names)} systems, {found.sets} noisy sets a level."
    drawings = [
        Drawing(f"ambiguity-{found.model}-rmse", "Error of a figure", told, lines(100 * errors, "RMSE, points")),
        Drawing(
            f"ambiguity-{found.model}-places",
            "Pairs of systems that change places",
            "Share of noisy sets, mean over the pairs that do not tie as they are.",
            lines(100 * turned, "% of sets"),
        ),
    ]
    shown = unsettled_pairs(found.levels[-1])
    if len(shown):
        drawings.append(
            Drawing(
                f"ambiguity-{found.model}-pairs",
                "Which pairs change places",
                f"% of noisy sets at {found.levels[-1].level}, for the {len(shown)} pairs that do most often; "
                "the first of a pair is the better one by most measures.",
                lambda: _pairs_figure(found, shown),
            )
        )
    return drawings


def unsettled_pairs(level: NoiseLevel, most: int = SHOWN_PAIRS) -> Ints:
    """Numbers of the pairs that change places most often, mean over measures; those that ever do."""
    flips = np.nan_to_num(level.flips, nan=0.0).mean(axis=1)
    order = np.argsort(-flips, kind="stable")[:most]
    return np.asarray(order[flips[order] > 0])


def _pairs_figure(found: Ambiguity, shown: Ints) -> Any:  # noqa: ANN401 - a figure of matplotlib
    level = found.levels[-1]
    first, second = pairs_of(len(found.names))
    ahead = order_of_pairs((level.direction * level.original).T).sum(axis=0, dtype=np.int64) >= 0
    names = [one_line(name) for name in found.names]
    labels = [
        " > ".join(shortened(names[at], 16) for at in ((first[p], second[p]) if ahead[p] else (second[p], first[p])))
        for p in shown
    ]
    table = level.flips[shown]
    text = [[f"{100 * value:.0f}" if np.isfinite(value) else "-" for value in row] for row in table]
    columns = [short_label(measure) for measure in found.measures]
    return heat_map(labels, columns, table, classes=(0.0, 0.05, 0.1, 0.2, 0.3, 0.4), text=text)


def _axis(found: Ambiguity) -> str:
    return "raters whose median is the label" if found.model == "annotators" else "variance of a rater's start"


def _document(found: Ambiguity) -> dict[str, Any]:
    first, second = pairs_of(len(found.names))
    return {
        "model": found.model,
        "learned_on": found.source or None,
        "sets": found.sets,
        "systems": list(found.names),
        "measures": [str(measure) for measure in found.measures],
        "original": found.original.tolist(),
        "levels": [
            {
                "level": level.level,
                "mean_iou": level.mean_iou,
                "mean_of_median_iou": level.median_iou,
                "rmse": level.rmse.tolist(),
                "bias": level.bias.tolist(),
                "rmse_over_spread": [float(value) if np.isfinite(value) else None for value in level.relative_rmse],
                **({"why": "null: all systems score alike"} if np.isnan(level.relative_rmse).any() else {}),
                "mean_tau": level.tau.tolist(),
                "pairs": [
                    {
                        "first": found.names[first[p]],
                        "second": found.names[second[p]],
                        "change_places": [float(value) if np.isfinite(value) else None for value in level.flips[p]],
                        **({"why": "null: the two tie as they are"} if np.isnan(level.flips[p]).any() else {}),
                    }
                    for p in np.flatnonzero(np.nan_to_num(level.flips, nan=0.0).any(axis=1))
                ],
            }
            for level in found.levels
        ],
    }


def _notes(found: Ambiguity) -> list[str]:
    notes = [
        "RMSE between the figures on noisy labels and on the labels as they are (AxIoU paper, section 6.4 and Fig. 7). "
        "Spread: standard deviation of the systems' figures on the labels as they are.",
        "Two systems that tie as they are cannot change places, and are left out there.",
    ]
    if found.model == "published":
        notes.append(
            "The IoUs that the paper quotes do not follow from its model as it is written: exponential lengths alone "
            "bring the IoU down to about 0.6. See the other reading."
        )
    if found.model == "annotators":
        notes.append(
            f"Learned on {one_line(found.source)}: a label moves as one annotator's moment lies off another's, among "
            "the moments that lie most like it in their videos. Noise of one annotator is like that between two real "
            "ones. Several are too good: they are drawn around the label as if it were the truth, while it is one "
            "annotator's word itself."
        )
    return notes
