"""truemoment completion: the script with which a shell completes commands, options and names."""

from __future__ import annotations

import click

from truemoment.cli.command import Command
from truemoment.cli.completing import SHELLS, script


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script that completes commands, options and names in SHELL.

    \b
    bash: truemoment completion bash >> ~/.bashrc
    zsh:  truemoment completion zsh >> ~/.zshrc
    fish: truemoment completion fish > ~/.config/fish/completions/truemoment.fish
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    click.echo(script(shell))
