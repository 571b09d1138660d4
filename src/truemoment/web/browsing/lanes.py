"""One query: its references, answers and floors on one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from truemoment.base.intervals import Floats, temporal_iou
from truemoment.base.records import Annotations, Predictions
from truemoment.evaluation.error_kinds import KINDS
from truemoment.web.browsing.looking import AnswerColumns, SystemColumns

MOST_ANSWERS = 10
"""Answers of a method that a lane shows."""


def references_of(annotations: Annotations, query: int) -> tuple[Floats, list[str]]:
    """Return the references of a query (R, 2), and who annotated each."""
    rows = slice(annotations.offsets[query], annotations.offsets[query + 1])
    moments = np.stack([annotations.start_s[rows], annotations.end_s[rows]], axis=1)
    return moments, annotations.annotator[rows].tolist()


def answers_of(predictions: Predictions, row: int, most: int = MOST_ANSWERS) -> Floats:
    """Return the best answers in a row of predictions, (K, 3): start and end in seconds, and score; -1 has none."""
    if row < 0:
        return np.zeros((0, 3))
    rows = slice(predictions.offsets[row], min(predictions.offsets[row] + most, predictions.offsets[row + 1]))
    return np.stack([predictions.start_s[rows], predictions.end_s[rows], predictions.score[rows]], axis=1)


def best_iou(moments: Floats, references: Floats) -> Floats:
    """Return the largest IoU of each moment with a reference, (K,)."""
    if not len(moments):
        return np.zeros(0)
    iou = temporal_iou(moments[:, None, 0], moments[:, None, 1], references[None, :, 0], references[None, :, 1])
    return np.asarray(iou.max(axis=1))


def row_of(looked: AnswerColumns, query: int) -> dict[str, Any]:
    """Return what a list shows of a query: its references, the first answers, and the strongest floor."""
    queries = looked.annotations.queries
    query_id = str(queries.query_id[query])
    references, _ = references_of(looked.annotations, query)
    row = {
        "n": query,
        "query_id": query_id,
        "video_id": str(queries.video_id[query]),
        "sentence": str(queries.sentence[query]),
        "duration_s": as_json(queries.duration_s[query]),
        "references": references.tolist(),
        "systems": [_summary(columns, query) for columns in looked.systems],
    }
    if looked.floor_errors is not None:
        row["floor"] = {"iou": float(looked.floor_errors.iou[query]), "hit": bool(looked.floor_errors.kind[query] == 0)}
    return row


def lanes_of(looked: AnswerColumns, query: int) -> dict[str, Any]:
    """Return all lanes of a query."""
    references, annotators = references_of(looked.annotations, query)
    lanes = row_of(looked, query) | {
        "annotators": [
            {"annotator": name, "moment": moment}
            for name, moment in zip(annotators, references.tolist(), strict=True)
            if name
        ],
        "agreement": as_json(looked.agreement[query]),
        "verdicts": looked.verdicts.get(str(looked.annotations.queries.query_id[query]), {}),
        "verb": looked.verbs[query],
        "floors": [],
    }
    for system, columns in zip(lanes["systems"], looked.systems, strict=True):
        system["answers"] = _with_iou(answers_of(columns.predictions, int(columns.row[query])), references)
        system["mending"] = (
            0.0 if columns.hit[query] or not columns.errors.counts[query] else 1 / int(columns.errors.counts.sum())
        )
    for floor, figure, row in zip(looked.floors, looked.floor_figures, looked.floor_rows, strict=True):
        answers = _with_iou(answers_of(floor.predictions, int(row[query]), 3), references)
        lanes["floors"].append({"name": floor.title, "figure": figure, "answers": answers})
    return lanes


def _summary(columns: SystemColumns, query: int) -> dict[str, Any]:
    errors = columns.errors
    return {
        "kind": KINDS[int(errors.kind[query])],
        "counts": bool(errors.counts[query]),
        "iou": float(errors.iou[query]),
        "confidence": as_json(columns.confidence[query]),
        "best_iou": float(errors.best_iou[query]),
        "rank_of_hit": int(errors.rank_of_hit[query]),
        "duplicates": bool(errors.duplicates[query]),
        "offset_s": as_json(columns.offset_s[query]),
        "answers": answers_of(columns.predictions, int(columns.row[query]), 1).tolist(),
    }


def _with_iou(answers: Floats, references: Floats) -> list[list[float]]:
    return np.column_stack([answers, best_iou(answers[:, :2], references)]).tolist() if len(answers) else []


def as_json(value: float) -> float | None:
    """Return a number; None for NaN."""
    return None if np.isnan(value) else float(value)
