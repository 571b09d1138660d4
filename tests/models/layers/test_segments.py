"""Anchors, soft masks and beam search of WSSL: what its description states (specification, sections 2 and 9)."""

import itertools

import numpy as np
import pytest
import torch

from truemoment.learning.models.layers.beam_search import beam_search
from truemoment.learning.models.layers.segment_anchors import ANCHORS, ends_of
from truemoment.learning.models.layers.segment_context import soft_masks
from truemoment.learning.models.padded_rows import pad_rows, real_rows


def test_the_anchors():
    """15, all inside the video; the eighths tile it; the first, third and last are those that answers collapse to."""
    start, end = (column.tolist() for column in ends_of(torch.tensor(ANCHORS, dtype=torch.float64)))
    assert len(ANCHORS) == 15
    assert min(start) == 0
    assert max(end) == 1 - 1e-4
    eighths = sorted(zip(start[6:14], end[6:14], strict=True))
    np.testing.assert_allclose(eighths, [(k / 8, min((k + 1) / 8, 1 - 1e-4)) for k in range(8)])
    collapsed = [(start[k], end[k]) for k in (0, 2, 14)]
    assert collapsed == [(0, 0.5), (0.5, 1 - 1e-4), (0, 1 - 1e-4)]


def test_the_masks_of_a_step_add_up_to_1():
    masks = soft_masks(torch.tensor([[[0.3, 0.4], [0.9, 0.6]]]).double(), torch.tensor([7]), 9, 0.1)
    torch.testing.assert_close(masks.sum(dim=2), torch.tensor([1.0] * 7 + [0.0] * 2).double().expand(1, 2, 9))


def test_rows_are_padded_and_found_again():
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    video, n_rows = real_rows(torch.from_numpy(np.stack([pad_rows(rows, 5), pad_rows(rows[:1], 5)])))
    assert n_rows.tolist() == [3, 1]
    np.testing.assert_array_equal(video[0, :3], rows)
    assert not video[0, 3:].any()


@pytest.mark.parametrize("seed", range(4))
def test_with_beams_enough_the_search_finds_the_most_probable_sequence(seed):
    """All sequences of 2 of 4 tokens are listed; token 0 ends one, and each depends on the token before."""
    generator = torch.Generator().manual_seed(seed)
    table = torch.log_softmax(3 * torch.randn(2, 5, 4, generator=generator, dtype=torch.float64), dim=2)

    def step(tokens, states):
        return table[states[0, :, :, 0].long(), tokens], states

    states = torch.tensor([0.0, 1.0]).double()[None, :, None]
    found = beam_search(step, states, begin=4, end=0, width=4, max_tokens=2)
    for row in range(2):
        scored = {(0, 0): table[row, 4, 0].item()}
        for one, other in itertools.product(range(1, 4), range(4)):
            scored[one, other] = (table[row, 4, one] + table[row, one, other]).item()
        assert tuple(found[row].tolist()) == max(scored, key=scored.get)
