"""The file in which ``truemoment config`` keeps what the command line remembers; Python programs do not read it."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from truemoment.base.boundary.files import read_json, write_json
from truemoment.base.boundary.inputs import updating

VARIABLE = "TRUEMOMENT_CONFIG"
"""Environment variable that names another file."""


class UserSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", omit_defaults=True):
    """What is remembered.

    Parameters
    ----------
    data_dir
        Folder with one folder per dataset.
    """

    data_dir: str | None = None


def settings_path() -> Path:
    """Return the file, which need not exist."""
    from platformdirs import user_config_path

    named = os.environ.get(VARIABLE)
    return Path(named) if named else user_config_path("truemoment") / "config.json"


def read_settings() -> UserSettings:
    """Return what is remembered; nothing if there is no file.

    Raises
    ------
    InputError
        If the file is malformed.
    """
    path = settings_path()
    return read_json(path, UserSettings) if path.is_file() else UserSettings()


def write_settings(settings: UserSettings) -> Path:
    """Keep settings, and return the file."""
    path = updating(settings_path())
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, settings)
    return path
