"""What is told of label ambiguity: errors by level of noise, as Fig. 7 of the AxIoU paper, and who changes places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from truemoment.intervals import Floats, Ints
from truemoment.metaevaluation.ambiguity import Ambiguity, NoiseLevel
from truemoment.metaevaluation.noise import VARIANCES_S2
from truemoment.metaevaluation.rankings import order_of_pairs, pairs_of
from truemoment.reports.drawing import shortened
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.metaevaluation.parts import heat_map, lines_figure, short_label
from truemoment.reports.model import Cell, Drawing, Table
from truemoment.reports.text import counted, few, number, percent, points
from truemoment.text import one_line
from truemoment.uncertainty import ROUNDING

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
    most = found.levels[-1]
    error = most.rmse.mean(axis=0)
    overlap = f"With {most.level} a noisy label overlaps its own with IoU {most.mean_iou:.2f}"
    if not np.isfinite(error).any():
        return [f"{overlap}. No measure is defined in every noisy set."]
    sentences = [
        f"With {most.level} (a noisy label overlaps its own with IoU {most.mean_iou:.2f}), a figure is off by "
        f"{_span(error, names)}, root mean square."
    ]
    sentences += [*_against_spread(most.relative_rmse, names), *_change_places(found, names), *_settled(found, names)]
    if nowhere := [name for name, value in zip(names, error.tolist(), strict=True) if np.isnan(value)]:
        sentences.append(f"{few(nowhere)} {'is' if len(nowhere) == 1 else 'are'} undefined in some noisy set.")
    return sentences


def _ends(values: Floats) -> tuple[int, int, bool]:
    """Numbers of the lowest and the highest, and whether they differ."""
    low, high = int(np.nanargmin(values)), int(np.nanargmax(values))
    return low, high, bool(values[high] - values[low] > ROUNDING)


def _by_all(values: Floats, names: list[str]) -> str:
    """Name the one measure that is defined, or all of them."""
    defined = np.flatnonzero(np.isfinite(values))
    return names[defined[0]] if len(defined) == 1 else "every measure"


def _span(error: Floats, names: list[str]) -> str:
    low, high, differ = _ends(error)
    if differ:
        return f"{100 * error[low]:.1f} ({names[low]}) to {points(error[high], 1)} ({names[high]})"
    return f"{points(error[low], 1)} ({_by_all(error, names)})"


def _against_spread(relative: Floats, names: list[str]) -> list[str]:
    """How far noise moves figures, in units of the distance between systems."""
    if not np.isfinite(relative).any():
        return []
    low, high, differ = _ends(relative)
    begin = "Measured against how far the systems lie apart"
    if not differ:
        return [
            f"{begin}, {_by_all(relative, names)} is moved by {relative[low]:.2f} standard deviations of the systems' "
            "figures."
        ]
    return [
        f"{begin}, {names[low]} is moved least ({relative[low]:.2f} standard deviations of the systems' figures) and "
        f"{names[high]} most ({relative[high]:.2f})."
    ]


def _change_places(found: Ambiguity, names: list[str]) -> list[str]:
    """How often two systems change places, by the measures that see least and most of it."""
    least, most = found.levels[0], found.levels[-1]
    turned = most.mean_flips
    if not np.isfinite(turned).any():
        return []
    low, high, differ = _ends(turned)
    whom = names[low] if differ else _by_all(turned, names)
    is_one = differ or whom in names
    before = f", and with {least.level} {percent(least.mean_flips[low], 1)}" if is_one and len(found.levels) > 1 else ""
    behind = f"; by {names[high]} in {percent(turned[high], 1)}" if differ else ""
    return [f"Two systems change places in {percent(turned[low], 1)} of the cases by {whom}{before}{behind}."]


def _settled(found: Ambiguity, names: list[str]) -> list[str]:
    """How many pairs of systems noise leaves in their order; pairs that every measure ties have none."""
    flips = found.levels[-1].flips
    known = np.isfinite(flips)
    told = known.any(axis=1)
    often = np.where(known, flips > OFTEN, False)
    n_pairs, n_settled = int(told.sum()), int((told & ~often.any(axis=1)).sum())
    if not n_pairs:
        return []
    several = int(known.any(axis=0).sum()) > 1
    whom = "every measure" if several else _by_all(found.levels[-1].mean_flips, names)
    rarely = f"in {percent(OFTEN)} of the {found.sets:,} noisy sets or less by {whom}"
    if n_pairs == 1:
        if n_settled:
            return [f"The one pair of systems changes places {rarely}: such noise hardly touches its order."]
        more = "some measure" if several else whom
        return [f"The one pair of systems changes places in more than {percent(OFTEN)} of the noisy sets by {more}."]
    if not n_settled:
        first = f"None of {n_pairs:,} pairs of systems changes places {rarely}"
    else:
        verb = "changes" if n_settled == 1 else "change"
        whose = "its" if n_settled == 1 else "their"
        first = (
            f"Of {n_pairs:,} pairs of systems, {n_settled:,} {verb} places {rarely}: such noise hardly touches {whose} "
            "order"
        )
    by_all = int((told & (often | ~known).all(axis=1)).sum())
    rest = f"{n_pairs - n_settled:,} more often by some measure, {by_all:,} by all"
    return [f"{first}; {rest}." if several else f"{first}."]


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
    tau = np.where(np.isnan(turned), np.nan, most.tau)  # of what ranks nobody as it is, there is none
    rows = tuple(
        (
            Cell(str(measure)),
            *(Cell(number(100 * errors[at, m], 2)) for at in range(len(found.levels))),
            Cell(number(100 * most.bias[:, m].mean(), 2, sign="+")),
            Cell(number(relative[m], 2), marked=bool(relative[m] == np.fmin.reduce(relative))),
            Cell(number(100 * turned[m], 1), marked=bool(turned[m] == np.fmin.reduce(turned))),
            Cell(number(tau[m], 3), marked=bool(tau[m] == np.fmax.reduce(tau))),
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
                f"% of noisy sets at {found.levels[-1].level}, by pair, those that do most often first "
                f"({counted(len(shown), 'pair')}); the first of a pair is the better one by most measures.",
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
