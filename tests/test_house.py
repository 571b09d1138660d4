"""The folder listing is the architecture: fourteen packages in five layers, and imports look down (pyproject.toml)."""

import tomllib
from pathlib import Path

from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "truemoment"


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
