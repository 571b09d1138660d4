"""A model asked the same queries without the others of their video, and in shuffled order.

One that reads one sentence at a time answers the same; one that reads the video's other sentences does not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from truemoment.base.intervals import Ints
from truemoment.base.records import Predictions, Queries, numbers_of
from truemoment.data.language.paragraphs import Paragraphs
from truemoment.studies.audit.randomised_video import SeesVideo

ALONE, SHUFFLED = "alone", "in shuffled order"


def in_other_orders(
    grounder: SeesVideo,
    queries: Queries,
    *,
    top: int,
    rng: np.random.Generator,
    on_status: Callable[[str], None] = lambda _: None,
) -> dict[str, Predictions]:
    """Return a model's answers to queries alone and in shuffled order, by :data:`ALONE` and :data:`SHUFFLED`.

    Alone: the model is asked once for the first queries of all videos, once for the second ones, and so on. Empty where
    no video has two queries.
    """
    place, _ = Paragraphs.of(queries).place
    if not place.any():
        return {}
    rounds = [np.flatnonzero(place == k) for k in range(int(place.max(initial=-1)) + 1)]
    alone = []
    for number, rows in enumerate(rounds):
        on_status(f"each query alone, {100 * number / len(rounds):.0f} %")
        alone.append(grounder.ground(queries.select(rows), top))
    on_status("queries in shuffled order")
    shuffled = grounder.ground(queries.select(shuffled_rows(queries, rng)), top)
    return {ALONE: Predictions.joined(alone), SHUFFLED: shuffled}


def shuffled_rows(queries: Queries, rng: np.random.Generator) -> Ints:
    """Return the rows of queries, (Q,), with those of each video in random order."""
    return np.lexsort((rng.random(len(queries)), numbers_of(queries.video_id)))
