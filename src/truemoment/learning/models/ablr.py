r"""ABLR: attention between video and sentence, and a regression of the moment's ends from the attention.

Yuan, Mei and Zhu: "To Find Where You Talk: Temporal Sentence Localization in Video with Attention Based Location
Regression", AAAI 2019; details from the authors' code, https://github.com/yytzsy/ABLR_code. The video attends to the
mean of the words, the words to the attended video, and the video again to the attended words, with the weights of the
first step. The loss is

.. math:: L = w_r \, \text{mean}_b \sum_{x \in \{s, e\}} \text{smooth}_{L1}(\hat x_b - x_b)
          - w_c \, \text{mean}_b \sum_i m_{b,i} \ln \alpha_{b,i},

with ends as shares of the video and m even over the clips of the moment. The published code *sums* the first term over
a batch of 100 and weights the terms 1 and 5, so that here :math:`w_r = 100` for every size of batch.

Differences from the paper, where the code decides: no activation between the layers of the regression, and LSTMs with
peepholes.
"""

from __future__ import annotations

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
from truemoment.learning.models.layers.additive_attention import AdditiveAttention, attended, mean_of, real_words
from truemoment.learning.models.layers.recurrent import PeepholeLSTM
from truemoment.media.features.base import Frames


class AblrSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings.

    Parameters
    ----------
    n_clips
        M, clips of a video.
    hidden
        h, of each direction of the LSTMs, and of clips and words.
    location_hidden
        Numbers between attention and ends.
    projection
        Numbers that features are projected to first (500 for 4,096 in the code); 0 for no projection.
    head
        What ends are regressed from: the "weights" of the attention (ABLR-aw, the default of the code), or the attended
        "features" (ABLR-af).
    dropout
        Dropout of the states of the LSTMs.
    calibration
        Clips of the moment: "exclusive" of the clip in which it ends, as the code has it for ActivityNet Captions, or
        "inclusive" with the weight 1 / (n + 1) for n clips, as for TACoS.
    quantised
        Whether answers are rounded down to clips, as in the code.
    location_bias
        Where both ends start. With 0, as in the code, an end whose first outputs are negative stays at 0, where it has
        no gradient: about half of all ends, as the weights are drawn.
    regression_weight, calibration_weight
        Weights of the terms of the loss.
    """

    n_clips: Count = 128
    hidden: Count = 256
    location_hidden: Count = 64
    projection: Annotated[int, msgspec.Meta(ge=0, le=8192)] = 0
    head: Literal["weights", "features"] = "weights"
    dropout: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.5
    calibration: Literal["exclusive", "inclusive"] = "exclusive"
    quantised: bool = True
    location_bias: float = 0.0
    regression_weight: Weight = 100.0
    calibration_weight: Weight = 5.0


class _JoinedDirections(nn.Module):
    """A bidirectional LSTM and a layer that joins its directions."""

    def __init__(self, n_in: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.lstm = PeepholeLSTM(n_in, hidden)
        self.dropout = nn.Dropout(dropout)
        self.join = nn.Linear(2 * hidden, hidden)

    def forward(self, rows: Tensor, n_rows: Tensor | None = None) -> Tensor:
        """Encode rows (B, T, D) as (B, T, H)."""
        joined: Tensor = self.join(self.dropout(self.lstm(rows, n_rows)))
        return joined.relu()


class Ablr(GroundingModel):
    """ABLR, which answers with one moment."""

    name: ClassVar[str] = "ablr"
    needs: ClassVar[frozenset[Need]] = frozenset({"video", "moment"})

    def __init__(self, settings: AblrSettings, inputs: Inputs) -> None:
        super().__init__()
        self.settings = settings
        self.n_candidates = 1
        hidden, n_video = settings.hidden, settings.projection or inputs.n_dimensions
        self.project = nn.Linear(inputs.n_dimensions, n_video) if settings.projection else nn.Identity()
        self.encode_video = _JoinedDirections(n_video, hidden, settings.dropout)
        self.encode_query = _JoinedDirections(inputs.n_vector, hidden, settings.dropout)
        self.attend_video = AdditiveAttention(hidden, hidden, hidden)
        self.attend_words = AdditiveAttention(hidden, hidden, hidden)
        if settings.head == "weights":
            self.locate = nn.Sequential(nn.Linear(settings.n_clips, settings.location_hidden))
        else:
            of_features = (nn.Linear(2 * hidden, hidden), nn.ReLU(), nn.Linear(hidden, settings.location_hidden))
            self.locate = nn.Sequential(*of_features)
        self.locate.append(nn.Linear(settings.location_hidden, 2))
        for part in (self.encode_video.join, self.encode_query.join, self.attend_video, self.attend_words, self.locate):
            part.apply(_start)
        nn.init.constant_(self.locate[-1].get_parameter("bias"), settings.location_bias)

    def see(self, video: VideoRows, n_rows: int) -> Frames:
        """Return the means of rows floor(i r) to floor((i + 1) r), both included, with r = (n - 1) / M; (M, D)."""
        del n_rows
        rows, n_clips = video.rows, self.settings.n_clips
        edges = np.arange(n_clips + 1) * (len(rows) - 1) // n_clips
        low, end = edges[:-1], edges[1:] + 1
        padded = np.concatenate([rows, np.zeros_like(rows[:1])])  # an end may be that of the video
        sums = np.add.reduceat(padded, np.stack([low, end], axis=1).ravel(), axis=0)[::2]
        return np.asarray(sums / (end - low)[:, None], dtype=np.float32)

    def forward(self, batch: Batch) -> ModelOutput:
        """Return log weights of the clips as `logits` (B, M), and "location", (B, 2), start and end as shares."""
        clips = self.encode_video(self.project(batch.require("video")))
        words = self.encode_query(batch.words, batch.n_words)
        counts = real_words(batch.n_words, words.shape[1])
        sentence = mean_of(words, counts)[:, None]
        attended_video = attended(self.attend_video(clips, sentence), clips)
        of_words = self.attend_words(words, attended_video, counts)
        sentence = attended(of_words, words)
        of_clips = self.attend_video(clips, sentence)
        if self.settings.head == "weights":
            evidence = of_clips.exp().squeeze(1)
        else:
            evidence = torch.cat([attended(of_clips, clips), sentence], dim=2).squeeze(1)
        location = self.locate(evidence).relu()
        zeros = (location == 0).float().mean().detach()
        extras = {"location": location, "words": of_words.squeeze(1), "ends at 0": zeros}
        return ModelOutput(of_clips.squeeze(1), extras)

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return "regression" and "calibration"; a pair whose moment is not shown has neither."""
        moment, location = batch.require("moment"), output.extras["location"]
        has_moment = ~torch.isnan(moment[:, :1])
        target = torch.where(has_moment, moment, location.detach())
        regression = functional.smooth_l1_loss(location, target, reduction="sum") / len(batch)
        inside = self._clips_of(moment) * has_moment
        calibration = -(inside * output.logits).sum() / len(batch)
        settings = self.settings
        return {
            "regression": settings.regression_weight * regression,
            "calibration": settings.calibration_weight * calibration,
        }

    def _clips_of(self, moment: Tensor) -> Tensor:
        """Return the target m of the attention, (B, M), for moments (B, 2); 0 throughout where no clip is inside."""
        n_clips = self.settings.n_clips
        start, end = torch.floor(n_clips * torch.nan_to_num(moment)).unbind(dim=1)
        if self.settings.calibration == "inclusive":
            end = end + 1
        end = end.clamp(max=n_clips)
        clip = torch.arange(n_clips, device=moment.device)
        inside = (clip >= start[:, None]) & (clip < end[:, None])
        n_inside = inside.sum(dim=1, keepdim=True) + (self.settings.calibration == "inclusive")
        return inside.to(moment.dtype) / n_inside.clamp(min=1)

    def answer(self, batch: Batch, output: ModelOutput) -> MomentTensors:
        """Return one moment, scored by the attention inside it."""
        del batch
        n_clips = self.settings.n_clips
        ends = output.extras["location"].double()
        if self.settings.quantised:
            ends = torch.floor(ends * n_clips) / n_clips
        start, end = ends[:, :1], ends[:, 1:]
        middle = (torch.arange(n_clips, device=ends.device) + 0.5) / n_clips
        mass = (output.logits.exp() * ((middle > start) & (middle < end))).sum(dim=1, keepdim=True)
        return MomentTensors(start, end, mass)


def _start(part: nn.Module) -> None:
    """Draw the weights of a layer from U(-0.1, 0.1), with biases of 0, as in the authors' code."""
    if isinstance(part, nn.Linear):
        nn.init.uniform_(part.weight, -0.1, 0.1)
        if part.bias is not None:
            nn.init.zeros_(part.bias)
