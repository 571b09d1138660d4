"""The Charades-STA task of lmms-eval."""

from __future__ import annotations

from truemoment.evaluation.protocols.base import OURS, Protocol

PROTOCOL = Protocol(
    name="lmms-eval",
    summary="as lmms-eval's temporal_grounding_charades: IoU >= m on the first answer, references raw",
    source="EvolvingLMMs-Lab/lmms-eval at 75571cf, lmms_eval/tasks/charades_sta/utils.py lines 84-215",
    comparison=">=",
    tolerance=None,
    ranking="file",
    references="first",
    decimals=4,
    read_in={
        **OURS,
        "unreadable": "an answer that cannot be read scores 0",
        "references": "the one span of a query; results are keyed by video, caption and time",
        "decimals": "printed unrounded there",
        "clip_predictions": "none; a swapped pair is put in order there, and overlaps nothing here",
    },
)
