"""Folders that a command makes."""

from __future__ import annotations

from pathlib import Path

from truemoment.base.boundary.text import printable
from truemoment.base.errors import UsageError


def refuse_folder(out: Path) -> None:
    """Refuse a new folder that is not empty, or whose parent does not exist, before any work."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"-o {printable(str(out))}: is there already, expected a new or empty folder")
    refuse_no_parent(out)


def refuse_no_parent(out: Path) -> None:
    """Refuse a folder whose parent does not exist."""
    if not out.absolute().parent.is_dir():
        raise UsageError(f"-o {printable(str(out))}: cannot be made, {printable(str(out.parent))} is no folder")
