"""Mean pooling: the vector of a clip is the mean direction of its frames (CLIP4Clip, Luo et al. 2021).

With frozen vectors a residual linear map a side is learned, and the scale. The maps begin at zero, so that the first
epoch starts from the zero-shot ranking. With ``tune: towers`` the encoders of frames and sentences learn instead, from
pictures and words.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np
import numpy.typing as npt
from torch import Tensor

from truemoment.base.records import Queries
from truemoment.learning.models.base import Inputs
from truemoment.learning.models.contrastive import unit
from truemoment.learning.models.retrieval_model import MOST_SCALE, ResidualMap, RetrievalModel, mean_of, present
from truemoment.learning.models.towers import Towers
from truemoment.media.features.sentences import SentenceStore


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
        there = present(frames)
        if self.towers is not None:
            return mean_of(self.towers.pictures(frames, there), there)
        return unit(self.clip_map(mean_of(frames, there)))

    def text_vectors(self, sentences: Tensor) -> Tensor:
        """Return the direction of each sentence, mapped."""
        if self.towers is not None:
            return unit(self.towers.texts(sentences))
        return unit(self.text_map(unit(sentences)))
