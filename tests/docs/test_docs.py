"""What the pages show is what the program prints, and what they list is what the package holds.

Python examples run as doctests (pyproject.toml, --doctest-glob). Here run the ``console`` blocks of README.md and
docs/*.md: a line ``$ truemoment ...`` is a command, the lines below it are its output, ``...`` stands for lines
left out. A code block with a ``:caption:`` is a file of that name for the commands of its page.
"""

from __future__ import annotations

import dataclasses
import json
import re
import runpy
import shlex
import shutil
from itertools import islice
from pathlib import Path

import pytest

from truemoment import Predictions, evaluate
from truemoment.cli import run
from truemoment.datasets import load_annotations
from truemoment.io import MatchReport
from truemoment.measures import FAMILIES
from truemoment.protocols import CONVENTION_FIELDS
from truemoment.references import REFERENCE_RULES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = {str(path.relative_to(ROOT)): path for path in (ROOT / "README.md", *sorted(DOCS.glob("*.md")))}

FENCE = re.compile(r"^```console\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(
    r"^```\{code-block\} \w+\n:caption: (?P<name>[\w.-]+)\n\n?(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)


def console_blocks() -> list:
    blocks = []
    for name, path in PAGES.items():
        text = path.read_text(encoding="utf-8")
        for block in FENCE.finditer(text):
            line = text.count("\n", 0, block.start()) + 1
            marks = [pytest.mark.data] if "--data-dir data" in block["body"] else []
            blocks.append(pytest.param(name, block["body"], id=f"{name}:{line}", marks=marks))
    return blocks


def commands_of(body: str) -> list[tuple[str, list[str]]]:
    """Commands of a block, each with the lines it shall print; a command goes on after a backslash."""
    found: list[tuple[str, list[str]]] = []
    continues = False
    for line in body.splitlines():
        if continues:
            command, printed = found[-1]
            found[-1] = (command + " " + line.rstrip("\\").strip(), printed)
        elif line.startswith("$ "):
            found.append((line[2:].rstrip("\\").strip(), []))
        else:
            found[-1][1].append(line.rstrip())
            continue
        continues = line.endswith("\\")
    return found


def printed_by(command: str, before: int, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """Run a command as a reader would, and return its exit status and what it prints, errors last."""
    program, *words = shlex.split(command)
    if program == "echo":
        assert words == ["$?"], f"{command}: only $? is echoed"
        return 0, [str(before)]
    if program == "head":
        assert words[0] == "-n", f"{command}: only 'head -n N FILE' is known"
        with Path(words[2]).open(encoding="utf-8") as lines:
            return 0, [line.rstrip() for line in islice(lines, int(words[1]))]
    assert program == "truemoment", f"{command}: expected truemoment"
    capsys.readouterr()
    status = run(words)
    captured = capsys.readouterr()
    return status, [line.rstrip() for line in (captured.out + captured.err).splitlines()]


def agrees(shown: list[str], printed: list[str]) -> bool:
    """Whether lines are as shown; a line '...' stands for any number of lines."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in shown)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


@pytest.fixture
def page_folder(tmp_path, monkeypatch):
    """Give a folder that holds what a reader has at hand: the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRUEMOMENT_DATA", raising=False)
    return tmp_path


@pytest.mark.parametrize(("page", "body"), console_blocks())
def test_command_lines_print_what_the_page_shows(page, body, page_folder, request, capsys):
    if request.node.get_closest_marker("data"):
        (page_folder / "data").symlink_to(request.getfixturevalue("data_dir").resolve())
    for file in FILE.finditer(PAGES[page].read_text(encoding="utf-8")):
        (page_folder / file["name"]).write_text(file["body"], encoding="utf-8")
    status = 0
    for command, shown in commands_of(body):
        status, printed = printed_by(command, status, capsys)
        while shown and not shown[-1]:  # an empty line before the next command
            shown.pop()
        while printed and not printed[-1]:
            printed.pop()
        assert status != 3, f"{command}: {printed}"
        assert agrees(shown, printed), f"$ {command}\n" + "\n".join(printed)


def test_left_out_lines_are_the_only_freedom():
    assert agrees(["a", "...", "d"], ["a", "b", "c", "d"])
    assert agrees(["a", "...", "d"], ["a", "d"])
    assert not agrees(["a", "d"], ["a", "b", "d"])
    assert not agrees(["a", "..."], ["b", "a"])


def test_generated_tables_are_as_the_package_makes_them():
    filled = runpy.run_path(str(DOCS / "tables.py"))["filled"]
    tables = 0
    for path in DOCS.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        tables += text.count("<!-- table: ")
        assert filled(text) == text, f"{path.name}: run python docs/tables.py"
    assert tables == 4


def first_column(page: str, heading: str) -> list[str]:
    """Names in the first column of the first table below a heading."""
    _, found, below = PAGES[page].read_text(encoding="utf-8").partition(f"\n{heading}\n")
    assert found, f"{page} has no heading {heading!r}"
    table = re.search(r"^\|(?:.*\n)+?(?=\n)", below, re.MULTILINE)
    assert table, f"{page}: no table below {heading!r}"
    rows = [line.split("|")[1].strip() for line in table[0].splitlines()[2:]]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_every_measure_has_its_section():
    headings = re.findall(r"^### `([A-Za-z0-9-]+)", PAGES["docs/measures.md"].read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(headings) == sorted(FAMILIES)


@pytest.mark.parametrize(
    ("page", "heading", "names"),
    [
        ("docs/measures.md", "## Several references", list(REFERENCE_RULES)),
        ("docs/protocols.md", "## The fields", list(CONVENTION_FIELDS)),
        ("docs/predictions.md", "## The match report", [field.name for field in dataclasses.fields(MatchReport)]),
    ],
)
def test_tables_of_names_are_complete(page, heading, names):
    assert first_column(page, heading) == names


def keys_of(document: dict, *, below: tuple[str, ...] = ()) -> set[str]:
    """Names of the fields of a JSON document and of the listed objects in it."""
    names = set(document)
    for name in below:
        inside = document[name]
        names |= {f"{name}.{key}" for entry in (inside if isinstance(inside, list) else [inside]) for key in entry}
    return names


def test_every_field_of_the_json_is_explained(page_folder, capsys):
    evaluation = "evaluate examples/predictions.jsonl --annotations examples/annotations.jsonl --resamples 20 --json -"
    assert run([*evaluation.split(), "--measures", "mIoU; R@1,IoU=0.5; R@1,IoU=0.5,length=long"]) == 0
    document = json.loads(capsys.readouterr().out)
    below = ("annotations", "predictions", "measures")
    assert set(first_column("docs/json.md", "## What `evaluate` writes")) == keys_of(document, below=below)

    lines = '{"video_id": "v", "duration_s": 9.0, "sentence": "s", "moments": [[1, 10]]}\n'
    (page_folder / "mine.jsonl").write_text(lines, encoding="utf-8")
    assert run(["datasets", "check", "mine.jsonl", "--json", "-"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert set(first_column("docs/json.md", "## What `datasets check` writes")) == keys_of(
        document, below=("findings",)
    )


@pytest.mark.data
def test_quoted_figures_of_answers_that_never_look(data_dir):
    annotations = load_annotations("charades-sta", "test", data_dir=data_dir)
    queries = annotations.queries

    def percent(low, high, measure, protocol="default"):
        answers = Predictions.from_lists(
            {query: [(low * d, high * d)] for query, d in zip(queries.query_id, queries.duration_s, strict=True)}
        )
        return f"{100 * evaluate(annotations, answers, measure, protocol).value(measure):.2f}"

    first_third = percent(0.0, 0.3, "R@1,IoU=0.5")
    assert first_third in PAGES["docs/index.md"].read_text(encoding="utf-8")
    page = PAGES["docs/protocols.md"].read_text(encoding="utf-8")
    for measure in ("R@1,IoU=0.5", "R@1,IoU=0.7"):
        raw, clipped = (percent(0.7, 1.0, measure, f"default,clip_references={on}") for on in ("no", "yes"))
        assert f"| `{measure}` | {raw} | {clipped} |" in page
