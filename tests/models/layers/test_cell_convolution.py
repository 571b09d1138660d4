"""Convolutions on the map of candidates, against loops over cells and windows and against plain convolutions."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from truemoment.base.errors import UsageError
from truemoment.baselines.proposals import SparseMap
from truemoment.learning.models.layers.cell_convolution import CellConvolutions, TriangleConvolutions, neighbours


def make_stack(kind, n_clips, hidden, kernel, layers):
    torch.manual_seed(0)
    return kind(SparseMap(n_clips), hidden, kernel=kernel, layers=layers)


def make_cells(stack, n_samples=2):
    torch.manual_seed(1)
    hidden = stack.convolutions[0].in_channels
    return torch.randn(n_samples, len(stack.cell), hidden)


def by_loops(stack, cells, n_clips, kernel, *, grows):
    """One sample (C, H): layer by layer, cell by cell, neighbour by neighbour, as the 2D-TAN specification says.

    The map is padded with (k - 1) L / 2 zeros before the first layer, and each layer takes (k - 1) / 2 off each side;
    a cell becomes ReLU(sum) / (active cells in its window), and is active if there are any. Without growth (TCN-DCM),
    the map keeps its size and what is no candidate is 0.
    """
    first, last = SparseMap(n_clips).cells
    values = {(a, b): cells[c].numpy() for c, (a, b) in enumerate(zip(first, last, strict=True))}
    candidates = set(values)
    reach = kernel // 2
    n_layers = len(stack.convolutions)
    for layer, convolution in enumerate(stack.convolutions):
        weight, bias = (p.detach().numpy() for p in (convolution.weight, convolution.bias))
        border = reach * (n_layers - 1 - layer) if grows else 0
        computed = {}
        for a in range(-border, n_clips + border):
            for b in range(-border, n_clips + border):
                total, count = bias.copy(), 0
                for down in range(-reach, reach + 1):
                    for right in range(-reach, reach + 1):
                        if (a + down, b + right) in values:
                            count += 1
                            total += weight[:, :, down + reach, right + reach] @ values[a + down, b + right]
                if grows and count:
                    computed[a, b] = np.maximum(total, 0) / count
                elif not grows and (a, b) in candidates:
                    computed[a, b] = np.maximum(total, 0)
        values = computed
    return np.stack([values[a, b] for a, b in zip(first, last, strict=True)])


def on_a_dense_map(stack, cells, n_clips, kernel, *, grows):
    """The same as whole maps (B, H, N, N), written from the same text, for its gradients."""
    first, last = SparseMap(n_clips).cells
    maps = cells.new_zeros(len(cells), cells.shape[2], n_clips, n_clips)
    maps[:, :, first, last] = cells.transpose(1, 2)
    mask = torch.zeros(1, 1, n_clips, n_clips)
    mask[:, :, first, last] = 1
    active, ones = mask, torch.ones(1, 1, kernel, kernel)
    for layer, convolution in enumerate(stack.convolutions):
        padding = kernel // 2
        if grows:
            padding = (kernel - 1) * len(stack.convolutions) // 2 if layer == 0 else 0
            count = functional.conv2d(active, ones, padding=padding)
            active = (count > 0).float()
            scale = active / count.clamp(min=1)
        else:
            scale = mask
        scale = scale.to(cells.dtype)
        maps = functional.conv2d(maps, convolution.weight, convolution.bias, padding=padding).relu() * scale
    return maps[:, :, first, last].transpose(1, 2)


KINDS = pytest.mark.parametrize(("kind", "grows"), [(CellConvolutions, True), (TriangleConvolutions, False)])


@KINDS
@pytest.mark.parametrize(("n_clips", "kernel", "layers"), [(6, 3, 3), (5, 5, 2), (20, 3, 1)])
def test_equals_loops_over_cells_and_windows(kind, grows, n_clips, kernel, layers):
    stack = make_stack(kind, n_clips, 3, kernel, layers)
    cells = make_cells(stack)
    expected = np.stack([by_loops(stack, sample, n_clips, kernel, grows=grows) for sample in cells])
    with torch.no_grad():
        np.testing.assert_allclose(stack(cells).numpy(), expected, atol=1e-5 * np.abs(expected).max())


@KINDS
@pytest.mark.parametrize(("n_clips", "kernel", "layers"), [(16, 5, 4), (24, 9, 2), (1, 3, 2), (7, 1, 1)])
def test_results_and_gradients_equal_those_of_dense_maps(kind, grows, n_clips, kernel, layers):
    # In double precision, so that no cell lies on different sides of ReLU.
    stack = make_stack(kind, n_clips, 8, kernel, layers).double()
    cells = make_cells(stack, 3).double().requires_grad_()
    weights = torch.rand_like(cells)
    expected = on_a_dense_map(stack, cells, n_clips, kernel, grows=grows)
    wanted = torch.autograd.grad((expected * weights).sum(), [cells, *stack.parameters()])
    ours = stack(cells)
    torch.testing.assert_close(ours, expected, rtol=0, atol=1e-6 * float(expected.detach().abs().max()))
    gradients = torch.autograd.grad((ours * weights).sum(), [cells, *stack.parameters()])
    for gradient, want in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(gradient, want, rtol=0, atol=1e-6 * float(want.abs().max()))


@KINDS
def test_single_precision_is_good_to_one_in_100000(kind, grows):
    stack = make_stack(kind, 16, 32, 5, 4)
    cells = make_cells(stack)
    with torch.no_grad():
        expected = on_a_dense_map(stack, cells, 16, 5, grows=grows)
        assert (stack(cells) - expected).abs().max() < 1e-5 * expected.abs().max()


def test_weights_are_those_of_plain_convolutions():
    # Names, shapes and start of nn.Conv2d, so that weights of a dense 2D-TAN fit.
    stack = make_stack(CellConvolutions, 16, 4, 5, 3)
    shapes = {name: tuple(value.shape) for name, value in stack.state_dict().items()}
    assert shapes == {
        f"convolutions.{layer}.{part}": shape
        for layer in range(3)
        for part, shape in (("weight", (4, 4, 5, 5)), ("bias", (4,)))
    }
    torch.manual_seed(0)
    assert torch.equal(stack.convolutions[0].weight, torch.nn.Conv2d(4, 4, 5).weight)


def test_a_sample_does_not_see_the_others():
    stack = make_stack(CellConvolutions, 8, 8, 3, 2)
    cells = make_cells(stack, 6)
    with torch.no_grad():
        torch.testing.assert_close(stack(cells)[2:3], stack(cells[2:3]), rtol=1e-5, atol=1e-6)


def test_neighbours_by_hand():
    cells = np.zeros((3, 4), dtype=bool)
    cells[0, 0] = cells[1, 1] = True
    assert neighbours(cells, 3).tolist() == [[2, 2, 1, 0], [2, 2, 1, 0], [1, 1, 1, 0]]


@pytest.mark.parametrize("kernel", [0, 4, -3])
def test_a_kernel_without_a_middle_is_refused(kernel):
    with pytest.raises(UsageError, match=f"got a kernel of {kernel}, expected an odd number"):
        make_stack(CellConvolutions, 8, 4, kernel, 2)
