"""The queries of annotations one by one, as writers of forms need them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from truemoment.base.records import Annotations
from truemoment.data.datasets.entries import ClipRatings, ReferenceEntry


def queries_of(annotations: Annotations) -> Iterator[ReferenceEntry]:
    """Yield each query with its moments; none for a query without a moment."""
    saliency = annotations.saliency
    columns = [column.tolist() for column in (annotations.start_s, annotations.end_s, annotations.annotator)]
    for number, (low, high) in enumerate(pairwise(annotations.offsets.tolist())):
        starts, ends, annotators = (column[low:high] for column in columns)
        ratings = None
        if saliency is not None:
            clips = slice(*saliency.offsets[number : number + 2].tolist())
            ratings = ClipRatings(
                saliency.clip[clips].tolist(), saliency.rating[clips].tolist(), saliency.clip_length_s
            )
        yield ReferenceEntry(
            annotations.video_id[low],
            annotations.sentence[low],
            [] if math.isnan(starts[0]) else list(zip(starts, ends, strict=True)),
            float(annotations.duration_s[low]),
            annotations.query_id[low],
            annotators if any(annotators) else (),
            annotations.split,
            ratings,
        )
