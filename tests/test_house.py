"""The architecture: fourteen packages in five layers, imports look down, and one boundary opens files."""

import ast
import re
import tomllib
from pathlib import Path

from importlinter.cli import lint_imports

from .test_names import PACKAGE, modules, tree_of

ROOT = Path(__file__).parents[1]


def layers():
    """Return the packages of the contract, from the top."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return settings["tool"]["importlinter"]["contracts"][0]["layers"]


def test_imports_look_down(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(ROOT)
    broken = lint_imports(config_filename=str(ROOT / "pyproject.toml"), cache_dir=str(tmp_path))
    assert broken == 0, capsys.readouterr().out


def test_the_listing_is_the_architecture():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(layers())
    assert len(folders) == 14
    assert {path.name for path in PACKAGE.iterdir() if path.is_file()} == {"__init__.py", "__main__.py", "py.typed"}


def test_the_map_has_a_line_a_package():
    rows = [
        line.split("|")[2].strip()
        for line in (ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines()
        if "| `" in line
    ]
    assert rows == [f"`{name}`" for name in layers()]


# ------------------------------------------------------------------------------------------ one boundary

OPENING = re.compile(
    r"(os\.|io\.)?open|os\.(fdopen|dup2|write)|(json|tomllib)\.loads?"
    r"|numpy\.(load|save\w*|memmap|fromfile|loadtxt|genfromtxt|savetxt|lib\.format\.open_memmap)"
    r"|(bz2|csv|gzip|h5py|lzma|pickle|sqlite3|subprocess|tarfile|tempfile|yaml|zipfile)\.\w+"
    r"|(http\.client|urllib\.request)\.\w+|socket\.(socket|create_\w+)"
    r"|(?!(av|webbrowser)\.)(?!truemoment\.).*\.(open|(read|write)_(text|bytes))"  # these open a stream, and a browser
)
"""Calls that open, write, unpack or parse files, start processes or connect."""

OUTSIDE = {
    "cli/__init__.py": "standard streams that were closed become the null device, before anything is imported",
    "cli/running.py": "a standard stream whose reader has gone becomes the null device",
    "collection/same_film.py": "an array as bytes in memory, which the pipeline writes",
    "learning/served/prompts/__init__.py": "parses text that the boundary has read",
    "learning/training/examples.py": "maps a temporary file that has no name",
    "learning/training/hardware.py": "asks git for the commit of a checkout",
    "media/features/hdf5.py": "HDF5 opens its file itself, by a path that is registered",
    "web/annotating/exporting.py": "a ZIP in the system's temporary folder, for the browser",
    "web/annotating/owner.py": "as before",
    "web/annotating/store.py": "SQLite opens the database of a study itself",
    "web/browsing/exports.py": "a ZIP in the system's temporary folder, for the browser",
    "web/pages/launch.py": "listens as the server of a page",
}
"""Modules outside base/boundary with such calls, and why."""


def dotted(node):
    """Return the name of a function that is called, e.g. ``a.b.c``; "?" is any other expression."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id if isinstance(node, ast.Name) else "?", *reversed(parts)])


def calls(tree):
    """Return the functions that a module calls by their full names, e.g. ``numpy.save``."""
    full, nodes = {}, list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            full |= {
                of.asname or of.name.split(".")[0]: of.name if of.asname else of.name.split(".")[0] for of in node.names
            }
        elif isinstance(node, ast.ImportFrom):
            full |= {of.asname or of.name: f"{node.module}.{of.name}" for of in node.names}
    names = {dotted(node.func) for node in nodes if isinstance(node, ast.Call)}
    return {re.sub(r"^\w+", lambda first: full.get(first[0], first[0]), name) for name in names}


def test_only_the_boundary_opens_files():
    outside = {
        place: found
        for place in modules()
        if not place.startswith("base/boundary/")
        and (found := sorted(filter(OPENING.fullmatch, calls(tree_of(place)))))
    }
    assert set(outside) == set(OUTSIDE), outside
