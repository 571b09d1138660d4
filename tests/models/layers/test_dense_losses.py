"""Losses of a dense regression: their formulas and their limits."""

import math

import pytest
import torch

from truemoment.learning.models.layers.dense_losses import distance_loss, focal_loss, hull_iou, iou_loss


def test_the_focal_loss_is_its_formula():
    """Lin et al. 2017, eq. 5, with the weight 1 - alpha for negatives."""
    logits = torch.tensor([-2.0, 0.3, 1.7, -0.4])
    positive = torch.tensor([True, False, True, False])
    expected = 0.0
    for x, y in zip(logits.tolist(), positive.tolist(), strict=True):
        p = 1 / (1 + math.exp(-x))
        expected -= 0.25 * (1 - p) ** 2 * math.log(p) if y else 0.75 * p**2 * math.log(1 - p)
    assert focal_loss(logits, positive, alpha=0.25, gamma=2.0).item() == pytest.approx(expected, rel=1e-5)


def test_the_focal_loss_of_a_new_positive_location():
    """Specification of DRN, section 8: about 1.13 for a probability of 0.01."""
    logit = torch.tensor([-math.log(99)])
    assert focal_loss(logit, torch.tensor([True]), alpha=0.25, gamma=2.0).item() == pytest.approx(1.13, abs=0.005)


def test_the_focal_loss_is_finite_where_a_probability_is_0_or_1():
    logits = torch.tensor([-200.0, 200.0], requires_grad=True)
    loss = focal_loss(logits, torch.tensor([True, False]), alpha=0.25, gamma=2.0)
    (gradient,) = torch.autograd.grad(loss, logits)
    assert loss.item() == pytest.approx(0.25 * 200 + 0.75 * 200)
    assert gradient.tolist() == pytest.approx([-0.25, 0.75])


def test_the_distance_loss_is_0_at_the_target_and_does_not_depend_on_the_scale():
    target = torch.tensor([[1.0, 2.0], [3.0, 0.5]])
    predicted = torch.tensor([[2.0, 1.0], [3.0, 4.0]])
    both = torch.tensor([True, True])
    assert distance_loss(target, target, both).item() == pytest.approx(0, abs=1e-6)
    expected = -(math.log(2 / 4) + math.log(3.5 / 7)) / 2
    for scale in (1.0, 7.0):
        found = distance_loss(scale * predicted, scale * target, both).item()
        assert found == pytest.approx(expected, rel=1e-5)


def test_the_distance_loss_ignores_other_locations_whose_targets_are_below_0():
    predicted = torch.tensor([[2.0, 1.0], [3.0, 4.0]], requires_grad=True)
    target = torch.tensor([[1.0, 2.0], [-3.0, 9.0]])
    loss = distance_loss(predicted, target, torch.tensor([True, False]))
    (gradient,) = torch.autograd.grad(loss, predicted)
    assert loss.item() == pytest.approx(math.log(2), rel=1e-5)
    assert gradient[1].tolist() == [0.0, 0.0]
    assert distance_loss(predicted, target, torch.tensor([False, False])).item() == 0


def test_the_iou_is_that_of_intervals_and_0_apart():
    segments = torch.tensor([[0.0, 0.5], [0.2, 0.3], [0.8, 0.9], [0.25, 0.5]], dtype=torch.float64)
    found = hull_iou(segments, torch.tensor([0.25, 0.5], dtype=torch.float64))
    assert found.tolist() == pytest.approx([0.5, 0.05 / 0.3, 0, 1], abs=1e-5)


def test_the_iou_loss_is_a_mean_over_what_counts():
    logits = torch.tensor([0.0, 0.0, 5.0])
    iou = torch.tensor([0.9, 0.7, 0.1])
    found = iou_loss(logits, iou, torch.tensor([True, True, False]))
    assert found.item() == pytest.approx((0.5 * 0.4**2 + 0.5 * 0.2**2) / 2, rel=1e-5)
    assert iou_loss(logits, iou, torch.zeros(3, dtype=torch.bool)).item() == 0
