"""Pairs of a query and a video to answer, as a model sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.records import Queries
from truemoment.learning.models.base import TrainableModel
from truemoment.learning.models.window_model import WindowModel
from truemoment.learning.training.examples import Pairs, make_pairs, read_rows, read_sentences
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.vocabulary import TokenVocabulary
from truemoment.learning.training.window_pairs import WindowsToAnswer
from truemoment.media.features.base import FeatureStore


def pairs_to_answer(
    queries: Queries,
    store: FeatureStore | None,
    vocabulary: TokenVocabulary,
    recipe: Recipe,
    model: TrainableModel,
    *,
    track: Callable[[Sequence[str]], Iterable[str]] = lambda ids: ids,
) -> Pairs:
    """Return queries with their whole videos, or with all windows of them for a model that has windows.

    Parameters
    ----------
    queries
        The queries.
    store
        Features; None for a model that sees no video.
    vocabulary, recipe, model
        What sentences and videos are read for.
    track
        Wraps the list of videos, e.g. in a progress bar.
    """
    if not isinstance(model, WindowModel):
        return make_pairs(queries, store, vocabulary, recipe, model, track=track)
    if store is None or not len(queries):
        raise UsageError(f"{recipe.model} answers queries on features of videos, expected both")
    duration_s = queries.video_duration_s
    videos = [read_rows(store, video_id, duration_s[video_id], recipe) for video_id in track(list(duration_s))]
    number = {video_id: at for at, video_id in enumerate(duration_s)}
    video = np.array([number[video_id] for video_id in queries.video_id.tolist()], dtype=np.int64)
    sentences = read_sentences(queries.sentence.tolist(), vocabulary, recipe, model.needs)
    return WindowsToAnswer(sentences, video, videos, model)
