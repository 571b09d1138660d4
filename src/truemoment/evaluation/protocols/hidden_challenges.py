"""The released evaluator of Hidden Challenges."""

from __future__ import annotations

from truemoment.base.papers import HIDDEN_CHALLENGES
from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="hidden-challenges",
    summary="as mayu-ot/hidden-challenges-MR: IoU > m in plain float64, references raw",
    source="mayu-ot/hidden-challenges-MR at e0c4546, src/toolbox/eval.py lines 14-87",
    tolerance=None,
    measures=(
        "R@1,IoU=0.3; R@1,IoU=0.5; R@1,IoU=0.7; R@5,IoU=0.3; R@5,IoU=0.5; R@5,IoU=0.7; "
        "R@10,IoU=0.3; R@10,IoU=0.5; R@10,IoU=0.7"
    ),
    read_in={
        **OURS,
        "ranking": "eval.py sorts by rating, falling; equal ratings come out in no stated order there",
        "nms_threshold": "not in the evaluator: the blind baselines apply 0.45 before they write (baseline.py)",
        "clip_references": "eval.py: none; it refuses predictions whose video length differs from the annotation's",
        "missing": "eval.py: an unmatched reference fails every measure",
        "references": "notebook report/Multi-ref: nearest; the representative reference is [ref=representative]",
    },
    papers=(HIDDEN_CHALLENGES,),
)
