"""The product of sentence and cells."""

import numpy as np
import torch

from truemoment.learning.models.layers.fusion import fuse


def make_pair():
    torch.manual_seed(0)
    return torch.randn(2, 5), torch.randn(2, 4, 5)


def test_equals_the_formula():
    sentence, cells = make_pair()
    fused = fuse(sentence, cells).numpy()
    for b in range(2):
        for c in range(4):
            product = sentence[b].numpy() * cells[b, c].numpy()
            np.testing.assert_allclose(fused[b, c], product / np.sqrt((product**2).sum()), rtol=1e-5)
    np.testing.assert_allclose((fused**2).sum(axis=-1), 1, rtol=1e-5)


def test_a_positive_factor_on_the_sentence_changes_nothing():
    sentence, cells = make_pair()
    torch.testing.assert_close(fuse(1000 * sentence, cells), fuse(sentence, cells))


def test_nothing_gives_nothing_and_finite_gradients():
    sentence, cells = make_pair()
    sentence = torch.zeros_like(sentence).requires_grad_()
    fused = fuse(sentence, cells)
    assert not fused.any()
    fused.sum().backward()
    assert sentence.grad.isfinite().all()


def test_cells_that_all_share_are_spread():
    sentence, cells = make_pair()
    assert torch.equal(fuse(sentence, cells[:1])[1], fuse(sentence[1:], cells[:1])[0])
