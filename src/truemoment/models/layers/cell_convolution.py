r"""Convolutions on the temporal map that compute only what its candidates need.

2D-TAN lays its candidates out as an (N, N) map and convolves all of it, though half of the map or more is empty: at
N = 16, with 4 layers of kernel 5, 1,152 cells of the 2,016 that a dense convolution computes are both reached from a
candidate and needed by one; at N = 64, with 4 layers of kernel 9, 11,824 of 23,424. Here the maps are lists of those
cells.

What is computed is computed by the convolution theorem, tile by tile: a tile of m x m outputs depends on a window of
S x S inputs, S = m + k - 1, and on them the convolution is circular. Along the rows its real Fourier transform is
taken, along the columns the complex one, each as a product with a small matrix; a complex product takes three real
ones (Gauss). All of it together is a bilinear algorithm

.. math:: y = O \, [(T x) \odot (W w)]

with fixed matrices T, W, O and one product of channels for each of its :math:`3 S \lfloor S / 2 + 1 \rfloor` rows,
where a plain convolution has :math:`m^2 k^2`: at k = 5 and m = 11 an eighth. One tile size serves all sizes of map:
that with the fewest operations. A list of neighbours for each cell and one matrix product was also tried: it skips
the same cells, takes four times as many operations at k = 5, and wins nowhere but at k = 3. Nothing is approximated;
in float32 the results agree with a dense convolution to some 1e-6. The backward pass computes the transforms again,
so that a layer keeps its input alone, and both go through samples and frequencies in pieces, so that their working
memory is bounded.

On a GPU the dense convolution has the better of it, and the same weights are used so: see :meth:`_Stack.forward`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from truemoment.exceptions import UsageError
from truemoment.proposals import SparseMap

if TYPE_CHECKING:
    from truemoment.intervals import Floats, Ints

Cells = NDArray[np.bool_]  # which cells of a square map, shape (M, M)

_WEIGHT_NUMBERS = 2**23
"""How many transformed weights are held at a time."""

_WORK_NUMBERS = 2**21
"""How many transformed features are held at a time, unless a product would become too small to be quick."""

_ROWS_OF_A_PRODUCT = 64
"""Below that many rows a matrix product is not quick."""


def neighbours(cells: Cells, kernel: int) -> NDArray[np.int64]:
    """Count the cells in the kernel's window around each cell, shape (M, M)."""
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(cells, kernel // 2), (kernel, kernel))
    count: NDArray[np.int64] = windows.sum(axis=(2, 3), dtype=np.int64)
    return count


def cover(cells: Cells, side: int) -> tuple[Ints, Ints]:
    """Cover cells with squares: upper row and left column of each, shapes (tiles,)."""
    corners = []
    rows = np.flatnonzero(cells.any(axis=1))
    while len(rows):
        columns = np.flatnonzero(cells[rows[0] : rows[0] + side].any(axis=0))
        while len(columns):
            corners.append((rows[0], columns[0]))
            columns = columns[columns >= columns[0] + side]
        rows = rows[rows >= rows[0] + side]
    upper, left = np.array(corners, dtype=np.int64).reshape(-1, 2).T
    return upper, left


def best_side(outputs: list[Cells], kernel: int, hidden: int, batch: int = 8) -> int:
    """Find the side of the tiles with the fewest operations of a training step, of all odd windows up to 49.

    A step transforms features three times and results twice, and multiplies channels three times. Weights are
    transformed three times for the whole batch, at the speed of memory: they count as in a small one. Odd windows have
    one frequency only that is real, and so is computed as if it were not.
    """
    operations = {}
    for window in range(kernel + 1 + kernel % 2, 50, 2):
        side = window - kernel + 1
        frequencies = window // 2 + 1
        into, back, weights = (2 * frequencies * n * (n + 3 * window) for n in (window, side, kernel))
        a_tile = (3 * into + 2 * back) / hidden + 9 * frequencies * window
        n_tiles = sum(len(cover(cells, side)[0]) for cells in outputs)
        operations[side] = n_tiles * a_tile + len(outputs) * 3 * weights / batch
    return min(operations, key=operations.__getitem__)


def _waves(frequencies: Ints, places: Ints, window: int) -> tuple[Floats, Floats]:
    angle = 2 * np.pi * np.outer(frequencies, places) / window
    return np.cos(angle), np.sin(angle)


def along_rows(window: int, n: int) -> Floats:
    """Real Fourier transform of n numbers: matrix (2 F, n); real and imaginary part of each of F frequencies."""
    cos, sin = _waves(np.arange(window // 2 + 1), np.arange(n), window)
    return np.stack([cos, -sin], axis=1).reshape(-1, n)


def back_along_rows(window: int, n: int) -> Floats:
    """The first n numbers of the inverse of :func:`along_rows`: matrix (n, 2 F)."""
    frequency = np.arange(window // 2 + 1)
    twice = np.where((frequency == 0) | (2 * frequency == window), 1, 2) / window
    return (along_rows(window, n) * np.repeat(twice, 2)[:, None]).T


def along_columns(window: int, n: int) -> tuple[Floats, Floats]:
    """Complex Fourier transform of n numbers, real parts before imaginary ones: two matrices (S, 2 n), re and im."""
    cos, sin = _waves(np.arange(window), np.arange(n), window)
    return np.concatenate([cos, sin], axis=1), np.concatenate([-sin, cos], axis=1)


def gauss_features(window: int) -> Floats:
    """The first factors of Gauss's three products, re + im, re and im: matrix (3 S, 2 S)."""
    re, im = along_columns(window, window)
    return np.concatenate([re + im, re, im])


def gauss_weights(window: int, kernel: int) -> Floats:
    """The second factors, re, -im - re and re - im, of the conjugate as the window is not turned: matrix (3 S, 2 k)."""
    re, im = along_columns(window, kernel)
    return np.concatenate([re, -im - re, re - im])


def gauss_back(window: int, side: int) -> Floats:
    """The inverse transform of the three products, to the first m numbers: matrix (2 m, 3 S).

    With products p, q and r, the real part is p - r and the imaginary part p + q.
    """
    cos, sin = (wave.T / window for wave in _waves(np.arange(window), np.arange(side), window))
    re = np.concatenate([cos - sin, -sin, -cos], axis=1)
    im = np.concatenate([cos + sin, cos, -sin], axis=1)
    return np.concatenate([re, im])


def _matrix(values: Floats) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values)).to(torch.get_default_dtype())


def _gather(rows: Tensor, members: Tensor, starts: Tensor) -> Tensor:
    """Row i of the result is the sum of the rows `members[starts[i]:starts[i + 1]]`, often of one or none."""
    return functional.embedding_bag(members, rows, starts, mode="sum", include_last_offset=True)


class _Tiles(nn.Module):
    """The index tables and matrices of one layer.

    Parameters
    ----------
    inputs, outputs
        Cells read and cells wanted, of one map (M, M).
    kernel
        k, odd.
    side
        m, of a tile.
    """

    members_of_window: Tensor
    starts_of_window: Tensor
    members_of_tile: Tensor
    starts_of_tile: Tensor
    places_of_input: Tensor
    starts_of_input: Tensor
    place_of_output: Tensor
    rows_in: Tensor
    rows_weight: Tensor
    rows_back: Tensor
    columns_in: Tensor
    columns_weight: Tensor
    columns_back: Tensor

    def __init__(self, inputs: Cells, outputs: Cells, kernel: int, side: int) -> None:
        super().__init__()
        self.side, self.window = side, side + kernel - 1
        self.n_frequencies = self.window // 2 + 1
        upper, left = cover(outputs, side)
        self.n_tiles = len(upper)
        self.n_inputs, self.n_outputs = int(inputs.sum()), int(outputs.sum())

        windows = self._numbers(inputs, upper - kernel // 2, left - kernel // 2, self.window)
        tiles = self._numbers(outputs, upper, left, side)
        # An output that two tiles cover belongs to the first.
        place_of_output = np.unique(tiles, return_index=True)[1][-self.n_outputs :]
        owned = np.full_like(tiles, -1)
        owned[place_of_output] = tiles[place_of_output]
        by_input = np.argsort(windows, kind="stable")[(windows < 0).sum() :]
        times_read = np.bincount(windows[windows >= 0], minlength=self.n_inputs)
        tables = {
            "members_of_window": windows[windows >= 0],
            "starts_of_window": np.append(0, np.cumsum(windows >= 0)),
            "members_of_tile": owned[owned >= 0],
            "starts_of_tile": np.append(0, np.cumsum(owned >= 0)),
            "places_of_input": by_input,
            "starts_of_input": np.append(0, np.cumsum(times_read)),
            "place_of_output": place_of_output,
        }
        for name, table in tables.items():
            self.register_buffer(name, torch.from_numpy(table.astype(np.int64)), persistent=False)
        matrices = {
            "rows_in": along_rows(self.window, self.window),
            "rows_weight": along_rows(self.window, kernel),
            "rows_back": back_along_rows(self.window, side),
            "columns_in": gauss_features(self.window),
            "columns_weight": gauss_weights(self.window, kernel),
            "columns_back": gauss_back(self.window, side),
        }
        for name, matrix in matrices.items():
            self.register_buffer(name, _matrix(matrix), persistent=False)

    @staticmethod
    def _numbers(cells: Cells, upper: Ints, left: Ints, side: int) -> Ints:
        """Lay squares over the map: numbers of their cells, -1 outside; by row, column and square, flat."""
        margin = max(side, -int(min(upper.min(), left.min())))
        numbers = np.full(cells.shape, -1, dtype=np.int64)
        numbers[cells] = np.arange(cells.sum())
        numbers = np.pad(numbers, margin, constant_values=-1)
        place = np.arange(side) + margin
        laid: Ints = numbers[upper + place[:, None, None], left + place[None, :, None]].ravel()
        return laid

    def frequencies_at_once(self, channels: int) -> int:
        """How many frequencies are computed at a time."""
        return min(self.n_frequencies, max(1, _WEIGHT_NUMBERS // (3 * self.window * channels**2)))

    def pieces(self, n_samples: int, channels: int) -> Iterator[tuple[slice, list[slice]]]:
        """Frequencies that are computed at a time, and for each the samples."""
        many = self.frequencies_at_once(channels)
        a_sample = many * 3 * self.window * channels * self.n_tiles
        samples = max(_WORK_NUMBERS // a_sample, -(-_ROWS_OF_A_PRODUCT // self.n_tiles))
        samples = -(-n_samples // -(-n_samples // samples))
        for first in range(0, self.n_frequencies, many):
            yield (
                slice(first, min(first + many, self.n_frequencies)),
                [slice(at, min(at + samples, n_samples)) for at in range(0, n_samples, samples)],
            )

    def room(self, weight: Tensor) -> Tensor:
        """Memory for transformed weights (k, k, H, H), which is dear to ask for again and again."""
        channels = weight.shape[2]
        return weight.new_empty(self.frequencies_at_once(channels) * 3 * self.window, channels, channels)

    def features(self, cells: Tensor, part: slice) -> Tensor:
        """Transform windows of cells (b, n, H): (rows of the algorithm, tiles * b, H)."""
        many, n, hidden = cells.shape
        sample = torch.arange(many, device=cells.device)
        members = (self.members_of_window[:, None] + n * sample).flatten()
        rows = _gather(cells.reshape(-1, hidden), members, self._starts(self.starts_of_window, sample))
        rows = self.rows_in[2 * part.start : 2 * part.stop] @ rows.view(self.window, -1)
        columns = torch.matmul(self.columns_in, rows.view(part.stop - part.start, 2 * self.window, -1))
        return columns.view(-1, self.n_tiles * many, hidden)

    def to_features(self, gradient: Tensor, part: slice, many: int) -> Tensor:
        """Bring a gradient of :meth:`features` back to the cells (b, n, H)."""
        hidden = gradient.shape[-1]
        columns = gradient.view(part.stop - part.start, 3 * self.window, -1)
        rows = torch.matmul(self.columns_in.T, columns).view(2 * (part.stop - part.start), -1)
        windows = (self.rows_in[2 * part.start : 2 * part.stop].T @ rows).view(-1, hidden)
        sample = torch.arange(many, device=gradient.device)[:, None]
        members = (self.places_of_input * many + sample).flatten()
        starts = (self.starts_of_input[:-1] + len(self.places_of_input) * sample).flatten()
        starts = torch.cat([starts, starts.new_tensor([len(members)])])
        return _gather(windows, members, starts).view(many, self.n_inputs, hidden)

    def weights(self, weight: Tensor, part: slice, out: Tensor) -> Tensor:
        """Transform weights (k, k, H, H): (rows of the algorithm, H, H), the first rows of `out`."""
        n_frequencies = part.stop - part.start
        rows = self.rows_weight[2 * part.start : 2 * part.stop] @ weight.view(len(weight), -1)
        out = out[: n_frequencies * 3 * self.window]
        columns = out.view(n_frequencies, 3 * self.window, -1)
        torch.matmul(self.columns_weight, rows.view(n_frequencies, 2 * len(weight), -1), out=columns)
        return out

    def to_weights(self, gradient: Tensor, part: slice) -> Tensor:
        """Bring a gradient of :meth:`weights` back to the weights (k, k, H, H)."""
        columns = gradient.view(part.stop - part.start, 3 * self.window, -1)
        rows = torch.matmul(self.columns_weight.T, columns).view(2 * (part.stop - part.start), -1)
        kernel = self.window - self.side + 1
        return (self.rows_weight[2 * part.start : 2 * part.stop].T @ rows).view(kernel, kernel, *gradient.shape[1:])

    def results(self, products: Tensor, part: slice, many: int) -> Tensor:
        """Transform products (rows, tiles * b, H) to the outputs (b, n, H): the share of these frequencies."""
        hidden = products.shape[-1]
        columns = products.view(part.stop - part.start, 3 * self.window, -1)
        rows = torch.matmul(self.columns_back, columns).view(2 * (part.stop - part.start), -1)
        tiles = (self.rows_back[:, 2 * part.start : 2 * part.stop] @ rows).view(-1, hidden)
        sample = torch.arange(many, device=products.device)[:, None]
        return tiles.index_select(0, (self.place_of_output * many + sample).flatten()).view(many, -1, hidden)

    def to_products(self, gradient: Tensor, part: slice) -> Tensor:
        """Bring a gradient of :meth:`results` back to the products (rows, tiles * b, H)."""
        many, n, hidden = gradient.shape
        sample = torch.arange(many, device=gradient.device)
        members = (self.members_of_tile[:, None] + n * sample).flatten()
        tiles = _gather(gradient.reshape(-1, hidden), members, self._starts(self.starts_of_tile, sample))
        rows = self.rows_back[:, 2 * part.start : 2 * part.stop].T @ tiles.view(self.side, -1)
        columns = torch.matmul(self.columns_back.T, rows.view(part.stop - part.start, 2 * self.side, -1))
        return columns.view(-1, self.n_tiles * many, hidden)

    @staticmethod
    def _starts(starts: Tensor, sample: Tensor) -> Tensor:
        """Where the members of each place and sample start, if a place has one or none."""
        each = (starts[:-1, None] * len(sample) + starts.diff()[:, None] * sample).flatten()
        return torch.cat([each, starts[-1:] * len(sample)])


class _TiledConvolution(torch.autograd.Function):
    """The convolution of listed cells: (B, n, H) and weights (k, k, H, H) to (B, n', H)."""

    @staticmethod
    def forward(ctx: Any, cells: Tensor, weight: Tensor, tiles: _Tiles) -> Tensor:  # noqa: ANN401 - PyTorch's own
        """Go through frequencies and samples."""
        ctx.save_for_backward(cells, weight)
        ctx.tiles = tiles
        output = cells.new_zeros(len(cells), tiles.n_outputs, weight.shape[3])
        room = tiles.room(weight)
        for part, samples in tiles.pieces(len(cells), weight.shape[2]):
            weights = tiles.weights(weight, part, room)
            for some in samples:
                products = torch.bmm(tiles.features(cells[some], part), weights)
                output[some] += tiles.results(products, part, len(output[some]))
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:  # noqa: ANN401 - PyTorch's own
        """Go through them again, transpose by transpose."""
        cells, weight = ctx.saved_tensors
        tiles: _Tiles = ctx.tiles
        (gradient,) = gradients
        to_cells, to_weight = torch.zeros_like(cells), torch.zeros_like(weight)
        room, other_room = tiles.room(weight), tiles.room(weight)
        for part, samples in tiles.pieces(len(cells), weight.shape[2]):
            weights = tiles.weights(weight, part, room)
            to_weights = other_room[: len(weights)]
            for piece, some in enumerate(samples):
                products = tiles.to_products(gradient[some], part)
                features = tiles.features(cells[some], part).transpose(1, 2)
                torch.baddbmm(to_weights, features, products, beta=min(piece, 1), out=to_weights)
                features = torch.bmm(products, weights.transpose(1, 2))
                to_cells[some] += tiles.to_features(features, part, len(to_cells[some]))
            to_weight += tiles.to_weights(to_weights, part)
        return to_cells, to_weight, None


class _Stack(nn.Module):
    """Convolutions one behind the other, each followed by a fixed factor for each cell and ReLU.

    Parameters
    ----------
    proposals
        The C candidates.
    reached
        The candidates, and behind each layer the cells that it computes; (M, M) with the same margin around all maps.
    scales
        The factor of each cell behind each layer, (M, M), 0 where the layer computes nothing.
    hidden
        H, channels.
    kernel
        k, odd.
    paddings
        Zeros around the map that each layer of the dense convolution adds.
    """

    cell: Tensor

    def __init__(
        self,
        proposals: SparseMap,
        reached: list[Cells],
        scales: Sequence[Floats],
        *,
        hidden: int,
        kernel: int,
        paddings: list[int],
    ) -> None:
        super().__init__()
        self.n_clips, self.kernel, self.paddings = proposals.n_clips, kernel, paddings
        self.convolutions = nn.ModuleList(nn.Conv2d(hidden, hidden, kernel) for _ in scales)
        needed = [reached[0]]
        for cells in reached[-2::-1]:
            needed.insert(0, cells & (neighbours(needed[0], kernel) > 0))
        side = best_side(needed[1:], kernel, hidden)
        self.tiles = nn.ModuleList(_Tiles(*pair, kernel, side) for pair in itertools.pairwise(needed))
        first, last = proposals.cells
        self.register_buffer("cell", torch.from_numpy(first * self.n_clips + last), persistent=False)
        size = self.n_clips
        for layer, (scale, cells) in enumerate(zip(scales, needed[1:], strict=True)):
            size += 2 * paddings[layer] - (kernel - 1)
            edge = (len(scale) - size) // 2
            of_map = scale[edge : len(scale) - edge, edge : len(scale) - edge]
            self.register_buffer(f"of_cells_{layer}", _matrix(scale[cells])[:, None], persistent=False)
            self.register_buffer(f"of_map_{layer}", _matrix(of_map), persistent=False)

    def forward(self, cells: Tensor) -> Tensor:
        """Convolve cells (B, C, H): as whole maps on a GPU, whose dense convolution is quicker, else as lists."""
        return self.dense(cells) if cells.is_cuda else self.listed(cells)

    def listed(self, cells: Tensor) -> Tensor:
        """Convolve cells (B, C, H) as lists of what is needed."""
        # Mixed precision would tear the transforms apart, and gain nothing where this is used.
        with torch.autocast(cells.device.type, enabled=False):
            for layer, convolution in enumerate(self._convolutions()):
                weight = convolution.weight.permute(2, 3, 1, 0).contiguous()
                sums: Tensor = _TiledConvolution.apply(  # type: ignore[no-untyped-call]  # PyTorch does not say
                    cells.to(weight.dtype), weight, self.tiles[layer]
                )
                # ReLU(s x) is s ReLU(x) where s is not negative, and so nothing but the result is kept.
                sums = sums.add_(cast("Tensor", convolution.bias))
                cells = sums.mul_(self.get_buffer(f"of_cells_{layer}")).relu_()
        return cells

    def dense(self, cells: Tensor) -> Tensor:
        """Convolve cells (B, C, H) as whole maps."""
        n_samples, _, hidden = cells.shape
        maps = cells.new_zeros(n_samples, self.n_clips**2, hidden).index_copy(1, self.cell, cells)
        maps = maps.transpose(1, 2).reshape(n_samples, hidden, self.n_clips, self.n_clips)
        for layer, convolution in enumerate(self._convolutions()):
            maps = functional.conv2d(maps, convolution.weight, convolution.bias, padding=self.paddings[layer])
            maps = maps.mul_(self.get_buffer(f"of_map_{layer}")).relu_()
        return maps.flatten(2).index_select(2, self.cell).transpose(1, 2)

    def _convolutions(self) -> list[nn.Conv2d]:
        return cast("list[nn.Conv2d]", list(self.convolutions))


def _candidates(proposals: SparseMap, kernel: int, margin: int) -> Cells:
    if kernel < 1 or kernel % 2 == 0:
        raise UsageError(f"got a kernel of {kernel}, expected an odd number of 1 or more")
    candidates = np.zeros((proposals.n_clips, proposals.n_clips), dtype=np.bool_)
    candidates[proposals.cells] = True
    return np.pad(candidates, margin)


class CellConvolutions(_Stack):
    r"""2D-TAN's temporal adjacent network: (B, C, H) to (B, C, H).

    The map of candidates, 0 elsewhere, is padded once by :math:`(k - 1) L / 2` zeros on every side and shrinks back to
    its size over L layers. A layer is a convolution, ReLU, and a division of each cell by the number of cells in its
    window that the layer before reached; where there is none, 0. So what is reached grows beyond the candidates
    (Zhang et al. 2020, 2D-TAN, section 3.3, and its published code).

    Parameters
    ----------
    proposals
        The C candidates.
    hidden
        H, channels.
    kernel
        k, odd.
    layers
        L.
    """

    def __init__(self, proposals: SparseMap, hidden: int, *, kernel: int, layers: int) -> None:
        margin = (kernel - 1) * layers // 2
        reached = [_candidates(proposals, kernel, margin)]
        scales: list[Floats] = []
        for _ in range(layers):
            count = neighbours(reached[-1], kernel)
            reached.append(count > 0)
            scales.append((count > 0) / np.maximum(count, 1))
        paddings = [margin] + [0] * (layers - 1)
        super().__init__(proposals, reached, scales, hidden=hidden, kernel=kernel, paddings=paddings)

    def start_level(self) -> None:
        r"""Draw weights anew so that a layer keeps the size of what it is given, and set biases to 0.

        PyTorch's own start (standard deviation :math:`1 / \sqrt{3 k^2 H}`) followed by the division by up to
        :math:`k^2` makes what passes a layer about :math:`2.4 k^2` times smaller: behind 4 layers of kernel 5 the
        scores of a fresh network are its biases, and the first thousands of steps go into growing weights. Here the
        standard deviation is :math:`k^2 \sqrt{2 / (k^2 H)}` (He et al. 2015, times the division).
        """
        for convolution in self._convolutions():
            nn.init.kaiming_normal_(convolution.weight, nonlinearity="relu")
            with torch.no_grad():
                convolution.weight.mul_(self.kernel**2)
                cast("Tensor", convolution.bias).zero_()


class TriangleConvolutions(_Stack):
    """Convolutions that stay on the candidates: (B, C, H) to (B, C, H).

    A layer is a convolution that keeps the size of the map, and ReLU; what is no candidate is set to 0 after each
    (TCN-DCM, Yang et al. 2021, section 3.3, and its published code).

    Parameters
    ----------
    proposals
        The C candidates.
    hidden
        H, channels.
    kernel
        k, odd.
    layers
        L.
    """

    def __init__(self, proposals: SparseMap, hidden: int, *, kernel: int, layers: int) -> None:
        candidates = _candidates(proposals, kernel, 0)
        super().__init__(
            proposals,
            [candidates] * (layers + 1),
            [candidates.astype(np.float64)] * layers,
            hidden=hidden,
            kernel=kernel,
            paddings=[kernel // 2] * layers,
        )
