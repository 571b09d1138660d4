"""The README's commands work as pasted: all of them, in order, in one shell with an empty home.

Here they run on a small world with the packages at hand. ``TRUEMOMENT_README=whole`` runs them as they are, in a clone
of the checkout with installations by pip, which takes half an hour; only the last command then runs one file of tests.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from truemoment.cli.group import CommandGroup, cli

ROOT = Path(__file__).resolve().parents[2]
WHOLE = os.environ.get("TRUEMOMENT_README") == "whole"
ALL_TESTS, ONE_TEST = ".venv/bin/pytest -q -n auto", ".venv/bin/pytest -q tests/test_names.py"
SMALL = {
    "python3 -m venv .venv && . .venv/bin/activate && pip install -q .\n": "",
    "pip install -q '..[search]' ": ": ",
    "truemoment demo\n": "truemoment demo --videos 120 --no-open\n",
    "truemoment demo --search --out searched ": "truemoment demo --search --out searched --minutes 1 --no-open ",
    'better-than-guessing; shortcut-share<0.8" ': 'shortcut-share<9 (point)" --resamples 200 --permutations 100 ',
    "--html bias.html --open": "--html bias.html --permutations 100",
    "truemoment resplit ": "truemoment resplit --permutations 100 ",
    "--html measures.html": "--html measures.html --trials 50 --sets 5 --resamples 100",
    "--model runs/tan2d": "--model runs/tan2d --resamples 200 --permutations 100",
    f"python3 -m venv .venv && .venv/bin/pip install -q -e '.[dev]' && {ALL_TESTS}\n": "",
}
"""What makes the commands quick enough for the suite; none replaces a command of TrueMoment."""


def commands():
    """Return the README's commands as one script: whole blocks of a shell, and the lines after a prompt."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(sh|console)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    prompts = re.compile(r"^\$ ((?:.*\\\n)*.*\n)", re.MULTILINE)
    return "".join(body if kind == "sh" else "".join(prompts.findall(body)) for kind, body in blocks)


def test_commands_have_the_options_that_it_gives_them():
    """Also in CI: a verb or an option of the README that is not there any more."""
    script = re.sub(r"\\\n", " ", commands())
    lines = [words for line in script.splitlines() if (words := shlex.split(line, comments=True))[:1] == ["truemoment"]]
    assert len(lines) > 10
    for _, *left in lines:
        command, context = cli, click.Context(cli, **cli.context_settings)
        while isinstance(command, click.Group) and not (
            isinstance(command, CommandGroup) and left and left[0] not in command.verbs
        ):
            name, command, left[:] = command.resolve_command(context, left)
            context = click.Context(command, parent=context, info_name=name)
        command = command.own if isinstance(command, CommandGroup) else command
        _, left[:], _ = command.make_parser(context).parse_args([*left])
        assert left == []


@pytest.mark.thorough
def test_commands_work_as_pasted(tmp_path):
    pytest.importorskip("transformers")
    pytest.importorskip("av")
    script, checkout, home = commands(), tmp_path / "checkout", tmp_path / "home"
    home.mkdir()
    for here, instead in ({ALL_TESTS: ONE_TEST} if WHOLE else SMALL).items():
        assert script.count(here) == 1, f"the README has no {here!r}"
        script = script.replace(here, instead)
    if WHOLE:
        subprocess.run(["git", "clone", "-q", str(ROOT), str(checkout)], check=True)
    else:
        checkout.mkdir()
        shutil.copytree(ROOT / "examples", checkout / "examples")
    kept = ("PATH", "LANG", "TMPDIR", "PYTHONPATH", "SSL_CERT_FILE", "OMP_NUM_THREADS")
    environment = {name: value for name, value in os.environ.items() if name in kept or name.startswith("PIP_")}
    environment |= {"HOME": str(home), "HF_HUB_OFFLINE": "1"}
    if WHOLE:
        environment.pop("PYTHONPATH", None)
    else:
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    strict = "set -euo pipefail; trap 'echo \"failed: $BASH_COMMAND\" >&2' ERR\n"
    done = subprocess.run(
        ["bash", "-c", strict + script], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    demo = checkout / "truemoment-demo"
    for name in ("audit.html", "audit.json", "bias.html", "anew", "runs/tan2d", "film.index", "found", "measures.html"):
        assert (demo / name).exists(), name
