import math

import pytest
import torch

from truemoment.base.errors import UsageError
from truemoment.learning.models.layers.attention import CellAttention


def slowly(queries, keys, values, heads):
    """Softmax of products, a pair, a head and a cell at a time (tcn_dcm.md, section 2.3)."""
    result = torch.zeros_like(queries)
    width = queries.shape[-1] // heads
    for b in range(len(queries)):
        for h in range(heads):
            part = slice(h * width, (h + 1) * width)
            for c in range(queries.shape[1]):
                logits = keys[b, :, part] @ queries[b, c, part] / math.sqrt(width)
                result[b, c, part] = logits.softmax(dim=0) @ values[b, :, part]
    return result


@pytest.fixture
def sets(generator):
    return tuple(torch.randn(shape, generator=generator) for shape in [(3, 5, 8), (3, 7, 8), (3, 7, 8)])


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_attention_is_the_formula(sets, heads):
    torch.testing.assert_close(CellAttention(8, heads)(*sets), slowly(*sets, heads))


def test_a_shared_set_is_the_same_set_for_every_pair(sets):
    queries, keys, values = sets
    attend = CellAttention(8, 4)
    torch.testing.assert_close(
        attend(queries, keys[0], values[0]),
        attend(queries, keys[:1].expand(3, -1, -1), values[:1].expand(3, -1, -1)),
    )


def test_weights_sum_to_one(sets):
    queries, keys, _ = sets
    torch.testing.assert_close(CellAttention(8, 4)(queries, keys, torch.ones(3, 7, 8)), torch.ones(3, 5, 8))


def test_order_of_the_set_does_not_count(sets, generator):
    queries, keys, values = sets
    order = torch.randperm(7, generator=generator)
    attend = CellAttention(8, 4)
    torch.testing.assert_close(attend(queries, keys[:, order], values[:, order]), attend(queries, keys, values))


def test_weights_are_dropped_in_training_only(sets):
    attend = CellAttention(8, 4, dropout=0.5)
    torch.manual_seed(0)
    assert not torch.allclose(attend(*sets), attend(*sets))
    attend.eval()
    torch.testing.assert_close(attend(*sets), slowly(*sets, 4))


@pytest.mark.parametrize("heads", [0, 3])
def test_heads_must_divide_the_width(heads):
    with pytest.raises(UsageError, match=f"got {heads} attention heads for 8 hidden numbers"):
        CellAttention(8, heads)
