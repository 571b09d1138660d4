"""truemoment config: what the command line remembers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click
import msgspec

from truemoment.base.errors import UsageError
from truemoment.base.request import Request, argument
from truemoment.cli import binder
from truemoment.cli.command import Group
from truemoment.cli.outputs import say
from truemoment.cli.settings_file import UserSettings, read_settings, settings_path, write_settings

NAMES = tuple(UserSettings.__struct_encode_fields__)


@click.group("config", cls=Group, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Show or change what the command line remembers: data-dir, the folder of the datasets.

    --data-dir and the variable TRUEMOMENT_DATA come before it.
    """
    if context.invoked_subcommand is None:
        remembered = msgspec.to_builtins(read_settings())
        for name in NAMES:
            say(f"{name}: {Path(remembered.get(name) or 'not set')}")
        say(f"file: {settings_path()}")


@dataclass(frozen=True, kw_only=True)
class SettingName(Request):
    """What is remembered."""

    name: Literal["data-dir"] = argument()


@dataclass(frozen=True, kw_only=True)
class SettingValue(Request):
    """Its value."""

    value: str = argument()


@binder.command("set", command)
def set_value(setting: SettingName, to: SettingValue) -> None:
    """Remember VALUE as NAME."""
    name, folder = setting.name, Path(to.value).expanduser().absolute()
    if not folder.is_dir():
        raise UsageError(f"{name}: {folder} is not a folder, expected a folder with one folder a dataset")
    path = write_settings(msgspec.structs.replace(read_settings(), **{name.replace("-", "_"): str(folder)}))
    say(f"{name}: {folder} (kept in {path})")


@binder.command("unset", command)
def unset_value(setting: SettingName) -> None:
    """Forget NAME."""
    write_settings(msgspec.structs.replace(read_settings(), **{setting.name.replace("-", "_"): None}))
    say(f"{setting.name}: not set")
