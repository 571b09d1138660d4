"""Sets of moments: a sentence may be true of many moments of its video, or of none."""

from __future__ import annotations

from truemoment.base.papers import UNTRUTH
from truemoment.evaluation.protocols.base import Protocol

PROTOCOL = Protocol(
    name="sets",
    summary="many moments or none: the whole set of answers counts, and abstaining is right where nothing is there",
    source="ours; that queries without a moment are to be rejected: Moment of Untruth (Flanagan et al. 2025)",
    empty="abstain",
    measures="SetIoU; F1,IoU=0.3; F1,IoU=0.5; F1,IoU=0.7; CorrectAbstention; FalseAbstention",
    read_in={
        "comparison": "as the default protocol, like all that is not named here",
        "tolerance": "as the default protocol",
        "references": "of no matter for its measures, which look at all references",
        "missing": "ours: silence costs score; an abstention is right only where no moment is",
        "unreadable": "ours: an answer that cannot be read is no abstention, and costs score",
        "empty": (
            "ours: a query without a moment is a question like the others, whose right answer is none; left out, "
            "a method that always answers would lose nothing"
        ),
        "measures": (
            "ours: SetIoU has no threshold and takes the set as one region; F1 asks for each moment alone; the two "
            "abstention rates show which way a method errs, since abstaining always or never wins one of them"
        ),
    },
    papers=(UNTRUTH,),
)
