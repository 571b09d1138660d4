"""The evaluator of NExT-GQA."""

from __future__ import annotations

from truemoment.base.papers import NEXT_GQA
from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="grounded-qa",
    summary="as doc-doc/NExT-GQA: IoP and IoU >= m, best window, questions without an answer left out",
    source="doc-doc/NExT-GQA at 63772e0, code/TempGQA/eval_ground.py lines 3-85",
    comparison=">=",
    tolerance=None,
    ranking="file",
    missing="drop",
    decimals=1,
    measures="mIoP; R@1,IoP=0.3; R@1,IoP=0.5; mIoU; R@1,IoU=0.3; R@1,IoU=0.5",
    read_in={
        **OURS,
        "comparison": "lines 54-69",
        "denominator": "lines 11-15: the hull",
        "references": "lines 45-53: the largest IoU and the largest IoP, each over all windows",
        "missing": "lines 37-39: questions that the prediction file lacks are left out",
        "ranking": "a file has one answer for each question",
        "decimals": "line 85: one decimal",
    },
    papers=(NEXT_GQA,),
)
