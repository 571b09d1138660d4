r"""ACRN: CTRL with an attention over a window and its contexts, and a tensor fusion.

Liu, Wang, Nie, He, Chen and Chua: "Attentive Moment Retrieval in Videos", SIGIR 2018; details from the authors' code in
the mirror https://github.com/Naman-Bhalla/ACRN_mirror. Windows, loss and answers are in
:mod:`truemoment.learning.models.window_model`. With embedded slots :math:`x_k` in order of time and an embedded
sentence q,

.. math:: m_k = \sum_{i \le k} x_i, \quad
          \alpha = \text{softmax}_k \langle \tanh m_k, \tanh q \rangle, \quad
          \hat x = \sum_k \alpha_k x_k.

The fusion is ``[v; s; p(v) p(s)^T]`` of the attended window v and the sentence s, both of unit length; p averages
groups of adjacent numbers.

Differences from the paper, where the code decides: a softmax normalises the attention, one projection of the slots
serves both memory and values, and instead of a constant 1 in the outer product, v and s are joined to it. In the code,
the attention of a window in training uses its own sentence, also where the window is scored against other sentences; in
predictions it uses the sentence that is scored (setting `attention`).
"""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from truemoment.learning.models.base import Count, Inputs, ModelOutput
from truemoment.learning.models.window_model import Fusion, WindowModel, WindowSettings


class AcrnSettings(WindowSettings, frozen=True, forbid_unknown_fields=True):
    """Settings; those of windows, sentence and loss are as in :class:`.WindowSettings`.

    Parameters
    ----------
    pool
        Adjacent numbers that are averaged before the outer product, a divisor of `semantic`.
    attention
        Sentence whose attention a window has in the alignment loss: its own in all pairs ("matched", as in the code),
        or in "every" pair the sentence of the pair.
    """

    pool: Count = 16
    attention: Literal["matched", "every"] = "matched"

    def __post_init__(self) -> None:
        """Check what depends on two settings."""
        if self.semantic % self.pool:
            raise ValueError(f"got pool {self.pool}, expected a divisor of semantic, {self.semantic}")


class TensorFusion(Fusion):
    """Linear layer of ``[v; s; p(v) p(s)^T]``; in the flattened product, numbers of the sentence run fastest.

    Parameters
    ----------
    semantic, hidden
        H and K.
    pool
        Numbers that are averaged, a divisor of H.
    """

    def __init__(self, semantic: int, hidden: int, pool: int) -> None:
        super().__init__()
        self.pool = pool
        self.hidden = nn.Linear(2 * semantic + (semantic // pool) ** 2, hidden)

    def forward(self, windows: Tensor, sentences: Tensor) -> Tensor:
        """Fuse windows and sentences; outer products are not formed: the layer is applied to the sentences first."""
        semantic = sentences.shape[1]
        of_window, of_sentence, outer = self.hidden.weight.tensor_split((semantic, 2 * semantic), dim=1)
        fused = torch.matmul(self._pooled(windows), self._layer_of(sentences, outer))
        fused += functional.linear(windows, of_window)
        fused += functional.linear(sentences, of_sentence, self.hidden.bias)[:, None]
        return fused

    def _layer_of(self, sentences: Tensor, outer: Tensor) -> Tensor:
        """Return the linear map of pooled windows (A) to hidden numbers for each sentence, (B, A, K)."""
        n_hidden, width = len(outer), sentences.shape[1] // self.pool
        by_sentence = outer.reshape(n_hidden, width, width).permute(2, 1, 0).reshape(width, -1)
        return (self._pooled(sentences) @ by_sentence).reshape(-1, width, n_hidden)

    def _pooled(self, vectors: Tensor) -> Tensor:
        return vectors.reshape(*vectors.shape[:-1], -1, self.pool).mean(dim=-1)


class Acrn(WindowModel):
    """ACRN."""

    name: ClassVar[str] = "acrn"

    def __init__(self, settings: AcrnSettings, inputs: Inputs) -> None:
        semantic = settings.semantic
        embed_video = nn.Linear(inputs.n_dimensions, semantic)
        super().__init__(settings, inputs, embed_video, TensorFusion(semantic, settings.hidden, settings.pool))
        self.settings = settings

    def embed(self, slots: Tensor) -> Tensor:
        """Embed each slot, (B, C, 3, D), as (B, C, 3, H)."""
        embedded: Tensor = self.embed_video(slots)
        return embedded

    def attend(self, windows: Tensor, sentences: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the attended slots of windows, (B, C, H), the weights (B, C, 3), and their entropy in nats."""
        energy = torch.einsum("bckh,bh->bck", windows.cumsum(dim=2).tanh(), sentences.tanh())
        weights = energy.softmax(dim=2)
        entropy = torch.special.entr(weights.detach()).sum(dim=2).mean()
        return torch.einsum("bck,bckh->bch", weights, windows), {"attention": weights, "entropy": entropy}

    def windows_of_all(self, output: ModelOutput) -> Tensor:
        """Return the windows as their own sentences see them, (1, B, H), or as every sentence does, (B, B, H)."""
        if self.settings.attention == "matched":
            return super().windows_of_all(output)
        slots, queries = output.extras["embedded"][:, 0], output.extras["query"]
        energy = torch.einsum("jkh,ih->ijk", slots.cumsum(dim=1).tanh(), queries.tanh())
        return functional.normalize(torch.einsum("ijk,jkh->ijh", energy.softmax(dim=2), slots), dim=-1)
