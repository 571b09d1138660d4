"""What a hunter imports before it forks: no command waits for it then; the less it is, the faster is a fork."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import truemoment

EARLY = (
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "click",
    "h5py",
    "jinja2",
    "lemminflect",
    "numpy",
    "pandas",
    "opentimelineio",
    "PIL.Image",
    "platformdirs",
    "pyarrow.parquet",
    "tabulate",
    "yaml",
)
LATE = ("torch", "accelerate", "safetensors.torch", "av", "faiss")
"""What takes so much memory that a fork of a process that has it takes ten times as long."""

WITH_PYTORCH = (
    "truemoment.__main__",
    "truemoment.cli.api.runs",
    "truemoment.reproduction.bench",
    "truemoment.integrations",
    "truemoment.evaluation.metric.torch_metric",
    "truemoment.learning.models",
    "truemoment.learning.training",
)
"""Modules that import what is late, or that the test environment lacks a library for."""


def import_early() -> None:
    """Import what commands without a model need."""
    for name in (*EARLY, *_modules()):
        importlib.import_module(name)


def import_late() -> None:
    """Import the rest, too."""
    for name in (*LATE, "truemoment.cli.api.runs", "truemoment.learning.models", "truemoment.learning.training"):
        importlib.import_module(name)
    for name in truemoment.__all__:
        getattr(truemoment, name)


def _modules(folder: Path = Path(truemoment.__path__[0]), prefix: str = "truemoment.") -> Iterator[str]:
    """Return the names of our modules that are early; unlike `pkgutil.walk_packages`, without importing the others."""
    for module in pkgutil.iter_modules([str(folder)], prefix):
        if module.name in WITH_PYTORCH:
            continue
        yield module.name
        if module.ispkg:
            yield from _modules(folder / module.name.rsplit(".", 1)[-1], f"{module.name}.")
