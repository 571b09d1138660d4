"""The chapter of theory: what noise in the IoU does to single answers, to lists, and to discounted recall.

===================  ==================================================================================
``theory-errors``    squared bias, variance, mean squared error of R@1 against the threshold, and of AxIoU@1 (Fig. 10)
``theory-cut``       bias of AxIoU@1 where noisy IoUs are cut to [0, 1]
``theory-lists``     bias of AxIoU@k and R@k by k, with noise of its own at each rank or common to all
===================  ==================================================================================
"""

from __future__ import annotations

from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.intervals import TIE, Floats, Ints
from truemoment.metaevaluation.theory import Errors, Theory, cut_axiou_errors, discounted_recall, recall_errors
from truemoment.reports.drawing import FLOOR, METHOD, SMALL, SOFT, new_figure
from truemoment.reports.metaevaluation.chapter import Chapter
from truemoment.reports.metaevaluation.parts import legend_of, measure_looks
from truemoment.reports.model import Cell, Drawing, Table
from truemoment.reports.text import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_NOISES = 4
"""Levels of noise that figures and sentences take; of more, as many evenly."""

TABLE_THRESHOLDS = (0.3, 0.5, 0.7)
"""Thresholds of the table, where they are among those computed."""

TABLE_RANKS = (1, 5, 10)
"""Ranks of the table of lists, where the list is as long."""

CUT_SHOWN = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
"""True IoUs of the table of cut noise."""

_LINES: tuple[Any, ...] = ((0, (1.2, 1.2)), (0, (5, 1.6)), "-", (0, (6, 1.6, 1.2, 1.6)))
_MARKERS = ("o", "s", "^", "v")
_PARTS = (("squared bias", "bias"), ("variance", "variance"), ("mean squared error", "mse"))


def chapter(result: Theory) -> Chapter:
    """Say what noise in the IoU does to measures.

    Parameters
    ----------
    result
        Errors in closed form and simulated.
    """
    return Chapter(
        name="theory",
        title=f"Theory: what does noise in the IoU do to a measure? (true IoU {result.iou:g})",
        said=(*_said_of_one(result), _said_of_cut(result), *_said_of_lists(result), _said_of_discounted(result)),
        tables=(_errors_table(result), _cut_table(result), _lists_table(result)),
        drawings=(
            Drawing(
                "theory-errors",
                "Errors of R@1 and AxIoU@1 under noise of the IoU",
                f"Against the threshold, for an answer whose true IoU is {result.iou:g}. Lines: closed form; marks: "
                f"{result.draws:,} draws each. After AxIoU, Fig. 10.",
                partial(_errors_figure, result),
            ),
            Drawing(
                "theory-cut",
                "Bias of AxIoU@1 where the noisy IoU is cut to [0, 1]",
                "An IoU cannot leave [0, 1]: where the truth is near an end, noise drives it inwards. Lines: closed "
                "form; marks: simulation.",
                partial(_cut_figure, result),
            ),
            Drawing(
                "theory-lists",
                "Bias of AxIoU@k and R@k by how many answers are looked at",
                f"Noise of {_middle_gamma(result):g}, simulated; the list's true IoUs are {_ious(result)}. The best of "
                "several noisy IoUs is too good on average, unless the noise is common to all ranks.",
                partial(_lists_figure, result),
            ),
        ),
        document=_document(result),
        notes=_notes(result),
    )


# ---------------------------------------------------------------------------------------------- what is said


def _said_of_one(result: Theory) -> tuple[str, ...]:
    """R@1 against AxIoU@1 for one answer, as in Fig. 10."""
    near = int(np.argmin(np.abs(result.thresholds - result.iou)))
    threshold = result.thresholds[near]
    at = _middle(result.gammas)
    gamma = result.gammas[at]
    recall, axiou = result.recall.mse[at, near], result.axiou.mse[at]
    said = [
        f"Seen through noise of {gamma:g} (standard deviation of the IoU), an answer whose true IoU is {result.iou:g} "
        f"has a mean squared error of {recall:.3f} by R@1,IoU={threshold:g} and of {axiou:.4f} by AxIoU@1, "
        f"{_times(recall, axiou)}."
    ]
    smallest = result.gammas[int(np.argmin(result.gammas))]
    if abs(threshold - result.iou) <= TIE:
        said.append(
            "At a threshold equal to the IoU the hit is a toss-up however small the noise is: the error of R@1 stays "
            f"at 0.5 with noise of {smallest:g}, where that of AxIoU@1 is {smallest**2:.4f}."
        )
    if gamma**2 < 0.5:
        off = gamma * NormalDist().inv_cdf(1 - gamma**2)
        said.append(
            f"R@1 has the smaller error at thresholds more than {off:.2f} off the true IoU (noise {gamma:g}): there "
            f"noise turns a hit into a miss, or a miss into a hit, in fewer than {100 * gamma**2:.2g} % of the cases. "
            "But there the measure does not tell this answer from others on the same side either."
        )
    return tuple(said)


def _times(recall: float, axiou: float) -> str:
    """Say how far two errors are from each other."""
    if recall >= axiou:
        return f"{recall / axiou:.0f} times less" if recall >= 2 * axiou else f"{recall / axiou:.1f} times less"
    return "which is more" if recall < axiou / 1.05 else "about the same"


def _said_of_cut(result: Theory) -> str:
    at = _middle(result.gammas)
    gamma, bias = result.gammas[at], result.cut.axiou.bias[at]
    own = float(cut_axiou_errors(np.array(result.iou), np.array(gamma)).bias)
    return (
        "That AxIoU@1 is unbiased, as the paper says, holds for noise that may leave [0, 1], which no IoU can. Where "
        f"noise of {gamma:g} is cut there, AxIoU@1 is {_signed(bias[0], 3)} off at a true IoU of 0, "
        f"{_signed(own, 3)} at {result.iou:g} and {_signed(bias[-1], 3)} at 1; R@1 is as it was."
    )


def _said_of_lists(result: Theory) -> tuple[str, ...]:
    lists, at = result.lists, _middle(result.gammas)
    k = len(lists.ious)
    if k == 1:
        return ()
    own, common = int(np.argmin(lists.correlations)), int(np.argmax(lists.correlations))
    bias, se = lists.axiou.bias[at, :, -1], lists.axiou.bias_se[at, :, -1]
    of_recall = lists.recall.bias[at, own, -1]
    worst = int(np.argmax(np.abs(of_recall)))
    return (
        f"Over a list AxIoU@{k} is biased too where noise is of its own at each rank: the best of several noisy IoUs "
        f"is too good by {_signed(bias[own], 4)} ± {2 * se[own]:.4f} (noise {result.gammas[at]:g}); where the noise "
        f"is common to all ranks it is not ({_signed(bias[common], 4)} ± {2 * se[common]:.4f}). Real noise is of "
        "neither kind: a reference that is off moves the IoU of all ranks at once, but not by the same.",
        f"R@{k} is off most at IoU={lists.thresholds[worst]:g}: by {_signed(of_recall[worst], 3)}, where the truth is "
        f"{lists.true_recall[-1, worst]:.0f}.",
    )


def _said_of_discounted(result: Theory) -> str:
    at = _middle(result.gammas)
    near = int(np.argmin(np.abs(result.thresholds - result.iou)))
    errors, of_r = result.discounted.errors, result.recall.mse[at, near]
    full = discounted_recall(np.array(result.iou), np.array(0.0), result.discounted.length_norm)
    return (
        f"dR@1 keeps the threshold and with it the error: for an answer of {result.discounted.length_norm:g} of the "
        f"video, of which a hit counts {full:.2f}, dR@1,IoU={result.thresholds[near]:g} has a mean squared error of "
        f"{errors.mse[at, near]:.3f} ± {2 * errors.mse_se[at, near]:.3f} where R@1 has {of_r:.3f}."
    )


def _notes(result: Theory) -> tuple[str, ...]:
    lists = result.lists
    return (
        "The model is that of the AxIoU paper (appendix C): the observed IoU is the true one and normal noise of mean "
        "0; a hit is an IoU of at least the threshold. The paper draws r = 0.5.",
        "R@1 of a single answer is 0 or 1, AxIoU@1 anything between, so squared errors of the two on one scale compare "
        "measures of different spread, as the paper does.",
        f"Closed form and simulation ({result.draws:,} draws) are at most {_widest(result):.1f} standard errors apart "
        "over all thresholds and levels of noise with ten or more expected flips; all of a level share their draws.",
        f"Lists: true IoUs {_ious(result)}; noise of one standard deviation at all ranks, correlated between ranks by "
        f"{', '.join(f'{rho:g}' for rho in lists.correlations)}; not cut.",
        "dR@1: prediction and reference have one length L, shifted by L (1 - IoU) / (1 + IoU), so that both its "
        "factors are 1 less that shift; the noise is cut to [0, 1], as other IoUs have no geometry.",
    )


def _widest(result: Theory) -> float:
    """Largest distance between simulation and closed form in standard errors, where a flip is not rare."""
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
    """Number of the middle level of noise, the lower of two."""
    return int(np.argsort(gammas)[(len(gammas) - 1) // 2])


def _middle_gamma(result: Theory) -> float:
    return float(result.gammas[_middle(result.gammas)])


def _shown(gammas: Floats) -> Ints:
    """Numbers of the levels of noise that are shown."""
    return np.unique(np.linspace(0, len(gammas) - 1, min(len(gammas), N_NOISES)).round().astype(np.int64))


# ---------------------------------------------------------------------------------------------------- tables


def _errors_table(result: Theory) -> Table:
    """Errors of single answers, a group a level of noise."""
    wanted = [t for t, of in enumerate(result.thresholds) if np.any(np.abs(of - np.array(TABLE_THRESHOLDS)) <= TIE)]
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
        f"Errors of one answer of true IoU {result.iou:g}; simulated errors ± 2 standard errors",
        ("measure", "bias", "variance", "mean squared error", "simulated"),
        tuple(groups),
    )


def _errors_row(name: str, exact: Errors | None, simulated: Errors, at: tuple[int, ...]) -> tuple[Cell, ...]:
    """Closed form where there is one, else what was simulated."""
    known = simulated if exact is None else exact
    return (
        Cell(name),
        Cell(_signed(known.bias[at], 3)),
        Cell(f"{known.variance[at]:.4f}"),
        Cell(f"{known.mse[at]:.4f}" if exact is not None else "-"),
        Cell(f"{simulated.mse[at]:.4f}", f"± {2 * simulated.mse_se[at]:.4f}"),
    )


def _cut_table(result: Theory) -> Table:
    cut = result.cut
    wanted = [int(np.argmin(np.abs(cut.ious - of))) for of in CUT_SHOWN]
    rows = tuple(
        (Cell(f"{result.gammas[g]:g}"), *(Cell(_signed(cut.axiou.bias[g, at], 3)) for at in wanted))
        for g in _shown(result.gammas)
    )
    return Table(
        "Bias of AxIoU@1 by true IoU, where the noisy IoU is cut to [0, 1] (closed form; uncut noise: 0 everywhere)",
        ("noise", *(f"IoU {cut.ious[at]:g}" for at in wanted)),
        (("", rows),),
    )


def _lists_table(result: Theory) -> Table:
    """Bias and error over a list, at the middle level of noise."""
    lists, g = result.lists, _middle(result.gammas)
    ranks = [rank for rank in TABLE_RANKS if rank <= len(lists.ious)]
    rows = []
    for rank in ranks:
        rows.append(_lists_row(f"AxIoU@{rank}", lists.true_axiou[rank - 1], lists.axiou, (g, rank - 1)))
        rows += [
            _lists_row(f"R@{rank},IoU={of:g}", lists.true_recall[rank - 1, t], lists.recall, (g, rank - 1, t))
            for t, of in enumerate(lists.thresholds)
        ]
    headings = [f"{what}, correlation {rho:g}" for rho in lists.correlations for what in ("bias", "m. s. error")]
    return Table(
        f"Errors over a list with noise of {result.gammas[g]:g}, by how far the noise of its ranks correlates; in "
        "brackets twice the standard error",
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
    """Draw squared bias, variance and mean squared error against the threshold, a panel each."""
    figure = new_figure(5.6)
    rows = figure.subplots(3, 1, sharex=True, sharey=True)
    fine = np.unique(np.concatenate([np.linspace(0, 1, 501), [result.iou, min(result.iou + 1e-6, 1)]]))
    every = max(1, len(result.thresholds) // 20)
    for axes, (title, part) in zip(rows, _PARTS, strict=True):
        for style, g in enumerate(_shown(result.gammas)):
            closed = recall_errors(result.iou, result.gammas[g], fine)
            axes.plot(fine, _power(closed, part), color=METHOD, linestyle=_LINES[style])
            axes.axhline(float(_power(result.axiou, part)[g]), color=FLOOR, linestyle=_LINES[style])
            simulated = _power(result.simulated_recall, part)[g, ::every]
            axes.plot(result.thresholds[::every], simulated, **_mark(_MARKERS[style], METHOD))
            axes.plot([0.025], [_power(result.simulated_axiou, part)[g]], **_mark(_MARKERS[style], FLOOR))
        axes.set_title(title, loc="left", fontsize=SMALL, color=SOFT)
        axes.grid(axis="y")
    rows[-1].set_xlim(0, 1)
    rows[-1].set_xlabel("threshold of R@1")
    _noise_legend(figure, result, (("R@1, ", METHOD), ("AxIoU@1, ", FLOOR)))
    return figure


def _power(errors: Errors, part: str) -> Floats:
    """What a panel shows: the bias is squared."""
    values: Floats = getattr(errors, part)
    return values**2 if part == "bias" else values


def _mark(marker: str, colour: str) -> dict[str, Any]:
    return {"color": colour, "marker": marker, "linestyle": "none", "markersize": 3.2, "clip_on": False, "zorder": 3}


def _noise_legend(figure: Figure, result: Theory, families: tuple[tuple[str, str], ...]) -> None:
    """Say below a figure which line is which level of noise of which measure."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 - see truemoment.reports.drawing.drawing_style

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
        axes.plot(fine, cut_axiou_errors(fine, result.gammas[g]).bias, color=FLOOR, linestyle=_LINES[style])
        axes.plot(result.cut.ious, result.cut.simulated_axiou.bias[g], **_mark(_MARKERS[style], FLOOR))
    axes.set_xlim(0, 1)
    axes.set_xlabel("true IoU")
    axes.set_ylabel("bias of AxIoU@1")
    axes.grid(axis="y")
    _noise_legend(figure, result, (("", FLOOR),))
    return figure


def _lists_figure(result: Theory) -> Figure:
    """Draw the bias of AxIoU@k and R@k against k, a panel a correlation."""
    lists, g = result.lists, _middle(result.gammas)
    names = ["AxIoU@k", *(f"R@k,IoU={of:g}" for of in lists.thresholds)]
    looks = measure_looks(["AxIoU@1", *(f"R@1,IoU={of:g}" for of in lists.thresholds)])
    tables = [lists.axiou.bias[g], *np.moveaxis(lists.recall.bias[g], -1, 0)]  # (C, K) each
    figure = new_figure(0.8 + 1.45 * len(lists.correlations))
    rows = figure.subplots(len(lists.correlations), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    ranks = np.arange(1, len(lists.ious) + 1)
    for c, axes in enumerate(rows):
        _lists_panel(axes, float(lists.correlations[c]))
        for look, table in zip(looks, tables, strict=True):
            axes.plot(ranks, table[c], **look.of_line())
        axes.set_ylabel("bias")
    rows[-1].set_xlabel("answers looked at, k")
    rows[-1].set_xticks(ranks if len(ranks) <= 12 else np.linspace(1, len(ranks), 6).round())
    legend_of(figure, looks, names)
    return figure


def _lists_panel(axes: Axes, rho: float) -> None:
    said = {0.0: "noise of its own at each rank", 1.0: "noise common to all ranks"}
    axes.set_title(said.get(rho, f"noise that correlates by {rho:g}"), loc="left", fontsize=SMALL, color=SOFT)
    axes.axhline(0, color=SOFT, linewidth=0.7)
    axes.grid(axis="y")


# -------------------------------------------------------------------------------------------------- document


def _document(result: Theory) -> dict[str, Any]:
    lists, cut = result.lists, result.cut
    return {
        "iou": result.iou,
        "noise": result.gammas,
        "thresholds": result.thresholds,
        "draws": result.draws,
        "recall@1": {"closed_form": _errors(result.recall), "simulated": _errors(result.simulated_recall, se=True)},
        "axiou@1": {"closed_form": _errors(result.axiou), "simulated": _errors(result.simulated_axiou, se=True)},
        "axiou@1_cut": {
            "ious": cut.ious,
            "closed_form": _errors(cut.axiou),
            "simulated": _errors(cut.simulated_axiou, se=True),
        },
        "lists": {
            "ious": lists.ious,
            "correlations": lists.correlations,
            "thresholds": lists.thresholds,
            "axiou@k": {"truth": lists.true_axiou, "simulated": _errors(lists.axiou, se=True)},
            "recall@k": {"truth": lists.true_recall, "simulated": _errors(lists.recall, se=True)},
        },
        "discounted_recall@1": {
            "length_norm": result.discounted.length_norm,
            "truth": result.discounted.truth,
            "simulated": _errors(result.discounted.errors, se=True),
        },
    }


def _errors(errors: Errors, *, se: bool = False) -> dict[str, Any]:
    """Errors by name; the noise is the first axis."""
    found: dict[str, Any] = {"bias": errors.bias, "variance": errors.variance, "mse": errors.mse}
    if se:
        found |= {"bias_se": errors.bias_se, "variance_se": errors.variance_se, "mse_se": errors.mse_se}
    return found
