"""Tracking of a run in TensorBoard or Weights & Biases, by the trackers of accelerate."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import msgspec
from accelerate import Accelerator

from truemoment.base.boundary.own_path import AnyPath, OwnPath
from truemoment.base.errors import InputError, MissingPackageError, UsageError
from truemoment.learning.training.checkpoints import Epoch
from truemoment.learning.training.epochs import TRACKED
from truemoment.learning.training.recipes import Recipe

Tracker = Literal["tensorboard", "wandb"]

PROJECT = "truemoment"
"""Name of the project in Weights & Biases, and of TensorBoard's folder in :data:`TRACKED`."""


OF_WANDB = "wandb/settings"
"""File from which Weights & Biases reads its server, in the folder that it writes to."""


def tracker_of(recipe: Recipe) -> Tracker | None:
    """Return the tracker that a recipe names; raise MissingPackageError if its package is not installed."""
    name = recipe.train.track or None
    if name is not None and importlib.util.find_spec(name) is None:
        raise MissingPackageError(name, name, f"train.track: {name}")
    return name


def start_tracking(accelerator: Accelerator, recipe: Recipe, seed: int, folder: AnyPath) -> None:
    """Start the tracker of a run, and write its settings there."""
    tracker = tracker_of(recipe)
    if tracker is None:
        return
    tracked = OwnPath.of(folder) / TRACKED
    tracked.mkdir(parents=True, exist_ok=True)  # Weights & Biases warns if it does not exist
    if tracker == "wandb":
        if (tracked / OF_WANDB).exists():
            raise InputError("names a server that a run is sent to", path=tracked / OF_WANDB, hint="remove it")
        os.environ["WANDB_DIR"] = str(tracked.checked().absolute())  # not the current folder, whose settings it reads
    settings = {"recipe": recipe.hash, "seed": seed, **_flat(msgspec.to_builtins(recipe))}
    with _refusing(tracker):
        accelerator.init_trackers(PROJECT, settings, {"wandb": {"dir": str(tracked.checked()), "name": folder.name}})


@contextmanager
def _refusing(tracker: Tracker) -> Iterator[None]:
    """Raise UsageError if Weights & Biases cannot start: no login, or its server does not answer."""
    errors = importlib.import_module("wandb").Error if tracker == "wandb" else ()
    try:
        yield
    except errors as error:
        hint = "with WANDB_MODE=offline it needs no server"
        raise UsageError(f"train.track: wandb does not start: {str(error).rstrip('.')}; {hint}") from error


def track_epoch(accelerator: Accelerator, epoch: Epoch) -> None:
    """Write the losses, the figures on the validation split and the seconds of an epoch."""
    values = {f"loss/{name}": value for name, value in epoch.loss.items()}
    values |= {f"val/{name}": value for name, value in epoch.val.items()}
    values |= {f"watched/{name}": value for name, value in epoch.watched.items()}
    accelerator.log({**values, "seconds": epoch.seconds, "stage": epoch.stage}, step=epoch.epoch)


def _flat(values: dict[str, object], prefix: str = "") -> dict[str, str | int | float | bool]:
    """Return values by dotted key, as types that a tracker supports; lists as text."""
    flat: dict[str, str | int | float | bool] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value if isinstance(value, str | int | float) else str(value)
    return flat
