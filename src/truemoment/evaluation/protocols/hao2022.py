"""The evaluator of Hao et al. 2022, which adds 1e-4 to the union."""

from __future__ import annotations

from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="hao2022",
    summary="as haojc/ShufflingVideosForTSG: IoU > m with 1e-4 added to the union",
    source="haojc/ShufflingVideosForTSG at df562a0, grounding/IoU_eval.py lines 8-153",
    tolerance=None,
    denominator="union",
    epsilon=1e-4,
    ranking="file",
    measures="R@1,IoU=0.1; R@1,IoU=0.3; R@1,IoU=0.5; R@1,IoU=0.7; R@1,IoU=0.9; mIoU",
    read_in={
        **OURS,
        "epsilon": "IoU_eval.py: lengths minus intersection plus 1e-4, in seconds; it removes every exact tie",
        "references": "its file holds the reference beside the answer; we use the annotation's",
        "missing": "cannot occur there; ours",
    },
)
