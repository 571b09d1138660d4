"""Clips and moments, against loops over the candidates."""

import numpy as np
import pytest
import torch

from truemoment.base.errors import UsageError
from truemoment.baselines.proposals import SparseMap
from truemoment.learning.models.layers.temporal_map import ConvMoments, FrameEncoder, MaxMoments


def make_clips(n_clips, hidden=3, n_samples=2):
    torch.manual_seed(0)
    return torch.randn(n_samples, n_clips, hidden)


@pytest.mark.parametrize("n_clips", [1, 2, 7, 16, 40, 64])
def test_the_largest_of_a_moments_clips(n_clips):
    proposals = SparseMap(n_clips)
    clips = make_clips(n_clips)
    expected = [
        clips[:, first : last + 1].max(dim=1).values.numpy() for first, last in zip(*proposals.cells, strict=True)
    ]
    assert np.array_equal(MaxMoments(proposals)(clips).numpy(), np.stack(expected, axis=1))


def test_the_gradient_goes_to_the_largest_clip():
    # Of clips 0, 2, 1 and 3, moments that are largest at each: (0, 0); five that end or start at 2 before 3; ...
    clips = torch.tensor([0.0, 2.0, 1.0, 3.0]).view(1, 4, 1).requires_grad_()
    MaxMoments(SparseMap(4))(clips).sum().backward()
    assert clips.grad.flatten().tolist() == [1.0, 4.0, 1.0, 4.0]


def test_learnt_moments_equal_the_recursion():
    # From the specification: diagonals 0..15 at step 1, 17..31 at 2, 35..63 at 4; kernel 1, then 2, and 3 with stride
    # 2 where the step doubles.
    proposals = SparseMap(64)
    clips = make_clips(64, hidden=2, n_samples=1)
    moments = ConvMoments(proposals, 2)
    offsets = [*range(16), *range(17, 32, 2), *range(35, 64, 4)]
    steps = [1] * 16 + [2] * 8 + [4] * 8
    assert [d.kernel_size[0] for d in moments.diagonals] == [1] + [2] * 15 + [3] + [2] * 7 + [3] + [2] * 7
    known = {(a, a - 1): clips[0, a].numpy() for a in range(64)}
    before = (-1, 1)
    for diagonal, offset, step in zip(moments.diagonals, offsets, steps, strict=True):
        weight, bias = diagonal.weight.detach().numpy(), diagonal.bias.detach().numpy()
        for a in range(0, 64 - offset, step):
            starts = [a] if offset == 0 else range(a, a + step + 1, before[1])
            read = [known[start, start + before[0]] for start in starts]
            assert len(read) == weight.shape[2]
            known[a, a + offset] = bias + sum(weight[:, :, j] @ row for j, row in enumerate(read))
        before = (offset, step)
    expected = np.stack([known[a, b] for a, b in zip(*proposals.cells, strict=True)])
    np.testing.assert_allclose(moments(clips)[0].detach().numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("n_clips", [1, 5, 16, 17, 128])
def test_learnt_moments_are_one_a_candidate(n_clips):
    proposals = SparseMap(n_clips)
    moments = ConvMoments(proposals, 3)(make_clips(n_clips))
    assert moments.shape == (2, len(proposals.cells[0]), 3)


def test_a_clip_is_the_mean_of_its_rows_behind_relu():
    torch.manual_seed(0)
    video = torch.randn(2, 8, 5)
    encoder = FrameEncoder(5, 3, 4)
    weight, bias = encoder.linear.weight.detach().numpy(), encoder.linear.bias.detach().numpy()
    rows = np.maximum(video.numpy() @ weight.T + bias, 0)
    expected = np.stack([(rows[:, 2 * clip] + rows[:, 2 * clip + 1]) / 2 for clip in range(4)], axis=1)
    np.testing.assert_allclose(encoder(video).detach().numpy(), expected, atol=1e-6)


@pytest.mark.parametrize("n_rows", [0, 3, 10])
def test_rows_that_make_no_clips_are_refused(n_rows):
    with pytest.raises(
        UsageError, match=f"got {n_rows} rows of features a video, expected a multiple of the model's 4"
    ):
        FrameEncoder(5, 3, 4)(torch.zeros(1, n_rows, 5))
