"""Imports look back along the order of rooms in CONTRIBUTING.md, at the top of a file and inside functions alike.

A room is a file or folder of the package; the list may name a part of one, as ``reports/model``, at a place of its own.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "truemoment"
TOP = {"__init__", "__main__", "version"}
"""The door to all rooms, and the version, which every room may name."""


def order():
    """Rooms in the order of the list."""
    text = re.search(
        r"imports only look back along it:\n(.*?)\. A test", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL
    )
    return re.findall(r"`([a-z_]+(?:/[a-z_]+)*)/?`", text[1])


def room_of(module, rooms):
    """Return the room of a module by its path below the package, e.g. ``reports/model``: the longest name that fits."""
    parts = module.split("/")
    names = ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((name for name in names if name in rooms), parts[0])


def imported(tree, is_module):
    """Modules of the package that a file imports anywhere, by their path."""
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                names.append(full if is_module(full) else node.module)
        for name in names:
            if name.startswith("truemoment."):
                yield name.removeprefix("truemoment.").replace(".", "/"), node.lineno


def test_imports_look_back():
    rooms = order()
    assert len(set(rooms)) == len(rooms) > 30

    def is_module(name):
        path = PACKAGE.parent / name.replace(".", "/")
        return path.is_dir() or path.with_suffix(".py").exists()

    seen, climbing = 0, []
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).with_suffix("").as_posix().removesuffix("/__init__")
        if module in TOP:
            continue
        room = room_of(module, rooms)
        for other, line in imported(ast.parse(path.read_text(encoding="utf-8")), is_module):
            if other not in TOP:
                seen += 1
                if rooms.index(room_of(other, rooms)) > rooms.index(room):
                    climbing.append(f"{module}.py, line {line}: imports {other}")
    assert not climbing, "\n".join(climbing)
    assert seen > 1000


def test_modules_of_a_room_make_no_circle():
    imports = {}

    def is_module(name):
        return (PACKAGE.parent / name.replace(".", "/")).with_suffix(".py").exists()

    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).with_suffix("").as_posix()
        if path.name != "__init__.py":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            imports[module] = {other for other, _ in imported(tree, is_module) if other != module}
    circles = []
    done = set()

    def visit(module, way):
        if module in way:
            circles.append(" -> ".join([*way[way.index(module) :], module]))
        elif module not in done:
            for other in sorted(imports.get(module, ())):
                visit(other, [*way, module])
            done.add(module)

    for module in imports:
        visit(module, [])
    assert not circles, "\n".join(circles)
