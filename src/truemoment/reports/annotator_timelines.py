"""Time lines of queries with all annotators: the least agreed, the most agreed, and one between."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from truemoment.diagnosis.agreement import Annotators, agreement_by_query
from truemoment.intervals import Ints
from truemoment.reports.drawing import GRID, INK, METHOD, SOFT, new_figure, shortened
from truemoment.reports.model import Bar, Drawing, Example, Examples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_SHOWN = 6

SENTENCE_CHARACTERS = 52


class AnnotatedExample(NamedTuple):
    """A query with what each annotator marked, (name, start, end) in seconds."""

    query_id: str
    video_id: str
    sentence: str
    duration_s: float
    mean_iou: float
    marked: tuple[tuple[str, float, float], ...]


def chosen_queries(annotators: Annotators) -> list[AnnotatedExample]:
    """Return queries at even ranks of agreement, from the least to the most; ties in the order of the file."""
    means = np.array([mean for mean, _, _ in agreement_by_query(annotators)])
    ranked: Ints = np.argsort(means, kind="stable")
    places = np.unique(np.linspace(0, len(ranked) - 1, min(N_SHOWN, len(ranked))).round().astype(np.int64))
    rows = annotators.annotations
    found = []
    for query in ranked[places].tolist():
        low, high = rows.offsets[query], rows.offsets[query + 1]
        columns = (rows.annotator[low:high], rows.start_s[low:high].tolist(), rows.end_s[low:high].tolist())
        last_s = float(rows.end_s[low:high].max())
        duration_s = float(rows.duration_s[low])
        found.append(
            AnnotatedExample(
                query_id=rows.query_id[low],
                video_id=rows.video_id[low],
                sentence=rows.sentence[low],
                duration_s=duration_s if duration_s > 0 else last_s,
                mean_iou=float(means[query]),
                marked=tuple(zip(*columns, strict=True)),
            )
        )
    return found


def timeline_examples(queries: list[AnnotatedExample]) -> Examples:
    """Return queries as time lines of a page."""
    return Examples(
        tuple(
            Example(
                f"mean IoU of two annotators {of.mean_iou:.2f}",
                of.query_id,
                of.video_id,
                of.sentence,
                of.duration_s,
                tuple(Bar("reference", name, start_s, end_s) for name, start_s, end_s in of.marked),
            )
            for of in queries
        )
    )


def timeline_drawing(queries: list[AnnotatedExample]) -> Drawing:
    """Return the figure of time lines, for ``--figures``."""
    return Drawing(
        "annotators-timelines",
        "What annotators marked",
        "A line per annotator; queries at even ranks of agreement, the least agreed first.",
        partial(timelines_figure, queries),
    )


def timelines_figure(queries: list[AnnotatedExample]) -> Figure:
    """Return a figure with a part per query and a line per annotator."""
    count = sum(len(of.marked) + 2 for of in queries)
    figure = new_figure(0.45 + 0.14 * count)
    axes = figure.subplots()
    place = 0
    for of in queries:
        title = f"{shortened(of.sentence, SENTENCE_CHARACTERS)} ({of.mean_iou:.2f})"
        axes.text(0, place, title, fontsize=6, color=INK, va="center")
        for line, (name, start_s, end_s) in enumerate(of.marked, start=1):
            axes.plot([0, 1], [place + line] * 2, color=GRID, linewidth=1, zorder=1)
            share = start_s / of.duration_s, end_s / of.duration_s
            axes.plot(share, [place + line] * 2, color=METHOD, linewidth=4, solid_capstyle="butt", zorder=2)
            axes.text(1.01, place + line, shortened(name, 12), fontsize=5, color=SOFT, va="center")
        place += len(of.marked) + 2
    axes.set_xlim(0, 1)
    axes.set_ylim(place - 0.5, -1)
    axes.set_yticks([])
    axes.set_xlabel("share of the video")
    return figure
