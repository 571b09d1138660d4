"""The VLG-Net baseline of MAD."""

from __future__ import annotations

from truemoment.base.papers import MAD
from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="mad-vlgnet",
    summary="as MAD's VLG-Net row: IoU >= m in float32, references clipped, suppression at 0.3, top 100",
    source="Soldelli/MAD at b1f1974, baselines/VLG-Net/lib/engine/evaluation.py lines 40-115",
    comparison=">=",
    tolerance=None,
    precision="float32",
    clip_references=True,
    nms_threshold=0.3,
    top=100,
    measures=(
        "R@1,IoU=0.1; R@5,IoU=0.1; R@10,IoU=0.1; R@50,IoU=0.1; R@100,IoU=0.1; "
        "R@1,IoU=0.3; R@5,IoU=0.3; R@10,IoU=0.3; R@50,IoU=0.3; R@100,IoU=0.3; "
        "R@1,IoU=0.5; R@5,IoU=0.5; R@10,IoU=0.5; R@50,IoU=0.5; R@100,IoU=0.5"
    ),
    read_in={
        **OURS,
        "comparison": "evaluation.py: at least, thresholds in float32 too",
        "clip_references": (
            "lib/data/datasets/mad.py lines 138-164; a reference whose start is not before its end is scored with "
            "the row before it there, with itself here"
        ),
        "nms_threshold": "configs/mad.yml: 0.3; over the whole list, before the cut to 100",
        "missing": "missing rows only warn there and leave the mean; ours",
    },
    papers=(MAD,),
)
