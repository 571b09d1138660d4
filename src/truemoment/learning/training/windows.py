"""Answers of a network for long videos, window by window, in training and after it.

The score of the network for every candidate of every window goes into one ranked list a video, as VLG-Net's does on MAD
(Soldan et al. 2022, appendix A.2): nothing is left out within a window, all suppression is over the video.

Where a network has separate branches of video and sentence, the windows of a film are encoded once and kept;
sentences are encoded once and fused with every window.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from truemoment.base.errors import UsageError
from truemoment.base.intervals import Ints
from truemoment.base.records import Annotations, Predictions, Queries, numbers_of
from truemoment.learning.models.base import Batch, Branches, EncodedQuery, MapModel, ModelOutput
from truemoment.learning.models.decoding import ScoredMoments
from truemoment.learning.training.answering import score
from truemoment.learning.training.examples import ClipTable, FloatTable, Pairs, read_sentences, see_video
from truemoment.learning.training.network import Network, NotFiniteError
from truemoment.learning.training.recipes import Recipe, Windowing
from truemoment.learning.training.vocabulary import TokenVocabulary
from truemoment.media.features.base import FeatureStore
from truemoment.searching.first_look import WindowRanking
from truemoment.searching.windowed import WindowedGrounder, WindowScores
from truemoment.searching.windows import Window, WindowedFeatures, Windows, of_whole_videos

WINDOWS_AT_ONCE = 64
"""Windows that are encoded together."""

PAIRS_AT_ONCE = {"cpu": 16}
"""Pairs of a sentence and a window that are fused together: few enough for the caches of a processor."""

PAIRS_ON_GPU = 2048

MOST_BYTES_ENCODED = 500_000_000
"""Maximum bytes of the encoded windows of a film. More are kept in half precision, which moves scores by some 3e-5."""

MOST_BYTES_KEPT = 500_000_000
"""Maximum bytes of resampled windows: those of a video of 110 minutes are 68 MB at 64 rows of 512 numbers."""


class EncodedWindows:
    """Scores every candidate of the windows of a film; the encoded windows of the last film are kept.

    Parameters
    ----------
    network, branches
        The network, and its branches.
    vocabulary, recipe
        What it was made with.
    """

    def __init__(self, network: Network, branches: Branches, vocabulary: TokenVocabulary, recipe: Recipe) -> None:
        network.eval()
        self.network, self.branches, self.vocabulary, self.recipe = network, branches, vocabulary, recipe
        self.device = next(network.parameters()).device
        self._kept: tuple[tuple[Window, ...], Tensor] = ((), torch.empty(0))

    @torch.inference_mode()
    def __call__(
        self, queries: Queries, windows: Sequence[Window], store: FeatureStore, columns: Ints | None = None
    ) -> WindowScores:
        """Return the scores of queries of one film, see :class:`~truemoment.searching.windowed.WindowScorer`."""
        video = self._encoded(windows, store)
        batch = self._sentences(queries)
        query = self.branches.encode_query(batch)
        logits = self._fused(video, query, columns)
        shares = self.network.grounding_model.answer(batch, ModelOutput(logits.flatten(0, 1)))
        start, end = (column.double().cpu().numpy() for column in (shares.start, shares.end))
        moments = ScoredMoments(start, end, shares.score.float().cpu().numpy())
        if not np.isfinite(moments.score).all():
            raise NotFiniteError("scores")
        clipped = moments.clipped()
        start_s = np.array([window.start_s for window in windows])[:, None]
        length_s = np.array([window.duration_s for window in windows])[:, None]
        score: npt.NDArray[np.float32] = moments.score.reshape(logits.shape)
        return WindowScores(clipped.start * length_s + start_s, clipped.end * length_s + start_s, score)

    def _encoded(self, windows: Sequence[Window], store: FeatureStore) -> Tensor:
        """Return what the model keeps of windows, (W, ...)."""
        if self._kept[0] != tuple(windows):
            features = WindowedFeatures.of_windows(store, windows)
            encoded = []
            for low in range(0, len(windows), WINDOWS_AT_ONCE):
                block = windows[low : low + WINDOWS_AT_ONCE]
                model, recipe = self.network.grounding_model, self.recipe
                rows = np.stack(
                    [see_video(features, window.name, window.duration_s, recipe, model) for window in block]
                )
                encoded.append(self.branches.encode_video(torch.from_numpy(rows).to(self.device)))
            encodings = torch.cat(encoded)
            if encodings.nbytes > MOST_BYTES_ENCODED:
                encodings = encodings.half()
            self._kept = (tuple(windows), encodings)
        return self._kept[1]

    def _sentences(self, queries: Queries) -> Batch:
        """Return the sentences of queries as a batch without videos."""
        needs = self.network.grounding_model.needs
        read = read_sentences(queries, self.vocabulary, self.recipe, needs)
        rows = np.arange(len(queries))
        return self.network.batch_of(Pairs(read, rows, None).__getitems__(rows.tolist()).to(self.device))

    def _fused(self, video: Tensor, query: EncodedQuery, columns: Ints | None) -> Tensor:
        """Return the logits of sentences and windows, (S, W, C), or (S, K, C) of those that are chosen."""
        n_sentences, n_pairs = len(query[0]), PAIRS_AT_ONCE.get(self.device.type, PAIRS_ON_GPU)
        model = self.network.grounding_model
        n_windows = len(video) if columns is None else columns.shape[1]
        logits = torch.empty(n_sentences, n_windows, model.n_candidates, device=self.device)
        if columns is not None:
            for row in range(n_sentences):
                sentence, of_row = tuple(column[row : row + 1] for column in query), video[columns[row]]
                for low in range(0, n_windows, n_pairs):
                    pairs = slice(low, low + n_pairs)
                    logits[row, pairs] = self.branches.fuse(of_row[pairs].float(), sentence)[0]
            return logits
        step = max(1, n_pairs // n_sentences)
        for low in range(0, n_sentences, n_pairs):
            sentences = tuple(column[low : low + n_pairs] for column in query)
            for at in range(0, n_windows, step):
                fused = self.branches.fuse(video[at : at + step].float(), sentences)
                logits[low : low + n_pairs, at : at + step] = fused
        return logits


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
        """Return itself: it does not learn here."""
        del train, val
        return self

    def window_scorer(self) -> EncodedWindows | None:
        """Return what encodes the windows of a film once; None for a model without branches."""
        model = self.network.model
        branches = model.branches() if isinstance(model, MapModel) and self.features is not None else None
        return None if branches is None else EncodedWindows(self.network, branches, self.vocabulary, self.recipe)

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Answer each query with its `top` best candidates, best first; or with all as they are listed, if not more."""
        moments = score(self.network, self._pairs(queries), self.recipe.train.batch).clipped()
        n_candidates = moments.score.shape[1]
        columns = np.broadcast_to(np.arange(n_candidates), moments.score.shape)
        if top < n_candidates:
            columns = np.argsort(-moments.score, axis=1, kind="stable")[:, :top]
        scores = np.take_along_axis(moments.score, columns, axis=1)
        present = scores > -np.inf
        start_s, end_s = (
            np.take_along_axis(np.broadcast_to(column, moments.score.shape), columns, axis=1)
            * queries.duration_s[:, None]
            for column in (moments.start, moments.end)
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
        _, first = np.unique(numbers_of(queries.sentence), return_index=True)
        whole = of_whole_videos(queries.select(first))  # rows of words have the ids of the queries
        read = read_sentences(whole, self.vocabulary, self.recipe, self.network.model.needs)
        duration_s = queries.video_duration_s
        table = None
        if self.features is not None:
            rows = np.stack([self._seen(name, seconds) for name, seconds in duration_s.items()])
            table = ClipTable(rows, {name: at for at, name in enumerate(duration_s)})
        columns = {"duration_s": queries.duration_s} if "duration" in self.network.model.needs else {}
        return Pairs(read.select(numbers_of(queries.sentence)), numbers_of(queries.video_id), table, columns=columns)

    @functools.cached_property
    def _seen(self) -> Callable[[str, float], FloatTable]:
        """Return a function to the rows of a window, which keeps windows for other queries while they fit."""
        features, recipe, model = self.features, self.recipe, self.network.grounding_model
        if features is None:
            raise UsageError(f"{self.name} sees no video, expected no features")
        n_videos = MOST_BYTES_KEPT // (4 * recipe.rows * max(features.n_dimensions, 1))
        return functools.lru_cache(maxsize=n_videos)(
            lambda video_id, duration_s: see_video(features, video_id, duration_s, recipe, model)
        )


def in_windows(
    method: AllCandidates,
    windowing: Windowing,
    *,
    ranking: WindowRanking | None = None,
    track: Callable[[Any, str], Any] = lambda items, _: items,
) -> WindowedGrounder:
    """Return a method as one for long videos, by a recipe's block `windows`; `decode` is of whole videos."""
    n_candidates = method.network.grounding_model.n_candidates
    nms = method.recipe.decode.nms
    return WindowedGrounder(
        method, windows_of(windowing), nms, method.features, each=n_candidates, ranking=ranking, track=track
    )


def windows_of(windowing: Windowing) -> Windows:
    """Return the windows in which videos are answered."""
    return Windows(windowing.seconds, windowing.stride * windowing.seconds, windowing.tail)
