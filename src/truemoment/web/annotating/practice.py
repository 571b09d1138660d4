"""Feedback on practice tasks."""

from __future__ import annotations

import sqlite3

import msgspec

from truemoment.media.video.stamps import FrameTable
from truemoment.studies.humans.answer_agreement import set_iou_of
from truemoment.web.annotating.answers import FrameSpan
from truemoment.web.annotating.rebuilding import current


class _Hidden(msgspec.Struct):
    """The hidden fields of a query that are read here."""

    moments: list[tuple[float, float]]


def hidden_moments(text: str) -> list[tuple[float, float]]:
    """Read the references of a query from its row in a database."""
    return msgspec.json.decode(text, type=_Hidden).moments


class Feedback(msgspec.Struct):
    """What a person reads after a practice task."""

    right: bool
    text: str
    moments: list[tuple[float, float]]


def practice_feedback(
    connection: sqlite3.Connection, task: int, table: FrameTable, least_iou: float
) -> Feedback | None:
    """Return what a person reads after a practice task; None for any other task, or before it is submitted."""
    row = connection.execute(
        "SELECT q.hidden FROM tasks t JOIN queries q ON q.id = t.query WHERE t.id = ? AND t.control = 'practice' "
        "AND t.state = 'submitted'",
        (task,),
    ).fetchone()
    answer = current(connection, task).answer
    if row is None or answer is None:
        return None
    moments = hidden_moments(row["hidden"])
    if not moments:
        right = answer.verdict in ("absent", "no fit")
        return Feedback(right, "This is not in the video.", [])
    if answer.verdict == "fits":
        return Feedback(True, "The sentence fits this moment.", moments)
    iou = best_iou(answer.moments, moments, table)
    if iou is None:
        return Feedback(False, "Others agreed that this is in the video.", moments)
    overlap = "does not overlap with the agreed moment" if not iou else f"and the agreed one have an IoU of {iou:.2f}"
    return Feedback(iou >= least_iou, f"Your moment {overlap}.", moments)


def best_iou(marked: tuple[FrameSpan, ...], references: list[tuple[float, float]], table: FrameTable) -> float | None:
    """Return the best IoU of a marked moment with a reference; None without any."""
    spans = [table.moment_s(moment.first, moment.last) for moment in marked]
    return max((set_iou_of([span], [reference]) for span in spans for reference in references), default=None)
