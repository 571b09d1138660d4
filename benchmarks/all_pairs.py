"""A step of CTRL and ACRN at the small recipes, beside the published way of scoring all pairs of a batch.

56 pairs of a sentence and a window (features of 157 numbers, word vectors of 100), forward and backward pass on one
core; the published way repeats windows and sentences for 56 x 56 pairs, joins them, and applies a layer of the joined
width. Time is of the process (median of 15 steps), memory is of all tensors that the backward pass needs.

Run: python benchmarks/all_pairs.py
"""

from __future__ import annotations

import time

import msgspec
import numpy as np
import torch
from torch import Tensor

from truemoment.learning.models import get_family
from truemoment.learning.models.acrn import TensorFusion
from truemoment.learning.models.base import Batch, Inputs
from truemoment.learning.models.ctrl import CtrlFusion
from truemoment.learning.models.window_model import WindowModel
from truemoment.learning.training.recipes import read_recipe

WIDTH, VECTOR, WORDS, STEPS = 157, 100, 12, 15


class JoinedPairs(CtrlFusion):
    """CTRL's fusion of pairs that are repeated and joined."""

    def forward(self, windows: Tensor, sentences: Tensor) -> Tensor:
        """Fuse every pair by itself."""
        v, s = torch.broadcast_tensors(windows, sentences[:, None])  # type: ignore[no-untyped-call]  # PyTorch's
        joined: Tensor = self.hidden(torch.cat([v * s, v + s, v, s], dim=-1))
        return joined


class OuterProducts(TensorFusion):
    """ACRN's fusion of pairs with the outer product of each."""

    def forward(self, windows: Tensor, sentences: Tensor) -> Tensor:
        """Fuse every pair by itself."""
        v, s = torch.broadcast_tensors(windows, sentences[:, None])  # type: ignore[no-untyped-call]  # PyTorch's
        outer = (self._pooled(v)[..., :, None] * self._pooled(s)[..., None, :]).flatten(-2)
        joined: Tensor = self.hidden(torch.cat([v, s, outer], dim=-1))
        return joined


def drawn(n_pairs: int) -> Batch:
    """Pairs of numbers drawn at random."""
    return Batch(
        words=torch.randn(n_pairs, WORDS, VECTOR),
        n_words=torch.full((n_pairs,), WORDS),
        word_numbers=torch.full((n_pairs, WORDS), 2),
        video=torch.randn(n_pairs, 1, 3, WIDTH),
        windows_s=torch.tensor([[10.0, 15.0]]).double().expand(n_pairs, 1, 2),
        moment=torch.tensor([[0.3, 0.5]]).expand(n_pairs, 2),
        duration_s=torch.full((n_pairs,), 30.0).double(),
    )


def loss_of(model: WindowModel, batch: Batch) -> Tensor:
    """Return the loss of a batch."""
    return torch.stack(list(model.losses(batch, model(batch)).values())).sum()


def kept_bytes(model: WindowModel, batch: Batch) -> int:
    """Return the bytes of all tensors that are kept for the backward pass."""
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        value = loss_of(model, batch)
    del value
    return sum(kept.values())


def main() -> None:
    """Print milliseconds and megabytes of a step."""
    torch.set_num_threads(1)
    for name, other in (("ctrl", JoinedPairs), ("acrn", OuterProducts)):
        recipe, family = read_recipe(name), get_family(name)
        settings = msgspec.convert(recipe.settings, family.settings)
        torch.manual_seed(0)
        model, batch = family.build(settings, Inputs(WIDTH, VECTOR)), drawn(recipe.train.batch)
        assert isinstance(model, WindowModel)  # noqa: S101 - both families slide windows
        published = other(settings.semantic, settings.hidden, *([settings.pool] if name == "acrn" else []))
        published.load_state_dict(model.fusion.state_dict())

        for way, fusion in (("here", model.fusion), ("published", published)):
            model.fusion, spent = fusion, []
            for _ in range(STEPS):
                started = time.process_time()
                torch.autograd.backward(loss_of(model, batch))
                spent.append(time.process_time() - started)
            kept = kept_bytes(model, batch) / 1e6
            print(f"{name} {way:9}  {1000 * np.median(spent):6.1f} ms a step  {kept:5.1f} MB kept")


if __name__ == "__main__":
    main()
