"""The evaluator of VSLNet."""

from __future__ import annotations

from truemoment.base.papers import VSLNET
from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="vslnet",
    summary="as 26hzhang/VSLNet: IoU >= m on the one answer, references clipped to the video",
    source="26hzhang/VSLNet at 3793c62, util/runner_utils.py lines 30-81, util/data_util.py lines 98-114",
    comparison=">=",
    tolerance=None,
    clip_references=True,
    ranking="file",
    read_in={
        **OURS,
        "clip_references": "util/data_gen.py lines 20-72: start to at least 0, end to at most the duration",
        "precision": "float64 under NumPy 1, which its paper used; its float32 times give float32 under NumPy 2",
        "references": "a row a moment there, one answer each",
        "missing": "rows whose video has no features are left out there; ours",
    },
    papers=(VSLNET,),
)
