"""The evaluator of E.T. Bench, tasks of grounding."""

from __future__ import annotations

from truemoment.base.papers import ET_BENCH
from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="et-bench",
    summary="as E.T. Bench: IoU >= m in float32; R@1 is its F1 of TVG and EPM, CoverF1 of TAL, SecondsF1 of EVS",
    source="E.T. Bench (Liu et al. 2024): tvg_eval, tem_eval, tal_eval, evs_eval in copies of its evaluator",
    comparison=">=",
    tolerance=None,
    precision="float32",
    denominator="union",
    ranking="file",
    decimals=3,
    measures=(
        "R@1,IoU=0.1; R@1,IoU=0.3; R@1,IoU=0.5; R@1,IoU=0.7; "
        "CoverF1,IoU=0.1; CoverF1,IoU=0.3; CoverF1,IoU=0.5; CoverF1,IoU=0.7; mIoU"
    ),
    read_in={
        **OURS,
        "comparison": "tvg_eval, tal_eval",
        "denominator": "nncore: lengths minus intersection",
        "precision": "torch.Tensor",
        "references": "tem_eval: the largest IoU over all references; TVG and EPM have one",
        "missing": "tvg_eval, tal_eval: an answer without a time counts 0",
        "unreadable": "the same where its own parser finds no time; it sorts the ends of a swapped moment",
        "ranking": "the first pair of times in the answer",
        "decimals": "fractions of five decimals",
    },
    papers=(ET_BENCH,),
)
