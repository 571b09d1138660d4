"""Scores of all windows of a film by a network whose video and sentence branches are apart.

The windows of a film are encoded once and kept; sentences are encoded once and fused with every window.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from truemoment.base.errors import TrueMomentError
from truemoment.base.intervals import Ints
from truemoment.base.records import Queries
from truemoment.learning.models.base import Batch, Branches, EncodedQuery, ModelOutput
from truemoment.learning.models.decoding import ScoredMoments
from truemoment.learning.training.examples import Pairs, read_sentences, see_video
from truemoment.learning.training.network import Network
from truemoment.learning.training.recipes import Recipe
from truemoment.learning.training.vocabulary import TokenVocabulary
from truemoment.media.features.base import FeatureStore
from truemoment.searching.windowed import WindowScores
from truemoment.searching.windows import Window, WindowedFeatures

WINDOWS_AT_ONCE = 64
"""Windows that are encoded together."""

PAIRS_AT_ONCE = {"cpu": 16}
"""Pairs of a sentence and a window that are fused together: few enough for the caches of a processor."""

PAIRS_ON_GPU = 2048

MOST_BYTES_KEPT = 500_000_000
"""Of the encoded windows of a film. More are kept in half precision, which moves scores by some 3e-5."""


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
        self, queries: Queries, windows: Sequence[Window], store: FeatureStore, chosen: Ints | None = None
    ) -> WindowScores:
        """Return the scores of queries of one film, see :class:`~truemoment.searching.windowed.WindowScorer`."""
        video = self._encoded(windows, store)
        batch = self._sentences(queries)
        query = self.branches.encode_query(batch)
        logits = self._fused(video, query, chosen)
        shares = self.network.grounding_model.answer(batch, ModelOutput(logits.flatten(0, 1)))
        start, end = (of.double().cpu().numpy() for of in (shares.start, shares.end))
        found = ScoredMoments(start, end, shares.score.float().cpu().numpy())
        if not np.isfinite(found.score).all():
            raise TrueMomentError(
                "scores of the network are not finite: lower train.learning_rate, or change train.clip"
            )
        clipped = found.clipped()
        start_s = np.array([window.start_s for window in windows])[:, None]
        length_s = np.array([window.duration_s for window in windows])[:, None]
        score: npt.NDArray[np.float32] = found.score.reshape(logits.shape)
        return WindowScores(clipped.start * length_s + start_s, clipped.end * length_s + start_s, score)

    def _encoded(self, windows: Sequence[Window], store: FeatureStore) -> Tensor:
        """Return what the model keeps of windows, (W, ...)."""
        if self._kept[0] != tuple(windows):
            features = WindowedFeatures.holding(store, windows)
            encoded = []
            for low in range(0, len(windows), WINDOWS_AT_ONCE):
                some = windows[low : low + WINDOWS_AT_ONCE]
                model, recipe = self.network.grounding_model, self.recipe
                rows = np.stack([see_video(features, of.name, of.duration_s, recipe, model) for of in some])
                encoded.append(self.branches.encode_video(torch.from_numpy(rows).to(self.device)))
            kept = torch.cat(encoded)
            if kept.nbytes > MOST_BYTES_KEPT:
                kept = kept.half()
            self._kept = (tuple(windows), kept)
        return self._kept[1]

    def _sentences(self, queries: Queries) -> Batch:
        """Return the sentences of queries as a batch without videos."""
        needs = self.network.grounding_model.needs
        read = read_sentences(queries.sentence.tolist(), self.vocabulary, self.recipe, needs)
        rows = np.arange(len(queries))
        return self.network.batch_of(Pairs(read, rows, None).__getitems__(rows.tolist()).to(self.device))

    def _fused(self, video: Tensor, query: EncodedQuery, chosen: Ints | None) -> Tensor:
        """Return the logits of sentences and windows, (S, W, C), or (S, K, C) of those that are chosen."""
        n_sentences, n_pairs = len(query[0]), PAIRS_AT_ONCE.get(self.device.type, PAIRS_ON_GPU)
        model = self.network.grounding_model
        n_windows = len(video) if chosen is None else chosen.shape[1]
        logits = torch.empty(n_sentences, n_windows, model.n_candidates, device=self.device)
        if chosen is not None:
            for row in range(n_sentences):
                one, of_row = tuple(of[row : row + 1] for of in query), video[chosen[row]]
                for low in range(0, n_windows, n_pairs):
                    some = slice(low, low + n_pairs)
                    logits[row, some] = self.branches.fuse(of_row[some].float(), one)[0]
            return logits
        step = max(1, n_pairs // n_sentences)
        for low in range(0, n_sentences, n_pairs):
            sentences = tuple(of[low : low + n_pairs] for of in query)
            for at in range(0, n_windows, step):
                fused = self.branches.fuse(video[at : at + step].float(), sentences)
                logits[low : low + n_pairs, at : at + step] = fused
        return logits
