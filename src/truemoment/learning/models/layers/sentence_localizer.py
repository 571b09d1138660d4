r"""The localizer of WSSL: which of fifteen anchors a sentence belongs to, and how each anchor is refined.

With the outputs f and the last states h of two GRUs, of the sentence (t) and of the video (v), each sequence is read
with the last state of the other one,

.. math::
    e_k = (W f_k) \cdot h / \sqrt{\dim h}, \qquad c = \sum_k \text{softmax}(e)_k f_k,

and both contexts are normalised over the batch and mixed: a linear layer of both, their product and their sum. Source:
the code of Weakly Supervised Dense Event Captioning, https://github.com/XgDuan/WSDEC.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from truemoment.learning.models.layers.additive_attention import real_words
from truemoment.learning.models.layers.segment_anchors import ANCHORS
from truemoment.learning.models.layers.stacked_gru import StackedGRU


class StateAttention(nn.Module):
    """The mean of a sequence by its scaled products with a state.

    Parameters
    ----------
    n_row, n_state
        Numbers of a row, and of the state.
    """

    def __init__(self, n_row: int, n_state: int) -> None:
        super().__init__()
        self.key = nn.Linear(n_row, n_state, bias=False)

    def forward(self, rows: Tensor, state: Tensor, n_rows: Tensor) -> Tensor:
        """Return the weighted mean (B, H) of rows (B, T, H), of which n_rows (B,) are real, for a state (B, N)."""
        scores = (self.key(rows) @ state[:, :, None]).squeeze(2) / state.shape[1] ** 0.5
        scores = scores.masked_fill(~real_words(n_rows, rows.shape[1]), -torch.inf)
        context: Tensor = scores.softmax(dim=1)[:, None] @ rows
        return context.squeeze(1)


class SentenceLocalizer(nn.Module):
    """Scores of the anchors and what refinements are made from, of a video and a sentence.

    Parameters
    ----------
    n_dimensions, n_vector
        Numbers of a row of features and of a word vector.
    hidden, n_layers, dropout
        Width, layers and dropout of the GRUs.
    mixer_dropout
        Between the layers after the contexts.
    """

    def __init__(
        self, n_dimensions: int, n_vector: int, *, hidden: int, n_layers: int, dropout: float, mixer_dropout: float
    ) -> None:
        super().__init__()
        self.encode_video = StackedGRU(n_dimensions, hidden, n_layers, dropout, residual=True)
        self.encode_sentence = StackedGRU(n_vector, hidden, n_layers, dropout)
        self.attend_video = StateAttention(hidden, n_layers * hidden)
        self.attend_sentence = StateAttention(hidden, n_layers * hidden)
        self.norm_sentence = nn.BatchNorm1d(hidden)
        self.norm_video = nn.BatchNorm1d(hidden)
        self.join = nn.Linear(2 * hidden, hidden)
        self.mix = nn.Sequential(
            nn.Linear(3 * hidden, 3 * hidden, bias=False),
            nn.BatchNorm1d(3 * hidden),
            nn.ReLU(),
            nn.Dropout(mixer_dropout),
            nn.Linear(3 * hidden, 3 * hidden, bias=False),
            nn.BatchNorm1d(3 * hidden),
            nn.ReLU(),
        )
        self.score = nn.Linear(3 * hidden, len(ANCHORS))

    def forward(self, video: Tensor, n_rows: Tensor, vectors: Tensor, n_tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits of the anchors (B, A), and the mixed contexts (B, 3 H).

        Parameters
        ----------
        video : (B, T, D)
        n_rows : (B,)
            Real rows of each video.
        vectors : (B, L, E)
            Vectors of the tokens of a sentence, those of its begin and end included.
        n_tokens : (B,)
            Tokens of each sentence.
        """
        seen, read = self.encode_video(video), self.encode_sentence(vectors)
        of_video, of_sentence = (
            states.at(n - 1).transpose(0, 1).flatten(1) for states, n in ((seen, n_rows), (read, n_tokens))
        )
        sentence = self.norm_sentence(self.attend_sentence(read.outputs, of_video, n_tokens))
        attended = self.norm_video(self.attend_video(seen.outputs, of_sentence, n_rows))
        joined = self.join(torch.cat([sentence, attended], dim=1))
        mixed: Tensor = self.mix(torch.cat([joined, sentence * attended, sentence + attended], dim=1))
        return self.score(mixed), mixed
