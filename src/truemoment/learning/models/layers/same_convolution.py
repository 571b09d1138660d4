r"""Convolution over time that pads as TensorFlow's "same": evenly on both sides, or one more on the right.

.. math:: p = \max((\lceil n / s \rceil - 1) s + k - n, 0), \quad \text{left } \lfloor p / 2 \rfloor

for n positions, a stride s and a kernel of k positions. With s = 2, k = 3 and an even n there is no padding on the
left, so that output i is centred at position 2i + 1, where PyTorch's ``padding=1`` centres it at 2i.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


class SameConvolution(nn.Conv1d):
    """A convolution of rows (B, T, D) to rows (B, T / stride rounded up, H).

    Parameters
    ----------
    n_in, n_out
        D and H.
    kernel
        Positions under the kernel.
    stride
        Positions from one output to the next.
    """

    def __init__(self, n_in: int, n_out: int, kernel: int = 3, stride: int = 1) -> None:
        super().__init__(n_in, n_out, kernel, stride)

    def forward(self, rows: Tensor) -> Tensor:
        """Convolve rows (B, T, D)."""
        n_rows, (kernel,), (stride,) = rows.shape[1], self.kernel_size, self.stride
        padding = max((-(-n_rows // stride) - 1) * stride + kernel - n_rows, 0)
        padded = functional.pad(rows.transpose(1, 2), (padding // 2, padding - padding // 2))
        return super().forward(padded).transpose(1, 2)
