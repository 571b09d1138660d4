"""The papers' definition, the default of TrueMoment."""

from __future__ import annotations

from truemoment.evaluation.protocols.base import Protocol

PROTOCOL = Protocol(
    name="default",
    summary="the papers' definition: IoU > m, times as annotated, ties decided with a stated tolerance",
    source="Closer Look (Yuan et al. 2021), eq. 1 and 2; AxIoU (Togashi et al. 2022), eq. 1",
    measures=(
        "R@1,IoU=0.3; R@1,IoU=0.5; R@1,IoU=0.7; R@5,IoU=0.3; R@5,IoU=0.5; R@5,IoU=0.7; "
        "dR@1,IoU=0.3; dR@1,IoU=0.5; dR@1,IoU=0.7; mIoU; AxIoU@10"
    ),
    read_in={
        "comparison": "Closer Look, section 3.2: 'IoU larger than m'; AxIoU, eq. 1: strictly more",
        "tolerance": "ours: plain float64 decides real ties by the last bit, 10 of 3,375 on one public file",
        "denominator": "equal to the union wherever moments overlap; exact ties are decided by the tolerance",
        "clip_references": "ours: a reference past the end is reported, not repaired",
        "references": "Hidden Challenges (Otani et al. 2020), section 6: nearest reference",
        "missing": "ours: silence costs score, as a wrong answer does",
        "unreadable": "ours: an answer that cannot be read costs score, as a wrong answer does",
        "empty": "ours: the papers' data have a moment for every query; the protocol sets judges the others too",
    },
)
