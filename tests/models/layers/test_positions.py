import math

import pytest
import torch

from truemoment.base.errors import UsageError
from truemoment.baselines.proposals import SparseMap
from truemoment.learning.models.layers.positions import cell_codes, map_codes, position_loss


def one_number(clip, n_clips, hidden, i):
    """The formula of tcn_dcm.md, section 3.3: number i of the code of one axis."""
    angle = 2 * math.pi * (clip + 1) / n_clips / 10000 ** (2 * (i // 2) / (hidden / 2))
    return math.cos(angle) if i % 2 else math.sin(angle)


def test_code_is_the_formula():
    codes = map_codes(5, 16)
    for a in range(5):
        for b in range(5):
            expected = [one_number(a, 5, 16, i) for i in range(8)] + [one_number(b, 5, 16, i) for i in range(8)]
            assert codes[a * 5 + b].tolist() == pytest.approx(expected, abs=1e-6)


def test_last_clip_has_gone_once_round():
    assert map_codes(16, 512)[-1, :2].tolist() == pytest.approx([0.0, 1.0], abs=1e-6)


@pytest.mark.parametrize("n_clips", [16, 64])
def test_cells_have_the_codes_of_their_place_on_the_map(n_clips):
    proposals = SparseMap(n_clips)
    first, last = proposals.cells
    assert torch.equal(cell_codes(proposals, 16), map_codes(n_clips, 16)[torch.as_tensor(first * n_clips + last)])


def test_swapping_the_axes_swaps_the_halves():
    codes = map_codes(6, 8).view(6, 6, 8)
    assert torch.equal(codes.transpose(0, 1), codes.roll(4, dims=-1))


def test_no_two_cells_share_a_code():
    assert torch.pdist(map_codes(16, 16)).min() > 0.01


def test_width_must_be_a_multiple_of_four():
    with pytest.raises(UsageError, match="got 18 hidden numbers, expected a multiple of 4"):
        map_codes(4, 18)


def test_loss_is_the_mean_distance():
    predicted, codes = torch.randn(3, 5, 8), torch.randn(5, 8)
    expected = sum(math.dist(predicted[b, c], codes[c]) for b in range(3) for c in range(5)) / 15
    assert float(position_loss(predicted, codes)) == pytest.approx(expected, rel=1e-4)


def test_loss_has_a_slope_where_it_is_zero():
    predicted = torch.zeros(1, 2, 4, requires_grad=True)
    loss = position_loss(predicted, torch.zeros(2, 4))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(2e-6)  # 1e-6 is added to each of four differences
    assert predicted.grad.isfinite().all()
