"""The section of an evaluation about the scores of its predictions: calibration, and better from worse moments."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from truemoment.base.boundary.documents import Measured
from truemoment.report.drawing import FLOOR, METHOD, METHOD_FAINT, SOFT, drawing_style, new_figure
from truemoment.report.model import Block, Cell, Drawing, Paragraph, Section, Table
from truemoment.report.words import UNDEFINED, counted, low_to_high, number
from truemoment.studies.evaluate.calibration import HIT, IOU, FigureWithInterval, Reliability, ScoreCalibration

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ONE_KIND = "all moments are hits, or none is"
CONSTANT = "the scores or the IoUs are all equal"


def section(found: ScoreCalibration) -> Section:
    """Return the tables and the figure."""
    blocks: list[Block] = [
        Paragraph(_words(found)),
        _means(found),
        _errors(found),
        Paragraph(ERRORS),
        _discriminations(found),
        _coverage(found),
        Drawing(
            "reliability",
            "Reliability of the scores",
            "Mean IoU, and share of moments with an IoU above 0.5, by score; below, the number of moments. A "
            "calibrated score lies on the diagonal." + (" Scores are mapped." if found.mapped else ""),
            partial(reliability_figure, found),
        ),
    ]
    return Section("calibration", "Calibration of the scores", tuple(blocks))


ERRORS = (
    "ECE is the expected calibration error in ten bins of equal width or of equal size; by chance is the ECE of a "
    "perfect score of the same data, bins of equal size. RMSCE is the root mean square calibration error, debiased."
)


def _words(found: ScoreCalibration) -> str:
    left_out = (
        f" {counted(found.left_out, 'query', 'queries')} without a prediction or a reference moment are left out."
        if found.left_out
        else ""
    )
    if not found.mapped:
        return f"A score is read as an estimate of the IoU, and of the probability that the IoU is above 0.5.{left_out}"
    return (
        f"The scores lie from {found.lowest:.4g} to {found.highest:.4g}, not within 0 to 1, so they estimate nothing "
        "by themselves. They are MAPPED: isotonic regression on one half of the videos maps the scores of the other "
        f"half. Calibration errors are those of the mapped scores.{left_out}"
    )


def _cell(of: FigureWithInterval, decimals: int = 3, *, sign: str = "") -> Cell:
    if math.isnan(of.value):
        return Cell(UNDEFINED, ONE_KIND)
    return Cell(number(of.value, decimals, sign=sign), low_to_high(of.ci95, decimals, sign=sign))


def _means(found: ScoreCalibration) -> Table:
    rows = [
        (
            Cell(f"{of.moments}: {of.target}"),
            Cell(number(of.mean_score, 3)),
            Cell(number(of.mean_target, 3)),
            _cell(of.overconfidence, sign="+"),
        )
        for of in found.reliabilities
    ]
    headings = ("scores as estimates of", "mean score", "mean", "score less mean")
    return Table("Mapped scores" if found.mapped else "Scores", headings, (("", tuple(rows)),))


def _errors(found: ScoreCalibration) -> Table:
    rows = [
        (
            Cell(f"{of.moments}: {of.target}"),
            *(Cell(number(error, 3)) for error in (of.ece_width, of.ece_size, of.by_chance)),
            _cell(of.rmsce),
        )
        for of in found.reliabilities
    ]
    headings = ("scores as estimates of", "ECE, width", "ECE, size", "by chance", "RMSCE")
    return Table(f"Calibration errors{' of mapped scores' * found.mapped}", headings, (("", tuple(rows)),))


def _discriminations(found: ScoreCalibration) -> Table:
    rows = [
        (
            Cell(of.moments),
            Cell(f"{of.n_moments:,}"),
            Cell(UNDEFINED, CONSTANT) if math.isnan(of.rank_correlation) else Cell(number(of.rank_correlation)),
            _cell(of.auc),
        )
        for of in found.discriminations
    ]
    headings = ("scores of", "moments", "rank correlation with IoU", f"AUC of {HIT}")
    return Table("Better from worse moments, by the scores of the file", headings, (("", tuple(rows)),))


def _coverage(found: ScoreCalibration) -> Table:
    rows = [
        (Cell(f"{100 * share:.0f} %"), Cell(f"{100 * iou:.2f}"), Cell(f"{100 * hits:.2f}"))
        for share, iou, hits in zip(found.coverage, found.iou_at, found.hits_at, strict=True)
    ]
    headings = ("queries with the highest top-1 score", "mean IoU, %", f"{HIT}, %")
    return Table("Top-1 moments if only the most certain queries are answered", headings, (("", tuple(rows)),))


def reliability_figure(found: ScoreCalibration) -> Figure:
    """Draw means by score of all moments, and their number."""
    last = found.reliabilities[-1].moments
    shown = [of for of in found.reliabilities if of.moments == last]
    looks = {IOU: (METHOD, "o"), HIT: (FLOOR, "D")}
    with drawing_style():
        figure = new_figure(4.4)
        axes, below = figure.subplots(2, sharex=True, height_ratios=(3, 1))
        axes.plot([0, 1], [0, 1], color=SOFT, linestyle=(0, (3, 2)), label="calibrated")
        for of in shown:
            colour, marker = looks[of.target]
            axes.plot(of.score, of.outcome, color=colour, marker=marker, label=of.target)
        width = 1 / 10
        left = np.minimum((shown[0].score / width).astype(int), 9) * width
        below.bar(left + width / 2, shown[0].count, width * 0.9, color=METHOD_FAINT)
        axes.set_ylim(0, 1)
        axes.set_xlim(0, 1)
        axes.set_ylabel("mean IoU; share of hits")
        axes.grid(axis="both")
        below.set_ylabel("moments")
        below.set_xlabel("score, mapped to IoU or hits" if found.mapped else "score")
        figure.legend(loc="outside upper center", ncols=3, columnspacing=1.2)
    return figure


def document(found: ScoreCalibration) -> dict[str, Any]:
    """Return what programs read."""
    return {
        "mapped": found.mapped,
        "scores": {"lowest": found.lowest, "highest": found.highest},
        "n_queries": found.n_queries,
        "left_out": found.left_out,
        "resamples": found.resamples,
        "reliability": [_reliability(of) for of in found.reliabilities],
        "discrimination": [
            {
                "moments": of.moments,
                "n_moments": of.n_moments,
                "rank_correlation": Measured(of.rank_correlation, CONSTANT, unit=""),
                "auc": Measured(of.auc.value, ONE_KIND, of.auc.ci95.tolist()),
            }
            for of in found.discriminations
        ],
        "coverage": [
            {"share": share, "iou": iou, "hits": hits}
            for share, iou, hits in zip(found.coverage, found.iou_at, found.hits_at, strict=True)
        ],
    }


def _reliability(of: Reliability) -> dict[str, Any]:
    return {
        "moments": of.moments,
        "estimates": of.target,
        "mean_score": of.mean_score,
        "mean": of.mean_target,
        "overconfidence": Measured(of.overconfidence.value, ci95=of.overconfidence.ci95.tolist()),
        "ece_equal_width": of.ece_width,
        "ece_equal_size": of.ece_size,
        "ece_equal_size_by_chance": of.by_chance,
        "rmsce": Measured(of.rmsce.value, ci95=of.rmsce.ci95.tolist()),
        "bins": [
            {"score": score, "mean": mean, "n_moments": count}
            for score, mean, count in zip(of.score, of.outcome, of.count, strict=True)
        ],
    }
