"""The MAD evaluator of CONE."""

from __future__ import annotations

from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="cone",
    summary="as houzhijian/CONE on MAD: IoU > m in float32, order of the file",
    source="houzhijian/CONE at 4e5f136, standalone_eval/evaluate_mad.py lines 33-104",
    tolerance=None,
    precision="float32",
    ranking="file",
    missing="refuse",
    measures=(
        "R@1,IoU=0.1; R@5,IoU=0.1; R@10,IoU=0.1; R@50,IoU=0.1; R@100,IoU=0.1; "
        "R@1,IoU=0.3; R@5,IoU=0.3; R@10,IoU=0.3; R@50,IoU=0.3; R@100,IoU=0.3; "
        "R@1,IoU=0.5; R@5,IoU=0.5; R@10,IoU=0.5; R@50,IoU=0.5; R@100,IoU=0.5"
    ),
    read_in={
        **OURS,
        "comparison": "evaluate_mad.py: strictly more, thresholds in float32 too (its Ego4D evaluator uses float64)",
        "ranking": "the order of the list, no sort in the evaluator",
        "missing": "query ids must match",
        "nms_threshold": "none in the evaluator; its inference suppresses at 0.5 and keeps 5 unless told otherwise",
        "clip_references": (
            "none; it reads the field timestamps of MAD, where MAD's own baselines, and we, read ext_timestamps"
        ),
    },
)
