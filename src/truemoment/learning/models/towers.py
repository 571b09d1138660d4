"""The two encoders of a CLIP or SigLIP model as parts of a network that learn: pictures and words to vectors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from truemoment.media.video.encoders import TwoTowers, load_encoder

MOST_TOKENS = 32
"""Tokens of a sentence with its begin and end (CLIP4Clip, Luo et al. 2021)."""

NO_TOKEN = -1
"""Filling of shorter sentences."""


class Towers(nn.Module):
    """The encoders of a model by name or folder, with gradients.

    Parameters
    ----------
    name
        See :func:`~truemoment.media.video.encoders.load_encoder`.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        encoder = load_encoder(name, device="cpu")
        if not isinstance(encoder, TwoTowers):
            raise TypeError(f"{name} has no towers that can learn")
        self._tokenizer = encoder.tokenizer
        self.n_tokens = min(MOST_TOKENS, encoder.n_words)
        self.is_siglip = encoder.model.config.model_type == "siglip"
        self.shape = (3, encoder.preparation.height, encoder.preparation.width)
        self.model = encoder.model
        for name_of, parameter in self.model.named_parameters():
            parameter.requires_grad_(not name_of.startswith("logit_"))  # scale and bias of its own loss are not used

    def read(self, sentences: Iterable[str]) -> npt.NDArray[np.int64]:
        """Return the numbers of the tokens of sentences, (Q, L), -1 after their end."""
        tokens = self._tokenizer(
            list(sentences), padding="max_length", truncation=True, max_length=self.n_tokens, return_tensors="np"
        )
        numbers = np.asarray(tokens["input_ids"], dtype=np.int64)
        if self.is_siglip or "attention_mask" not in tokens:  # these were trained with their filling
            return numbers
        return np.where(np.asarray(tokens["attention_mask"]) > 0, numbers, NO_TOKEN)

    def texts(self, numbers: Tensor) -> Tensor:
        """Return the vectors of sentences (B, L), (B, D)."""
        known = numbers != NO_TOKEN
        given: dict[str, Any] = {"input_ids": torch.where(known, numbers, self._tokenizer.pad_token_id)}
        if not self.is_siglip:
            given["attention_mask"] = known.long()
        return _tensor(self.model.get_text_features(**given))

    def pictures(self, frames: Tensor, there: Tensor) -> Tensor:
        """Return the vectors of prepared pictures (B, F, 3 h w) that are there, (B, F, D); 0 for the others."""
        found = _tensor(self.model.get_image_features(pixel_values=frames[there].reshape(-1, *self.shape)))
        vectors = found.new_zeros((*there.shape, found.shape[-1]))
        vectors[there] = found
        return vectors


def _tensor(output: Any) -> Tensor:  # noqa: ANN401 - of transformers 4 a tensor, of 5 an output that holds one
    tensor: Tensor = getattr(output, "pooler_output", output)
    return tensor
