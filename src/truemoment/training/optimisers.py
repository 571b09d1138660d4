"""The optimiser of a stage: what it trains, and its state as tensors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import torch
from torch import Tensor, nn

from truemoment.exceptions import InputError, UsageError
from truemoment.training.network import WORDS
from truemoment.training.recipes import Optimisation, TrainingStage

MOMENTUM = 0.9
"""Momentum of stochastic gradient descent."""


def trained_parameters(network: nn.Module, stage: TrainingStage) -> dict[str, nn.Parameter]:
    """Return the parameters that a stage trains, by name; those that are never trained are left out.

    Word vectors that are fixed may be named beside other parts.
    """
    learned = {name: parameter for name, parameter in network.named_parameters() if parameter.requires_grad}
    if not stage.trained:
        return learned
    prefixes = {part: "table." if part == WORDS else f"model.{part}." for part in stage.trained}
    for part, prefix in prefixes.items():
        may_be_fixed = part == WORDS and len(prefixes) > 1
        if not may_be_fixed and not any(f"{name}.".startswith(prefix) for name in learned):
            parts = sorted({WORDS if name.startswith("table.") else name.split(".")[1] for name in learned})
            raise UsageError(f"train.stages: got the part {part!r}, expected one of {', '.join(parts)}")
    return {name: of for name, of in learned.items() if f"{name}.".startswith(tuple(prefixes.values()))}


@contextlib.contextmanager
def others_fixed(network: nn.Module, stage: TrainingStage) -> Iterator[None]:
    """Compute no gradient of the parts that a stage does not train: it would count for the norm that is clipped."""
    trained = trained_parameters(network, stage)
    fixed = [of for name, of in network.named_parameters() if of.requires_grad and name not in trained]
    for parameter in fixed:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in fixed:
            parameter.requires_grad_(True)


def make_optimiser(train: Optimisation, stage: TrainingStage, network: nn.Module) -> torch.optim.Optimizer:
    """Return the optimiser of a stage."""
    parameters = list(trained_parameters(network, stage).values())
    rate, decay = train.rate_of(stage, 1), train.weight_decay
    if train.optimiser == "sgd":
        return torch.optim.SGD(parameters, lr=rate, momentum=MOMENTUM, weight_decay=decay)
    if train.optimiser == "adamw":
        return torch.optim.AdamW(parameters, lr=rate, weight_decay=decay)
    return torch.optim.Adam(parameters, lr=rate, weight_decay=decay)


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


def load_optimiser(optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Put back what :func:`optimiser_tensors` returned."""
    parameters = (parameter for group in optimiser.param_groups for parameter in group["params"])
    shapes = {str(number): parameter.shape for number, parameter in enumerate(parameters)}
    kept = KEPT.get(type(optimiser), ADAM)
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        number, _, name = key.partition("/")
        if number not in shapes or tensor.shape not in ((), shapes[number]) or name not in kept:
            kind = type(optimiser).__name__
            problem = f"got a tensor {key!r} {tuple(tensor.shape)}, expected {kind}'s of this network"
            raise InputError(problem, path=path)
        state.setdefault(int(number), {})[name] = tensor
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
