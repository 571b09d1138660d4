"""The zero-shot CLIP baseline of MAD."""

from __future__ import annotations

from truemoment.base.papers import MAD
from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="mad-clip",
    summary="as MAD's zero-shot CLIP row: IoU > m in float32, suppression at 0.3, top 100",
    source="Soldelli/MAD at b1f1974, baselines/0ShotCLIP/utils.py lines 9-99, 0_shot_baseline.py lines 8-65",
    tolerance=None,
    precision="float32",
    nms_threshold=0.3,
    top=100,
    measures=(
        "R@1,IoU=0.1; R@5,IoU=0.1; R@10,IoU=0.1; R@50,IoU=0.1; R@100,IoU=0.1; "
        "R@1,IoU=0.3; R@5,IoU=0.3; R@10,IoU=0.3; R@50,IoU=0.3; R@100,IoU=0.3; "
        "R@1,IoU=0.5; R@5,IoU=0.5; R@10,IoU=0.5; R@50,IoU=0.5; R@100,IoU=0.5"
    ),
    read_in={
        **OURS,
        "comparison": "utils.py: strictly more, thresholds in float32 too",
        "nms_threshold": "utils.py lines 16-27 and 83-99: over the whole ranked list, before the cut",
        "clip_references": "none; the references are ext_timestamps, unchanged",
        "missing": "one pass over all queries there; ours",
    },
    papers=(MAD,),
)
