"""Imports look back along the way of the data, as CONTRIBUTING.md lists it; late ones, inside functions, need not."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def order():
    """Rooms in the order of the list."""
    told = re.search(
        r"imports only look back along it:\n(.*?)\. A test", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL
    )
    return re.findall(r"`([a-z_]+)/?`", told[1])


def imported(node):
    """Rooms that a statement imports from."""
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    if isinstance(node, ast.ImportFrom):
        names = [f"truemoment.{a.name}" for a in node.names] if node.module == "truemoment" else [node.module]
    return [name.split(".")[1] for name in names if name and name.startswith("truemoment.")]


def test_imports_look_back():
    rooms = order()
    assert len(set(rooms)) == len(rooms) > 30
    seen = 0
    for path in sorted((ROOT / "src" / "truemoment").rglob("*.py")):
        room = path.relative_to(ROOT / "src" / "truemoment").parts[0].removesuffix(".py")
        if room in {"__init__", "__main__", "version"}:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for other in imported(node):
                if other != "version":
                    assert rooms.index(other) <= rooms.index(room), f"{path.name} imports {other}"
                    seen += 1
    assert seen > 500
