"""Python on the pages imports from ``truemoment``, its packages and their rooms, no deeper.

What a reader copies outlives the files.
"""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "api").glob("*.md"))]
CODE = re.compile(r"^```(?:python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def statements(text):
    """Import statements of the package in the Python of a page, with the line of each."""
    for block in CODE.finditer(text):
        first = text.count("\n", 0, block.start(1)) + 1
        lines = block[1].splitlines()
        if any(line.startswith(">>> ") for line in lines):  # without what is printed, with as many lines
            lines = [line[4:] if line.startswith((">>> ", "... ")) else "" for line in lines]
        for node in ast.walk(ast.parse("\n".join(lines))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] == "truemoment" for name in names):
                yield first + node.lineno - 1, node


def fault(node):
    """Return what is wrong with an import; None if nothing is."""
    if isinstance(node, ast.Import):
        return None if ast.unparse(node) == "import truemoment as tm" else "expected import truemoment as tm"
    if node.module.replace("base.boundary", "base").count(".") > 2:
        return "deeper than a room"
    module = importlib.import_module(node.module)
    exported = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    missing = [alias.name for alias in node.names if alias.name not in exported]
    return f"{node.module} does not export {', '.join(missing)}" if missing else None


def test_pages_import_no_deeper_than_a_room():
    faults, seen = [], 0
    for page in PAGES:
        for line, node in statements(page.read_text(encoding="utf-8")):
            seen += 1
            if wrong := fault(node):
                faults.append(f"{page.relative_to(ROOT)}, line {line}: {ast.unparse(node)}: {wrong}")
    assert not faults, "\n".join(faults)
    assert seen > 30


@pytest.mark.parametrize(
    "line",
    [
        "from truemoment.studies.bias.surveys import survey",
        "from truemoment.studies.bias import Regions",
        "import truemoment.studies.bias",
        "import truemoment",
    ],
)
def test_a_deep_or_private_import_is_found(line):
    ((_, node),) = statements(f"```pycon\n>>> x = 1\n>>> {line}\n```\n")
    assert fault(node)
