"""The general evaluator of VideoMind."""

from __future__ import annotations

from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="videomind",
    summary="as yeliudev/VideoMind: IoU >= m in float32, best window, order of the file",
    source="yeliudev/VideoMind at 6721d25, videomind/eval/eval_auto.py lines 32-159; nncore 0.4.5 ops/temporal.py",
    comparison=">=",
    tolerance=None,
    precision="float32",
    denominator="union",
    ranking="file",
    measures=(
        "R@1,IoU=0.3; R@1,IoU=0.5; R@1,IoU=0.7; R@3,IoU=0.3; R@3,IoU=0.5; R@3,IoU=0.7; "
        "R@5,IoU=0.3; R@5,IoU=0.5; R@5,IoU=0.7; mIoU"
    ),
    read_in={
        **OURS,
        "denominator": "nncore: lengths minus intersection, not finite gives 0",
        "ranking": "the order of the list",
        "clip_references": "none; its inference clamps and rounds answers before it writes them",
        "missing": "rows without an answer leave the mean there; ours (missing=drop gives theirs)",
    },
)
