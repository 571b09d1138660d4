"""The evaluator of TimeLens."""

from __future__ import annotations

from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="timelens",
    summary="as TencentARC/TimeLens: IoU >= m on the first answer, references raw",
    source="TencentARC/TimeLens at 5d90c06, evaluation/compute_metrics.py lines 29-100, timelens/utils.py lines 20-25",
    comparison=">=",
    tolerance=None,
    ranking="file",
    references="first",
    decimals=4,
    read_in={
        **OURS,
        "references": "compute_metrics.py: the first span of a query",
        "missing": "queries missing from the result file leave the mean there; ours (missing=drop gives theirs)",
        "decimals": "printed unrounded there",
        "top": "only the first pair of an answer is used",
        "clip_predictions": "none; its inference rounds answers to whole seconds before it writes them",
    },
)
