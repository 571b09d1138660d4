"""truemoment completion: the script with which a shell completes commands, options and names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import click

from truemoment.base.request import Request, argument
from truemoment.cli import binder
from truemoment.cli.completing import script


@dataclass(frozen=True, kw_only=True)
class CompletionRequest(Request):
    """The shell."""

    shell: Literal["bash", "zsh", "fish"] = argument()


@binder.command("completion")
def command(request: CompletionRequest) -> None:
    """Print the script that completes commands, options and names in SHELL.

    \b
    bash: truemoment completion bash >> ~/.bashrc
    zsh:  truemoment completion zsh >> ~/.zshrc
    fish: truemoment completion fish > ~/.config/fish/completions/truemoment.fish
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    click.echo(script(request.shell))
