"""Figures of the house: python tools/house_figures.py [SRC/truemoment]. Sizes, imports, and what repeats itself."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path

import grimp

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "src" / "truemoment")
HEAVY = {"torch", "av", "matplotlib", "transformers", "faiss", "ray", "h5py", "spacy", "pyarrow", "PIL", "jinja2"}


def functions(tree: ast.AST) -> list[ast.FunctionDef]:
    """Return all functions of a module, also those in others."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def returns_dict_by_hand(function: ast.FunctionDef) -> bool:
    """Whether a function returns a dict with a text as a key."""
    returned = (node.value for node in ast.walk(function) if isinstance(node, ast.Return))
    return any(
        isinstance(of, ast.Dict)
        and any(isinstance(key, ast.Constant) and isinstance(key.value, str) for key in of.keys)
        for value in returned
        if value is not None
        for of in ast.walk(value)
    )


def imports_in_functions(tree: ast.AST) -> list[str]:
    """Return the top-level packages that functions import."""
    nodes = {id(node): node for function in functions(tree) for node in ast.walk(function)}.values()
    found = [node.names[0].name for node in nodes if isinstance(node, ast.Import)]
    found += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return [name.split(".")[0] for name in found]


def rooms_and_floors() -> tuple[int, int]:
    """Return how many second-level packages there are, and on how many floors they lie."""
    graph = grimp.build_graph("truemoment", cache_dir=None)
    room = {name: ".".join(name.split(".")[1:3]) for name in graph.modules if name.count(".") >= 2}
    folders = {of for of in room.values() if (ROOT / of.replace(".", "/")).is_dir()}
    below: dict[str, set[str]] = {of: set() for of in folders}
    for name, its in room.items():
        for other in graph.find_modules_directly_imported_by(name):
            if its in below and room.get(other) in folders and room[other] != its:
                below[its].add(room[other])
    floors, left = 0, dict(below)
    while left:
        lowest = [of for of, needs in left.items() if not needs & set(left)]
        if not lowest:  # a circle of folders is one floor
            lowest = [min(left, key=lambda of: (len(left[of] & set(left)), of))]
        left = {of: needs for of, needs in left.items() if of not in lowest}
        floors += 1
    return len(folders), floors


def main() -> None:
    """Print one figure a line."""
    texts = {path: path.read_text("utf-8") for path in sorted(ROOT.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    every = [function for tree in trees.values() for function in functions(tree)]
    words = Counter(word for text in texts.values() for word in re.findall(r"\w+", text))
    small = [of for of in every if of.name.startswith("_") and not of.name.startswith("__") and words[of.name] == 2]
    lazy = [name for tree in trees.values() for name in imports_in_functions(tree)]
    names = Counter(node.id for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.Name))
    rooms, floors = rooms_and_floors()
    line_count = sum(text.count("\n") for text in texts.values())
    commands = [
        text.count("\n") for path, text in texts.items() if path.parts[-2] in ("cli", "meta") and "cli" in path.parts
    ]
    n_commands = sum(
        len(re.findall(r"^@(?:binder\.|\w+\.)?command\(|^@click\.command\(", text, re.M)) for text in texts.values()
    )
    for what, value in (
        (
            "entries at the top of the package",
            sum(1 for of in ROOT.iterdir() if not of.name.startswith("_") and of.name != "py.typed"),
        ),
        ("rooms", rooms),
        ("floors", floors),
        ("lines", line_count),
        ("files", len(texts)),
        ("lines of cli a command", round(sum(commands) / max(n_commands, 1))),
        ("commands", n_commands),
        ("functions that return dicts by hand", sum(map(returns_dict_by_hand, every))),
        ("private functions with one use", len(small)),
        (
            "of these with five lines or fewer",
            sum((of.body[-1].end_lineno or 0) - of.body[0].lineno < 5 for of in small),
        ),
        ("imports in functions", len(lazy)),
        ("of these of heavy packages", sum(name in HEAVY for name in lazy)),
        ("values called of, found, one, there", sum(names[name] for name in ("of", "found", "one", "there"))),
    ):
        print(f"{what:40} {value:,}")


if __name__ == "__main__":
    main()
