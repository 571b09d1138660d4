r"""SCDM: anchors on a temporal pyramid whose rows the words of the sentence modulate.

Yuan, Ma, Wang, Liu and Zhu: "Semantic Conditioned Dynamic Modulation for Temporal Sentence Grounding in Videos",
NeurIPS 2019; details from the authors' code, https://github.com/yytzsy/SCDM. Every convolution of the pyramid sees rows
that :mod:`~truemoment.learning.models.layers.modulation` has modulated. Anchors, targets and answers are in seconds
(:class:`Anchors`): the model sees a row a second, and where a moment lies is absolute.

An anchor whose IoU g with the moment is above 0.5 is positive, one below `negative_below` is negative, and *hard* if
its logit is above `hard_logit`. With a mean over the anchors of a kind in a batch and a level, the loss is

.. math:: L = \sum_\text{levels} \; w_+ \,\text{BCE}_+ + w_h \,\text{BCE}_h + w_e \,\text{BCE}_e
          + \text{mean}_+ \left( w_c \,\text{smooth}_{L1}(\Delta c) + w_w \,\text{smooth}_{L1}(\Delta w) \right),

with g as the target of all three cross-entropies, and errors of centre and width in seconds. The published code adds
half the squares of all trained numbers: `l2` of a recipe.

Differences from the paper, where the code decides: :class:`SquashedSRU` in place of a GRU, and weights of the loss for
each dataset.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

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
from truemoment.learning.models.layers.additive_attention import mean_of, real_words
from truemoment.learning.models.layers.modulation import EncodedSentence, SentenceModulation, WordModulation
from truemoment.learning.models.layers.recurrent import BothDirections
from truemoment.learning.models.layers.same_convolution import SameConvolution
from truemoment.media.features.base import Frames
from truemoment.media.features.resampling import rows_on_clock


class SquashedSRU(BothDirections):
    r"""A bidirectional encoder of these cells.

    The recurrent cell of SCDM's code: its gates read the input alone, and its state is squashed.

    With :math:`x' = W x` and :math:`(f, r) = \sigma(V x + b)`,

    .. math::
        c_t &= \tanh(f c_{t-1} + (1 - f)\, x'_t) \\
        h_t &= r c_t + (1 - r)\, x'_t,

    from :math:`c_0 = 0`. The simple recurrent unit (Lei et al. 2018) has no tanh in the first line.

    Parameters
    ----------
    n_in, hidden
        D, and H of each direction.
    """

    def __init__(self, n_in: int, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(2, n_in, 3 * hidden))  # W, then V of f and of r
        self.bias = nn.Parameter(torch.zeros(2, 2 * hidden))  # of f and r
        for direction in range(2):
            nn.init.xavier_uniform_(self.weight[direction, :, :hidden])
            nn.init.xavier_uniform_(self.weight[direction, :, hidden:])

    def scan(self, rows: Tensor) -> Tensor:
        """Return the states (2, B, T, H) of rows (2, B, T, D)."""
        hidden = self.weight.shape[2] // 3
        driven = torch.einsum("abtd,adh->abth", rows, self.weight)
        x = driven[..., :hidden]
        forget, keep = torch.sigmoid(driven[..., hidden:] + self.bias[:, None, None]).chunk(2, dim=3)
        fresh = (1 - forget) * x
        cell, cells = torch.zeros_like(x[:, :, 0]), []
        for gate, step in zip(forget.unbind(dim=2), fresh.unbind(dim=2), strict=True):
            cell = torch.tanh(gate * cell + step)
            cells.append(cell)
        return keep * torch.stack(cells, dim=2) + (1 - keep) * x


WIDTHS = (0.25, 0.5, 0.75, 1.0)
"""Widths of the anchors of a cell, as shares of the cell."""

REFINEMENT = 0.1
"""Factor of the offsets of an anchor."""


class Anchors(nn.Module):
    r"""The A anchors of a pyramid, level by level and cell by cell.

    Anchors of a temporal pyramid, in seconds: where they lie, how they match a moment, and how they are refined.

    A level with n cells over T seconds has cells of u = T / n seconds. At the middle of each lie anchors of the widths
    u / 4, u / 2, 3 u / 4 and u. An anchor of centre m and width w with the offsets (d, e) is the moment of

    .. math:: \text{centre } m + 0.1\, w d, \quad \text{width } w \exp(0.1\, e)

    (Yuan et al. 2019, SCDM, section 3.3, and its authors' code).

    Parameters
    ----------
    seconds
        T.
    n_cells
        Cells of each level.
    narrowest_s, widest_s
        Anchors of this width or less, and of this width or more, are left out; none if `widest_s` is 0.

    Attributes
    ----------
    centre_s, width_s : (A,) float64
        Centres and widths in seconds.
    level : (A,) int64
        Level of each, from 0.
    number : (A,) int64
        Number of each among the anchors if none were left out.

    Examples
    --------
    >>> anchors = Anchors(8.0, [2, 1], narrowest_s=2.0)
    >>> anchors.centre_s.tolist(), anchors.width_s.tolist()
    ([2.0, 2.0, 6.0, 6.0, 4.0, 4.0, 4.0], [3.0, 4.0, 3.0, 4.0, 4.0, 6.0, 8.0])
    """

    centre_s: Tensor
    width_s: Tensor
    level: Tensor
    number: Tensor

    def __init__(
        self, seconds: float, n_cells: Sequence[int], *, narrowest_s: float = 0.0, widest_s: float = 0.0
    ) -> None:
        super().__init__()
        self.n_levels, n_widths = len(n_cells), len(WIDTHS)
        level = np.repeat(np.arange(len(n_cells)), n_widths * np.array(n_cells))
        cell_s = seconds / np.array(n_cells)[level]
        cell = np.concatenate([np.repeat(np.arange(n), n_widths) for n in n_cells])
        width_s = cell_s * np.tile(WIDTHS, sum(n_cells))
        number = np.flatnonzero((width_s > narrowest_s) & (width_s < (widest_s or np.inf)))
        columns = {"centre_s": (cell + 0.5) * cell_s, "width_s": width_s, "level": level}
        for name, column in columns.items():
            self.register_buffer(name, torch.from_numpy(column[number]), persistent=False)
        self.register_buffer("number", torch.from_numpy(number), persistent=False)

    def __len__(self) -> int:
        return len(self.number)

    def refined(self, offsets: Tensor) -> tuple[Tensor, Tensor]:
        """Return centre and width in seconds, (B, A), for offsets (B, A, 2)."""
        centre_s = self.centre_s + REFINEMENT * self.width_s * offsets[..., 0]
        return centre_s, self.width_s * torch.exp(REFINEMENT * offsets[..., 1])

    def overlaps(self, moment_s: Tensor) -> Tensor:
        """Return the IoU of the anchors with moments (B, 2), in seconds, as (B, A); 0 where a moment is NaN."""
        start, end = torch.nan_to_num(moment_s)[:, :, None].unbind(dim=1)
        low, high = self.centre_s - self.width_s / 2, self.centre_s + self.width_s / 2
        shared = (torch.minimum(high, end) - torch.maximum(low, start)).clamp(min=0)
        return shared / (torch.maximum(high, end) - torch.minimum(low, start))

    def level_means(self, values: Tensor, mask: Tensor) -> Tensor:
        """Return the sum over levels of the mean of values (B, A) over the chosen anchors (B, A) of a batch.

        A level without a chosen anchor counts as 0.
        """
        sums = values.new_zeros(self.n_levels)
        counts = sums.index_add(0, self.level, mask.sum(dim=0).to(sums.dtype))
        sums = sums.index_add(0, self.level, (values * mask).sum(dim=0))
        return (sums / counts.clamp(min=1)).sum()


POSITIVE_ABOVE = 0.5
"""IoU with the moment above which an anchor is positive."""

Seconds = Annotated[float, msgspec.Meta(ge=0)]


class ScdmSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings; the defaults are those of the code for Charades-STA.

    Parameters
    ----------
    seconds
        T, rows that the model sees, one a second; longer videos are cut. A multiple of 2 to the power of levels + 1.
    levels
        K, levels of the pyramid that have anchors: of T / 4 cells, then of half as many each.
    hidden
        Width of each direction of the sentence encoder, and of the attention to words; rows have twice as many numbers.
    head_hidden
        Numbers of a row within the heads.
    first_kernel
        Kernel of the first two convolutions; the others have 3.
    sentence_blocks
        Blocks, from 0 to K, that the whole sentence modulates (SCM) in place of its words (SCDM): 0 and 1 in the code
        for ActivityNet Captions and TACoS.
    statistics
        Rows that modulation takes mean and variance of: those of the "input", with the zeros behind the video, as
        published, or those of the "video". With the former, they depend on the video's duration.
    dropout
        Dropout of the words' states.
    narrowest_s, widest_s
        Anchors of this width or less, and of this width or more, are left out (1 s for ActivityNet Captions; 1 s and
        64 s for TACoS); none if `widest_s` is 0.
    negative_below
        IoU with the moment below which an anchor is negative (0.5 for TACoS).
    hard_logit
        Logit above which a negative anchor is hard (0.1 for TACoS).
    positive_weight, hard_weight, easy_weight, centre_weight, width_weight
        Weights of the terms of the loss.
    clip
        What answers are clipped to: the "video", where those without a second in it are dropped; or the T seconds of
        the "input", as published.
    shortest_s
        Shorter answers are dropped.
    """

    seconds: Count = 64
    levels: Annotated[int, msgspec.Meta(ge=1, le=10)] = 5
    hidden: Count = 256
    head_hidden: Count = 64
    first_kernel: Annotated[int, msgspec.Meta(ge=1, le=99)] = 3
    sentence_blocks: tuple[int, ...] = ()
    statistics: Literal["input", "video"] = "input"
    dropout: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.2
    narrowest_s: Seconds = 0.0
    widest_s: Seconds = 0.0
    negative_below: Annotated[float, msgspec.Meta(gt=0, le=0.5)] = 0.3
    hard_logit: float = 2.0
    positive_weight: Weight = 100.0
    hard_weight: Weight = 50.0
    easy_weight: Weight = 50.0
    centre_weight: Weight = 50.0
    width_weight: Weight = 20.0
    clip: Literal["video", "input"] = "video"
    shortest_s: Seconds = 1.0

    def __post_init__(self) -> None:
        """Check what depends on two settings."""
        halvings: int = 2 ** (self.levels + 1)
        if self.seconds % halvings:
            raise ValueError(f"got seconds {self.seconds}, expected a multiple of {halvings} for {self.levels} levels")
        if any(not 0 <= block <= self.levels for block in self.sentence_blocks):
            raise ValueError(f"got sentence_blocks {self.sentence_blocks}, expected numbers from 0 to {self.levels}")
        widths = [self.seconds / n * share for n in self.cells for share in WIDTHS]
        if not any(self.narrowest_s < width < (self.widest_s or np.inf) for width in widths):
            got = f"narrowest_s {self.narrowest_s:g} and widest_s {self.widest_s:g}"
            raise ValueError(f"got {got}, expected that some anchors of {min(widths):g} to {max(widths):g} s are left")

    @property
    def cells(self) -> list[int]:
        """Cells of each level."""
        return [self.seconds // 2 ** (level + 2) for level in range(self.levels)]


class _ModulatedBlock(nn.Module):
    """Modulation, then a convolution."""

    def __init__(self, settings: ScdmSettings, number: int) -> None:
        super().__init__()
        width = 2 * settings.hidden
        self.modulate = (
            SentenceModulation(width, width)
            if number in settings.sentence_blocks
            else WordModulation(width, width, settings.hidden)
        )
        kernel, stride = (settings.first_kernel, 1) if number == 0 else (3, 2)
        self.convolve = SameConvolution(width, width, kernel, stride)

    def forward(self, rows: Tensor, sentence: EncodedSentence, counts: Tensor | None) -> Tensor:
        """Return half as many rows as (B, T, H), as many in the first block."""
        convolved: Tensor = self.convolve(self.modulate(rows, sentence, counts).relu())
        return convolved


class _ModulatedPyramid(nn.Module):
    """Rows of a video at the lengths of the levels."""

    def __init__(self, settings: ScdmSettings) -> None:
        super().__init__()
        width = 2 * settings.hidden
        self.settings = settings
        self.convolve = SameConvolution(width, width, settings.first_kernel)
        self.blocks = nn.ModuleList(_ModulatedBlock(settings, number) for number in range(settings.levels + 1))

    def forward(self, rows: Tensor, sentence: EncodedSentence, duration_s: Tensor) -> list[Tensor]:
        """Return the rows of each level, (B, T_l, H), of rows (B, T, H)."""
        rows = self.convolve(rows)
        levels = []
        for number, block in enumerate(self.blocks):
            rows = block(rows, sentence, self._counts(rows.shape[1], duration_s))
            if number == 0:
                rows = functional.max_pool1d(rows.transpose(1, 2), 2).transpose(1, 2)
            else:
                levels.append(rows)
        return levels

    def _counts(self, n_rows: int, duration_s: Tensor) -> Tensor | None:
        """Return which of the rows begin within the video, (B, T); None if all count."""
        if self.settings.statistics == "input":
            return None
        begin_s = torch.arange(n_rows, device=duration_s.device) * (self.settings.seconds / n_rows)
        return begin_s < duration_s[:, None]


class _AnchorHead(nn.Sequential):
    """Outputs of the anchors of a level."""

    def __init__(self, n_in: int, hidden: int, n_out: int) -> None:
        super().__init__(
            _RowNorm(n_in), nn.ReLU(), SameConvolution(n_in, hidden), _RowNorm(hidden), nn.ReLU(),
            SameConvolution(hidden, n_out),
        )  # fmt: skip


class _RowNorm(nn.BatchNorm1d):
    """Batch normalisation of rows (B, T, H) over batch and time, with the defaults of the published code."""

    def __init__(self, n_in: int) -> None:
        super().__init__(n_in, eps=1e-3, momentum=0.01)

    def forward(self, rows: Tensor) -> Tensor:
        return super().forward(rows.transpose(1, 2)).transpose(1, 2)


class Scdm(GroundingModel):
    """SCDM, whose candidates are the anchors of all levels."""

    name: ClassVar[str] = "scdm"
    needs: ClassVar[frozenset[Need]] = frozenset({"video", "moment", "duration"})
    least_batch: ClassVar[int] = 2  # a level of one cell has the statistics of a batch

    def __init__(self, settings: ScdmSettings, inputs: Inputs) -> None:
        super().__init__()
        self.settings = settings
        width, hidden = 2 * settings.hidden, settings.head_hidden
        self.anchors = Anchors(
            settings.seconds, settings.cells, narrowest_s=settings.narrowest_s, widest_s=settings.widest_s
        )
        self.n_candidates = len(self.anchors)
        self.encode = SquashedSRU(inputs.n_vector, settings.hidden)
        self.dropout = nn.Dropout(settings.dropout)
        self.fuse = nn.Linear(inputs.n_dimensions + width, width)
        self.pyramid = _ModulatedPyramid(settings)
        self.score = nn.ModuleList(_AnchorHead(width, hidden, len(WIDTHS)) for _ in settings.cells)
        self.offset = nn.ModuleList(_AnchorHead(width, hidden, 2 * len(WIDTHS)) for _ in settings.cells)
        self.apply(_start)

    def see(self, video: VideoRows, n_rows: int) -> Frames:
        """Return a row a second, (T, D): the mean of the rows centred in it, or the nearest; 0 behind the video."""
        del n_rows
        n_seconds = int(np.clip(np.ceil(video.duration_s), 1, self.settings.seconds))
        table = np.zeros((self.settings.seconds, video.rows.shape[1]), dtype=np.float32)
        table[:n_seconds] = rows_on_clock(video.rows, video.edges_s, np.arange(n_seconds + 1.0))
        return table

    def forward(self, batch: Batch) -> ModelOutput:
        """Return logits of the anchors, (B, A), and "offsets" of centre and width, (B, A, 2), between -1 and 1."""
        sentence = self.encode_sentence(batch)
        rows = self.fuse_rows(batch.require("video"), sentence)
        levels = self.pyramid(rows, sentence, batch.require("duration_s"))
        logits, offsets = (
            torch.cat([head(level).flatten(1) for head, level in zip(heads, levels, strict=True)], dim=1)
            for heads in (self.score, self.offset)
        )
        number, bounded = self.anchors.number, torch.tanh(offsets).view(*logits.shape, 2)
        return ModelOutput(logits[:, number], {"offsets": bounded[:, number]})

    def encode_sentence(self, batch: Batch) -> EncodedSentence:
        """Return the states of the words, (B, L, H), and their mean."""
        words = self.dropout(self.encode(batch.words, batch.n_words))
        counts = real_words(batch.n_words, words.shape[1])
        return EncodedSentence(words, counts, mean_of(words, counts))

    def fuse_rows(self, video: Tensor, sentence: EncodedSentence) -> Tensor:
        """Return rows of video and sentence, (B, T, H); the sentence is mapped once and not once a row."""
        of_video, of_sentence = torch.split(self.fuse.weight, [video.shape[2], sentence.sentence.shape[1]], dim=1)
        shared = functional.linear(sentence.sentence, of_sentence, self.fuse.bias)
        return (functional.linear(video, of_video) + shared[:, None]).relu()

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return "positive", "hard", "easy", "centre" and "width"; without its moment, a pair has negatives alone."""
        settings, anchors = self.settings, self.anchors
        kind = torch.promote_types(output.logits.dtype, torch.float32)
        logits, offsets = output.logits.to(kind), output.extras["offsets"].to(kind)
        moment_s = batch.require("moment").double() * batch.require("duration_s")[:, None]
        overlap = anchors.overlaps(moment_s)
        positive, negative = overlap > POSITIVE_ABOVE, overlap < settings.negative_below
        hard = negative & (logits > settings.hard_logit)
        entropy = functional.binary_cross_entropy_with_logits(logits, overlap.to(kind), reduction="none")
        start, end = torch.nan_to_num(moment_s).unbind(dim=1)
        targets = ((start + end) / 2, end - start)
        centre, width = (
            functional.smooth_l1_loss(
                refined.to(kind), target.to(kind)[:, None].expand(refined.shape), reduction="none"
            )
            for refined, target in zip(anchors.refined(offsets), targets, strict=True)
        )
        terms = {
            "positive": (settings.positive_weight, entropy, positive),
            "hard": (settings.hard_weight, entropy, hard),
            "easy": (settings.easy_weight, entropy, negative & ~hard),
            "centre": (settings.centre_weight, centre, positive),
            "width": (settings.width_weight, width, positive),
        }
        return {name: weight * anchors.level_means(values, mask) for name, (weight, values, mask) in terms.items()}

    def answer(self, batch: Batch, output: ModelOutput) -> MomentTensors:
        """Return the refined anchors, scored by the sigmoid of their logits."""
        settings, duration_s = self.settings, batch.require("duration_s")[:, None]
        centre_s, width_s = self.anchors.refined(output.extras["offsets"].double())
        start_s, end_s = (at.clamp(0.0, settings.seconds) for at in (centre_s - width_s / 2, centre_s + width_s / 2))
        valid = end_s - start_s <= duration_s
        if settings.clip == "video":
            start_s, end_s = torch.minimum(start_s, duration_s), torch.minimum(end_s, duration_s)
            valid &= end_s > start_s
        valid &= end_s - start_s >= settings.shortest_s
        valid |= ~valid.any(dim=1, keepdim=True)  # in a video that is shorter than the shortest answer
        score = torch.sigmoid(output.logits.float()).masked_fill(~valid, -torch.inf)
        return MomentTensors(start_s / duration_s, end_s / duration_s, score)


def _start(part: nn.Module) -> None:
    """Draw the weights of linear layers and convolutions as Glorot and Bengio (2010) do, with biases of 0."""
    if isinstance(part, nn.Linear | nn.Conv1d):
        nn.init.xavier_uniform_(part.weight)
        if part.bias is not None:
            nn.init.zeros_(part.bias)
