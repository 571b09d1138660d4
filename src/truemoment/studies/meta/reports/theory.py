"""The report on theory: the effect of noise in the IoU on single predictions, lists, and discounted recall."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.intervals import TIE, Floats, Ints
from truemoment.report.drawing import METHOD, SMALL, new_figure
from truemoment.report.model import Cell, Drawing, Finding, Paragraph, Section, Table
from truemoment.report.roles import SERIES, SOFT
from truemoment.report.words import UNDEFINED, number
from truemoment.studies.meta.reports.looks import legend_of, measure_looks
from truemoment.studies.meta.theory import Errors, Theory, cut_axiou_errors, recall_errors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_NOISES = 4
"""Maximum number of noise levels in figures and tables; of more, as many evenly."""

TABLE_THRESHOLDS = (0.3, 0.5, 0.7)
"""Thresholds of the table, if they were computed."""

TABLE_RANKS = (1, 5, 10)
"""Ranks of the table of lists, if the list is long enough."""

CUT_SHOWN = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
"""True IoUs of the table of cut noise."""

_LINES: tuple[Any, ...] = ((0, (1.2, 1.2)), (0, (5, 1.6)), "-", (0, (6, 1.6, 1.2, 1.6)))
_MARKERS = ("o", "s", "^", "v")
AXIOU = SERIES[1].colour
_PARTS = (("squared bias", "bias"), ("variance", "variance"), ("mean squared error", "mse"))


def section(result: Theory) -> Section:
    """Return the section of the study."""
    return Section(
        "theory",
        f"Theory: what does noise in the IoU do to a measure? (true IoU {result.iou:g})",
        (
            Finding(tuple(sentences(result))),
            Drawing(
                "theory-errors",
                "Errors of R@1 and AxIoU@1 under noise of the IoU",
                f"By threshold, for a prediction with true IoU {result.iou:g}. Lines: closed form; marks: "
                f"{result.draws:,} draws each. After AxIoU, Fig. 10.",
                partial(_errors_figure, result),
            ),
            Drawing(
                "theory-cut",
                "Bias of AxIoU@1 where the noisy IoU is cut to [0, 1]",
                "Near an end of [0, 1], noise can move the IoU only inwards. Lines: closed form; marks: simulation.",
                partial(_cut_figure, result),
            ),
            Drawing(
                "theory-lists",
                "Bias of AxIoU@k and R@k by the number of predictions",
                f"Noise of {result.gammas[_middle(result.gammas)]:g}, simulated; true IoUs of the list: "
                f"{_ious(result)}. The best of several noisy IoUs is too high on average, unless all ranks share the "
                "noise.",
                partial(_lists_figure, result),
            ),
            _errors_table(result),
            _cut_table(result),
            _lists_table(result),
            *map(Paragraph, _notes(result)),
        ),
        "Theory",
    )


# ---------------------------------------------------------------------------------------------------- words


def sentences(result: Theory) -> list[str]:
    """Return the error of R@1 and AxIoU@1, the bias of AxIoU@1 with clipped noise, and the bias over a list."""
    at = _middle(result.gammas)
    column = int(np.argmin(np.abs(result.thresholds - result.iou)))
    gamma, bias = f"{result.gammas[at]:g}", result.cut.axiou.bias[at]
    at_iou = float(cut_axiou_errors(np.array(result.iou), np.array(result.gammas[at])).bias)
    findings = [
        f"With noise of {gamma} (standard deviation of the IoU) and a true IoU of {result.iou:g}, the mean squared "
        f"error is {result.recall.mse[at, column]:.3f} for R@1,IoU={result.thresholds[column]:g} and "
        f"{result.axiou.mse[at]:.4f} for AxIoU@1.",
        "AxIoU@1 is unbiased only for noise that may leave [0, 1]. If the noisy IoU is cut to [0, 1], its bias is "
        f"{_signed(bias[0], 3)} at a true IoU of 0, {_signed(at_iou, 3)} at {result.iou:g} and {_signed(bias[-1], 3)} "
        "at 1.",
    ]
    lists = result.lists
    k = len(lists.ious)
    if k > 1:
        bias, se = lists.axiou.bias[at, :, -1], 2 * lists.axiou.bias_se[at, :, -1]
        independent, common = int(np.argmin(lists.correlations)), int(np.argmax(lists.correlations))
        findings.append(
            f"AxIoU@{k} has a bias of {_signed(bias[independent], 4)} ± {se[independent]:.4f} if the noise of each "
            f"rank is independent, and of {_signed(bias[common], 4)} ± {se[common]:.4f} if all ranks share it."
        )
    return findings


def _notes(result: Theory) -> list[str]:
    return [
        "Model of the AxIoU paper (appendix C): the observed IoU is the true one plus normal noise of mean 0; a hit is "
        f"an IoU of at least the threshold. Closed form and simulation ({result.draws:,} draws) differ by at most "
        f"{_widest(result):.1f} standard errors where ten or more flips are expected.",
        f"Lists: true IoUs {_ious(result)}; noise of one standard deviation at all ranks, with correlations of "
        f"{', '.join(f'{rho:g}' for rho in result.lists.correlations)} between ranks; not cut.",
        f"dR@1: prediction and reference have one length L = {result.discounted.length_norm:g}, shifted by "
        "L (1 - IoU) / (1 + IoU), so each of its factors is 1 minus that shift; the noise is cut to [0, 1].",
    ]


def _widest(result: Theory) -> float:
    """Return the largest difference between simulation and closed form in standard errors, if flips are not rare."""
    expected = result.recall.mse * result.draws
    often = np.minimum(expected, result.draws - expected) >= 10
    se = np.sqrt(result.recall.mse * (1 - result.recall.mse) / result.draws)
    distance = np.abs(result.simulated_recall.mse - result.recall.mse)[often] / se[often]
    return float(distance.max(initial=0.0))


def _signed(value: float, decimals: int) -> str:
    return number(value, decimals, sign="+")


def _ious(result: Theory) -> str:
    shown = [f"{iou:.3g}" for iou in result.lists.ious]
    return ", ".join(shown if len(shown) <= 10 else [*shown[:9], "...", shown[-1]])


def _middle(gammas: Floats) -> int:
    """Return the row of the middle level of noise, the lower of two."""
    return int(np.argsort(gammas)[(len(gammas) - 1) // 2])


def _shown(gammas: Floats) -> Ints:
    """Return the rows of the levels of noise that are shown."""
    return np.unique(np.linspace(0, len(gammas) - 1, min(len(gammas), N_NOISES)).round().astype(np.int64))


# ---------------------------------------------------------------------------------------------------- tables


def _errors_table(result: Theory) -> Table:
    """Return the errors of single answers, one group per level of noise."""
    wanted = [
        t
        for t, threshold in enumerate(result.thresholds)
        if np.any(np.abs(threshold - np.array(TABLE_THRESHOLDS)) <= TIE)
    ]
    wanted = wanted or list(range(len(result.thresholds)))[:5]
    groups = []
    for g in _shown(result.gammas):
        rows = [
            _errors_row(f"R@1,IoU={result.thresholds[t]:g}", result.recall, result.simulated_recall, (g, t))
            for t in wanted
        ]
        rows.append(_errors_row("AxIoU@1", result.axiou, result.simulated_axiou, (g,)))
        rows += [
            _errors_row(f"dR@1,IoU={result.thresholds[t]:g}", None, result.discounted.errors, (g, t)) for t in wanted
        ]
        groups.append((f"noise {result.gammas[g]:g}", tuple(rows)))
    return Table(
        f"Errors for one prediction with true IoU {result.iou:g}; simulated errors ± 2 standard errors",
        ("measure", "bias", "variance", "mean squared error", "simulated"),
        tuple(groups),
    )


def _errors_row(name: str, exact: Errors | None, simulated: Errors, at: tuple[int, ...]) -> tuple[Cell, ...]:
    """Return the row of a measure: its closed form, or its simulation if there is none."""
    known = simulated if exact is None else exact
    return (
        Cell(name),
        Cell(_signed(known.bias[at], 3)),
        Cell(f"{known.variance[at]:.4f}"),
        Cell(f"{known.mse[at]:.4f}" if exact is not None else UNDEFINED),
        Cell(f"{simulated.mse[at]:.4f}", f"± {2 * simulated.mse_se[at]:.4f}"),
    )


def _cut_table(result: Theory) -> Table:
    cut = result.cut
    wanted = [int(np.argmin(np.abs(cut.ious - iou))) for iou in CUT_SHOWN]
    rows = tuple(
        (Cell(f"{result.gammas[g]:g}"), *(Cell(_signed(cut.axiou.bias[g, at], 3)) for at in wanted))
        for g in _shown(result.gammas)
    )
    return Table(
        "Bias of AxIoU@1 by true IoU, where the noisy IoU is cut to [0, 1] (closed form; uncut noise: 0 everywhere)",
        ("noise", *(f"IoU {cut.ious[at]:g}" for at in wanted)),
        (("", rows),),
    )


LIST_TITLES = {0.0: "independent noise at each rank", 1.0: "noise common to all ranks"}


def _lists_table(result: Theory) -> Table:
    """Return bias and error over a list, at the middle level of noise."""
    lists, g = result.lists, _middle(result.gammas)
    ranks = [rank for rank in TABLE_RANKS if rank <= len(lists.ious)]
    rows = []
    for rank in ranks:
        rows.append(_lists_row(f"AxIoU@{rank}", lists.true_axiou[rank - 1], lists.axiou, (g, rank - 1)))
        rows += [
            _lists_row(f"R@{rank},IoU={threshold:g}", lists.true_recall[rank - 1, t], lists.recall, (g, rank - 1, t))
            for t, threshold in enumerate(lists.thresholds)
        ]
    headings = [f"{error}, correlation {rho:g}" for rho in lists.correlations for error in ("bias", "m. s. error")]
    return Table(
        f"Errors over a list with noise of {result.gammas[g]:g}, by the correlation of the noise between ranks; "
        "\u00b1: twice the standard error",
        ("measure", "truth", *headings),
        (("", tuple(rows)),),
    )


def _lists_row(name: str, truth: float, errors: Errors, at: tuple[int, ...]) -> tuple[Cell, ...]:
    g, *rest = at
    cells = [Cell(name), Cell(f"{truth:.3f}")]
    for c in range(errors.bias.shape[1]):
        place = (g, c, *rest)
        cells.append(Cell(_signed(errors.bias[place], 3), f"± {2 * errors.bias_se[place]:.3f}"))
        cells.append(Cell(f"{errors.mse[place]:.4f}", f"± {2 * errors.mse_se[place]:.4f}"))
    return tuple(cells)


# --------------------------------------------------------------------------------------------------- figures


def _errors_figure(result: Theory) -> Figure:
    """Draw squared bias, variance and mean squared error against the threshold, in one panel each."""
    figure = new_figure(5.6)
    rows = figure.subplots(3, 1, sharex=True, sharey=True)
    fine = np.unique(np.concatenate([np.linspace(0, 1, 501), [result.iou, min(result.iou + 1e-6, 1)]]))
    every = max(1, len(result.thresholds) // 20)
    for axes, (title, part) in zip(rows, _PARTS, strict=True):
        for style, g in enumerate(_shown(result.gammas)):
            closed = recall_errors(result.iou, result.gammas[g], fine)
            axes.plot(fine, _power(closed, part), color=METHOD, linestyle=_LINES[style])
            axes.axhline(float(_power(result.axiou, part)[g]), color=AXIOU, linestyle=_LINES[style])
            simulated = _power(result.simulated_recall, part)[g, ::every]
            axes.plot(result.thresholds[::every], simulated, **_mark(_MARKERS[style], METHOD))
            axes.plot([0.025], [_power(result.simulated_axiou, part)[g]], **_mark(_MARKERS[style], AXIOU))
        axes.set_title(title, loc="left", fontsize=SMALL, color=SOFT)
        axes.grid(axis="y")
    rows[-1].set_xlim(0, 1)
    rows[-1].set_xlabel("threshold of R@1")
    _noise_legend(figure, result, (("R@1, ", METHOD), ("AxIoU@1, ", AXIOU)))
    return figure


def _power(errors: Errors, part: str) -> Floats:
    """Return the values of a panel: the bias is squared."""
    values: Floats = getattr(errors, part)
    return values**2 if part == "bias" else values


def _mark(marker: str, colour: str) -> dict[str, Any]:
    return {"color": colour, "marker": marker, "linestyle": "none", "markersize": 3.2, "clip_on": False, "zorder": 3}


def _noise_legend(figure: Figure, result: Theory, families: tuple[tuple[str, str], ...]) -> None:
    """Draw the legend of the lines below a figure."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - see truemoment.report.drawing.drawing_style

    handles = [
        Line2D(
            [],
            [],
            color=colour,
            linestyle=_LINES[style],
            marker=_MARKERS[style],
            markersize=3.2,
            label=f"{name}noise {result.gammas[g]:g}",
        )
        for name, colour in families
        for style, g in enumerate(_shown(result.gammas))
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, handlelength=2.6)


def _cut_figure(result: Theory) -> Figure:
    """Draw the bias of AxIoU@1 against the true IoU."""
    figure = new_figure(2.6)
    axes = figure.subplots()
    fine = np.linspace(0, 1, 201)
    axes.axhline(0, color=SOFT, linewidth=0.7)
    for style, g in enumerate(_shown(result.gammas)):
        axes.plot(fine, cut_axiou_errors(fine, result.gammas[g]).bias, color=AXIOU, linestyle=_LINES[style])
        axes.plot(result.cut.ious, result.cut.simulated_axiou.bias[g], **_mark(_MARKERS[style], AXIOU))
    axes.set_xlim(0, 1)
    axes.set_xlabel("true IoU")
    axes.set_ylabel("bias of AxIoU@1")
    axes.grid(axis="y")
    _noise_legend(figure, result, (("", AXIOU),))
    return figure


def _lists_figure(result: Theory) -> Figure:
    """Draw the bias of AxIoU@k and R@k against k, a panel a correlation."""
    lists, g = result.lists, _middle(result.gammas)
    names = ["AxIoU@k", *(f"R@k,IoU={threshold:g}" for threshold in lists.thresholds)]
    looks = measure_looks(["AxIoU@1", *(f"R@1,IoU={threshold:g}" for threshold in lists.thresholds)])
    tables = [lists.axiou.bias[g], *np.moveaxis(lists.recall.bias[g], -1, 0)]  # (C, K) each
    figure = new_figure(0.8 + 1.45 * len(lists.correlations))
    rows = figure.subplots(len(lists.correlations), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    ranks = np.arange(1, len(lists.ious) + 1)
    for c, axes in enumerate(rows):
        rho = float(lists.correlations[c])
        title = LIST_TITLES.get(rho, f"noise with correlation {rho:g}")
        axes.set_title(title, loc="left", fontsize=SMALL, color=SOFT)
        axes.axhline(0, color=SOFT, linewidth=0.7)
        axes.grid(axis="y")
        for look, table in zip(looks, tables, strict=True):
            axes.plot(ranks, table[c], **look.line_style())
        axes.set_ylabel("bias")
    rows[-1].set_xlabel("predictions, k")
    rows[-1].set_xticks(ranks if len(ranks) <= 12 else np.linspace(1, len(ranks), 6).round())
    legend_of(figure, looks, names)
    return figure


# -------------------------------------------------------------------------------------------------- document


def document(result: Theory) -> dict[str, Any]:
    """Return the JSON document."""
    lists, cut = result.lists, result.cut
    return {
        "iou": result.iou,
        "noise": result.gammas,
        "thresholds": result.thresholds,
        "draws": result.draws,
        "recall@1": {"closed_form": _errors(result.recall), "simulated": result.simulated_recall},
        "axiou@1": {"closed_form": _errors(result.axiou), "simulated": result.simulated_axiou},
        "axiou@1_cut": {"ious": cut.ious, "closed_form": _errors(cut.axiou), "simulated": cut.simulated_axiou},
        "lists": {
            "ious": lists.ious,
            "correlations": lists.correlations,
            "thresholds": lists.thresholds,
            "axiou@k": {"truth": lists.true_axiou, "simulated": lists.axiou},
            "recall@k": {"truth": lists.true_recall, "simulated": lists.recall},
        },
        "discounted_recall@1": {
            "length_norm": result.discounted.length_norm,
            "truth": result.discounted.truth,
            "simulated": result.discounted.errors,
        },
    }


def _errors(errors: Errors) -> dict[str, Any]:
    """Return errors that have no standard error; the noise is the first axis."""
    return {"bias": errors.bias, "variance": errors.variance, "mse": errors.mse}
