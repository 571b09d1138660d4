"""CTRL: sliding windows are scored against the sentence, and their ends are moved.

Gao, Sun, Yang and Nevatia: "TALL: Temporal Activity Localization via Language Query", ICCV 2017; details from the
authors' code, https://github.com/jiyanggao/TALL. Windows, loss and answers are in
:mod:`truemoment.learning.models.window_model`. A window v (its contexts and itself, joined, through a linear layer) and
a sentence s, both of unit length, are fused as ``[v * s; v + s; v; s]``.

Differences from the paper, where the code decides: the joined pair is not passed through a layer before it is fused
(setting `joint`), the location loss is L1 (`location`), and a window may be outside the moment by 0.15 of its length,
not 0.2 (`most_outside`). The paper also assigns each window to one sentence, the code does not.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from torch import Tensor, nn
from torch.nn import functional

from truemoment.learning.models.base import Inputs
from truemoment.learning.models.window_model import Fusion, WindowModel, WindowSettings

N_SLOTS = 3
"""The context before a window, the window, and the context after it."""


class CtrlSettings(WindowSettings, frozen=True, forbid_unknown_fields=True):
    """Settings; those of windows, sentence and loss are as in :class:`.WindowSettings`.

    Parameters
    ----------
    joint
        What joins product and sum in the fusion: the "raw" pair, as in the code, or the pair through a linear "layer"
        of the width of one, as in the paper.
    """

    joint: Literal["raw", "layer"] = "raw"


class CtrlFusion(Fusion):
    """Linear layer of ``[v * s; v + s; v; s]``, or of ``[v * s; v + s; J [v; s]]`` with a linear layer J.

    Parameters
    ----------
    semantic, hidden
        H and K.
    joint
        As in the settings.
    """

    def __init__(self, semantic: int, hidden: int, joint: Literal["raw", "layer"] = "raw") -> None:
        super().__init__()
        self.joint: nn.Linear | None = nn.Linear(2 * semantic, semantic) if joint == "layer" else None
        self.hidden = nn.Linear((4 if self.joint is None else 3) * semantic, hidden)

    def forward(self, windows: Tensor, sentences: Tensor) -> Tensor:
        """Fuse windows and sentences: only the product is of pairs."""
        semantic = sentences.shape[1]
        product, total, pair = self.hidden.weight.tensor_split((semantic, 2 * semantic), dim=1)
        bias: Tensor = self.hidden.bias
        if self.joint is not None:
            bias = bias + pair @ self.joint.bias
            pair = pair @ self.joint.weight
        of_window, of_sentence = pair.chunk(2, dim=1)
        fused = functional.linear(windows * sentences[:, None], product)
        fused += functional.linear(windows, total + of_window)
        fused += functional.linear(sentences, total + of_sentence, bias)[:, None]
        return fused


class Ctrl(WindowModel):
    """CTRL."""

    name: ClassVar[str] = "ctrl"

    def __init__(self, settings: CtrlSettings, inputs: Inputs) -> None:
        semantic = settings.semantic
        embed_video = nn.Linear(N_SLOTS * inputs.n_dimensions, semantic)
        super().__init__(settings, inputs, embed_video, CtrlFusion(semantic, settings.hidden, settings.joint))

    def embed(self, slots: Tensor) -> Tensor:
        """Embed the joined slots, (B, C, 3, D), as (B, C, H)."""
        embedded: Tensor = self.embed_video(slots.flatten(2))
        return embedded
