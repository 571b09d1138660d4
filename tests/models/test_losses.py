"""The shared loss, against the formulas of the 2D-TAN specification, section 3."""

import math

import pytest
import torch

from truemoment.learning.models.losses import candidate_loss, scaled_iou


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.5, 1.0, [0, 0, 0, 0.5, 1]), (0.3, 0.7, [0, 0, 0.5, 1, 1]), (0, 1, [0, 0.3, 0.5, 0.75, 1])],
)
def test_targets_by_hand(low, high, expected):
    iou = torch.tensor([[0.0, 0.3, 0.5, 0.75, 1.0]])
    torch.testing.assert_close(scaled_iou(iou, low, high), torch.tensor([expected], dtype=torch.float32))


def test_loss_is_the_mean_over_all_cells_of_all_pairs():
    logits, targets = [[0.3, -2.0, 1.0], [4.0, 0.0, -0.5]], [[0.0, 0.2, 1.0], [0.9, 0.5, 0.0]]
    terms = []
    for row, wanted in zip(logits, targets, strict=True):
        for x, t in zip(row, wanted, strict=True):
            p = 1 / (1 + math.exp(-x))
            terms.append(-t * math.log(p) - (1 - t) * math.log(1 - p))
    loss = candidate_loss(torch.tensor(logits), torch.tensor(targets))
    assert float(loss) == pytest.approx(sum(terms) / 6, rel=1e-6)


def test_no_opinion_costs_ln_2_and_the_truth_its_entropy():
    target = torch.tensor([[0.0, 0.25, 1.0]])
    assert float(candidate_loss(torch.zeros(1, 3), target)) == pytest.approx(math.log(2))
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75)) / 3
    assert float(candidate_loss(torch.logit(target, eps=1e-7), target)) == pytest.approx(entropy, rel=1e-4)


def test_extreme_scores_stay_finite():
    logits = torch.tensor([[1000.0, -1000.0]], requires_grad=True)
    loss = candidate_loss(logits, torch.tensor([[0.0, 1.0]]))
    loss.backward()
    assert loss.item() == pytest.approx(1000)
    assert logits.grad.isfinite().all()
