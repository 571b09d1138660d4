"""Queries in random order within each video, with ids that do not reveal the order of the file.

Annotation files list the sentences of a video in the order of their moments, and ids such as ``VIDEO#K``
number them so.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal

import numpy as np

from truemoment.base.records import Annotations, Queries, as_strings, numbers_of

Order = Literal["file", "random"]

ORDERS: Mapping[Order, str] = MappingProxyType(
    {
        "file": "a video's queries are in the order of the source, with its query ids",
        "random": "a video's queries are in random order; new query ids do not reveal that of the source",
    }
)
"""Each order in which queries are written, in words."""


def random_order(queries: Queries, seed: int) -> dict[str, str]:
    """Return the new id of each query id, in the new order: by video, and by new id within a video.

    An id is ``VIDEO#HASH``, of the video, the sentence and the seed. Equal sentences of a video are numbered by the
    hash of their old ids.

    Examples
    --------
    >>> rows = [("v#0", "v", 9.0, "a door opens", 2.0, 5.0), ("v#1", "v", 9.0, "she sits", 5.0, 7.0)]
    >>> a = Annotations.from_rows(rows)
    >>> random_order(a.queries, seed=1)
    {'v#1': 'v#9871d96430a369d4', 'v#0': 'v#aff05503e64975cd'}
    """
    count: Counter[tuple[str, str]] = Counter()
    hashes = np.empty(len(queries), dtype="<U16")
    for row in queries.order_by_hash().tolist():
        pair = (queries.video_id[row], queries.sentence[row])
        text = json.dumps([*pair, seed, count[pair]])
        count[pair] += 1
        hashes[row] = hashlib.sha256(text.encode()).hexdigest()[:16]
    rows = np.lexsort((hashes, numbers_of(queries.video_id))).tolist()
    return {queries.query_id[row]: f"{queries.video_id[row]}#{hashes[row]}" for row in rows}


def without_order(annotations: Annotations, seed: int) -> Annotations:
    """Return the same queries and references in the order and with the ids of :func:`random_order`."""
    new_id = random_order(annotations.queries, seed)
    ordered = annotations.in_order(new_id)
    return replace(ordered, query_id=as_strings([new_id[old] for old in ordered.query_id], "query_id"))
