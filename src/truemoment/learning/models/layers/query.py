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
    dropout
        Dropout rate between layers.
    """

    def __init__(self, n_vector: int, hidden: int, layers: int = 3, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.lstm = nn.LSTM(n_vector, hidden, layers, batch_first=True, dropout=dropout if layers > 1 else 0.0)

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
        tokens = self.states(words)
        behind = torch.arange(words.shape[1], device=words.device) >= n_words[:, None]
        tokens = tokens.masked_fill(behind[:, :, None], 0.0)
        return tokens[torch.arange(len(tokens), device=tokens.device), n_words - 1], tokens

    def states(self, words: Tensor) -> Tensor:
        """Return the states at all of `words` (B, L, E), those of the padding too, (B, L, H)."""
        with torch.autocast(words.device.type, enabled=False):  # not every processor has an LSTM in bfloat16
            tokens: Tensor = self.lstm(words.to(next(self.lstm.parameters()).dtype))[0]
        return tokens
