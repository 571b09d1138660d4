"""The evaluator of UniTime."""

from __future__ import annotations

from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="unitime",
    summary="as Lzq5/UniTime: IoU > m in float32, all windows of answer and reference pooled",
    source="Lzq5/UniTime at d889a71, eval_metrics.py lines 17-125",
    tolerance=None,
    precision="float32",
    ranking="file",
    references="pooled",
    read_in={
        **OURS,
        "references": (
            "eval_metrics.py lines 17-56: intersections of all pairs over the sum of all lengths less these; nothing "
            "is merged: overlapping answers count twice, a value can exceed 1, a swapped answer has negative length"
        ),
        "missing": "queries missing from the result file leave the mean there; ours (missing=drop gives theirs)",
    },
)
