"""The common evaluator of QVHighlights."""

from __future__ import annotations

from truemoment.base.papers import QVHIGHLIGHTS
from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="moment-detr",
    summary="as jayleicn/moment_detr (QVHighlights): IoU >= m, best window, first ten answers of the file",
    source="jayleicn/moment_detr at b7e553a, standalone_eval/eval.py lines 1-344, standalone_eval/utils.py",
    comparison=">=",
    tolerance=None,
    ap_denominator="union",
    top=10,
    ranking="file",
    missing="refuse",
    measures=(
        "R@1,IoU=0.5; R@1,IoU=0.7; mAP; mAP,IoU=0.5; mAP,IoU=0.75; "
        "mAP,length=long; mAP,length=middle; mAP,length=short; "
        "HL-mAP,min=Fair; HIT@1,min=Fair; HL-mAP,min=Good; HIT@1,min=Good; HL-mAP,min=VeryGood; HIT@1,min=VeryGood"
    ),
    read_in={
        **OURS,
        "comparison": "eval.py lines 72-96 (R1), utils.py lines 83-166 (mAP)",
        "denominator": "utils.py lines 12-31: R1 uses the hull",
        "ap_denominator": "utils.py lines 34-61: mAP uses lengths minus intersection",
        "top": "eval.py line 20: the first 10 windows of the file, cut before sorting",
        "ranking": "eval.py line 75: R1 takes the file's first window; mAP sorts the ten by score, ties in file order",
        "references": "eval.py lines 77-88: the window of largest IoU, though its docstring says the first",
        "missing": "eval.py lines 277-286: query ids must match",
        "decimals": "eval.py: every figure is printed with two decimals",
        "tolerance": (
            "plain; where an answer and a reference have opposite or zero lengths the evaluator's IoU is 0/0 and "
            "counts as a hit of mAP: we give 0 there"
        ),
    },
    papers=(QVHIGHLIGHTS,),
)
