r"""WSSL: a localizer and a caption generator that learn from each other, without a time of any moment.

Duan, Huang, Gan, Wang, Zhu and Huang: "Weakly Supervised Dense Event Captioning in Videos", NeurIPS 2018; details from
the authors' code, https://github.com/XgDuan/WSDEC. The localizer turns a sentence into one of fifteen anchors and
refines it. The caption generator turns a segment into a sentence. The terms of the loss are

- *caption*: minus the log probability of the sentence, of the segment that the localizer finds, per pair,
- *reconstruction*: the squared distance of that segment to the one found for the words that the generator expects,
- *anchor*: the cross-entropy of the anchors; the label is the anchor whose generated caption is most like the sentence.

Training has three kinds of stages, by the terms that they learn, see the recipes ``wssl`` and ``wssl-full``: *caption*
alone, with the whole video as the segment; *anchor* alone; *caption* with *reconstruction*. The last two take turns.

Differences from the code: METEOR without its program (:mod:`truemoment.data.language.meteor`), one way of decoding in
training and answers (`centre_shift`), and the last batch of an epoch, which is smaller, is learned from too.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec
import torch
from torch import Tensor, nn
from torch.nn import functional

from truemoment.base.errors import UsageError
from truemoment.learning.models.base import (
    Batch,
    Count,
    GroundingModel,
    Inputs,
    ModelOutput,
    MomentTensors,
    Need,
    VideoRows,
    Weight,
)
from truemoment.learning.models.layers.additive_attention import real_words
from truemoment.learning.models.layers.caption_generator import CaptionGenerator
from truemoment.learning.models.layers.segment_anchors import ANCHORS, ends_of, refined
from truemoment.learning.models.layers.sentence_localizer import SentenceLocalizer
from truemoment.learning.models.layers.word_similarity import meteor_scores, stem_numbers
from truemoment.learning.models.padded_rows import pad_rows, real_rows
from truemoment.media.features.base import Frames

END, UNKNOWN = 0, 1
"""Tokens of the end of a sentence, where the vocabulary has no word, and of unknown words."""

WHOLE = ANCHORS[-1]
"""The whole video as a segment."""

Dropout = Annotated[float, msgspec.Meta(ge=0, lt=1)]


class WsslSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings.

    Parameters
    ----------
    stride
        Every `stride`-th row of features is used; 2 in the code.
    hidden, layers
        H and layers of the GRUs.
    dropout
        Between the layers of the GRUs.
    mixer_dropout
        Between the layers after the contexts of the localizer.
    refinement
        Largest refinement of an anchor: centres move by half of it either way, and widths grow by it.
    sharpness
        Sharpness of the ends of a segment in the caption generator, per row.
    noise
        Largest number added to centre and width in training before the caption generator sees them.
    reconstruction_weight
        Weight of this term.
    beams, most_words
        Beams and words of a generated caption.
    ties
        Anchor that is the label where several captions are most like the sentence: the "first", as in the code, or a
        "random" one of them.
    centre_shift
        Where half of `refinement` is subtracted from the centre: in training and answers ("both"), or in "answers"
        alone, as in the code, so that answers lie earlier than what was trained.
    answers
        Whether the answer is the "best" anchor, as published, or "all" of them are ranked.
    """

    stride: Count = 1
    hidden: Count = 512
    layers: Annotated[int, msgspec.Meta(ge=1, le=16)] = 2
    dropout: Dropout = 0.3
    mixer_dropout: Dropout = 0.3
    refinement: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.3
    sharpness: Annotated[float, msgspec.Meta(gt=0)] = 0.1
    noise: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.01
    reconstruction_weight: Weight = 0.01
    beams: Annotated[int, msgspec.Meta(ge=1, le=64)] = 3
    most_words: Annotated[int, msgspec.Meta(ge=1, le=256)] = 20
    ties: Literal["first", "random"] = "first"
    centre_shift: Literal["both", "answers"] = "both"
    answers: Literal["best", "all"] = "best"


class Wssl(GroundingModel):
    """WSSL, which answers with the refined anchor that a sentence belongs to."""

    name: ClassVar[str] = "wssl"
    needs: ClassVar[frozenset[Need]] = frozenset({"video", "word numbers", "word vectors"})
    least_batch: ClassVar[int] = 2
    learns_in_turns: ClassVar[bool] = True

    anchors: Tensor

    def __init__(self, settings: WsslSettings, inputs: Inputs) -> None:
        super().__init__()
        self.settings = settings
        n_anchors, hidden = len(ANCHORS), settings.hidden
        self.n_candidates = n_anchors if settings.answers == "all" else 1
        self.begin = len(inputs.words) + 2  # the token after the words
        self.marks = nn.Parameter(inputs.n_vector**-0.5 * torch.randn(2, inputs.n_vector))  # vectors of end and begin
        self.localizer = SentenceLocalizer(
            *(inputs.n_dimensions, inputs.n_vector),
            hidden=hidden,
            n_layers=settings.layers,
            dropout=settings.dropout,
            mixer_dropout=settings.mixer_dropout,
        )
        self.refine = nn.Linear(3 * hidden, 2 * n_anchors)
        self.generator = CaptionGenerator(
            *(inputs.n_dimensions, inputs.n_vector, self.begin + 1),
            hidden=hidden,
            n_layers=settings.layers,
            dropout=settings.dropout,
            sharpness=settings.sharpness,
        )
        self.register_buffer("anchors", torch.tensor(ANCHORS), persistent=False)
        self._words = inputs.words
        self._stems: Tensor | None = None
        self._learned: frozenset[str] = frozenset()

    def see(self, video: VideoRows, n_rows: int) -> Frames:
        """Return every `stride`-th row, with NaN after the last one; more than `n_rows` are resampled; (T, D)."""
        return pad_rows(video.rows[:: self.settings.stride], n_rows)

    def start_stage(self, losses: frozenset[str]) -> None:
        """Learn captions of whole videos where they are learned alone, else captions of the localizer's segments."""
        self._learned = losses

    @property
    def _learns_captions_alone(self) -> bool:
        return self.training and self._learned == {"caption"}

    def forward(self, batch: Batch) -> ModelOutput:
        """Return `logits` (B, 15) of the anchors and their "refinements" (B, 15, 2), 0 to `refinement`.

        The localizer does not run where captions of whole videos are learned alone: both are 0 then.
        """
        if self._learns_captions_alone:
            nothing = torch.zeros(len(batch), len(ANCHORS), dtype=batch.words.dtype, device=batch.words.device)
            return ModelOutput(nothing, {"refinements": torch.stack([nothing, nothing], dim=2)})
        logits, refinements = self._located(batch, self._tokens(batch))
        return ModelOutput(logits, {"refinements": refinements})

    def _tokens(self, batch: Batch) -> Tensor:
        """Return the tokens of sentences between begin and end, (B, L + 2), with the end as padding."""
        numbers = batch.require("word_numbers")
        begin = torch.full_like(numbers[:, :1], self.begin)
        return torch.cat([begin, numbers, torch.full_like(begin, END)], dim=1)

    def _located(self, batch: Batch, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits and refinements of the anchors for tokens (B, L + 2) with the lengths of the sentences."""
        video, n_rows = real_rows(batch.require("video"))
        table = batch.require("word_vectors")
        if len(table) != self.begin:
            raise UsageError(f"got {len(table)} word vectors, expected {self.begin}")
        vectors = functional.embedding(tokens, torch.cat([self.marks[:1], table[1:], self.marks[1:]]))
        logits, mixed = self.localizer(video, n_rows, vectors, batch.n_words + 2)
        refinements = self.settings.refinement * self.refine(mixed).sigmoid().unflatten(1, (-1, 2))
        kind = batch.words.dtype
        return logits.to(kind), refinements.to(kind)

    def _segments(self, refinements: Tensor, shift: float) -> Tensor:
        """Return centre and width of the refined anchors, (B, 15, 2)."""
        return refined(self.anchors.to(refinements.dtype), refinements, shift)

    def _trained_segment(self, logits: Tensor, refinements: Tensor) -> Tensor:
        """Return centre and width of the refined best anchor, (B, 2), as training decodes it."""
        shift = self.settings.refinement / 2 if self.settings.centre_shift == "both" else 0.0
        return _of_best(self._segments(refinements, shift), logits)

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return the terms that the stage learns, of "caption", "reconstruction" and "anchor"; all if it names none.

        The output gets scalars to watch: how often each anchor is the label, and how often several are as good.
        """
        terms: dict[str, Tensor] = {}
        learned = self._learned or {"caption", "reconstruction", "anchor"}
        if learned & {"caption", "reconstruction"}:
            terms |= self._caption_losses(batch, output)
        if "anchor" in learned:
            labels, watched = self._labels(batch)
            terms["anchor"] = functional.cross_entropy(output.logits, labels)
            output.extras.update(watched)
        return terms

    def _caption_losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        video, n_rows = real_rows(batch.require("video"))
        tokens = self._tokens(batch)
        if self._learns_captions_alone:
            segment = output.logits.new_tensor(WHOLE).expand(len(batch), -1)
        else:
            segment = self._trained_segment(output.logits, output.extras["refinements"])
            if self.training:
                segment = segment + self.settings.noise * (2 * torch.rand_like(segment) - 1)
        log_probability = self.generator(self.generator.code(video, n_rows, segment[:, None]), tokens[:, :-1])
        of_words = log_probability.gather(2, tokens[:, 1:, None]).squeeze(2)
        counts = real_words(batch.n_words + 1, of_words.shape[1])  # the words and the end
        terms = {"caption": -(of_words * counts).sum() / len(batch)}
        if not self._learns_captions_alone:
            expected = torch.cat([tokens[:, :1], log_probability.argmax(dim=2)], dim=1)
            other = self._trained_segment(*self._located(batch, expected))
            distance = functional.mse_loss(other, segment.detach())
            terms["reconstruction"] = self.settings.reconstruction_weight * distance
        return terms

    @torch.no_grad()
    def _labels(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the anchor of each pair whose caption is most like its sentence, (B,), and scalars to watch."""
        scores = self._similarities(batch)
        most_alike = scores == scores.amax(dim=1, keepdim=True)
        if self.settings.ties == "random":
            order = torch.rand_like(scores)
        else:
            order = torch.arange(scores.shape[1], 0, -1, device=scores.device).expand_as(scores)
        labels = torch.where(most_alike, order, 0).argmax(dim=1)
        shares = functional.one_hot(labels, len(ANCHORS)).float().mean(dim=0)
        watched = {f"label {number}": share for number, share in enumerate(shares.unbind(), start=1)}
        watched["labels with ties"] = (most_alike.sum(dim=1) > 1).float().mean()
        watched["captions as good"] = most_alike.all(dim=1).float().mean()
        return labels, watched

    def _similarities(self, batch: Batch) -> Tensor:
        """Return METEOR of the caption of each anchor and the sentence, (B, 15)."""
        video, n_rows = real_rows(batch.require("video"))
        generator, settings, mode = self.generator, self.settings, self.generator.training
        generator.eval()  # captions are generated without dropout
        anchors = self.anchors.to(video.dtype).expand(len(batch), -1, -1)
        captions = generator.sentences(
            generator.code(video, n_rows, anchors),
            begin=self.begin,
            end=END,
            width=settings.beams,
            max_tokens=settings.most_words,
        )
        generator.train(mode)
        references = batch.require("word_numbers").repeat_interleave(len(ANCHORS), dim=0)
        return meteor_scores(captions, references, self._stems_on(video.device)).reshape(-1, len(ANCHORS))

    def _stems_on(self, device: torch.device) -> Tensor:
        """Return the number of the stem of each token, (V,); -1 for end, unknown words and begin.

        They are found when they are first needed, which answers never do.
        """
        if self._stems is None or self._stems.device != device:
            self._stems = torch.tensor([-1, -1, *stem_numbers(self._words), -1], device=device)
        return self._stems

    def answer(self, batch: Batch, output: ModelOutput) -> MomentTensors:
        """Return the refined best anchor, or all of them, with their probabilities."""
        del batch
        segments = self._segments(output.extras["refinements"].double(), self.settings.refinement / 2)
        probability = output.logits.softmax(dim=1)
        if self.settings.answers == "all":
            return MomentTensors(*ends_of(segments), probability)
        start, end = ends_of(_of_best(segments, output.logits))
        return MomentTensors(start[:, None], end[:, None], probability.amax(dim=1, keepdim=True))


def _of_best(segments: Tensor, logits: Tensor) -> Tensor:
    """Return the segment (B, 2) of the anchor with the highest logit, of (B, A, 2) and (B, A)."""
    best = logits.argmax(dim=1)
    return segments[torch.arange(len(best), device=best.device), best]
