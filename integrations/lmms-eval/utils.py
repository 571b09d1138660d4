"""The functions of the task ``truemoment``: lmms-eval asks the model, TrueMoment reads and measures its answers.

Variables: ``TRUEMOMENT_VIDEOS`` is the folder of the videos, ``TRUEMOMENT_PROTOCOL`` the protocol (by default the
papers' definition; ``lmms-eval`` is the convention of that program's own task).
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import truemoment as tm

RECALLS = ("R@1,IoU=0.3", "R@1,IoU=0.5", "R@1,IoU=0.7", "mIoU")
NAMES = (*(measure.replace(",", "_") for measure in RECALLS), "unreadable")

Row = Mapping[str, Any]


def doc_to_visual(doc: Row, _: object = None) -> list[str]:
    """Return the path of the query's video: the file of the folder whose name, with or without its end, is the id."""
    folder = Path(os.environ.get("TRUEMOMENT_VIDEOS", "videos"))
    named = folder / doc["video_id"]
    found = named if named.is_file() else next(iter(sorted(folder.glob(f"{named.name}.*"))), None)
    if found is None:
        raise FileNotFoundError(f"no video {named}.*; set TRUEMOMENT_VIDEOS to the folder of the videos")
    return [str(found)]


def doc_to_text(doc: Row, lmms_eval_specific_kwargs: Row | None = None) -> str:
    """Return the prompt."""
    prompt = lmms_eval_specific_kwargs or {}
    return f"{prompt.get('pre_prompt', '')}{doc['sentence']}{prompt.get('post_prompt', '')}"


def doc_to_target(doc: Row) -> str:
    """Return the references, as JSON."""
    return json.dumps(doc["moments"])


def process_results(doc: Row, results: Sequence[str]) -> dict[str, Row]:
    """Return the query and its answer, for each measure; its first key is the one by which TrueMoment reads samples."""
    key = f"{doc['video_id']}>>>{doc['sentence']}>>>{doc_to_target(doc)}"
    row = {key: results[0], "doc": dict(doc), "answer": results[0]}
    return dict.fromkeys(NAMES, row)


def evaluate(rows: Sequence[Row]) -> tuple[dict[str, float], float]:
    """Return the value of each measure, and the share of answers that cannot be read, as fractions."""
    table = [
        (doc["query_id"], doc["video_id"], _number(doc.get("duration_s")), doc["sentence"], *moment)
        for doc in (row["doc"] for row in rows)
        for moment in doc["moments"] or [(np.nan, np.nan)]
    ]
    annotations = tm.Annotations.from_rows(table)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.jsonl"
        lines = (json.dumps({"query_id": row["doc"]["query_id"], "answer": row["answer"]}) for row in rows)
        path.write_text("\n".join(lines), encoding="utf-8")
        predictions, _ = tm.read_predictions(path, annotations, format="answers")
    protocol = os.environ.get("TRUEMOMENT_PROTOCOL")
    scores = tm.evaluate(predictions, annotations=annotations, measures="; ".join(RECALLS), protocol=protocol)
    return {measure: scores.value(measure) for measure in RECALLS}, float(predictions.unreadable.mean())


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def recall_03(rows: Sequence[Row]) -> float:
    """Return R@1,IoU=0.3."""
    return evaluate(rows)[0]["R@1,IoU=0.3"]


def recall_05(rows: Sequence[Row]) -> float:
    """Return R@1,IoU=0.5."""
    return evaluate(rows)[0]["R@1,IoU=0.5"]


def recall_07(rows: Sequence[Row]) -> float:
    """Return R@1,IoU=0.7."""
    return evaluate(rows)[0]["R@1,IoU=0.7"]


def mean_iou(rows: Sequence[Row]) -> float:
    """Return mIoU."""
    return evaluate(rows)[0]["mIoU"]


def unreadable(rows: Sequence[Row]) -> float:
    """Return the share of answers from which no moment can be read."""
    return evaluate(rows)[1]
