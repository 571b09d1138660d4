"""What the pages show is what the program prints, and what they list is what the package holds.

How pages are read stands in docs/refresh.py. Python examples run as doctests (pyproject.toml, --doctest-glob).
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from truemoment import Predictions
from truemoment.cli import run
from truemoment.cli.meta import STUDIES
from truemoment.data.datasets import load_annotations
from truemoment.data.formats import MatchReport
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import FAMILIES
from truemoment.evaluation.protocols import CONVENTION_FIELDS
from truemoment.evaluation.references import REFERENCE_RULES
from truemoment.studies.audit.report import FIGURES, FLOORS
from truemoment.studies.leaderboard.report import RANKS

pytestmark = pytest.mark.slow

REFRESH = Path(__file__).resolve().parents[2] / "docs" / "refresh.py"
_spec = importlib.util.spec_from_file_location("refresh", REFRESH)
refresh = importlib.util.module_from_spec(_spec)
sys.modules["refresh"] = refresh  # where dataclasses look their module up
_spec.loader.exec_module(refresh)

TEXTS = {name: path.read_text(encoding="utf-8") for name, path in refresh.PAGES.items()}


LONG = re.compile(
    r"truemoment (resplit --dataset|features perception:1 --dataset|meta ties --population --dataset|"
    r"baseline sentence-network|humans verbs.jsonl|demo --(collect|search)|"
    r"reproduce (hidden-challenges-(1|blind)|bandwidth-search|mad-1|verb-coverage|axiou-noise|closer-look-resplit)) "
)
"""Commands that take long on whole real files."""


def console_blocks() -> list:
    blocks = []
    for page, text in TEXTS.items():
        for block in refresh.CONSOLE.finditer(text):
            line = text.count("\n", 0, block.start()) + 1
            marks = [pytest.mark.data] if refresh.NEEDS_DATA in block["body"] else []
            marks += [pytest.mark.thorough] if LONG.search(block["body"]) else []
            blocks.append(pytest.param(page, block["body"], id=f"{page}:{line}", marks=marks))
    return blocks


@pytest.fixture
def page_folder(tmp_path, monkeypatch):
    """Go to an empty folder, where no variable says where data lie."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRUEMOMENT_DATA", raising=False)
    return tmp_path


@pytest.fixture
def printed_by(page_folder, monkeypatch, request):
    """Give the runner of a page's commands; the demo and papers' tables, which other tests need too, are made once."""

    def run_command(command, status):
        if command == "truemoment demo --videos 400 --no-open":
            demo_run = request.getfixturevalue("demo_run")
            shutil.copytree(demo_run / "truemoment-demo", page_folder / "truemoment-demo")
            return refresh.Printed(0, (demo_run / "printed.txt").read_text(encoding="utf-8"))
        if command.startswith("truemoment reproduce ") and refresh.NEEDS_DATA in command:
            monkeypatch.setattr("truemoment.reproduction.reproduce", request.getfixturevalue("reproduce_once"))
        return refresh.printed_by(command, status)

    return run_command


@pytest.mark.parametrize(("page", "body"), console_blocks())
def test_command_lines_print_what_the_page_shows(page, body, request):
    data = request.getfixturevalue("data_dir").resolve() if refresh.NEEDS_DATA in body else None
    folder, printed_by = (request.getfixturevalue(name) for name in ("page_folder", "printed_by"))
    refresh.lay_out_files(TEXTS[page], folder)
    if data is not None:
        (folder / "data").symlink_to(data)
    status = 0
    for here in refresh.commands_of(body):
        printed = printed_by(here.command, status)
        status = printed.status
        assert status in (0, 1, 2), f"$ {here.command}\n{printed.errors}"
        if not refresh.agrees(here.shown, printed):
            came = f"{printed.output}{printed.errors}"
            pytest.fail(f"$ {here.command}\n{came}\npython docs/refresh.py mends it", pytrace=False)


def test_pages_hide_nothing_but_lines_left_out():
    def agrees(shown, output, errors=""):
        return refresh.agrees(shown, refresh.Printed(0, output, errors))

    assert agrees("a\n...\nd", "a\nb\nc\nd\n")
    assert agrees("a\n...\nd", "a\nd\n")
    assert agrees("a", "a\n", "note\n")
    assert agrees("a\nnote", "a\n", "note\n")
    assert not agrees("a\nd", "a\nb\nd\n")
    assert not agrees("a\n...", "b\na\n")
    assert not agrees("", "a\n")


def test_every_command_of_a_block_is_run():
    block = "$ truemoment a \\\n    --b\nout\n\n$ echo $?\n2\n"
    shown = [refresh.Shown("truemoment a      --b", "out\n\n"), refresh.Shown("echo $?", "2\n")]
    assert refresh.commands_of(block) == shown


def test_refreshing_a_page_keeps_what_it_leaves_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stale = "$ truemoment --version\ntruemoment 0\n$ truemoment measures list\n...\nmIoU    old\n...\n"
    page = f"```console\n{stale}```\n"
    shown = [here.shown for here in refresh.commands_of(refresh.with_output(page, "page").split("```")[1])]
    assert shown[0].startswith("truemoment ")
    assert shown[0] != "truemoment 0\n"
    lines = shown[1].splitlines()
    assert lines[0] == lines[-1] == "..."
    assert refresh.agrees(shown[1], refresh.printed_by("truemoment measures list", 0))


def test_tables_are_as_the_package_makes_them():
    tables = [table["name"] for text in TEXTS.values() for table in refresh.TABLE.finditer(text)]
    assert sorted(tables) == sorted(refresh.TABLES)
    for page, text in TEXTS.items():
        assert refresh.with_tables(text) == text, f"{page}: run python docs/refresh.py"


def first_column(page: str, heading: str) -> list[str]:
    """Names in the first column of the first table below a heading."""
    _, found, below = TEXTS[page].partition(f"\n{heading}\n")
    assert found, f"{page} has no heading {heading!r}"
    table = re.search(r"^\|(?:.*\n)+?(?=\n)", below, re.MULTILINE)
    assert table, f"{page}: no table below {heading!r}"
    rows = [line.split("|")[1].strip() for line in table[0].splitlines()[2:]]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_findings_of_the_study_are_its_figures():
    """Every number of the findings is in what the commands found, on this page or that of the figures."""
    page = TEXTS["docs/study.md"]
    findings, _, found = page[page.index("What came out:") :].partition("## The paper's findings")
    found += TEXTS["docs/study-figures.md"]
    for number in re.findall(r"(?<![\w@.=])\d[\d,]*(?:\.\d+)?", findings):
        if number not in ("640", "0.13"):  # of the paper: its variants, and 2 pairs of 15
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.]\d)", found), number


def test_the_recipe_of_the_study_is_the_one_that_made_it():
    source = (REFRESH.parent / "study.py").read_text(encoding="utf-8")
    recipe = json.loads((REFRESH.parent / "study.json").read_text(encoding="utf-8"))["recipe"]
    assert recipe.replace("\\\n", "\\\\\n") in source


def test_no_page_is_too_long_to_read():
    """A page above 3,000 words is divided: what people look up is on a page of its own."""
    pages = {path: len(path.read_text(encoding="utf-8").split()) for path in REFRESH.parent.rglob("*.md")}
    assert {path: words for path, words in pages.items() if words > 3000} == {}


def test_every_measure_has_its_section():
    pages = TEXTS["docs/measures.md"] + TEXTS["docs/measures-sets.md"]
    headings = re.findall(r"^###? `([A-Za-z0-9-]+)", pages, re.MULTILINE)
    assert sorted(headings) == sorted(FAMILIES)


def test_the_glossary_has_the_terms_that_pages_explain():
    """Each page explains its terms under "How to read this", and the glossary has them too."""
    heads = re.findall(r"^\*\*(.+)\*\*$", TEXTS["docs/glossary.md"], re.MULTILINE)
    known = {name.strip().lower() for head in heads for name in head.split(",")}
    templates = (REFRESH.parents[1] / "src/truemoment/web").rglob("*.html.j2")
    terms = [term for path in templates for term in re.findall(r'^  \("([^"]+)", "', path.read_text(), re.MULTILINE)]
    assert len(terms) > 15  # of three pages
    terms += [term for term, _ in (*FLOORS, *FIGURES, RANKS) if term != "dR, AxIoU"]  # measures
    assert [term for term in terms if not {term.lower(), term.lower().removesuffix("s")} & known] == []


@pytest.mark.parametrize(
    ("page", "heading", "names"),
    [
        ("docs/measures.md", "## Several references", sorted(REFERENCE_RULES)),
        ("docs/protocols.md", "## The fields", sorted(CONVENTION_FIELDS)),
        ("docs/predictions.md", "## The match report", sorted(MatchReport("", "", 0).as_dict())),
    ],
)
def test_tables_of_names_are_complete(page, heading, names):
    assert sorted(first_column(page, heading)) == names


def keys_of(document: dict, *, below: tuple[str, ...]) -> set[str]:
    """Names of the fields of a JSON document and of the objects in some of them."""
    names = set(document)
    for name in below:
        inside = document[name] if isinstance(document[name], list) else [document[name]]
        names |= {f"{name}.{key}" for entry in inside for key in entry}
    return names


def test_every_field_of_the_json_is_explained(page_folder, capsys):
    refresh.lay_out_files("", page_folder)
    evaluation = "evaluate examples/predictions.jsonl --annotations examples/annotations.jsonl --resamples 20 --json -"
    assert run([*evaluation.split(), "--measures", "mIoU; R@1,IoU=0.5; R@1,IoU=0.5,length=long"]) == 0
    document = json.loads(capsys.readouterr().out)
    names = keys_of(document, below=("annotations", "predictions", "measures"))
    assert set(first_column("docs/json.md", "## What `evaluate` writes")) == names

    audit = "audit examples/predictions.jsonl --annotations examples/annotations.jsonl --resamples 200 --json - --quiet"
    assert run([*audit.split(), "--measures", "mIoU; R@1,IoU=0.5", "--permutations", "20"]) == 0
    names = set(json.loads(capsys.readouterr().out))
    assert set(first_column("docs/json-judging.md", "## What `audit` writes")) == names

    studied = "meta ties a=examples/predictions.jsonl b=examples/predictions.jsonl --json - --quiet"
    assert run([*studied.split(), "--annotations", "examples/annotations.jsonl", "--resamples", "20"]) == 0
    explained = set(first_column("docs/json-judging.md", "## What `meta` writes"))
    assert {name for name in explained if "-" not in name and "." not in name} == {
        *json.loads(capsys.readouterr().out),
        "verdict",  # of a report
    }
    told = " ".join(explained)
    assert all(f"studies.{study}" in told for study in STUDIES if study not in ("report", "population"))

    lines = '{"video_id": "v", "duration_s": 9.0, "sentence": "s", "moments": [[1, 10]]}\n'
    (page_folder / "mine.jsonl").write_text(lines, encoding="utf-8")
    assert run(["datasets", "check", "mine.jsonl", "--json", "-"]) == 1
    document = json.loads(capsys.readouterr().out)
    names = keys_of(document, below=("findings",))
    assert set(first_column("docs/json-datasets.md", "## What `datasets check` writes")) == names


@pytest.mark.data
def test_quoted_figures_of_answers_that_never_look(data_dir):
    annotations = load_annotations("charades-sta", "test", data_dir=data_dir)
    queries = annotations.queries

    def percent(low, high, measure, protocol="default"):
        answers = Predictions.from_lists(
            {query: [(low * d, high * d)] for query, d in zip(queries.query_id, queries.duration_s, strict=True)}
        )
        return f"{100 * evaluate(annotations, answers, measure, protocol).value(measure):.2f}"

    assert f"reaches {percent(0.0, 0.3, 'R@1,IoU=0.5')} %" in TEXTS["docs/index.md"]
    for measure in ("R@1,IoU=0.5", "R@1,IoU=0.7"):
        raw, clipped = (percent(0.7, 1.0, measure, f"default,clip_references={on}") for on in ("no", "yes"))
        assert f"| `{measure}` | {raw} | {clipped} |" in TEXTS["docs/protocols.md"]
