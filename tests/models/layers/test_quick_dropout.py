"""Dropout by numbers of 16 bits: its rate, its scale, and that a seed repeats it."""

import pytest
import torch

from truemoment.learning.models.layers.quick_dropout import QuickDropout


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_rate_and_the_scale(rate):
    torch.manual_seed(0)
    dropped = QuickDropout(rate)(torch.ones(999, 1001))
    values, counts = dropped.unique(return_counts=True)
    assert values.tolist() == pytest.approx([0.0, 1 / (1 - rate)])
    assert counts[0].item() / dropped.numel() == pytest.approx(rate, abs=0.002)
    for neighbour in (dropped[:, 1:] * dropped[:, :-1], dropped[:, 4:] * dropped[:, :-4]):
        assert neighbour.mean().item() == pytest.approx(1, abs=0.02)  # neighbours are drawn apart


def test_a_seed_repeats_it_and_answers_are_without_it():
    layer, rows = QuickDropout(0.3), torch.randn(7, 5)
    torch.manual_seed(1)
    first = layer(rows)
    torch.manual_seed(1)
    assert torch.equal(layer(rows), first)
    assert not torch.equal(layer(rows), first)
    assert layer.eval()(rows) is rows


def test_in_place_rows_and_gradients_are_the_same():
    rows, results = torch.randn(7, 5, requires_grad=True), []
    for inplace in (False, True):
        torch.manual_seed(1)
        dropped = QuickDropout(0.3, inplace=inplace)(2 * rows)
        results.append((dropped, *torch.autograd.grad(dropped.square().sum(), rows)))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)
