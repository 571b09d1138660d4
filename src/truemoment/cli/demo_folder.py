"""The folder of a demo: it records which files demos have made, so that no others are overwritten."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from truemoment.base.boundary.files import write_bytes
from truemoment.base.boundary.inputs import updating
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError

MARK = ".truemoment-demo"
"""File of a demo's folder with the names of the files that demos have made there."""


def claim(out: Path, names: Sequence[str]) -> None:
    """Make the folder of a demo, which records the files of the demo; refuse to overwrite any others."""
    folder = OwnPath(updating(out))
    mark = folder / MARK
    try:
        made = set(mark.content().decode().splitlines()) if mark.is_file() else set()
        foreign = next((name for name in names if name not in made and os.path.lexists(out / name)), None)
        if foreign is not None:
            problem = f"contains {foreign} already, which no demo has made"
            raise InputError(problem, path=out, hint="give another folder: --out DIR")
        folder.refuse_links()
        out.mkdir(parents=True, exist_ok=True)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise InputError(f"cannot be made ({why})", path=out) from None
    write_bytes(mark, "".join(f"{name}\n" for name in sorted(made | set(names))).encode())
