"""Figures of a comparison: measures by method, R and dR against the threshold, splits, changed videos, lengths."""

from __future__ import annotations

from truemoment.report.charts import Chart, Plot
from truemoment.report.model import Drawing
from truemoment.studies.compare.files import ComparedFiles
from truemoment.studies.compare.ranking import best_first
from truemoment.studies.compare.report_beside import changed_drawings, split_drawings
from truemoment.studies.compare.report_lengths import length_drawings, method_looks
from truemoment.studies.compare.report_ranking import measure_strips, ranked_strip
from truemoment.studies.evaluate.curves import MOST_CURVES, curves_plot, recall_curves


def drawings(compared: ComparedFiles) -> list[Drawing | Chart]:
    """List the figures, that of the headline measure first."""
    runs = (
        "; where a method has several runs, of its first"
        if any(len(group) > 1 for group in compared.runs.values())
        else ""
    )
    return [
        ranked_strip(compared),
        *measure_strips(compared),
        _curves(compared, runs),
        *split_drawings(compared),
        *changed_drawings(compared),
        *length_drawings(compared),
    ]


def _curves(compared: ComparedFiles, note: str) -> Plot:
    protocol = compared.comparison.first.protocol
    names, looks = best_first(compared, list(compared.answers), MOST_CURVES), method_looks(compared)
    return curves_plot(
        [(name, recall_curves(compared.annotations, compared.answers[name], protocol)) for name in names],
        [looks[name] for name in names],
        note,
    )
