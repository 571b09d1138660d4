"""Several annotators, the dataset's own reference and systems on one time line (Hidden Challenges, Fig. 7 and B)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from truemoment.base.intervals import temporal_iou
from truemoment.evaluation.agreement import agreement_by_query
from truemoment.report.drawing import (
    METHOD,
    OTHER,
    OTHER_FAINT,
    SMALL,
    WIDTH_IN,
    drawing_style,
    new_figure,
    shortened,
    width_of,
    wrapped,
    write_beside,
)
from truemoment.report.model import Drawing
from truemoment.report.roles import INK, ROLES, SOFT
from truemoment.studies.evaluate.first_answers import first_answers
from truemoment.studies.humans.study import AnnotatedFiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_SYSTEMS, MOST_ANNOTATORS = 6, 12
"""Maximum number of systems and annotators of a time line."""

MOST_LINES = 8
"""Maximum number of lines of a sentence."""

ROW_IN, LINE_IN, AROUND_IN = 0.165, 0.16, 0.72
"""Height of a moment, of a line of the title, and of the margins, inches."""

COLOURS = {"annotator": ROLES["people"].look.colour, "system": METHOD}


class TimelineRow(NamedTuple):
    """A moment of a query: its owner, seconds, and its IoU.

    The IoU is that with the dataset's own reference; where there is none, the mean IoU with the annotators' moments (an
    annotator's with those of the others).
    """

    kind: Literal["reference", "annotator", "system"]
    name: str
    start_s: float
    end_s: float
    iou: float


class Timeline(NamedTuple):
    """A query with all its moments; `agreement` is the mean IoU of two annotators, a fraction."""

    query_id: str
    video_id: str
    sentence: str
    duration_s: float
    agreement: float
    rows: tuple[TimelineRow, ...]


def timelines(files: AnnotatedFiles, most: int) -> list[Timeline]:
    """Return the queries on which annotators agree least, at most `most` of them; ties in the order of the file."""
    study = files.study
    annotators, official = study.annotators, study.official
    of_queries = annotators.annotations.queries
    agreement = agreement_by_query(annotators)[:, 0]
    answers = {name: first_answers(annotators.annotations, predictions) for name, predictions in files.answers.items()}
    place = {} if official is None else {query: row for row, query in enumerate(official.queries.query_id.tolist())}
    result = []
    for q in np.argsort(agreement, kind="stable")[:most].tolist():
        part = slice(*annotators.annotations.offsets[q : q + 2].tolist())
        names = annotators.annotations.annotator[part].tolist()
        marked = list(zip(annotators.start_s[q].tolist(), annotators.end_s[q].tolist(), strict=True))[: len(names)]
        references: list[tuple[float, float]] = []
        if official is not None and (at := place.get(str(of_queries.query_id[q]))) is not None:
            of_query = slice(*official.offsets[at : at + 2].tolist())
            moments = zip(official.start_s[of_query].tolist(), official.end_s[of_query].tolist(), strict=True)
            references = [moment for moment in moments if not math.isnan(moment[0])]
        systems = [
            (name, (float(answer.start_s[q]), float(answer.end_s[q])))
            for name, answer in list(answers.items())[:MOST_SYSTEMS]
        ]
        rows = _rows(references, list(zip(map(str, names), marked, strict=True))[:MOST_ANNOTATORS], systems)
        result.append(
            Timeline(
                str(of_queries.query_id[q]),
                str(of_queries.video_id[q]),
                str(of_queries.sentence[q]),
                float(of_queries.duration_s[q]),
                float(agreement[q]),
                tuple(rows),
            )
        )
    return result


Moment = tuple[float, float]


def _rows(
    references: Sequence[Moment], marked: Sequence[tuple[str, Moment]], systems: Sequence[tuple[str, Moment]]
) -> list[TimelineRow]:
    """Return the moments of a query, each with its IoU."""
    rows = [TimelineRow("reference", "reference", *moment, math.nan) for moment in references]
    for number, (name, moment) in enumerate(marked):
        others = references or [other for at, (_, other) in enumerate(marked) if at != number]
        rows.append(TimelineRow("annotator", name, *moment, _iou(moment, others, best=bool(references))))
    for name, moment in systems:
        others = references or [other for _, other in marked]
        rows.append(TimelineRow("system", name, *moment, _iou(moment, others, best=bool(references))))
    return rows


def _iou(moment: Moment, others: Sequence[Moment], *, best: bool) -> float:
    """Return the IoU with the nearest, or the mean IoU with all; NaN where there is no moment."""
    if math.isnan(moment[0]) or not others:
        return math.nan
    table = np.array(others)
    iou = temporal_iou(np.array(moment[0]), np.array(moment[1]), table[:, 0], table[:, 1])
    return float(iou.max() if best else iou.mean())


def timeline_drawings(files: AnnotatedFiles, most: int) -> list[Drawing]:
    """Return a figure for each of the queries on which annotators agree least."""
    has_official = files.study.official is not None
    against = (
        "with the reference" if has_official else "with the annotators, on average (for an annotator, with the others)"
    )
    area = "the grey area is the dataset's own reference, " if has_official else ""
    drawings = []
    for number, timeline in enumerate(timelines(files, most), start=1):
        drawings.append(
            Drawing(
                f"timeline-{number}",
                f"{number}. {shortened(timeline.sentence, 70)}",
                f"{timeline.query_id}: moments in seconds; {area}filled bars are annotators, hollow ones systems. "
                f"At the right: IoU {against}. Mean IoU of two annotators: {timeline.agreement:.2f}. After Hidden "
                "Challenges, Fig. 7.",
                partial(timeline_figure, timeline),
                partial(timeline_numbers, timeline),
            )
        )
    return drawings


def timeline_numbers(timeline: Timeline) -> list[dict[str, Any]]:
    """Return the numbers of a figure, a row a moment."""
    fields = {
        "query_id": timeline.query_id,
        "video_id": timeline.video_id,
        "sentence": timeline.sentence,
        "duration_s": timeline.duration_s,
    }
    return [fields | row._asdict() for row in timeline.rows]


def timeline_figure(timeline: Timeline) -> Figure:
    """Draw a query: its sentence, the reference as an area, and a row a person and system."""
    rows = [row for row in timeline.rows if row.kind != "reference"]
    references = [row for row in timeline.rows if row.kind == "reference"]
    with drawing_style():
        title = wrapped(timeline.sentence, round(72 * WIDTH_IN) - 8, width_of, most=MOST_LINES)
        figure = new_figure(AROUND_IN + ROW_IN * len(rows) + LINE_IN * (1 + title.count("\n")))
        axes = figure.add_subplot()
        for row in references:
            axes.axvspan(row.start_s, row.end_s, facecolor=OTHER_FAINT, edgecolor=OTHER, linewidth=0.8)
        for at, row in enumerate(rows):
            _draw_row(axes, at, row)
        axes.set_yticks(range(len(rows)), [shortened(row.name, 20) for row in rows])
        axes.set_ylim(len(rows) - 0.35, -0.65)
        axes.tick_params(axis="y", length=0)
        ends = [end for row in timeline.rows for end in (row.start_s, row.end_s) if math.isfinite(end)]
        last = timeline.duration_s if timeline.duration_s > 0 else 0.0
        axes.set_xlim(min([0.0, *ends]), max([last, *ends, 1.0]))
        axes.set_xlabel("seconds")
        figure.suptitle(title, x=0.01, ha="left", fontsize="medium")
        offset = (3.5, 6)  # points, for which the layout leaves room
        units, offset_units = "axes fraction", "offset points"
        axes.annotate("IoU", (1, 1), offset, units, offset_units, va="center", fontsize=SMALL, color=SOFT)
    return figure


def _draw_row(axes: Axes, at: int, row: TimelineRow) -> None:
    """Draw a moment as a bar, hollow for a system; an empty or swapped one as a mark at its start."""
    if math.isnan(row.start_s):
        write_beside(axes, "no answer", 0.0, at, share_of_width=True, color=SOFT)
        return
    colour = COLOURS[row.kind]
    if row.end_s > row.start_s:
        fill = colour if row.kind == "annotator" else "none"
        axes.barh(at, row.end_s - row.start_s, left=row.start_s, height=0.62, color=fill, edgecolor=colour, lw=1.4)
    else:
        axes.plot([row.start_s], [at], marker="x", color=colour)
    text = f"{row.iou:.2f}" if math.isfinite(row.iou) else ""
    write_beside(axes, text, 1, at, share_of_width=True, color=INK)
