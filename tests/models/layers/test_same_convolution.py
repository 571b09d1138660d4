"""Convolutions with TensorFlow's "same" padding."""

import pytest
import torch

from truemoment.learning.models.layers.same_convolution import SameConvolution


@pytest.mark.parametrize("n", [2, 8, 64])
def test_a_stride_of_2_is_centred_at_odd_positions(n):
    """scdm.md, section 9.3: with a kernel of 0, 1, 0 an impulse at 2i + 1 comes out at i, and one at 2i nowhere."""
    layer = SameConvolution(1, 1, 3, stride=2)
    with torch.no_grad():
        layer.weight[:] = torch.tensor([0.0, 1.0, 0.0])
        layer.bias[:] = 0
        out = layer(torch.eye(n)[:, :, None])[:, :, 0]
    assert out.shape == (n, n // 2)
    assert not out[0::2].any()
    assert torch.equal(out[1::2], torch.eye(n // 2))


@pytest.mark.parametrize("kernel", [1, 3, 5])
def test_a_stride_of_1_keeps_the_length_and_is_centred(kernel):
    layer = SameConvolution(2, 3, kernel)
    reference = torch.nn.Conv1d(2, 3, kernel, padding="same")  # PyTorch's own, for a stride of 1
    reference.load_state_dict(layer.state_dict())
    rows = torch.randn(2, 7, 2)
    torch.testing.assert_close(layer(rows), reference(rows.transpose(1, 2)).transpose(1, 2))
