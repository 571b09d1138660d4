"""Advantage actor-critic: an example by hand, and a slow version of section 5 of TSP-PRL's specification."""

import pytest
import torch

from truemoment.learning.models.layers.actor_critic import EpisodeSteps, actor_critic_losses, discounted_returns


def steps_of(counts, seed=0):
    generator = torch.Generator().manual_seed(seed)
    log_prob, entropy, value, reward = torch.rand(4, *counts.shape, generator=generator, dtype=torch.float64)
    return EpisodeSteps(-log_prob, entropy, value.requires_grad_(), reward, counts)


def test_three_steps_of_which_the_second_is_illegal():
    """By hand: R_2 = 2 + 0.4 * 5 = 4, R_1 = 1 + 0.4 * 4 = 2.6; A = (-0.4, -1); the third step has no part."""
    steps = EpisodeSteps(
        log_prob=torch.tensor([[-1.0, -2.0, -9.0]]),
        entropy=torch.tensor([[0.5, 0.0, 9.0]]),
        value=torch.tensor([[3.0, 5.0, 9.0]]),
        reward=torch.tensor([[1.0, 2.0, 9.0]]),
        counts=torch.tensor([[True, True, False]]),
    )
    returns = discounted_returns(steps.reward, steps.value, steps.counts, discount=0.4)
    assert returns[0, :2].tolist() == pytest.approx([2.6, 4.0])
    policy, value = actor_critic_losses(steps, discount=0.4, entropy_weight=0.1)
    assert policy.item() == pytest.approx((-0.4 * 1 - 0.1 * 0.5 - 1 * 2) / 2)
    assert value.item() == pytest.approx((0.4**2 + 1) / 2)


def test_returns_of_constant_rewards():
    """Section 10: rewards of 1 without values tend to 1 / (1 - 0.4)."""
    ones = torch.ones(1, 60, dtype=torch.float64)
    returns = discounted_returns(ones, 0 * ones, ones > 0, discount=0.4)
    assert returns[0, 0].item() == pytest.approx(1.667, abs=5e-4)


@pytest.mark.parametrize("critic", ["value", "both"])
def test_losses_and_gradients_are_those_of_the_slow_version(critic):
    counts = torch.arange(6) < torch.tensor([6, 1, 3, 4])[:, None]
    steps = steps_of(counts)
    policy, value, n_steps = 0, 0, 0
    for row in range(len(counts)):
        last = int(counts[row].sum()) - 1
        known = steps.value if critic == "both" else steps.value.detach()
        following = known[row, last]
        for k in range(last, -1, -1):
            following = steps.reward[row, k] + 0.4 * following
            advantage = following - steps.value[row, k]
            factor = advantage if critic == "both" else advantage.item()
            policy = policy - factor * steps.log_prob[row, k] - 0.1 * steps.entropy[row, k]
            value = value + advantage**2
            n_steps += 1
    expected = (policy / n_steps, value / n_steps)
    found = actor_critic_losses(steps, discount=0.4, entropy_weight=0.1, critic=critic)
    torch.testing.assert_close(found, expected)
    gradients = [torch.autograd.grad(sum(of), steps.value)[0] for of in (found, expected)]
    torch.testing.assert_close(*gradients)


def test_without_a_step_the_losses_are_0():
    steps = steps_of(torch.zeros(2, 3, dtype=torch.bool))
    assert [of.item() for of in actor_critic_losses(steps, discount=0.4, entropy_weight=0.1)] == [0, 0]
