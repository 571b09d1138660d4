"""Mean pooling: the vector of a clip is the mean direction of its frames (CLIP4Clip, Luo et al. 2021).

With frozen vectors a residual linear map a side is learned, and the scale. The maps begin at zero, so that the first
epoch starts from the zero-shot ranking. With ``tune: towers`` the encoders of frames and sentences learn instead, from
pictures and words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from truemoment.base.errors import UsageError
from truemoment.base.records import Queries
from truemoment.learning.models.base import Inputs
from truemoment.learning.models.retrieval_model import MOST_SCALE, ResidualMap, RetrievalModel, mean_of, present, unit
from truemoment.media.features.sentences import SentenceStore
from truemoment.media.video.encoders import TwoTowers, load_encoder

MOST_TOKENS = 32
"""Tokens of a sentence with its begin and end (CLIP4Clip, Luo et al. 2021)."""

NO_TOKEN = -1
"""Filling of shorter sentences."""


class MeanPoolSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings.

    Parameters
    ----------
    tune
        What learns: linear "maps" of frozen vectors, or the "towers" of an encoder.
    encoder
        The encoder whose towers learn, see :func:`truemoment.media.video.encoders.load_encoder`.
    scale
        Factor of the cosines at the start, 100 or less; it is learned. CLIP's is 100 after its training.
    """

    tune: Literal["maps", "towers"] = "maps"
    encoder: str = "scenes"
    scale: Annotated[float, msgspec.Meta(gt=0)] = MOST_SCALE


class MeanPool(RetrievalModel):
    """Mean pooling."""

    name: ClassVar[str] = "mean-pool"

    def __init__(self, settings: MeanPoolSettings, inputs: Inputs) -> None:
        super().__init__(settings.scale)
        self.towers = Towers(settings.encoder) if settings.tune == "towers" else None
        if self.towers is None:
            self.clip_map = ResidualMap(inputs.n_dimensions)
            self.text_map = ResidualMap(inputs.n_dimensions)

    def see_texts(
        self, queries: Queries, vectors: SentenceStore | None
    ) -> npt.NDArray[np.float32] | npt.NDArray[np.int64]:
        """Return fixed vectors, or the numbers of the words for a tower."""
        return super().see_texts(queries, vectors) if self.towers is None else self.towers.read(queries.sentence)

    def clip_vectors(self, frames: Tensor) -> Tensor:
        """Return the mean direction of the frames of each clip, mapped."""
        real = present(frames)
        if self.towers is not None:
            return mean_of(self.towers.pictures(frames, real), real)
        return unit(self.clip_map(mean_of(frames, real)))

    def text_vectors(self, sentences: Tensor) -> Tensor:
        """Return the direction of each sentence, mapped."""
        if self.towers is not None:
            return unit(self.towers.texts(sentences))
        return unit(self.text_map(unit(sentences)))


class Towers(nn.Module):
    """The two encoders of a CLIP or SigLIP model by name or folder, with gradients: pictures and words to vectors.

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
        if encoder.preparation.frames > 1:
            raise UsageError(f"{encoder.name} sees clips, expected a model of pictures, CLIP or SigLIP")
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
        is_token = numbers != NO_TOKEN
        inputs: dict[str, Any] = {"input_ids": torch.where(is_token, numbers, self._tokenizer.pad_token_id)}
        if not self.is_siglip:
            inputs["attention_mask"] = is_token.long()
        return _tensor(self.model.get_text_features(**inputs))

    def pictures(self, frames: Tensor, present: Tensor) -> Tensor:
        """Return the vectors of prepared pictures (B, F, 3 h w) that are present, (B, F, D); 0 for the others."""
        embedded = _tensor(self.model.get_image_features(pixel_values=frames[present].reshape(-1, *self.shape)))
        vectors = embedded.new_zeros((*present.shape, embedded.shape[-1]))
        vectors[present] = embedded
        return vectors


def _tensor(output: Any) -> Tensor:  # noqa: ANN401 - of transformers 4 a tensor, of 5 an output that contains one
    tensor: Tensor = getattr(output, "pooler_output", output)
    return tensor
