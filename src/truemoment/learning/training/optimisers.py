"""The optimiser of a stage: what it trains, and its state as tensors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
from msgspec import UNSET
from torch import Tensor, nn

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError, UsageError
from truemoment.learning.training.network import WORDS
from truemoment.learning.training.recipes import Optimisation, TrainingStage

MOMENTUM = 0.9
"""Momentum of stochastic gradient descent where a recipe names none."""


def parameters_of(network: nn.Module, parts: Sequence[str], key: str = "train.stages") -> dict[str, nn.Parameter]:
    """Return the parameters of parts by name, all for no part; those that are never trained are left out.

    Word vectors that are fixed may be named beside other parts. `key` is the recipe's, for messages.
    """
    learned = {name: parameter for name, parameter in network.named_parameters() if parameter.requires_grad}
    if not parts:
        return learned
    prefixes = {part: "table." if part == WORDS else f"model.{part}." for part in parts}
    for part, prefix in prefixes.items():
        may_be_fixed = part == WORDS and len(prefixes) > 1
        if not may_be_fixed and not any(f"{name}.".startswith(prefix) for name in learned):
            expected = sorted({WORDS if name.startswith("table.") else name.split(".")[1] for name in learned})
            raise UsageError(f"{key}: got the part {part!r}, expected one of {', '.join(expected)}")
    return {name: parameter for name, parameter in learned.items() if f"{name}.".startswith(tuple(prefixes.values()))}


def trained_parameters(network: nn.Module, stage: TrainingStage) -> dict[str, nn.Parameter]:
    """Return the parameters that a stage trains, by name."""
    return parameters_of(network, stage.trained)


@contextlib.contextmanager
def others_fixed(network: nn.Module, stage: TrainingStage) -> Iterator[None]:
    """Compute no gradient of the parts that a stage does not train: it would count for the norm that is clipped."""
    trained = trained_parameters(network, stage)
    fixed = [weight for name, weight in network.named_parameters() if weight.requires_grad and name not in trained]
    for parameter in fixed:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in fixed:
            parameter.requires_grad_(True)


def make_optimiser(train: Optimisation, stage: TrainingStage, network: nn.Module) -> torch.optim.Optimizer:
    """Return the optimiser of a stage."""
    trained = trained_parameters(network, stage)
    slower = parameters_of(network, stage.slower) if stage.slower else {}
    groups: list[dict[str, Any]] = [
        {"params": [weight for name, weight in trained.items() if (name in slower) is is_slower], "factor": factor}
        for is_slower, factor in ((False, 1.0), (True, stage.slower_factor))
    ]
    groups = [group for group in groups if group["params"]]
    rate, decay = train.rate_of(stage, 1), train.weight_decay
    if train.optimiser == "sgd":
        momentum = MOMENTUM if train.momentum is UNSET else train.momentum
        optimiser: torch.optim.Optimizer = torch.optim.SGD(groups, lr=rate, momentum=momentum, weight_decay=decay)
    elif train.optimiser == "adamw":
        optimiser = torch.optim.AdamW(groups, lr=rate, weight_decay=decay, fused=True)
    else:
        optimiser = torch.optim.Adam(groups, lr=rate, weight_decay=decay)
    set_rate(optimiser, rate)
    return optimiser


def set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Set the learning rate; that of slower parts is a share of it."""
    for group in optimiser.param_groups:
        group["lr"] = rate * group["factor"]


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the state of an optimiser as tensors by ``number of the parameter/name of the value``."""
    state = optimiser.state_dict()["state"]
    return {
        f"{number}/{name}": torch.as_tensor(value)
        for number, values in state.items()
        for name, value in values.items()
        if value is not None
    }


KEPT: Mapping[type[torch.optim.Optimizer], tuple[str, ...]] = MappingProxyType({torch.optim.SGD: ("momentum_buffer",)})
"""What an optimiser keeps of each parameter, if not what Adam keeps."""

ADAM = ("step", "exp_avg", "exp_avg_sq")


def load_optimiser(optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor], path: AnyPath) -> None:
    """Load the tensors that :func:`optimiser_tensors` returned."""
    parameters = (parameter for group in optimiser.param_groups for parameter in group["params"])
    shapes = {str(number): parameter.shape for number, parameter in enumerate(parameters)}
    names = KEPT.get(type(optimiser), ADAM)
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition("/")
        if number not in shapes or tensor.shape not in ((), shapes[number]) or name not in names:
            kind = type(optimiser).__name__
            problem = f"got a tensor {key!r} {tuple(tensor.shape)}, expected {kind}'s of this network"
            raise InputError(problem, path=path)
        state.setdefault(int(number), {})[name] = tensor
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
