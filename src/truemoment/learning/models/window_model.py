r"""What CTRL and ACRN share: windows of a video are scored against a sentence, and their ends are moved.

Each window gives three slots of features: the context before it, the window, and the context after it. A model embeds
slots and sentence, and fuses them to K hidden numbers for each pair of window j and sentence i. From these come a score
:math:`c_{ij}` and two offsets. A batch has B pairs of a sentence and a window that shows it, and every sentence is
also paired with the windows of the others:

.. math:: L = \frac{1}{B^2} \sum_{ij} \left(\delta_{ij} + \frac{1}{B}\right) \log(1 + e^{\pm c_{ij}})
          + \lambda \frac{1}{2B} \sum_i \left(|p_{s,i} - o_{s,i}| + |p_{e,i} - o_{e,i}|\right),

with a minus for i = j, offsets p as predicted and o as annotated, in frames. (Gao et al. 2017, section 3.3, with the
constants of the authors' code, https://github.com/jiyanggao/TALL.)

Offsets are only computed for the pairs i = j, which alone have a location loss. What depends on a window or a sentence
alone is computed B times and added by broadcasting, see :class:`Fusion`.
"""

from __future__ import annotations

import abc
from typing import Annotated, ClassVar, Literal

import msgspec
import torch
from torch import Tensor, nn
from torch.nn import functional

from truemoment.base.intervals import Floats
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
from truemoment.learning.models.layers.additive_attention import mean_of
from truemoment.learning.models.layers.query import QueryEncoder
from truemoment.learning.models.sliding_windows import (
    FRAMES_PER_SECOND,
    MOST_WINDOWS,
    WindowPool,
    WindowSlots,
    window_slots,
)
from truemoment.media.features.base import Frames

UNKNOWN_WORD = 1
"""Number of words without a vector, see :class:`~truemoment.learning.models.base.Batch`."""

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class WindowSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of windows, sentence, loss and initial weights. Frames count at 24 a second.

    Parameters
    ----------
    lengths
        Lengths of the windows in frames. TACoS and Charades-CD: 64, 128, 256, 512; ActivityNet-CD: 128, 256, 512, 1024,
        2048.
    overlap
        Overlap of successive windows, as a share of their length.
    context
        Length of the context on each side of a window, in frames.
    least_iou, most_outside
        A window and a moment are a pair to learn from if their IoU is above the first, and the share of the window
        outside the moment is below the second (0.15 in the code, 0.2 in the paper).
    draw
        Pairs of a batch: "distinct" moments, as in the authors' code, or "shuffled" without this rule.
    semantic
        H, numbers of an embedded window or sentence.
    hidden
        K, hidden numbers of a pair.
    sentence
        Vector of a sentence: "mean" of the vectors of the known words, or the last state of an "lstm".
    location
        Distance between predicted and annotated offsets: "l1", as in the code, "smooth-l1", as in the paper, or "none":
        no offsets are learned, and the answers are the windows (the paper's CTRL-aln).
    location_weight
        Weight of the location loss (lambda).
    start
        Initial weights: "pytorch", or "published": N(0, 1) for the embeddings, N(0, 0.01) after the fusion, biases 0.
    """

    lengths: Annotated[tuple[Count, ...], msgspec.Meta(min_length=1)] = (64, 128, 256, 512)
    overlap: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.8
    context: Count = 128
    least_iou: Share = 0.5
    most_outside: Share = 0.15
    draw: Literal["distinct", "shuffled"] = "distinct"
    semantic: Count = 1024
    hidden: Count = 1000
    sentence: Literal["mean", "lstm"] = "mean"
    location: Literal["l1", "smooth-l1", "none"] = "l1"
    location_weight: Weight = 0.01
    start: Literal["pytorch", "published"] = "pytorch"


class Fusion(nn.Module, abc.ABC):
    """Layer that fuses windows and sentences to K hidden numbers for each pair, before the ReLU.

    The published code repeats windows and sentences B times, joins them, and applies a linear layer of the joined width
    to B x B pairs. A subclass splits the layer into parts of the window, of the sentence, and of both, and adds the
    first two by broadcasting.
    """

    hidden: nn.Linear
    """The layer of the joined width."""

    @abc.abstractmethod
    def forward(self, windows: Tensor, sentences: Tensor) -> Tensor:
        """Fuse windows (1, C, H) of all sentences, or (B, C, H) of each, with sentences (B, H) to (B, C, K)."""


class WindowModel(GroundingModel):
    """A model that scores sliding windows and moves their ends.

    A subclass defines :meth:`embed`, and :meth:`attend` where the sentence changes how a window is seen.

    Parameters
    ----------
    settings
        The settings.
    inputs
        Widths of features and word vectors.
    embed_video
        Linear layer of the features.
    fusion
        Fusion of windows and sentences.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"video", "windows", "moment", "duration", "word numbers"})
    least_batch: ClassVar[int] = 2
    n_candidates = MOST_WINDOWS

    def __init__(self, settings: WindowSettings, inputs: Inputs, embed_video: nn.Linear, fusion: Fusion) -> None:
        super().__init__()
        self.window_settings = settings
        self.pool = WindowPool(settings.lengths, settings.overlap)
        reads = settings.sentence == "lstm"
        self.read = QueryEncoder(inputs.n_vector, settings.semantic, 1) if reads else None
        self.embed_video = embed_video
        self.embed_sentence = nn.Linear(settings.semantic if reads else inputs.n_vector, settings.semantic)
        self.fusion = fusion
        self.score = nn.Linear(settings.hidden, 1 if settings.location == "none" else 3)
        if settings.start == "published":
            _start(1.0, self.embed_video, self.embed_sentence)
            _start(0.01, *self.fusion.children(), self.score)

    def windows_s(self, duration_s: float) -> Floats:
        """Return start and end in seconds of the windows of a video, (C, 2)."""
        return self.pool.windows_s(duration_s)

    def slots(self, video: VideoRows, windows_s: Floats) -> WindowSlots:
        """Return features of windows (C, 2) and of their contexts, (C, 3, D), and which of them are real."""
        return window_slots(video, windows_s, self.window_settings.context / FRAMES_PER_SECOND)

    def see(self, video: VideoRows, n_rows: int) -> Frames:
        """Return the slots of all windows of a video, (C, 3, D); C differs between videos."""
        del n_rows
        return self.slots(video, self.windows_s(video.duration_s)).slots

    @abc.abstractmethod
    def embed(self, slots: Tensor) -> Tensor:
        """Embed slots (B, C, 3, D) as windows (B, C, ...)."""

    def attend(self, windows: Tensor, sentences: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return embedded windows (B, C, H) as their sentences (B, H) see them, and extras of the output."""
        del sentences
        return windows, {}

    def windows_of_all(self, output: ModelOutput) -> Tensor:
        """Return the windows of a batch of unit length, (1, B, H), or (B, B, H) where each sentence sees its own."""
        return output.extras["windows"][:, 0][None]

    def forward(self, batch: Batch) -> ModelOutput:
        """Score the C windows of each pair.

        `logits` are (B, C). Extras are "offsets" (B, C, 2) in frames, "embedded" windows (B, C, ...), "query" (B, H),
        and "windows" (B, C, H) and "sentence" (B, H) of unit length.
        """
        query = self.embed_sentence(self._sentence(batch))
        embedded = self.embed(batch.require("video"))
        attended, extras = self.attend(embedded, query)
        windows, sentence = functional.normalize(attended, dim=-1), functional.normalize(query, dim=-1)
        scored = self.score(self.fusion(windows, sentence).relu_())
        extras |= {"embedded": embedded, "query": query, "windows": windows, "sentence": sentence}
        return ModelOutput(scored[..., 0], extras | {"offsets": scored[..., 1:]})

    def _sentence(self, batch: Batch) -> Tensor:
        """Return a vector for each sentence, (B, E) or (B, H)."""
        if self.read is not None:
            last: Tensor = self.read(batch.words, batch.n_words)[0]
            return last
        return mean_of(batch.words, batch.require("word_numbers") > UNKNOWN_WORD)

    def score_all(self, output: ModelOutput) -> Tensor:
        """Return scores of each sentence (row) for the first window of each pair (column), (B, B)."""
        hidden = self.fusion(self.windows_of_all(output), output.extras["sentence"]).relu_()
        return functional.linear(hidden, self.score.weight[:1], self.score.bias[:1])[..., 0]

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return "alignment" over B x B pairs and "location" over the B pairs of a batch with one window each."""
        scores = self.score_all(output)
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        terms = {"alignment": alignment_loss(scores)}
        settings = self.window_settings
        if settings.location != "none":
            moment_s = batch.require("moment").double() * batch.require("duration_s")[:, None]
            target = (moment_s - batch.require("windows_s")[:, 0]) * FRAMES_PER_SECOND
            distance = functional.l1_loss if settings.location == "l1" else functional.smooth_l1_loss
            offsets = output.extras["offsets"][:, 0]
            terms["location"] = settings.location_weight * distance(offsets, target.to(offsets.dtype))
        return terms

    def answer(self, batch: Batch, output: ModelOutput) -> MomentTensors:
        """Return every window with its ends moved by the offsets, and its score."""
        windows_s = batch.require("windows_s").double()
        if self.window_settings.location != "none":
            windows_s = windows_s + output.extras["offsets"].double() / FRAMES_PER_SECOND
        absent = torch.isnan(windows_s[..., 0])
        start, end = torch.nan_to_num(windows_s / batch.require("duration_s")[:, None, None]).unbind(dim=-1)
        return MomentTensors(start, end, output.logits.float().masked_fill(absent, -torch.inf))


def alignment_loss(scores: Tensor) -> Tensor:
    """Return the alignment loss of scores (B, B), with the pairs that belong together on the diagonal."""
    n_pairs = len(scores)
    together = torch.eye(n_pairs, dtype=scores.dtype, device=scores.device)
    return ((together + 1 / n_pairs) * functional.softplus((1 - 2 * together) * scores)).sum() / n_pairs**2


def _start(spread: float, *parts: nn.Module) -> None:
    """Draw weights of linear layers from a normal distribution, with biases of 0, as in the authors' code."""
    for part in parts:
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=spread)
            nn.init.zeros_(part.bias)
