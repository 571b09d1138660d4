"""Where a score comes from.

===============  ===================================================================================
``answers``      the pattern of the first answers: a coarse grid, the same answer whatever is asked
``slices``       the measures on classes of queries, with counts and intervals
``calibration``  whether the score of a moment says how good the moment is
``gains``        the gain over a blind method on classes of queries, beside the gain elsewhere
``curves``       R and dR against the threshold; success and failure by length of the reference
``errors``       in which way first answers are wrong, and what mending each way would give
``shuffled``     the randomised-video check, and what shuffles the videos for it
``agreement``    how far annotators agree, where several marked a query
``humans``       what annotators score, against the references and against each other
``conclusions``  which differences between systems survive when annotators mark the references
``human_study``  all of these three together
===============  ===================================================================================

All of it works on records and per-query statistics; no file is opened.
"""

from __future__ import annotations

from truemoment.studies.diagnosis.agreement import Annotators, moment_alpha, pairwise_iou
from truemoment.studies.diagnosis.humans import human_scores
from truemoment.studies.diagnosis.shuffled import (
    compare_shuffled,
    generator_of,
    segment_order,
    shuffle_features,
    shuffle_segments,
)

__all__ = [
    "Annotators",
    "compare_shuffled",
    "generator_of",
    "human_scores",
    "moment_alpha",
    "pairwise_iou",
    "segment_order",
    "shuffle_features",
    "shuffle_segments",
]
