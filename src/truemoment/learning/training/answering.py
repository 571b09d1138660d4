"""Pairs of a query and a video to answer, as a model sees them, and the moments that a network answers with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch

from truemoment.base.errors import UsageError
from truemoment.base.records import Queries
from truemoment.learning.models.base import TrainableModel
from truemoment.learning.models.decoding import ScoredMoments
from truemoment.learning.models.window_model import WindowModel
from truemoment.learning.training.examples import Pairs, make_pairs, read_rows, read_sentences
from truemoment.learning.training.network import Network, NotFiniteError
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
    sentences = read_sentences(queries, vocabulary, recipe, model.needs)
    return WindowsToAnswer(sentences, video, videos, model)


def score(network: Network, pairs: Pairs, size: int) -> ScoredMoments:
    """Return the candidate moments of all pairs and what a network scores, computed in batches of `size`."""
    network.eval()
    device = next(network.parameters()).device
    starts, ends, scores, ratings = [], [], [], []
    with torch.inference_mode():
        for low in range(0, len(pairs), size):
            examples = pairs.__getitems__(range(low, min(low + size, len(pairs))))
            moments = network.answer(examples.to(device))
            starts.append(moments.start.double().cpu().numpy())
            ends.append(moments.end.double().cpu().numpy())
            scores.append(moments.score.float().cpu().numpy())
            if moments.rating is not None:
                ratings.append(moments.rating.float().cpu().numpy())
    widest = max(batch.shape[1] for batch in scores)
    joined = np.concatenate([_padded(batch, widest, -np.inf) for batch in scores])
    if np.isnan(joined).any() or np.isposinf(joined).any():
        raise NotFiniteError("scores")
    rating = np.concatenate(ratings) if ratings else None
    if starts[0].ndim == 1:
        return ScoredMoments(starts[0], ends[0], joined, rating)
    start, end = (np.concatenate([_padded(batch, widest, 0.0) for batch in ends_of]) for ends_of in (starts, ends))
    present = np.isfinite(joined)
    if not (np.isfinite(start[present]).all() and np.isfinite(end[present]).all()):
        raise NotFiniteError("moments")
    return ScoredMoments(np.where(present, start, 0.0), np.where(present, end, 0.0), joined, rating)


def _padded(column: np.ndarray, width: int, value: float) -> np.ndarray:
    """Return (Q, C) as (Q, width)."""
    return np.pad(column, ((0, 0), (0, width - column.shape[1])), constant_values=value)
