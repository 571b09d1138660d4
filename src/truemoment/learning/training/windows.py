"""Long videos answered window by window by a network that is being trained, or was.

The score of the network for every candidate of every window goes into one ranked list a video, as VLG-Net's does on MAD
(Soldan et al. 2022, appendix A.2): nothing is left out within a window, all suppression is over the video.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.base.records import Annotations, Predictions, Queries, numbers_of
from truemoment.learning.models.base import MapModel
from truemoment.learning.training.examples import ClipTable, FloatTable, Pairs, SentenceTable, read_sentences, see_video
from truemoment.learning.training.network import Network
from truemoment.learning.training.recipes import Recipe, Windowing
from truemoment.learning.training.scoring import score
from truemoment.learning.training.vocabulary import TokenVocabulary
from truemoment.learning.training.window_scores import EncodedWindows
from truemoment.media.features.base import FeatureStore
from truemoment.searching.first_look import WindowRanking
from truemoment.searching.windowed import Windowed
from truemoment.searching.windows import Windows

MOST_BYTES_KEPT = 500_000_000
"""Of windows resampled: those of a video of 110 minutes are 68 MB at 64 rows of 512 numbers."""


@dataclass(frozen=True, eq=False)
class AllCandidates:
    """A Grounder of short videos that answers with every candidate moment and its score.

    Parameters
    ----------
    name
        What to call it.
    network
        Scores the candidates; where it lies the work is done.
    vocabulary, recipe
        What the network was made with.
    features
        What it sees; None if it sees no video.
    """

    name: str
    network: Network
    vocabulary: TokenVocabulary
    recipe: Recipe
    features: FeatureStore | None

    def with_features(self, features: FeatureStore) -> AllCandidates:
        """Return the same method that is shown other features."""
        return dataclasses.replace(self, features=features)

    def fit(self, train: Annotations, val: Annotations | None = None) -> AllCandidates:
        """Return itself: training is elsewhere."""
        del train, val
        return self

    def window_scorer(self) -> EncodedWindows | None:
        """Return what encodes the windows of a film once; None for a model without branches."""
        model = self.network.model
        branches = model.branches() if isinstance(model, MapModel) and self.features is not None else None
        return None if branches is None else EncodedWindows(self.network, branches, self.vocabulary, self.recipe)

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Answer each query with its `top` best candidates, best first; or with all as they are listed, if not more."""
        found = score(self.network, self._pairs(queries), self.recipe.train.batch).clipped()
        n_candidates = found.score.shape[1]
        chosen = np.broadcast_to(np.arange(n_candidates), found.score.shape)
        if top < n_candidates:
            chosen = np.argsort(-found.score, axis=1, kind="stable")[:, :top]
        scores = np.take_along_axis(found.score, chosen, axis=1)
        present = scores > -np.inf
        start_s, end_s = (
            np.take_along_axis(np.broadcast_to(column, found.score.shape), chosen, axis=1) * queries.duration_s[:, None]
            for column in (found.start, found.end)
        )
        return Predictions(
            queries.query_id,
            np.concatenate([[0], np.cumsum(present.sum(axis=1))]),
            start_s[present],
            end_s[present],
            scores[present].astype(np.float64),
            self.name,
        )

    def _pairs(self, queries: Queries) -> Pairs:
        """Return the pairs; a sentence is read once for all windows."""
        number = numbers_of(queries.sentence)
        sentences = list(dict.fromkeys(queries.sentence))
        read = read_sentences(sentences, self.vocabulary, self.recipe, self.network.model.needs)
        repeated = {
            part.name: column[number]
            for part in dataclasses.fields(read)
            if (column := getattr(read, part.name)) is not None
        }
        duration_s = queries.video_duration_s
        table = None
        if self.features is not None:
            rows = np.stack([self._seen(name, seconds) for name, seconds in duration_s.items()])
            table = ClipTable(rows, {name: at for at, name in enumerate(duration_s)})
        needs_duration = "duration" in self.network.model.needs
        columns = {"duration_s": queries.duration_s} if needs_duration else {}
        return Pairs(SentenceTable(**repeated), numbers_of(queries.video_id), table, columns=columns)

    @functools.cached_property
    def _seen(self) -> Callable[[str, float], FloatTable]:
        """What the network sees of a window; windows come again with other queries, and are kept while they fit."""
        features, recipe, model = self.features, self.recipe, self.network.grounding_model
        if features is None:
            raise UsageError(f"{self.name} sees no video, expected no features")
        most = MOST_BYTES_KEPT // (4 * recipe.rows * max(features.n_dimensions, 1))
        return functools.lru_cache(maxsize=most)(
            lambda video_id, duration_s: see_video(features, video_id, duration_s, recipe, model)
        )


def in_windows(
    method: AllCandidates,
    windowing: Windowing,
    *,
    ranking: WindowRanking | None = None,
    track: Callable[[Any, str], Any] = lambda items, _: items,
) -> Windowed:
    """Return a method as one for long videos, as a recipe's block `windows` says; `decode` is of whole videos."""
    n_candidates = method.network.grounding_model.n_candidates
    nms = method.recipe.decode.nms
    return Windowed(
        method, windows_of(windowing), nms, method.features, each=n_candidates, ranking=ranking, track=track
    )


def windows_of(windowing: Windowing) -> Windows:
    """Return the windows in which videos are answered."""
    return Windows(windowing.seconds, windowing.stride * windowing.seconds, windowing.tail)
