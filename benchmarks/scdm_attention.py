"""SCDM's word attention at every row of the video: in blocks, beside the whole table of rows x words x numbers.

The additive attention scores each row with each word through the tanh of H numbers: B T L H of them. The naive way
builds them all and keeps them for the gradient. Ours computes blocks, and computes them again for the gradient. Both
ways run forwards and backwards in this process, at the full sizes of the model for Charades-CD (16 pairs, 64 rows, 14
words, H = 256), of ActivityNet-CD with 256 and 1,024 rows and 34 words, and at the size of the small recipe. Memory is
what the process grows by at its peak, each way in a process of its own.

Run: OMP_NUM_THREADS=1 python benchmarks/scdm_attention.py
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np
import torch
from torch import Tensor

from truemoment.learning.models.layers.additive_attention import AdditiveAttention, real_words

RUNS = 3

SIZES = {
    "small recipe (32 pairs, 64 rows, 14 words, H = 48)": (32, 64, 14, 96, 48),
    "Charades-CD (16 pairs, 64 rows, 14 words, H = 256)": (16, 64, 14, 512, 256),
    "ActivityNet-CD (16 pairs, 256 rows, 34 words, H = 256)": (16, 256, 34, 512, 256),
    "ActivityNet-CD (16 pairs, 1,024 rows, 34 words, H = 256)": (16, 1024, 34, 512, 256),
}
"""B, T, L, width of rows and words, H."""


class NaiveAttention(AdditiveAttention):
    """The same attention by its formula."""

    def forward(self, keys: Tensor, context: Tensor, counts: Tensor | None = None) -> Tensor:
        mixed = torch.tanh(self.keys(keys)[:, None] + self.context(context)[:, :, None])
        logits: Tensor = self.score(mixed).squeeze(-1)
        if counts is not None:
            logits = logits.masked_fill(~counts[:, None], torch.finfo(logits.dtype).min)
        return logits.log_softmax(dim=-1)


KINDS = {"ours": AdditiveAttention, "naive": NaiveAttention}


def measure(kind: str, size: str) -> None:
    """Print the median processor time of a pass, s, the growth of memory, MB, and the norms of the gradients."""
    torch.manual_seed(0)
    n_pairs, n_rows, n_words, width, hidden = SIZES[size]
    attention = KINDS[kind](width, width, hidden)
    words = torch.randn(n_pairs, n_words, width, requires_grad=True)
    rows = torch.randn(n_pairs, n_rows, width, requires_grad=True)
    counts = real_words(torch.randint(3, n_words + 1, (n_pairs,)), n_words)
    target = torch.randn(n_pairs, n_rows, n_words)
    leaves = [words, rows, *attention.parameters()]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = []
    for _ in range(RUNS):
        began = time.process_time()
        slopes = torch.autograd.grad((attention(words, rows, counts).exp() * target).sum(), leaves)
        times.append(time.process_time() - began)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3
    print(np.median(times), grown, *(float(slope.double().square().sum().sqrt()) for slope in slopes))


def main() -> None:
    for size in SIZES:
        found = {}
        for kind in KINDS:
            command = [sys.executable, __file__, kind, size]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            found[kind] = np.array([float(of) for of in printed.split()])
        (ours_s, ours_mb), (naive_s, naive_mb) = (found[kind][:2] for kind in KINDS)
        worst = np.abs(found["ours"][2:] / found["naive"][2:] - 1).max()
        print(f"{size}: {1e3 * ours_s:.0f} ms and {ours_mb:.0f} MB; naive {1e3 * naive_s:.0f} ms and {naive_mb:.0f} MB")
        print(f"  {naive_s / ours_s:.1f} times faster, {naive_mb / max(ours_mb, 1):.1f} times less memory; ", end="")
        print(f"norms of the gradients differ by {worst:.0e}")


if __name__ == "__main__":
    measure(*sys.argv[1:]) if len(sys.argv) == 3 else main()
