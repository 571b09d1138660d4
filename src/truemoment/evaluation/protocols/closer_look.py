"""Convention of Closer Look, recomputed from its published tables."""

from __future__ import annotations

from truemoment.base.papers import CLOSER_LOOK
from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="closer-look",
    summary="as the tables of Closer Look: normalised and clipped times, IoU >= m, truncated percentages",
    source=(
        "Closer Look (Yuan et al. 2021), section 4.3 and Table 2. The authors released data but no evaluator; "
        "this convention is the one under which all 20 published PredictAll figures come out exactly"
    ),
    comparison=">=",
    tolerance=None,
    times="normalised",
    clip_references=True,
    clip_predictions=True,
    rounding="truncate",
    measures=(
        "dR@1,IoU=0.1; dR@1,IoU=0.3; dR@1,IoU=0.5; dR@1,IoU=0.7; dR@1,IoU=0.9; "
        "R@1,IoU=0.1; R@1,IoU=0.3; R@1,IoU=0.5; R@1,IoU=0.7; R@1,IoU=0.9"
    ),
    read_in={
        **OURS,
        "comparison": "recomputed from Table 2 (PredictAll); the text says 'larger than'",
        "tolerance": "recomputed: a tolerance of 1e-9 gives 20.09 where the table has 20.05",
        "times": "section 4.3: divided by the whole video length, range (0, 1)",
        "clip_references": "recomputed from Table 2 (PredictAll)",
        "clip_predictions": "section 4.3: both are said to lie in (0, 1)",
        "rounding": "recomputed from Table 2: truncated, not rounded",
        "missing": "not stated there; ours",
    },
    papers=(CLOSER_LOOK,),
)
