"""The report on label ambiguity: errors by level of noise (AxIoU, Fig. 7), and pairs that change places."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.report.drawing import shortened
from truemoment.report.model import Block, Cell, Drawing, Finding, Paragraph, Section, Table
from truemoment.report.words import counted, number, percent, points
from truemoment.studies.meta.ambiguity import Ambiguity, NoiseLevel
from truemoment.studies.meta.noise import VARIANCES_S2
from truemoment.studies.meta.rankings import order_of_pairs, pairs_of
from truemoment.studies.meta.reports.looks import heat_map, lines_figure, short_label
from truemoment.studies.meta.reports.spans import span

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER_IOU = {"charades-sta": (0.906, 0.870, 0.835, 0.802), "activitynet-captions": (0.846, 0.778, 0.712, 0.650)}
"""IoUs that the AxIoU paper quotes for its four levels (section 6.4), by dataset."""

MODELS = {
    "published": "the paper's model as written (medians of five raters: normal starts, exponential lengths)",
    "shift": "the paper's other reading (the moment keeps its length and moves)",
    "longer": "a reading found by search in the paper's quoted IoUs (the moment moves and gets longer)",
    "annotators": "noise learned from real annotators",
}

SHOWN_PAIRS = 14


def section(result: Ambiguity) -> Section:
    """Return the section of one model of label noise."""
    return Section(
        f"ambiguity-{result.model}",
        f"How figures change with other annotators: {MODELS.get(result.model, result.model)}",
        (
            Finding(tuple(sentences(result, result.levels[-1]))),
            *_drawings(result),
            _levels(result),
            _table(result),
            *map(Paragraph, _notes(result)),
        ),
        f"Label ambiguity, {result.model}",
    )


def sentences(result: Ambiguity, level: NoiseLevel) -> list[str]:
    """Return the change of figures and of rankings at a level of noise."""
    noise = f"With label noise ({level.model}, {level.level}: mean IoU {level.mean_iou:.2f} with the original labels)"
    error = level.rmse.mean(axis=0)
    if not np.isfinite(error).any():
        return [f"{noise}, no measure is defined in every noisy set."]
    findings = [f"{noise}, the root mean square error of a figure is {span(result.measures, error, points)} points."]
    if np.isfinite(level.mean_flips).any():
        places = span(result.measures, level.mean_flips, partial(percent, decimals=1))
        findings.append(f"Two systems change places in {places} of the noisy sets.")
    return findings


def _levels(result: Ambiguity) -> Table:
    is_the_papers = [level.level for level in result.levels] == [
        f"variance {variance:g} s²" for variance in VARIANCES_S2
    ]
    quoted = PAPER_IOU.get(result.dataset, ()) if is_the_papers and result.model != "annotators" else ()
    rows = tuple(
        (
            Cell(level.level),
            Cell(f"{level.mean_iou:.3f}"),
            Cell(f"{level.median_iou:.3f}"),
            *((Cell(f"{quoted[at]:.3f}"),) if quoted else ()),
        )
        for at, level in enumerate(result.levels)
    )
    headings = ("noise", "mean IoU", "mean of medians", *(("quoted in the paper",) if quoted else ()))
    return Table(f"IoU of a noisy label with the original label, noise model {result.model}", headings, (("", rows),))


def _table(result: Ambiguity) -> Table:
    most = result.levels[-1]
    errors = np.stack([level.rmse.mean(axis=0) for level in result.levels])
    relative, turned = most.relative_rmse, most.mean_flips
    tau = np.where(np.isnan(turned), np.nan, most.tau)  # undefined if the original labels rank no system
    rows = tuple(
        (
            Cell(str(measure)),
            *(Cell(points(error, 2)) for error in errors[:, m]),
            Cell(points(most.bias[:, m].mean(), 2, sign="+")),
            Cell(number(relative[m]), marked=bool(relative[m] == np.fmin.reduce(relative))),
            Cell(points(turned[m]), marked=bool(turned[m] == np.fmin.reduce(turned))),
            Cell(number(tau[m], 3), marked=bool(tau[m] == np.fmax.reduce(tau))),
        )
        for m, measure in enumerate(result.measures)
    )
    headings = (
        "measure",
        *(f"RMSE, {_brief(level.level)}" for level in result.levels),
        *("bias", "RMSE / spread", "change places, %", "tau"),
    )
    return Table(
        f"RMSE and bias in points, mean over {len(result.names)} systems, noise model {result.model}; "
        f"the last four at {most.level}",
        headings,
        (("", rows),),
    )


def _brief(level: str) -> str:
    return level.removeprefix("variance ")


def _drawings(result: Ambiguity) -> list[Block]:
    errors = np.stack([level.rmse.mean(axis=0) for level in result.levels])
    turned = np.stack([level.mean_flips for level in result.levels])
    drawings: list[Block] = [
        Drawing(
            f"ambiguity-{result.model}-rmse",
            "Error of a figure",
            f"Mean over {len(result.names)} systems, {result.sets} noisy sets per level.",
            partial(_lines_figure, result, 100 * errors, "RMSE, points"),
        ),
        Drawing(
            f"ambiguity-{result.model}-places",
            "Pairs of systems that change places",
            "Share of noisy sets, mean over the pairs that do not tie on the original labels.",
            partial(_lines_figure, result, 100 * turned, "% of sets"),
        ),
    ]
    shown = unsettled_pairs(result.levels[-1])
    if len(shown):
        drawings.append(
            Drawing(
                f"ambiguity-{result.model}-pairs",
                "Which pairs change places",
                f"% of noisy sets at {result.levels[-1].level}, for the "
                f"{counted(len(shown), 'pair that changes', 'pairs that change')} most often; the first of a pair is "
                "the better one by most measures.",
                partial(_pairs_figure, result, shown),
            )
        )
    return drawings


def _lines_figure(result: Ambiguity, table: Floats, label: str) -> Figure:
    x = np.arange(1.0, len(result.levels) + 1)
    noise = "raters whose median is the label" if result.model == "annotators" else "variance of a rater's start"
    figure = lines_figure(result.measures, x, table, x_label=noise, y_label=label, y_limits=(0, None))
    figure.axes[-1].set_xticks(x, [_brief(level.level) for level in result.levels])
    return figure


def unsettled_pairs(level: NoiseLevel, most: int = SHOWN_PAIRS) -> Ints:
    """Return the rows of the pairs that change places most often, mean over measures; none that never do."""
    flips = np.nan_to_num(level.flips, nan=0.0).mean(axis=1)
    order = np.argsort(-flips, kind="stable")[:most]
    return np.asarray(order[flips[order] > 0])


def _pairs_figure(result: Ambiguity, shown: Ints) -> Figure:
    level = result.levels[-1]
    first, second = pairs_of(len(result.names))
    ahead = order_of_pairs((level.direction * level.original).T).sum(axis=0, dtype=np.int64) >= 0
    names = result.names
    labels = [
        " > ".join(shortened(names[at], 16) for at in ((first[p], second[p]) if ahead[p] else (second[p], first[p])))
        for p in shown
    ]
    table = level.flips[shown]
    text = [[f"{100 * value:.0f}" if np.isfinite(value) else "-" for value in row] for row in table]
    columns = [short_label(measure) for measure in result.measures]
    return heat_map(labels, columns, table, classes=(0.0, 0.05, 0.1, 0.2, 0.3, 0.4), text=text)


def document(result: Ambiguity) -> dict[str, Any]:
    """Return the JSON document."""
    return {
        "model": result.model,
        "learned_on": result.source or None,
        "sets": result.sets,
        "systems": result.names,
        "measures": [str(measure) for measure in result.measures],
        "original": result.original,
        "levels": [_level(result, level) for level in result.levels],
    }


def _level(result: Ambiguity, level: NoiseLevel) -> dict[str, Any]:
    first, second = pairs_of(len(result.names))
    return {
        "level": level.level,
        "mean_iou": level.mean_iou,
        "mean_of_median_iou": level.median_iou,
        "rmse": level.rmse,
        "bias": level.bias,
        "rmse_over_spread": level.relative_rmse,
        **({"why": "null: all systems score alike"} if np.isnan(level.relative_rmse).any() else {}),
        "mean_tau": level.tau,
        "pairs": [
            {
                "first": result.names[first[p]],
                "second": result.names[second[p]],
                "change_places": level.flips[p],
                **({"why": "null: the two tie on the original labels"} if np.isnan(level.flips[p]).any() else {}),
            }
            for p in np.flatnonzero(np.nan_to_num(level.flips, nan=0.0).any(axis=1))
        ],
    }


def _notes(result: Ambiguity) -> list[str]:
    notes = [
        "RMSE between the figures on noisy labels and on the original labels (AxIoU paper, section 6.4 and Fig. 7). "
        "Spread: standard deviation of the systems' figures on the original labels. Two systems that tie there cannot "
        "change places and are left out."
    ]
    if result.model == "published":
        notes.append(
            "The IoUs that the paper quotes do not follow from its model as written: exponential lengths alone lower "
            "the IoU to about 0.6. Compare the other reading."
        )
    if result.model == "annotators":
        notes.append(
            f"Learned on {result.source}: a label moves as one annotator's moment differs from another's, "
            "among the most similar moments. Noise of one annotator is as large as between two real ones. Medians of "
            "several are optimistic: they are drawn around the label, which is itself one annotator's answer."
        )
    return notes
