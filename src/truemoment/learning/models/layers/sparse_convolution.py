r"""Convolutions on the map of candidates, computed only at the cells that a candidate can read; for answering only.

:mod:`~truemoment.learning.models.layers.cell_convolution` convolves whole maps: of 2D-TAN's 16 x 16 map with its
margin, 576 cells are convolved for 136 candidates. Here layer l has a row for each cell that

* the candidates reach in l layers (its factor is above 0), and
* reaches a candidate in the layers that are left.

A layer gathers the rows beside each cell and multiplies them with the weights of all places. A layer with fewer cells
of input than of output multiplies first and adds up the products of each cell. The sums are those of the dense
convolution in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from truemoment.base.intervals import Bools, Ints
from truemoment.learning.models.layers.cell_convolution import Stack


@dataclass(frozen=True, eq=False)
class _Layer:
    """A layer from Q cells to P cells, with K places of the kernel.

    Parameters
    ----------
    source : (P, K)
        Row of the cell that each place reads; Q where there is none.
    weight : (K * H, H, 1, 1) or (H, K * H, 1, 1)
        Weight for multiplying first, and for gathering first, as a convolution over single rows.
    bias : (H,)
    scale : (P, 1)
    n_in, n_out
        Q and P.
    """

    source: Ints
    weight: Tensor
    bias: Tensor
    scale: Tensor
    n_in: int
    n_out: int

    @property
    def multiplies_first(self) -> bool:
        """Whether the input has fewer cells than the output."""
        return self.n_in < self.n_out


def convolutions_to_answer(stack: Stack) -> Callable[[Tensor], Tensor]:
    """Return what computes the output of a stack fastest: on a GPU, the convolutions of whole maps."""
    return SparseConvolutions(stack) if stack.cell.device.type == "cpu" else stack


class SparseConvolutions:
    """The output of a stack of convolutions at the candidates, (B, C, H) of cells (B, C, H).

    It copies the weights, which therefore must not change any more.

    Parameters
    ----------
    stack
        The convolutions.
    """

    def __init__(self, stack: Stack) -> None:
        self._layers = _plan(stack)
        self._scatter: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}
        self._gather = [torch.from_numpy(layer.source.ravel()) for layer in self._layers]

    def __call__(self, cells: Tensor) -> Tensor:
        """Convolve cells (B, C, H)."""
        for number, layer in enumerate(self._layers):
            summed = self._scattered(number, cells) if layer.multiplies_first else self._gathered(number, cells)
            cells = summed.add_(layer.bias).mul_(layer.scale).relu_()
        return cells

    def _gathered(self, number: int, cells: Tensor) -> Tensor:
        """Return sums over the places of the kernel (B, P, H): gather, then multiply."""
        layer = self._layers[number]
        with_none = torch.cat([cells, cells.new_zeros(len(cells), 1, cells.shape[2])], dim=1)
        beside = with_none.index_select(1, self._gather[number])
        return _rows_times(beside.view(len(cells), layer.n_out, -1), layer.weight)

    def _scattered(self, number: int, cells: Tensor) -> Tensor:
        """Return the same sums: multiply, then add up what falls on each cell."""
        layer, n_batch = self._layers[number], len(cells)
        products = _rows_times(cells, layer.weight).view(-1, cells.shape[2])
        if (number, n_batch) not in self._scatter:
            self._scatter[number, n_batch] = _bags(layer, n_batch)
        places, offsets = self._scatter[number, n_batch]
        summed = functional.embedding_bag(places, products, offsets, mode="sum")
        return summed.view(n_batch, layer.n_out, -1)


def _rows_times(rows: Tensor, weight: Tensor) -> Tensor:
    """Return rows (B, P, K) times a weight (N, K, 1, 1), (B, P, N); a convolution is faster here than a product."""
    image = rows.unsqueeze(2).permute(0, 3, 1, 2)  # the numbers of a row lie side by side: channels last
    return functional.conv2d(image, weight).permute(0, 2, 3, 1).flatten(1, 2).contiguous()


def _bags(layer: _Layer, n_batch: int) -> tuple[Tensor, Tensor]:
    """Return which products fall on each cell of a batch, one after the other, and where each cell's begin."""
    n_places = layer.source.shape[1]
    real = layer.source < layer.n_in
    product = layer.source * n_places + np.arange(n_places)
    of_batch = np.arange(n_batch)[:, None] * (layer.n_in * n_places) + product[real]
    lengths = np.tile(real.sum(axis=1), n_batch)
    return torch.from_numpy(of_batch.ravel()), torch.from_numpy(np.cumsum(lengths) - lengths)


def _plan(stack: Stack) -> list[_Layer]:
    """Lay out the cells of each layer.

    All maps lie in one frame with a margin: cell (i, j) of the map that a layer gives is at (i, j) plus an offset.
    """
    n_clips, half, depth = stack.n_clips, stack.kernel // 2, len(stack.paddings)
    margin = half * depth + half
    frame = n_clips + 2 * margin
    candidates = np.zeros((frame, frame), dtype=np.bool_)
    first, last = np.divmod(stack.cell.numpy(), n_clips)
    candidates[first + margin, last + margin] = True
    factors = [np.zeros((frame, frame)) for _ in range(depth)]
    offset = margin
    for number, padding in enumerate(stack.paddings):
        offset += half - padding
        factor = stack.get_buffer(f"of_map_{number}").double().numpy()
        factors[number][offset : offset + len(factor), offset : offset + len(factor)] = factor
    needed = [candidates]
    for _ in range(depth):
        needed.insert(0, _widened(needed[0], half))
    reached = [candidates, *(factor > 0 for factor in factors)]
    cells_of = [reach & need for reach, need in zip(reached, needed, strict=True)]
    rows = [_numbered(cells) for cells in cells_of]
    rows[0][first + margin, last + margin] = np.arange(len(first))  # in the order of the candidates
    rows[-1][first + margin, last + margin] = np.arange(len(first))
    return [
        _layer(stack, number, cells_of[number : number + 2], rows[number : number + 2], factors[number])
        for number in range(depth)
    ]


def _layer(stack: Stack, number: int, cells: list[Bools], rows: list[Ints], factor: np.ndarray) -> _Layer:
    """Lay out a layer from its cells of input and of output."""
    half, n_in, n_out = stack.kernel // 2, int(cells[0].sum()), int(cells[1].sum())
    places = np.empty((n_out, 2), dtype=np.int64)
    places[rows[1][cells[1]]] = np.argwhere(cells[1])
    steps = np.stack(np.meshgrid(*2 * [np.arange(-half, half + 1)], indexing="ij"), axis=-1).reshape(-1, 2)
    beside = places[:, None] + steps
    source = rows[0][beside[..., 0], beside[..., 1]]
    weight: Tensor = stack.convolution(number).weight.detach()
    hidden = len(weight)
    by_place = weight.permute(2, 3, 0, 1) if n_in < n_out else weight.permute(0, 2, 3, 1)
    flat = by_place.reshape(-1, hidden) if n_in < n_out else by_place.reshape(hidden, -1)
    bias = stack.convolution(number).bias
    return _Layer(
        np.where(source < 0, n_in, source),
        flat[..., None, None].contiguous(memory_format=torch.channels_last),
        torch.zeros(hidden) if bias is None else bias.detach(),
        torch.from_numpy(factor[places[:, 0], places[:, 1]]).to(weight.dtype)[:, None],
        n_in,
        n_out,
    )


def _numbered(cells: Bools) -> Ints:
    """Return the number of each cell of a map, -1 elsewhere."""
    numbers = np.full(cells.shape, -1, dtype=np.int64)
    numbers[cells] = np.arange(cells.sum())
    return numbers


def _widened(cells: Bools, half: int) -> Bools:
    """Return the cells within `half` steps of some cells, in either direction."""
    wide = np.zeros_like(cells)
    at = np.argwhere(cells)
    for row in range(-half, half + 1):
        for column in range(-half, half + 1):
            wide[at[:, 0] + row, at[:, 1] + column] = True
    return wide
