"""What the models have in common that predict a set of moments.

A subclass encodes clips and words, and makes of its slots the vectors from which a moment and its score are predicted.
"""

from __future__ import annotations

import abc

from torch import Tensor, nn

from truemoment.learning.models.base import Batch, Count, Inputs, ModelOutput, MomentTensors
from truemoment.learning.models.clip_model import ClipModel, ClipSettings, LayerCount
from truemoment.learning.models.clip_ratings import ClipLabels
from truemoment.learning.models.layers.set_attention import Perceptron
from truemoment.learning.models.set_matching import ends_of_spans, set_losses


class SetSettings(ClipSettings, frozen=True, forbid_unknown_fields=True):
    """Settings beside those of :class:`~truemoment.learning.models.clip_model.ClipSettings`.

    Parameters
    ----------
    encoder_layers, decoder_layers
        Layers of each encoder, and of the decoder.
    slots
        Moments of an answer; at most as many references are learned from.
    """

    encoder_layers: LayerCount = 2
    decoder_layers: LayerCount = 2
    slots: Count = 10


class SetModel(ClipModel):
    """A model that answers with the moments of its slots."""

    def __init__(self, settings: SetSettings, inputs: Inputs) -> None:
        super().__init__(settings, inputs)
        hidden = settings.hidden
        self.decoder_norm = nn.LayerNorm(hidden)
        self.span = Perceptron(hidden, hidden, hidden, 2)
        self.moment_or_none = nn.Linear(hidden, 2)
        self.n_candidates = settings.slots
        self.most_moments = min(settings.most_moments, settings.slots)

    def output_of(
        self, batch: Batch, slots: Tensor, anchors: Tensor | float, ratings: dict[str, Tensor]
    ) -> ModelOutput:
        """Return the output for the vectors of slots.

        Parameters
        ----------
        batch
            The input.
        slots
            (K, B, N, H) of each layer of the decoder.
        anchors
            (K, B, N, 2), added before the sigmoid of the spans; 0 for none.
        ratings
            Scores (B, T) of clips by name, at least "rating".

        Returns
        -------
        ModelOutput
            Log odds of being a moment (B, N). Extras: "classes" and "spans" (K, B, N, 2) of all layers, and `ratings`.
        """
        kind = batch.words.dtype
        classes = self.moment_or_none(slots).to(kind)
        spans = (self.span(slots) + anchors).sigmoid().to(kind)
        scores = {name: rating.to(kind) for name, rating in ratings.items()}
        return ModelOutput(classes[-1, ..., 0] - classes[-1, ..., 1], {"classes": classes, "spans": spans, **scores})

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return "span", "giou" and "label", with a number for the earlier layers, and the losses of the ratings."""
        extras = output.extras
        terms = set_losses(extras["classes"], extras["spans"], batch.require("moments"))
        return terms | self.rating_losses(batch, extras, self.labels_of(batch))

    @abc.abstractmethod
    def rating_losses(self, batch: Batch, extras: dict[str, Tensor], labels: ClipLabels) -> dict[str, Tensor]:
        """Return the weighted losses of the ratings of clips."""

    def answer(self, batch: Batch, output: ModelOutput) -> MomentTensors:
        """Return the moments of all slots, with the probabilities of being one, and the ratings of the clips."""
        start, end = ends_of_spans(output.extras["spans"][-1].double())
        return MomentTensors(start, end, output.logits.sigmoid(), self.rated(batch, output.extras["rating"]))
