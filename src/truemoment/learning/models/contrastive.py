"""The contrastive loss of retrieval: each text finds its clip among those of the batch, and each clip its text.

Source: CLIP (Radford et al. 2021) and CLIP4Clip (Luo et al. 2021): the mean of two cross entropies over the rows and
the columns of the similarities of a batch; the right item of row i is column i.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def symmetric_cross_entropy(logits: Tensor) -> Tensor:
    """Return the mean cross entropy of rows and columns of scaled similarities (B, B).

    Examples
    --------
    >>> round(float(symmetric_cross_entropy(torch.zeros(8, 8))), 4)  # equal similarities: log 8
    2.0794
    """
    right = torch.arange(len(logits), device=logits.device)
    rows = nn.functional.cross_entropy(logits, right)
    return 0.5 * (rows + nn.functional.cross_entropy(logits.T, right))


def unit(vectors: Tensor) -> Tensor:
    """Return vectors (..., D) of length 1; vectors of zeros stay."""
    return nn.functional.normalize(vectors, dim=-1)


def gathered(vectors: Tensor) -> Tensor:
    """Return the vectors (B, D) of all P processes, (P B, D), in their order; gradients flow back to the own ones.

    Every process computes the loss of the whole batch, so that the gradient of its own vectors is the same in each.
    The training loop averages over processes: times P here, the step equals that of one process.
    """
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return vectors
    n_processes = torch.distributed.get_world_size()
    parts = [torch.empty_like(vectors) for _ in range(n_processes)]
    torch.distributed.all_gather(parts, vectors.detach().contiguous())
    own = vectors.view_as(vectors)
    if own.requires_grad:
        own.register_hook(lambda gradient: n_processes * gradient)  # type: ignore[no-untyped-call]
    parts[torch.distributed.get_rank()] = own
    return torch.cat(parts)
