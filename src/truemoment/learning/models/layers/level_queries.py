r"""One sentence vector for each level of a pyramid, as DRN has them.

With states :math:`o_t` of a bidirectional LSTM and :math:`s = [o_1; o_n]`, level k attends to the words by

.. math::
    c_k = W_k \, \text{ReLU}(W_0 s), \quad
    \alpha_{k,t} = \text{softmax}_t \; w^\top (c_k \odot o_t), \quad
    q_k = \sum_t \alpha_{k,t} o_t,

where :math:`W_0` and :math:`w` are shared by the levels. (Zeng et al. 2020, DRN; the form is that of the authors' code,
https://github.com/Alvin-Zeng/DRN.)
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from truemoment.learning.models.layers.additive_attention import real_words
from truemoment.learning.models.layers.recurrent import BidirectionalLSTM


class LevelQueries(nn.Module):
    """Encode a sentence as a vector for each level.

    Parameters
    ----------
    n_vector
        E, dimensions of a word vector.
    hidden
        H of each direction of the LSTM.
    n_levels
        K, levels of the pyramid.
    """

    def __init__(self, n_vector: int, hidden: int, n_levels: int) -> None:
        super().__init__()
        self.lstm = BidirectionalLSTM(n_vector, hidden)
        self.shared = nn.Linear(4 * hidden, hidden)
        self.levels = nn.ModuleList(nn.Linear(hidden, 2 * hidden) for _ in range(n_levels))
        self.score = nn.Linear(2 * hidden, 1)
        for layer in (self.shared, *self.levels, self.score):
            nn.init.xavier_uniform_(layer.get_parameter("weight"))
            nn.init.zeros_(layer.get_parameter("bias"))

    def forward(self, words: Tensor, n_words: Tensor) -> Tensor:
        """Return the vectors (K, B, 2 H) of sentences (B, L, E) with `n_words` (B,) words."""
        states = self.lstm(words, n_words)
        last = states[torch.arange(len(states), device=states.device), n_words - 1]
        common = self.shared(torch.cat([states[:, 0], last], dim=1)).relu()
        commands = torch.stack([level(common) for level in self.levels])
        logits = self.score(commands[:, :, None] * states).squeeze(-1)  # (K, B, L)
        padding = ~real_words(n_words, words.shape[1])
        weights = logits.masked_fill(padding, torch.finfo(logits.dtype).min).softmax(dim=-1)
        return torch.einsum("kbl,blh->kbh", weights, states)
