"""The matching against all ways to match, and the terms of the loss where their values are known."""

import itertools
import math

import pytest
import torch

from truemoment.base.errors import UsageError
from truemoment.learning.models.set_matching import generalised_iou, match, mean_of_processes, set_losses, spans_of


def test_the_matching_is_the_best_of_all():
    """200 cases of 5 slots and 0 to 4 references at once, of which half have equal costs."""
    generator = torch.Generator().manual_seed(0)
    costs = torch.randn(200, 5, 4, generator=generator, dtype=torch.float64)
    costs[100:] = costs[100:].round()
    counts = torch.arange(200) % 5
    slots = match(costs, counts)
    for cost, count, all_slots in zip(costs.tolist(), counts.tolist(), slots.tolist(), strict=True):
        ways = list(itertools.permutations(range(5), count))
        sums = [sum(cost[slot][m] for m, slot in enumerate(way)) for way in ways]
        best = [sorted(way) for way, total in zip(ways, sums, strict=True) if total == min(sums)]
        chosen = all_slots[:count]
        assert sum(cost[slot][m] for m, slot in enumerate(chosen)) == pytest.approx(min(sums), abs=1e-12)
        assert len(set(chosen)) == count
        assert max(chosen, default=0) <= min(max(way, default=0) for way in best)  # the last slot is as low as may be


def test_the_lower_slot_wins_of_equal_costs():
    assert match(torch.zeros(1, 4, 2), torch.tensor([2])).tolist() in ([[0, 1]], [[1, 0]])
    assert match(torch.tensor([[[1.0], [0.0], [0.0]]]), torch.tensor([1])).tolist() == [[1]]


def test_more_references_than_slots_are_refused():
    with pytest.raises(UsageError, match="got 3 references for 2 slots, expected at most 2"):
        match(torch.zeros(1, 2, 3), torch.tensor([3]))


def test_the_generalised_iou():
    """Specification, section 14.5: 1 for equal intervals, below 0 apart, symmetric, invariant to shift and scale."""
    spans = torch.tensor([[0.3, 0.2], [0.35, 0.4], [0.9, 0.1]], dtype=torch.float64)
    table = generalised_iou(spans[:, None], spans)
    torch.testing.assert_close(table.diagonal(), torch.ones(3, dtype=torch.float64))
    torch.testing.assert_close(table, table.T)
    assert (table[2, :2] < 0).all()
    moved = torch.stack([3 * spans[:, 0] - 0.2, 3 * spans[:, 1]], dim=1)
    torch.testing.assert_close(generalised_iou(moved[:, None], moved), table)


def test_the_label_loss_of_equal_logits():
    """Specification, section 14.5: ln 2 (matched + 0.1 others) / (B N), times its weight of 4."""
    moments = torch.tensor([[[0.1, 0.2], [0.5, 0.9]], [[0.3, 0.4], [math.nan, math.nan]]])
    terms = set_losses(torch.zeros(1, 2, 5, 2), torch.rand(1, 2, 5, 2), moments)
    assert terms["label"].item() == pytest.approx(4 * math.log(2) * (3 + 0.1 * 7) / 10)


def test_queries_without_a_reference_have_a_label_loss_alone():
    """A window of a long video may not show the moment."""
    spans = torch.rand(2, 2, 4, 2, requires_grad=True)
    terms = set_losses(torch.zeros(2, 2, 4, 2), spans, torch.full((2, 1, 2), torch.nan))
    assert terms["span"].item() == terms["giou_0"].item() == 0
    sum(terms.values()).backward()
    assert torch.equal(spans.grad, torch.zeros_like(spans))


def test_losses_are_means_over_pairs():
    """A query with two references counts twice as much as one with one (specification, section 5.3)."""
    spans = torch.tensor([[[0.2, 0.2], [0.7, 0.2]], [[0.5, 0.5], [0.5, 0.5]]])[None]
    moments = torch.tensor([[[0.1, 0.3], [0.6, 0.8]], [[0.0, 1.0], [math.nan, math.nan]]])
    terms = set_losses(torch.zeros(1, 2, 2, 2), spans, moments)
    assert terms["span"].item() == pytest.approx(10 * (0.5 / 2) / 3, rel=1e-5)
    assert terms["giou"].item() == pytest.approx((1 - 0.5) / 3, rel=1e-5)
    assert torch.equal(spans_of(torch.tensor([0.25, 0.75])), torch.tensor([0.5, 0.5]))


def test_processes_divide_by_the_mean_of_their_pairs(monkeypatch):
    """The mean gradient of two processes with 5 and 3 pairs is then that of one with 8."""
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda count: count.add_(3))
    assert mean_of_processes(torch.tensor(5)).item() == 4
