"""Additive attention in blocks: against the whole table, forward and gradient, and what is kept for the gradient."""

import pytest
import torch

from truemoment.learning.models.layers import additive_attention
from truemoment.learning.models.layers.additive_attention import AdditiveAttention, real_words

B, S, L, K, C, H = 3, 11, 4, 5, 6, 7


@pytest.fixture
def drawn():
    torch.manual_seed(0)
    layer = AdditiveAttention(K, C, H).double()
    keys, context = torch.randn(B, L, K).double(), torch.randn(B, S, C).double()
    return layer, keys.requires_grad_(), context.requires_grad_(), real_words(torch.tensor([4, 1, 3]), L)


def by_formula(layer, keys, context, counts):
    """softmax_l w . tanh(U k_l + W c_s + b), over the keys that count."""
    mixed = torch.tanh(
        (keys @ layer.keys.weight.T)[:, None] + (context @ layer.context.weight.T)[:, :, None] + layer.context.bias
    )
    scores = (mixed * layer.score.weight[0]).sum(dim=-1).exp() * counts[:, None]
    return scores / scores.sum(dim=-1, keepdim=True)


@pytest.mark.parametrize("numbers", [1, 2 * B * L * H, 5 * B * L * H, 1 << 18])
def test_blocks_are_the_whole_forward_and_backward(numbers, drawn, monkeypatch):
    monkeypatch.setattr(additive_attention, "BLOCK_NUMBERS", numbers)
    layer, keys, context, counts = drawn
    leaves = [keys, context, *layer.parameters()]
    target = torch.randn(B, S, L, dtype=torch.float64)
    found, expected = layer(keys, context, counts).exp(), by_formula(*drawn)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    gradients = (torch.autograd.grad((of * target).sum(), leaves) for of in (found, expected))
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def test_the_whole_table_is_not_kept_for_the_gradient(drawn):
    kept = []

    def note(tensor):
        kept.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        layer, *inputs = drawn
        layer(*inputs)
    assert max(kept) == max(B * S * C, B * S * H, B * S * L)
    assert max(kept) < B * S * L * H
