r"""TSP-PRL: an agent moves a window to the moment, with a tree of policies that learns from rewards.

Wu, Li, Liu and Lin: "Tree-Structured Policy Based Progressive Reinforcement Learning for Temporally Language Grounding
in Video", AAAI 2020; details from the authors' code, https://github.com/WuJie1010/TSP-PRL. An episode starts from the
central half of the video (:mod:`~truemoment.learning.models.window_moves`). At each step the agent sees the video, the
window, the sentence and where the window lies; a root policy chooses a branch, and a policy of the branch one of its
moves (:class:`PolicyTree`). An alignment head predicts the IoU of each window before it is moved. The answer is the
window with the highest prediction.

A batch is an episode for each of its pairs. The loss is the sum of

- *policy* and *value*: advantage actor-critic (:mod:`~truemoment.learning.models.layers.actor_critic`) of one level of
  the tree, the leaves or the root, in turns of `phase` training steps; the other level is greedy and does not learn,
- *alignment*: cross-entropy between the predicted IoU and the IoU, over windows that overlap the moment.

Differences from the code: units of a fixed length in seconds, and the mean of word vectors in place of skip-thought
vectors.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, NamedTuple

import msgspec
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from truemoment.learning.models.base import (
    Batch,
    Count,
    GroundingModel,
    Inputs,
    ModelOutput,
    MomentTensors,
    Need,
    VideoRows,
    Weight,
)
from truemoment.learning.models.layers.actor_critic import Critic, EpisodeSteps, actor_critic_losses
from truemoment.learning.models.layers.additive_attention import mean_of, real_words
from truemoment.learning.models.layers.query import QueryEncoder
from truemoment.learning.models.window_moves import (
    BRANCH_SIZES,
    LEAST_UNITS,
    MOST_LEAVES,
    N_BRANCHES,
    N_MOVES,
    SAMPLES,
    leaf_rewards,
    move_numbers,
    outcomes,
    root_rewards,
    sampled_units,
    signed_iou,
    start_windows,
)
from truemoment.media.features.base import Frames
from truemoment.media.features.resampling import rows_on_clock

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

    The tree of policies of TSP-PRL: a root policy chooses a branch, and a policy of that branch one of its leaves.

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
            action = best_leaf.gather(1, branch[:, None]).squeeze(1)
            value = self.root_value(state).squeeze(1)
        else:
            branch = root.argmax(dim=1)
            of_branch = leaf.gather(1, branch[:, None, None].expand(-1, 1, MOST_LEAVES)).squeeze(1)
            action, log_prob, entropy = self._choose(of_branch)
            value = self.leaf_value(state).gather(1, branch[:, None]).squeeze(1)
        return Decision(move_numbers(branch, action), greedy, log_prob, entropy, value)

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


ROUNDING = 1e-9
"""Share of a unit that may be missing from a duration of whole units."""


class TspPrlSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings.

    Parameters
    ----------
    unit_s
        Length of a unit in seconds: 16 frames at 24 a second.
    units
        Largest number of units of a video; a longer video has as many longer ones.
    hidden
        H, of the state and of what it is made of.
    alignment
        Numbers of the first hidden layer of the alignment head; the second has half as many.
    sentence
        What a sentence is read as: the "mean" of its word vectors, or the last state of an "lstm".
    steps
        T, moves of an episode.
    phase
        Training steps of a phase, in which either the leaves or the root learn.
    discount, entropy
        Discount of the returns, and weight of the entropy.
    critic
        Terms of the loss that values learn from: "both" in the code, or the "value" term, as is usual.
    start
        How weights of linear layers are drawn: from N(0, 1) with biases of 0 as "published", or as PyTorch's "default".
        Either way, policies and values start from rows of norm 0.01 and 1, without biases.
    last_unit
        Whether a window's last unit is "inside" it, or "outside", as in the code; for rewards and answers.
    """

    unit_s: Annotated[float, msgspec.Meta(gt=0)] = 2 / 3
    units: Annotated[int, msgspec.Meta(ge=LEAST_UNITS, le=8192)] = 300
    hidden: Count = 1024
    alignment: Annotated[int, msgspec.Meta(ge=2, le=8192)] = 256
    sentence: Literal["mean", "lstm"] = "mean"
    steps: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 20
    phase: Annotated[int, msgspec.Meta(ge=1)] = 200
    discount: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.4
    entropy: Weight = 0.1
    critic: Critic = "both"
    start: Literal["published", "default"] = "published"
    last_unit: Literal["inside", "outside"] = "inside"


class _StateEncoder(nn.Module):
    """The state of an agent: video, window and place, each gated by the sentence."""

    def __init__(self, hidden: int, n_dimensions: int, n_sentence: int) -> None:
        super().__init__()
        self.whole = nn.Linear(SAMPLES * n_dimensions, hidden)
        self.window = nn.Linear(SAMPLES * n_dimensions, hidden)
        self.place = nn.Linear(2, hidden)
        self.gate = nn.Linear(n_sentence, hidden)
        self.fuse = nn.Linear(3 * hidden, hidden)

    def forward(self, of_whole: Tensor, gate: Tensor, units: Tensor, place: Tensor) -> Tensor:
        """Return states (B, H).

        Parameters
        ----------
        of_whole, gate : (B, H)
            See :meth:`of_video` and :meth:`of_sentence`, which are the same for all steps of an episode.
        units : (B, 10 D)
            Units of the window.
        place : (B, 2)
            First and last unit of the window as shares of the last unit of the video.
        """
        parts = (_unit_part(self.window(units)), of_whole, _unit_part(self.place(place)))
        state: Tensor = self.fuse(torch.cat([part * gate for part in parts], dim=1))
        return state.relu()

    def of_video(self, units: Tensor) -> Tensor:
        """Return the part of the whole video, (B, H), of its units (B, 10 D)."""
        return _unit_part(self.whole(units))

    def of_sentence(self, sentence: Tensor) -> Tensor:
        """Return the gate (B, H) of sentence vectors."""
        gate: Tensor = self.gate(sentence)
        return gate.sigmoid()


def _unit_part(rows: Tensor) -> Tensor:
    return functional.normalize(rows, dim=1).relu()


class TspPrl(GroundingModel):
    """TSP-PRL, which answers with one moment."""

    name: ClassVar[str] = "tsp-prl"
    needs: ClassVar[frozenset[Need]] = frozenset({"video", "moment", "duration"})
    learns_in_turns: ClassVar[bool] = True

    samples: Tensor

    def __init__(self, settings: TspPrlSettings, inputs: Inputs) -> None:
        super().__init__()
        self.settings = settings
        self.n_candidates = 1
        hidden, alignment = settings.hidden, settings.alignment
        reads = settings.sentence == "lstm"
        self.lstm = QueryEncoder(inputs.n_vector, hidden, layers=1) if reads else None
        self.encode = _StateEncoder(hidden, inputs.n_dimensions, hidden if reads else inputs.n_vector)
        self.memory = nn.GRUCell(hidden, hidden)
        self.tree = PolicyTree(hidden)
        self.align = nn.Sequential(
            nn.Linear(hidden, alignment), nn.ReLU(), nn.Linear(alignment, alignment // 2), nn.ReLU(),
            nn.Linear(alignment // 2, 1),
        )  # fmt: skip
        self.register_buffer("samples", sampled_units(settings.units), persistent=False)
        if settings.start == "published":
            self.apply(_start)
        self.tree.start_small()
        self._level: Level = "leaf"

    def start_step(self, number: int) -> None:
        """Let the leaves and the root learn in turns; the leaves begin."""
        self._level = "root" if number // self.settings.phase % 2 else "leaf"

    def see(self, video: VideoRows, n_rows: int) -> Frames:
        """Return units (U, D): the mean of the rows centred in each, or the nearest row; 0 behind the video."""
        del n_rows
        settings = self.settings
        unit_s = max(settings.unit_s, video.duration_s / settings.units)
        n_units = int(np.clip(np.floor(video.duration_s / unit_s + ROUNDING), LEAST_UNITS, settings.units))
        table = np.zeros((settings.units, video.rows.shape[1]), dtype=np.float32)
        table[:n_units] = rows_on_clock(video.rows, video.edges_s, unit_s * np.arange(n_units + 1))
        return table

    def units_of(self, duration_s: Tensor) -> tuple[Tensor, Tensor]:
        """Return the number of units of videos, and their length in seconds, each (B,), of durations (B,)."""
        settings = self.settings
        unit_s = (duration_s / settings.units).clamp(min=settings.unit_s)
        n_units = (duration_s / unit_s + ROUNDING).floor().clamp(LEAST_UNITS, settings.units)
        return n_units.long(), unit_s

    def forward(self, batch: Batch) -> ModelOutput:
        """Move windows for T steps.

        Returns
        -------
        ModelOutput
            `logits` (B, T) of the IoU of each window before its move, and of each step (B, T, ...):

            - "counts": whether it took place: no move before it was illegal,
            - "windows", "moved": the window (2,) before and after the move,
            - "greedy": the window (5, 2) after the best move of each branch,
            - "log_prob", "entropy", "value": of the level that learns;

            and "steps", the mean number of steps.
        """
        video = batch.require("video")
        n_units, _ = self.units_of(batch.require("duration_s"))
        everything = torch.stack([torch.zeros_like(n_units), n_units - 1], dim=1)
        of_whole = self.encode.of_video(self._units(video, everything))
        gate = self.encode.of_sentence(self._sentence(batch))
        kind, rows = batch.words.dtype, torch.arange(len(batch), device=n_units.device)
        windows, counts = start_windows(n_units), torch.ones_like(n_units, dtype=torch.bool)
        hidden = torch.zeros(len(batch), self.settings.hidden, dtype=kind, device=n_units.device)
        steps: list[dict[str, Tensor]] = []
        for _ in range(self.settings.steps):
            place = windows.to(kind) / (n_units[:, None] - 1)
            state = self.encode(of_whole, gate, self._units(video, windows), place)
            hidden = self.memory(state, hidden)
            decision = self.tree(hidden, self._level)
            results, legal = outcomes(windows, n_units)
            moved = results[rows, decision.move]
            steps.append(
                {
                    "logits": self.align(state).squeeze(1).to(kind),
                    "counts": counts,
                    "windows": windows,
                    "moved": moved,
                    "greedy": results[rows[:, None], decision.greedy],
                    "log_prob": decision.log_prob.to(kind),
                    "entropy": decision.entropy.to(kind),
                    "value": decision.value.to(kind),
                }
            )
            counts = counts & legal[rows, decision.move]
            windows = torch.where(counts[:, None], moved, windows)
        extras = {name: torch.stack([step[name] for step in steps], dim=1) for name in steps[0]}
        logits = extras.pop("logits")
        return ModelOutput(logits, extras | {"steps": extras["counts"].sum(dim=1).to(kind).mean()})

    def _sentence(self, batch: Batch) -> Tensor:
        if self.lstm is not None:
            encoded: tuple[Tensor, Tensor] = self.lstm(batch.words, batch.n_words)
            return encoded[0]
        return mean_of(batch.words, real_words(batch.n_words, batch.words.shape[1]))

    def _units(self, video: Tensor, windows: Tensor) -> Tensor:
        """Return the units that windows (B, 2) are seen by, one after the other, (B, 10 D), of videos (B, U, D)."""
        first, last = windows.unbind(dim=1)
        units = first[:, None] + self.samples[last - first + 1]
        return video[torch.arange(len(video), device=units.device)[:, None], units].flatten(1)

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return "policy", "value" and "alignment"; a pair whose moment is not shown has none."""
        settings, extras = self.settings, output.extras
        moment = batch.require("moment")
        has_moment = ~torch.isnan(moment[:, :1])
        in_units = self._in_units(moment, batch.require("duration_s"))[:, None]
        before, after = (self._iou(extras[name], in_units).to(output.logits.dtype) for name in ("windows", "moved"))
        if self._level == "root":
            greedy = self._iou(extras["greedy"], in_units[:, None]).to(output.logits.dtype)
            reward = root_rewards(before, after, greedy)
        else:
            reward = leaf_rewards(before, after)
        counts = extras["counts"] & has_moment
        steps = EpisodeSteps(extras["log_prob"], extras["entropy"], extras["value"], reward, counts)
        policy, value = actor_critic_losses(
            steps, discount=settings.discount, entropy_weight=settings.entropy, critic=settings.critic
        )
        overlaps = counts & (before > 0)
        errors = functional.binary_cross_entropy_with_logits(output.logits, before.clamp(min=0), reduction="none")
        alignment = torch.where(overlaps, errors, 0.0).sum() / overlaps.sum().clamp(min=1)
        return {"policy": policy, "value": value, "alignment": alignment}

    def _in_units(self, moment: Tensor, duration_s: Tensor) -> Tensor:
        """Return moments (B, 2), shares of videos, in units; within those that a window can reach."""
        n_units, unit_s = self.units_of(duration_s)
        ends = torch.nan_to_num(moment).double() * (duration_s / unit_s)[:, None]
        reach = n_units if self.settings.last_unit == "inside" else n_units - 1
        return torch.minimum(ends, reach[:, None])

    def _iou(self, windows: Tensor, moments: Tensor) -> Tensor:
        return signed_iou(self._edges(windows).double(), moments)

    def _edges(self, windows: Tensor) -> Tensor:
        """Return where windows (..., 2) begin and end, in units."""
        if self.settings.last_unit == "outside":
            return windows
        first, last = windows.unbind(dim=-1)
        return torch.stack([first, last + 1], dim=-1)

    def answer(self, batch: Batch, output: ModelOutput) -> MomentTensors:
        """Return the window with the highest logit among those of an episode, scored by its predicted IoU."""
        duration_s = batch.require("duration_s")[:, None]
        best = output.logits.masked_fill(~output.extras["counts"], -torch.inf).argmax(dim=1, keepdim=True)
        windows = output.extras["windows"].gather(1, best[:, :, None].expand(-1, -1, 2))
        _, unit_s = self.units_of(duration_s)
        start_s, end_s = (at * unit_s for at in self._edges(windows).unbind(dim=2))
        score = output.logits.gather(1, best).float().sigmoid()
        return MomentTensors(start_s / duration_s, end_s / duration_s, score)


def _start(part: nn.Module) -> None:
    """Draw the weights of a linear layer from N(0, 1), with biases of 0, as in the authors' code."""
    if isinstance(part, nn.Linear):
        nn.init.normal_(part.weight)
        nn.init.zeros_(part.get_parameter("bias"))
