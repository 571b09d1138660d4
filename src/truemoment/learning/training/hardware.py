"""The hardware of a run: the processes that share one, the device of predictions, the machine, the state of the code.

Training takes its devices from accelerate (:mod:`truemoment.learning.training.loop`).
"""

from __future__ import annotations

import functools
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from truemoment.base.errors import UsageError

if TYPE_CHECKING:
    from accelerate import PartialState

LAUNCHED_BY = ("LOCAL_RANK", "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""Environment variables by which a launcher numbers the processes of a run."""

TIMEOUT_S = 20.0
"""How long `git` may take to answer."""


def prediction_device() -> torch.device:
    """Return the device that a trained network predicts on: a GPU if there is one, else the processor."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def processes() -> PartialState:
    """Return the processes that share this run: those that ``accelerate launch`` or ``torchrun`` started, or this one.

    ``torchrun`` on a computer without a GPU gives each of them processors.

    Raises
    ------
    UsageError
        If the environment variables of a launcher are invalid.
    """
    from accelerate import PartialState  # noqa: PLC0415 - it takes a second, and only training asks
    from accelerate.utils import parse_flag_from_env  # noqa: PLC0415 - as above

    launched = "LOCAL_RANK" in os.environ
    without_gpu = launched and not torch.accelerator.is_available()
    try:
        return PartialState(cpu=without_gpu or parse_flag_from_env("ACCELERATE_USE_CPU"))
    except (ValueError, RuntimeError, TypeError) as error:
        raise invalid_variables(error) from None


def invalid_variables(error: Exception) -> UsageError:
    """Return the error that variables of a launcher are invalid; it names those that are set."""
    names = [name for name in sorted(os.environ) if name in LAUNCHED_BY or name.startswith("ACCELERATE_")]
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    return UsageError(
        f"the environment variables {', '.join(names)} are invalid ({reason}): start the processes with torchrun or "
        "accelerate launch, or unset the variables"
    )


def hardware() -> str:
    """Return processor or accelerator in a few words, e.g. ``2 threads, x86_64``.

    Numbers of a run on another kind of device can differ in their last digits.
    """
    if torch.cuda.is_available():
        return f"{torch.cuda.device_count()} x {torch.cuda.get_device_name(0)}"
    return f"{torch.get_num_threads()} threads, {platform.machine()}, torch {torch.__version__}"


@functools.cache
def commit() -> str:
    """Return the commit of the code that runs, with ``+`` where it was changed since.

    It is asked once. Where `git` does not show whether the code was changed, ``?`` follows; "" where it is no checkout,
    or `git` does not answer in time.
    """
    git = shutil.which("git")
    folder = Path(__file__).resolve().parents[4]
    if git is None or not (folder / ".git").exists():
        return ""
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}

    def ask(*words: str) -> str | None:
        try:
            process = subprocess.run(  # noqa: S603 - a fixed command of a program found on the path
                [git, "-C", str(folder), *words], capture_output=True, check=True, env=environment, timeout=TIMEOUT_S
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return process.stdout.decode("utf-8", "replace").strip()

    head = ask("rev-parse", "--short=12", "HEAD")
    if not head:
        return ""
    changed = ask("status", "--porcelain", "--untracked-files=no", "--", "src")
    return head + ("?" if changed is None else "+" if changed else "")
