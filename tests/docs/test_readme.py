"""The commands of the README and of docs/first-hour work as pasted: all, in order, in one shell with an empty home.

Here they run on a small world with the packages at hand. ``TRUEMOMENT_README=whole`` runs them as they are, in a clone
of the checkout with installations by pip, which takes half an hour; only the last command then runs one file of tests.
"""

from __future__ import annotations

import itertools
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
INSTALL = re.compile(r"python3 -m venv \.venv && \. \.venv/bin/activate && pip install -q \S+\n")
SCRIPTS = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "first-hour").glob("*.sh")}
FIRST_FIGURES = {
    "method": r"Better than the 5 blind baselines tried: 49\.3 points",  # 65.83 less 16.50, as examples/ has them
    "dataset": r"R@1,IoU=0\.5 +\d+\.\d\d\nmIoU +\d+\.\d\d\n",
    "reviewer": r"R@1,IoU=0\.5 +65\.83 +120 (?s:.*)All 14 evaluators",
    "student": r"R@1,IoU=0\.5 +\d+\.\d\d +\d+\.\d\d\n(?s:.*)blind baselines tried",
    "films": r"1 +film +0:00:\d\d\.\d +0:00:\d\d\.\d",
}
"""What each newcomer's script prints at the end."""
SLOW = ("reviewer", "dataset", "student", "films")  # the first repeats "method", and a page's tests run the second
NUMBERS = ("no", "one", "two", "three", "four", "five")


def commands():
    """Return the README's commands as one script: whole blocks of a shell, and the lines after a prompt."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(sh|console)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    prompts = re.compile(r"^\$ ((?:.*\\\n)*.*\n)", re.MULTILINE)
    return "".join(body if kind == "sh" else "".join(prompts.findall(body)) for kind, body in blocks)


def joined(script):
    """Return the commands of a script, one a line."""
    return [line for line in re.sub(r"\\\n", " ", script).splitlines() if line]


def blocks_of_shell(page):
    """Return the commands of a page's blocks, which no test runs."""
    blocks = re.findall(r"^```(?:sh|bash)\n(.*?)^```$", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    lines = "".join(re.sub(r"\\\n", " ", block) for block in blocks)
    return "".join(re.findall(r"^truemoment .*\n", lines, re.MULTILINE))


PAGES = {path.stem: script for path in (ROOT / "docs").glob("*.md") if (script := blocks_of_shell(path))}
REDIRECTIONS = ("<", ">", ">>")


@pytest.mark.parametrize("script", [commands(), *SCRIPTS.values(), *PAGES.values()], ids=["README", *SCRIPTS, *PAGES])
def test_commands_have_the_options_that_it_gives_them(script):
    """Also in CI: a verb or an option of a page that is not there any more."""
    lines = [words for line in joined(script) if (words := shlex.split(line, comments=True))[:1] == ["truemoment"]]
    assert lines
    for _, *words in lines:
        left = list(itertools.takewhile(lambda word: word not in REDIRECTIONS, words))
        command, context = cli, click.Context(cli, **cli.context_settings)
        while left and isinstance(command, click.Group):
            if isinstance(command, CommandGroup) and left[0] not in command.verbs:
                command = command.own
            else:
                _, command, left[:] = command.resolve_command(context, left)
            context = click.Context(command, parent=context, info_name=command.name)
        values, left[:], _ = command.make_parser(context).parse_args([*left])
        assert left == []
        assert [part.name for part in command.params if part.required and part.name not in values] == []


def run_as_pasted(script, checkout, home, *, whole=False):
    """Run a script in one shell with an empty home; return what it prints."""
    kept = ("PATH", "LANG", "TMPDIR", "PYTHONPATH", "SSL_CERT_FILE", "OMP_NUM_THREADS")
    environment = {name: value for name, value in os.environ.items() if name in kept or name.startswith("PIP_")}
    environment |= {"HOME": str(home), "HF_HUB_OFFLINE": "1"}
    if whole:
        environment.pop("PYTHONPATH", None)
    else:
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    strict = "set -euo pipefail; trap 'echo \"failed: $BASH_COMMAND\" >&2' ERR\n"
    done = subprocess.run(
        ["bash", "-c", strict + script], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


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
    run_as_pasted(script, checkout, home, whole=WHOLE)
    demo = checkout / "truemoment-demo"
    for name in ("audit.html", "audit.json", "bias.html", "anew", "runs/tan2d", "film.index", "found", "measures.html"):
        assert (demo / name).exists(), name


@pytest.mark.parametrize("name", FIRST_FIGURES)
def test_newcomers_pages_promise_the_number_of_commands_of_their_script(name):
    number = NUMBERS[len(joined(SCRIPTS[name]))]
    page = (ROOT / "docs" / f"tutorial-{name}.md").read_text(encoding="utf-8")
    before, found, _ = page.partition(f"```{{literalinclude}} first-hour/{name}.sh\n")
    assert found
    assert f"{number} commands" in before.lower()
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert f"](tutorial-{name}.md) | {number} |" in index


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] if name in SLOW else []) for name in FIRST_FIGURES]
)
def test_a_newcomer_comes_to_a_first_figure(name, tmp_path):
    for package in {"student": ["torch"], "films": ["torch", "av", "faiss"]}.get(name, []):
        pytest.importorskip(package)
    assert SCRIPTS.keys() == FIRST_FIGURES.keys()
    script, installs = INSTALL.subn("", SCRIPTS[name])
    assert installs == 1
    (tmp_path / "home").mkdir()
    shutil.copytree(ROOT / "examples", tmp_path / "checkout" / "examples")
    printed = run_as_pasted(script, tmp_path / "checkout", tmp_path / "home")
    assert re.search(FIRST_FIGURES[name], re.sub(r"\n +", " ", printed)), printed[-3000:]
