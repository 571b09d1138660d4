"""Names in a run's folder: files, and folders of epochs, ``epoch-0001``, ``epoch-0002`` ..."""

from __future__ import annotations

import re

from truemoment.base.boundary.own_path import AnyPath, OwnPath

OWN_FILES = ("run.json", "words.json", "best.safetensors", "result.json", "curves.png", "curves.svg")
"""Files of a run, without its predictions, which are named by their splits."""

TRACKED = "tracked"
"""Folder of the tracker's files in that of the run."""

MOST_EPOCHS = 9999
"""The last epoch that has a folder."""

_NAME = re.compile(r"epoch-([0-9]{4})")


def epoch_folder(run: AnyPath, epoch: int) -> OwnPath:
    """Return the folder of an epoch of a run."""
    return OwnPath.of(run) / f"epoch-{epoch:04d}"


def epoch_folders(run: AnyPath) -> list[OwnPath]:
    """Return the folders of epochs that a run has, the newest last."""
    folder = OwnPath.of(run)
    return [path for path in folder.folders() if _NAME.fullmatch(path.name)] if folder.is_dir() else []
