"""Protocol ``clip4clip``: the evaluator in circulation, whose ties add entries.

It sorts each row and takes every place whose similarity equals that of the right clip. A tie of e + 1 clips thus counts
as e + 1 queries, with the ranks g + 1 to g + e + 1, instead of being decided. Source: the metrics of CLIP4Clip
(ArrowLuo/CLIP4Clip, metrics.py), as the specification of this project describes them; written anew.
"""

from __future__ import annotations

import numpy as np

from truemoment.base.intervals import Floats, Ints
from truemoment.searching.clips.measures import RetrievalMeasure
from truemoment.searching.clips.ranking import RightPlaces


def entries(places: RightPlaces) -> tuple[Ints, Ints]:
    """Return the rank of each entry, from 1, (E,), and its query, (E,); without ties E is the number of queries."""
    counts = places.equal + 1
    query = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.asarray(1 + places.greater[query] + within), query


def of_each_entry(measure: RetrievalMeasure, places: RightPlaces) -> tuple[Floats, Ints]:
    """Return what each entry counts, (E,), and its query."""
    rank, query = entries(places)
    if measure.depth is not None:
        return (rank <= measure.depth).astype(np.float64), query
    return (1 / rank if measure.statistic == "MRR" else rank.astype(np.float64)), query
