"""A folder of a stranger: modules with the names of the standard library and of our dependencies.

Each writes a line into a file when it is imported. So a command that is run in the folder must leave no such file.
"""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

OTHERS = ("matplotlibrc", "wandb/settings", ".env", "pip.conf")
"""Files that a library would read from the current folder, or that might be."""


def names_of_dependencies() -> set[str]:
    """Return the names under which installed packages are imported, and hooks of Python's start."""
    return {*importlib.metadata.packages_distributions(), "sitecustomize", "usercustomize"}


def plant_modules(folder: Path, pwned: Path) -> None:
    """Write the modules into a folder; each adds its name to `pwned` when it is imported."""
    folder.mkdir(exist_ok=True)
    code = f"with open({str(pwned)!r}, 'a') as file:\n    file.write(__name__ + chr(10))\n"
    for name in {*sys.stdlib_module_names, *names_of_dependencies()}:
        if name.isidentifier():
            (folder / f"{name}.py").write_text(code)
    for name in OTHERS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("backend: module://pwned_backend\ntext.usetex: True\nsavefig.dpi: 1\n")
