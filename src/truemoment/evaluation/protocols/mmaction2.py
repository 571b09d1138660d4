"""The Charades-STA metric of mmaction2."""

from __future__ import annotations

from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="mmaction2",
    summary="as open-mmlab/mmaction2 (DRN): IoU > m in float32 on normalised times, reference ends clipped",
    source="open-mmlab/mmaction2 at 4d6c934, mmaction/evaluation/metrics/video_grounding_metric.py lines 10-66",
    tolerance=None,
    precision="float32",
    times="normalised",
    clip_references=True,
    clip_predictions=True,
    ranking="file",
    decimals=4,
    measures="R@1,IoU=0.5; R@5,IoU=0.5",
    read_in={
        **OURS,
        "times": "mmaction/datasets/charades_sta_dataset.py lines 52-99: fractions of the duration, ends at most 1",
        "clip_predictions": "models/localizers/drn/drn_utils/inference.py: answers are clamped to [0, 1]",
        "ranking": "the order in which its soft suppression picks",
        "decimals": "printed unrounded there",
        "clip_references": "its durations are those of DRN's list, up to 1.03 s longer than the dataset's",
        "missing": "cannot occur there; ours",
    },
)
