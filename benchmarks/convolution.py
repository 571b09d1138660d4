"""2D-TAN's convolutions on the cells that are needed, beside the plain dense map: time and memory of a training step.

The peer is what 2D-TAN's published code does: `conv2d` on the whole (N, N) map, padded once, ReLU, and a multiplication
by the weight of each cell. Both hold the same weights, must give the same scores, and take forward and backward by
turns in this run; the least of some runs counts. Peak memory is that of a process of its own, above what it had before
the first step.

Run: OMP_NUM_THREADS=2 python benchmarks/convolution.py
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from truemoment.models.layers.cell_convolution import CellConvolutions
from truemoment.proposals import SparseMap


class Case(NamedTuple):
    """A size of the network."""

    n_clips: int
    hidden: int
    kernel: int
    layers: int
    batch: int
    runs: int


CASES = (Case(16, 128, 5, 4, 64, 5), Case(16, 512, 5, 4, 32, 2), Case(64, 512, 9, 4, 2, 1))


class DenseMap(nn.Module):
    """The peer, with the weights of ours."""

    def __init__(self, ours: CellConvolutions, case: Case) -> None:
        super().__init__()
        self.case = case
        self.convolutions = ours.convolutions
        first, last = (torch.from_numpy(ends) for ends in SparseMap(case.n_clips).cells)
        self.cell = first * case.n_clips + last
        active = torch.zeros(1, 1, case.n_clips, case.n_clips)
        active[:, :, first, last] = 1
        self.scales = []
        self.paddings = [(case.kernel - 1) * case.layers // 2] + [0] * (case.layers - 1)
        for padding in self.paddings:
            count = functional.conv2d(active, torch.ones(1, 1, case.kernel, case.kernel), padding=padding)
            active = (count > 0).float()
            self.scales.append(active / count.clamp(min=1))

    def forward(self, cells: Tensor) -> Tensor:
        n = self.case.n_clips
        maps = cells.new_zeros(len(cells), cells.shape[2], n * n).index_copy(2, self.cell, cells.transpose(1, 2))
        maps = maps.view(len(cells), -1, n, n)
        for convolution, padding, scale in zip(self.convolutions, self.paddings, self.scales, strict=True):
            maps = functional.conv2d(maps, convolution.weight, convolution.bias, padding=padding)
            maps = maps.relu() * scale
        return maps.flatten(2)[:, :, self.cell].transpose(1, 2)


def networks(case: Case) -> tuple[CellConvolutions, DenseMap, Tensor]:
    """Ours, the peer with the same weights, and cells to convolve."""
    torch.manual_seed(0)
    proposals = SparseMap(case.n_clips)
    ours = CellConvolutions(proposals, case.hidden, kernel=case.kernel, layers=case.layers)
    cells = functional.normalize(torch.randn(case.batch, len(proposals.cells[0]), case.hidden), dim=-1)
    return ours, DenseMap(ours, case), cells.requires_grad_()


def step_s(network: nn.Module, cells: Tensor) -> float:
    """Seconds of forward and backward."""
    network.zero_grad()
    began = time.perf_counter()
    network(cells).square().sum().backward()
    return time.perf_counter() - began


def peak_mb(case: Case, which: int) -> float:
    """Megabytes that a step needs above network and cells."""
    parts = networks(case)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    step_s(parts[which], parts[2])
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3


def main() -> None:
    """Print times, memory, ratios and how far the results differ."""
    # A new process starts from the peak of the one that starts it, and so memory comes first, while this one is small.
    peaks = {}
    for case in CASES:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
            peaks[case] = [pool.submit(peak_mb, case, which).result() for which in (0, 1)]
    for case in CASES:
        ours, dense, cells = networks(case)
        with torch.no_grad():
            expected = dense(cells)
            worst = float((ours(cells) - expected).abs().max() / expected.abs().max())
        times = [(step_s(ours, cells), step_s(dense, cells)) for _ in range(case.runs)]
        ours_s, dense_s = (min(column) for column in zip(*times, strict=True))
        ours_mb, dense_mb = peaks[case]
        print(f"N={case.n_clips}, H={case.hidden}, {case.layers} layers of kernel {case.kernel}, batch {case.batch}")
        print(f"  ours  {ours_s:7.2f} s  {ours_mb:7.0f} MB")
        print(f"  dense {dense_s:7.2f} s  {dense_mb:7.0f} MB")
        print(f"  ours is {dense_s / ours_s:.1f} times faster, with {ours_mb / dense_mb:.2f} of the memory", end="; ")
        print(f"largest difference {worst:.0e} of the largest result", flush=True)


if __name__ == "__main__":
    main()
