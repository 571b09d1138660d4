r"""Advantage actor-critic over episodes of at most T steps (Mnih et al. 2016, A2C).

As in the code of TSP-PRL, the return of the last step K starts from the value of the state that this step left:

.. math:: R_K = r_K + \gamma V_K, \qquad R_k = r_k + \gamma R_{k+1}, \qquad A_k = R_k - V_k,

and over all steps of all episodes that took place,

.. math:: L_\text{policy} = \text{mean} \left( -A_k \ln \pi_k - \beta H_k \right), \qquad
          L_\text{value} = \text{mean} \, A_k^2.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

Critic = Literal["value", "both"]
"""Terms of the loss that values learn from, see :func:`actor_critic_losses`."""


class EpisodeSteps(NamedTuple):
    """Steps of B episodes, each (B, T): log-probability of the action, entropy, value, reward, and whether it counts.

    The steps that count are the first of each episode.
    """

    log_prob: Tensor
    entropy: Tensor
    value: Tensor
    reward: Tensor
    counts: Tensor


def discounted_returns(reward: Tensor, value: Tensor, counts: Tensor, *, discount: float) -> Tensor:
    """Return the returns of steps, (B, T).

    Parameters
    ----------
    reward, value : (B, T)
        Reward and value of each step.
    counts : (B, T) bool
        Steps that took place, the first of each episode; the returns of the others have no meaning.
    discount
        From 0 to 1.

    Examples
    --------
    >>> ones, both = torch.ones(1, 2), torch.ones(1, 2, dtype=torch.bool)
    >>> discounted_returns(ones, ones, both, discount=0.5)
    tensor([[1.7500, 1.5000]])
    """
    n_steps = reward.shape[1]
    returns: list[Tensor] = []
    following = value[:, -1]
    for step in range(n_steps - 1, -1, -1):
        if step + 1 < n_steps:  # the last step of an episode is followed by one that did not take place
            following = torch.where(counts[:, step + 1], following, value[:, step])
        following = reward[:, step] + discount * following
        returns.append(following)
    return torch.stack(returns[::-1], dim=1)


def actor_critic_losses(
    steps: EpisodeSteps, *, discount: float, entropy_weight: float, critic: Critic = "value"
) -> tuple[Tensor, Tensor]:
    """Return the policy's and the value's term of the loss; 0 where no step counts.

    Parameters
    ----------
    steps
        The steps of the episodes.
    discount
        Discount of the returns.
    entropy_weight
        Weight of the entropy.
    critic
        ``value``: returns and advantages are constants for the policy's term, and returns for the value's term, as is
        usual. ``both``: gradients of both terms reach the values, also those in returns, as in the code of TSP-PRL.
    """
    value = steps.value
    returns = discounted_returns(
        steps.reward, value.detach() if critic == "value" else value, steps.counts, discount=discount
    )
    advantage = returns - value
    of_policy = advantage.detach() if critic == "value" else advantage
    policy = -of_policy * steps.log_prob - entropy_weight * steps.entropy
    n_steps = steps.counts.sum().clamp(min=1)
    return tuple(torch.where(steps.counts, loss, 0.0).sum() / n_steps for loss in (policy, advantage.square()))  # type: ignore[return-value]
