"""The tree of policies of TSP-PRL: a root policy chooses a branch, and a policy of that branch one of its leaves."""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from truemoment.learning.models.window_moves import BRANCH_SIZES, MOST_LEAVES, N_BRANCHES, N_MOVES, move_numbers

ABSENT = -1e9
"""Logit of a leaf that a branch does not have; it has no probability."""

POLICY_NORM, VALUE_NORM = 0.01, 1.0
"""Norms of the rows of policies and values at the published start."""

Level = Literal["root", "leaf"]
"""Level of the tree whose policies learn."""


class Decision(NamedTuple):
    """Moves of B agents.

    Parameters
    ----------
    move : (B,)
        Number of the move.
    greedy : (B, 5)
        Number of the best move of each branch by its policy.
    log_prob, entropy, value : (B,)
        Log-probability of the action at the level that learns, entropy of the policy that it is drawn from, and value.
    """

    move: Tensor
    greedy: Tensor
    log_prob: Tensor
    entropy: Tensor
    value: Tensor


class PolicyTree(nn.Module):
    """Policies and values of the root and of each branch.

    Parameters
    ----------
    hidden
        H, of the states.
    """

    leaf_numbers: Tensor

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.root = nn.Linear(hidden, N_BRANCHES)
        self.root_value = nn.Linear(hidden, 1)
        self.leaf = nn.Linear(hidden, N_MOVES)
        self.leaf_value = nn.Linear(hidden, N_BRANCHES)
        branch, leaf = torch.arange(N_BRANCHES)[:, None], torch.arange(MOST_LEAVES)
        numbers = move_numbers(branch, leaf).where(leaf < torch.tensor(BRANCH_SIZES)[:, None], torch.tensor(N_MOVES))
        self.register_buffer("leaf_numbers", numbers, persistent=False)

    def forward(self, state: Tensor, level: Level) -> Decision:
        """Decide from states (B, H).

        In training, actions at the level that learns are drawn from its policy. The other level is greedy, and has no
        gradient.
        """
        learns = torch.is_grad_enabled()
        with torch.set_grad_enabled(learns and level == "root"):
            root = self.root(state)
        with torch.set_grad_enabled(learns and level == "leaf"):
            leaf = functional.pad(self.leaf(state), (0, 1), value=ABSENT)[:, self.leaf_numbers]
        best_leaf = leaf.argmax(dim=2)
        greedy = move_numbers(torch.arange(N_BRANCHES, device=state.device), best_leaf)
        if level == "root":
            branch, log_prob, entropy = self._choose(root)
            chosen = best_leaf.gather(1, branch[:, None]).squeeze(1)
            value = self.root_value(state).squeeze(1)
        else:
            branch = root.argmax(dim=1)
            of_branch = leaf.gather(1, branch[:, None, None].expand(-1, 1, MOST_LEAVES)).squeeze(1)
            chosen, log_prob, entropy = self._choose(of_branch)
            value = self.leaf_value(state).gather(1, branch[:, None]).squeeze(1)
        return Decision(move_numbers(branch, chosen), greedy, log_prob, entropy, value)

    def _choose(self, logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return an action, its log-probability and the entropy, each (B,), of logits (B, A)."""
        log_probs = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(dim=1)
        probs = log_probs.exp()
        action = torch.multinomial(probs.detach(), 1) if self.training else probs.argmax(dim=1, keepdim=True)
        return action.squeeze(1), log_probs.gather(1, action).squeeze(1), -(probs * log_probs).sum(dim=1)

    @torch.no_grad()
    def start_small(self) -> None:
        """Scale rows of policies to a norm of 0.01 and of values to 1, with biases of 0, as in the authors' code."""
        for layers, norm in (((self.root, self.leaf), POLICY_NORM), ((self.root_value, self.leaf_value), VALUE_NORM)):
            for layer in layers:
                layer.weight.copy_(norm * functional.normalize(layer.weight, dim=1))
                layer.bias.zero_()
