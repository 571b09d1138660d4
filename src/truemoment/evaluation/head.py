"""First keys of every JSON document about scores."""

from __future__ import annotations

from typing import Any

from truemoment.base.boundary.documents import document_head
from truemoment.evaluation.scores import Scores


def head(schema: str, scores: Scores) -> dict[str, Any]:
    """State the kind of document, its version, its data and its convention."""
    return {
        **document_head(schema),
        "dataset": scores.dataset,
        "split": scores.split,
        "annotations": {
            "sha256": scores.annotations_sha256,
            "n_queries": len(scores),
            "n_videos": len(set(scores.video_id)),
        },
        "protocol": scores.protocol.name,
        "convention": scores.protocol.convention(),
    }
