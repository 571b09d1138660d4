"""The encoder of a sentence."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class QueryEncoder(nn.Module):
    """A left-to-right LSTM over word vectors (Zhang et al. 2020, 2D-TAN, section 3.1); padding has no effect.

    Parameters
    ----------
    n_vector
        E, dimensions of a word vector.
    hidden
        H, dimensions of an encoded token.
    layers
        Layers of the LSTM.
    """

    def __init__(self, n_vector: int, hidden: int, layers: int = 3) -> None:
        super().__init__()
        self.lstm = nn.LSTM(n_vector, hidden, layers, batch_first=True)

    def forward(self, words: Tensor, n_words: Tensor) -> tuple[Tensor, Tensor]:
        """Encode sentences.

        Parameters
        ----------
        words : (B, L, E)
            Word vectors, padded at the end.
        n_words : (B,)
            Words of each sentence, 1 or more.

        Returns
        -------
        sentence : (B, H)
            State at the last word.
        tokens : (B, L, H)
            State at each word; 0 in the padding.
        """
        with torch.autocast(words.device.type, enabled=False):  # not every processor has an LSTM in bfloat16
            tokens, _ = self.lstm(words.to(next(self.lstm.parameters()).dtype))
        behind = torch.arange(words.shape[1], device=words.device) >= n_words[:, None]
        tokens = tokens.masked_fill(behind[:, :, None], 0.0)
        return tokens[torch.arange(len(tokens), device=tokens.device), n_words - 1], tokens
