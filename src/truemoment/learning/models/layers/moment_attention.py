r"""Clips of a moment as one vector: a mean whose weights are a softmax over the clips of the moment.

A sentence s is a mean of its words by a learned softmax. A clip v in the moment of a cell has the logit

.. math:: u_t = w_s^\top s + w_v^\top v_t + b \quad \text{("added")} \qquad \text{or} \qquad
          u_t = s^\top v_t \quad \text{("multiplied")},

the learnable cross attention and the cross attention of VLG-Net's code (Soldan et al. 2021). All published figures are
of the first. **There the sentence has no effect**: the softmax over the clips does not change when the same number is
added to all of its logits. Nothing that leads to s only is learned then.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from truemoment.baselines.proposals import SparseMap


class MomentAttention(nn.Module):
    """Moments (B, C, H) of clips (B, H, N) and words (B, H, L).

    The weights of all C cells and N clips are computed: a mean from running sums of exponentials is cheaper, but wrong
    where the clips of a cell have small weights.

    Parameters
    ----------
    proposals
        The cells.
    hidden
        H.
    sentence
        How the sentence enters the logit of a clip.
    """

    inside: Tensor

    def __init__(self, proposals: SparseMap, hidden: int, sentence: Literal["added", "multiplied"] = "added") -> None:
        super().__init__()
        self.word = nn.Conv1d(hidden, 1, 1)
        self.clip = nn.Conv1d(2 * hidden, 1, 1) if sentence == "added" else None
        first, last = (torch.as_tensor(of)[:, None] for of in proposals.cells)
        clip = torch.arange(proposals.n_clips, device=first.device)
        self.register_buffer("inside", (first <= clip) & (clip <= last), persistent=False)

    def forward(self, clips: Tensor, words: Tensor, counts: Tensor) -> Tensor:
        """Return the moments; `counts` (B, L) are real words."""
        moments: Tensor = self.weights(clips, self.sentence(words, counts)) @ clips.transpose(1, 2)
        return moments

    def sentence(self, words: Tensor, counts: Tensor) -> Tensor:
        """Return the vector of each sentence, (B, H)."""
        logits: Tensor = self.word(words).squeeze(1)
        weights = logits.masked_fill(~counts, torch.finfo(logits.dtype).min).softmax(dim=1)
        return (words @ weights[:, :, None]).squeeze(2)

    def weights(self, clips: Tensor, sentence: Tensor) -> Tensor:
        """Return the weight of each clip in each cell, (B, C, N)."""
        if self.clip is None:
            logits: Tensor = (sentence[:, None] @ clips).squeeze(1)
        else:
            logits = self.clip(torch.cat([sentence[:, :, None].expand_as(clips), clips], dim=1)).squeeze(1)
        return logits[:, None].masked_fill(~self.inside, torch.finfo(logits.dtype).min).softmax(dim=2)
