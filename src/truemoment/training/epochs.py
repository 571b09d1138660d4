"""Folders of epochs in a run's folder: ``epoch-0001``, ``epoch-0002`` ...; other names are not ours."""

from __future__ import annotations

import re
from pathlib import Path

MOST_EPOCHS = 9999
"""The last epoch that has a folder."""

_NAME = re.compile(r"epoch-([0-9]{4})")


def epoch_folder(run: Path, epoch: int) -> Path:
    """Return the folder of an epoch of a run."""
    return run / f"epoch-{epoch:04d}"


def epoch_folders(run: Path) -> list[Path]:
    """Return the folders of epochs that a run has, the newest last."""
    named = (path for path in run.glob("epoch-*") if _NAME.fullmatch(path.name))
    return sorted(path for path in named if path.is_dir() or path.is_symlink())  # links are refused before any work
